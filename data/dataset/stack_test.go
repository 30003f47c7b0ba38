package dataset

import (
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// What is copied at once is what operations would make.
func TestBulk(t *testing.T) {
	scalar, row := tensor.Scalar[int32], func(n int, x int16) tensor.Tensor { return tensor.Of([]int16{x, 2, 3, 4, 5, 6}[:n]) }
	cube := func(n int) tensor.Tensor { return tensor.Of(make([]float64, 4*n), n, 2, 2) }
	bools := tensor.Of([]bool{true, false})
	for _, list := range [][]tensor.Tensor{
		{scalar(1), scalar(2), scalar(3)}, {row(3, 1), row(3, 7)}, {row(3, 1), row(0, 0), row(6, 9)}, {cube(2), cube(2)}, {cube(1), cube(3)},
		{bools, bools}, {row(0, 0), row(0, 0)}, {cube(0)},
	} {
		for _, o := range []BatchOptions{{}, {Kind: Ragged}} {
			got, ok := bulk(list, o)
			if !ok {
				continue
			}
			want, err := tenon.Try(func() tensor.Tensor { return o.stackTensors("", append([]tensor.Tensor(nil), list...)) })
			if err != nil {
				t.Errorf("%v: %v, and %v in bulk", list, err, got)
				continue
			}
			if !tenon.Equal(got.Spec(), want.Spec()) {
				t.Errorf("%v: %v, want %v", list, tenon.String(got.Spec()), tenon.String(want.Spec()))
			}
			if r, ok := got.(*ragged.Tensor); ok {
				w := want.(*ragged.Tensor)
				if !tensor.Equal(r.RowSplits(), w.RowSplits(), tensor.EqualOptions{}) || !tensor.Equal(r.FlatValues(), w.FlatValues(), tensor.EqualOptions{}) {
					t.Errorf("%v: %v, want %v", list, got, want)
				}
			} else if !tensor.Equal(got, want, tensor.EqualOptions{}) {
				t.Errorf("%v: %v, want %v", list, got, want)
			}
		}
	}
	if _, ok := bulk([]tensor.Tensor{row(3, 1), row(2, 1)}, BatchOptions{}); ok {
		t.Error("rows of different lengths are stacked as dense ones")
	}
}
