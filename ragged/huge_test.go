package ragged_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// No rows may be declared to be of any length: what selects of them takes no memory for
// positions in them.
func TestHugeRows(t *testing.T) {
	const huge = 1 << 60
	tests := []struct {
		keys []any
		want []int // the first two sizes
	}{
		{[]any{tensor.Of([]int64{})}, []int{0, huge}},
		{[]any{tensor.Of([]bool{})}, []int{0, huge}},
		{[]any{key.Range(nil, nil, 2)}, []int{0, huge}},
		{[]any{key.All, key.Range(nil, nil, 2)}, []int{0, huge / 2}},
		{[]any{key.All, key.Range(nil, nil, -1)}, []int{0, huge}},
		{[]any{key.All, key.From(1)}, []int{0, huge - 1}},
	}
	for _, values := range []T{tensor.Of([]float32{}), rag[float32](), tenon.Must(ragged.FromUniformRowLength(tensor.Of([]float32{}), 3, 0))} {
		x := tenon.Must(ragged.FromUniformRowLength(values, huge, 0))
		for _, tt := range tests {
			got, err := tenon.Try(func() T { return ops.Index(x, tt.keys...) })
			if err != nil {
				t.Errorf("%v of %v: %v", tt.keys, x, err)
				continue
			}
			if s := got.Shape(); !s.Slice(0, 2).Equal(shape.Of(tt.want...)) || s.Rank() != x.Shape().Rank() {
				t.Errorf("%v of %v has the shape %v", tt.keys, x, s)
			}
		}
	}
}

// What int32 row splits do not hold is an error, and no number with the same low bits.
func TestBeyondInt32(t *testing.T) {
	const far = 1 << 32
	x := tenon.Must(rag([]float64{1, 2}, []float64{}, []float64{3, 4, 5}, []float64{6}).WithSplitsDType(dtype.Int32))
	none := ops.Index(x, key.To(0))
	at := func(n ...int64) T { return tenon.Must(ragged.FromRowSplits(tensor.Of(n), []int32{0, 1, 1, 2, 2})) }
	tests := []struct {
		name string
		call func() any
		says string
	}{
		{"unflatten rows of one length", func() any { return tenon.Must(ragged.Unflatten(x, far, 1)) }, "more than int32"},
		{"unflatten no rows", func() any { return tenon.Must(ragged.Unflatten(none, far, 0)) }, "more than int32"},
		{"unflatten", func() any { return tenon.Must(ragged.Unflatten(x, []int64{far + 2, 4}, 1)) }, "more than int32"},
		{"pad", func() any { return tenon.Must(ragged.PadMissing(none, far, 1, ragged.PadOptions{Clip: true})) }, "more than int32"},
		{"sparse", func() any {
			return tenon.Must(ragged.FromSparse([][]int64{{far, 0}}, []int64{5}, []int64{far + 1, 1}, dtype.Int32))
		}, "more than int32"},
		{"row starts", func() any {
			return tenon.Must(ragged.PartitionFromRowStarts([]int32{0, 1}, ragged.PartitionOptions{NVals: far + 5}))
		}, "more than int32"},
		{"positions in rows", func() any { return ops.Index(x, at(far, 0)) }, "row 0: position 4294967296"},
		{"positions along rows", func() any { return ops.TakeAlongAxis(x, at(far, 0), 1) }, "row 0: position 4294967296"},
		{"coordinates", func() any { return ops.GatherND(x, [][]int64{{2, far + 1}}, 0) }, "position 4294967297"},
		{"positions of uint64", func() any { return ops.Index(x, tensor.Of([]uint64{1<<64 - 1})) }, "out of bounds for 4 rows"},
	}
	for _, tt := range tests {
		got, err := tenon.Try(tt.call)
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: got %v, %v, want an error that says %q", tt.name, got, err, tt.says)
		}
	}
	rows := make([][]float64, 300)
	for i := range rows {
		rows[i] = []float64{float64(i)}
	}
	if got := ops.Index(ragged.FromSlices(rows), tensor.Of([]int8{-1, 100})).(*ragged.Tensor); got.String() != "[[299.] [100.]] float64[2, ~]" {
		t.Errorf("rows -1 and 100 as int8 of 300 are %v", got)
	}
}

// A number that no line has is none of the next line.
func TestTakeAcrossRows(t *testing.T) {
	x := rag([]float64{1, 2}, []float64{3, 4}, []float64{5})
	for _, n := range []int64{3, -1, 1 << 62} {
		at := rag([]int64{n, 1}, []int64{0, 0}, []int64{0})
		if got, err := tenon.Try(func() T { return ops.TakeAlongAxis(x, at, 0) }); err == nil || !strings.Contains(err.Error(), "no element") {
			t.Errorf("entry %d of columns of 3 and 2 is %v, %v", n, got, err)
		}
	}
}

// As many rows as are declared print as their ends.
func TestPrintHuge(t *testing.T) {
	x := tenon.Must(ragged.FromUniformRowLength(tensor.Of([]float32{}), 0, 1<<60))
	if got, want := x.String(), "[[] [] [] ... [] [] []] float32[1152921504606846976, 0]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestBitcastOfRows(t *testing.T) {
	if got, err := tenon.Try(func() T { return ops.Bitcast(rag([]float32{1, 2}), dtype.Float64) }); !errors.Is(err, tenon.ErrUnsupported) {
		t.Errorf("rows as wider elements are %v, %v", got, err)
	}
	x := tenon.Must(ragged.FromRowSplits(ops.Bitcast([]float64{7, 8}, dtype.Float32), []int{0, 0, 2}))
	if got, want := ops.Bitcast(x, dtype.Float64).(*ragged.Tensor).String(), "[[] [7. 8.]] float64[2, ~]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
