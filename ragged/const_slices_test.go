package ragged_test

import (
	"reflect"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// loose returns slices of slices as lists of anything.
func loose(v reflect.Value) any {
	if v.Kind() != reflect.Slice {
		return v.Interface()
	}
	out := make([]any, v.Len())
	for i := range out {
		out[i] = loose(v.Index(i))
	}
	return out
}

type celsius float32

// TestConstSlices: slices of one type, which are copied row by row, give what lists of their
// elements give.
func TestConstSlices(t *testing.T) {
	many := make([][][]int16, 3)
	for i := range many {
		for r := range 3000 {
			many[i] = append(many[i], make([]int16, (i+r)%4))
			for k := range many[i][r] {
				many[i][r][k] = int16(r + k)
			}
		}
	}
	tests := []struct {
		x any
		o ragged.Options
	}{
		{x: []float32{1, 2}},
		{x: []string{"a", ""}},
		{x: []celsius{1, 2}},
		{x: [][]celsius{{1}, nil, {2, 3}}},
		{x: [][]uint8{{1}, {}, {2, 3}}},
		{x: [][]uint{{1}, {}, {2, 3}}},
		{x: [][]complex64{{1i}, nil}},
		{x: [][]dtype.F16{{dtype.F16From64(1)}, nil}},
		{x: [][][]float64{{{1, 2}, nil}, nil, {{3}}}},
		{x: [][][]int{{{1, 2}, nil}, nil, {{3}}}},
		{x: [][][]int{{{1, 2}, nil}, nil, {{3}}}, o: ragged.Options{Int: dtype.Int32}},
		{x: [][][]int64{{{1, 2}, nil}, nil, {{3}}}, o: ragged.Options{Int: dtype.Int32}},
		{x: [][][]float64{{{1, 2}, nil}, nil, {{3}}}, o: ragged.Options{Float: dtype.Float32, Splits: dtype.Int32}},
		{x: [][][]float64{{{1, 2}}, {{3, 4}, {5, 6}}}, o: ragged.Options{RaggedRank: 1}},
		{x: [][][]float64{{{1, 2}}, {{3, 4}, {5, 6}}}, o: ragged.Options{Inner: []int{2}}},
		{x: [][][]float32{{{1, 2}}, {{3, 4}, {5, 6}}}, o: ragged.Options{DType: dtype.Float32, Splits: dtype.Int32}},
		{x: [][][]string{{{"a", "bc"}, nil}, {{"d"}}}},
		{x: [][][]string{{{"a", "bc"}}, {{"d", ""}}}, o: ragged.Options{RaggedRank: 1}},
		{x: [][][]bool{{{true, false}, nil}, {{true}}}},
		{x: [][][][]float32{{{{1}, nil}}, nil, {nil, {{2, 3}}}}},
		{x: many},
		{x: [][][]float32{{{1, 2}, {3}}}, o: ragged.Options{RaggedRank: 1}}, // an error
		{x: [][][]float32{{{1.5}}}, o: ragged.Options{DType: dtype.Int32}},  // another one
		{x: [][][]float32{{{1.5}}}, o: ragged.Options{RaggedRank: 5}},       // and another one
	}
	for _, tt := range tests {
		got, err := ragged.Const(tt.x, tt.o)
		want, wantErr := ragged.Const(loose(reflect.ValueOf(tt.x)), tt.o)
		if (err != nil) != (wantErr != nil) {
			t.Errorf("%T %+v: %v, want %v", tt.x, tt.o, err, wantErr)
			continue
		}
		if err == nil && (!tensor.Equal(got, want, tensor.EqualOptions{}) || !tenon.Equal(got.Spec(), want.Spec())) {
			t.Errorf("%T %+v: %v %v, want %v %v", tt.x, tt.o, got.Spec(), got, want.Spec(), want)
		}
	}
}
