package ragged

import (
	"fmt"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// TestKnownProduct: products of matrices in memory are what the general way gives, the Spec
// and the errors included.
func TestKnownProduct(t *testing.T) {
	defer func() { generalOnly = false }()
	numbers := func(n int) []int64 {
		x := make([]int64, n)
		for i := range x {
			x[i] = int64(i%7) - 2
		}
		return x
	}
	rag := func(values any, splits ...[]int64) tensor.Tensor {
		x, err := FromNestedRowSplits(values, anySplits(splits)...)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	uniform := func(values any, length int) tensor.Tensor {
		x, err := FromUniformRowLength(values, length, nil)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	operands := map[string]tensor.Tensor{
		"rows of vectors":   rag(tensor.Of(numbers(10), 5, 2), []int64{0, 2, 2, 3, 5}),
		"others":            rag(tensor.Of(numbers(12), 6, 2), []int64{0, 1, 3, 3, 6}),
		"uniform matrices":  uniform(tensor.Of(numbers(16), 8, 2), 2),
		"matrices":          rag(tensor.Of(numbers(12), 3, 2, 2), []int64{0, 1, 1, 3}),
		"single":            rag(numbers(6), []int64{0, 2, 4, 6}),
		"not a matrix":      rag(numbers(6), []int64{0, 2, 3, 6}),
		"rows of rows":      rag(numbers(11), []int64{0, 2, 2, 3, 5}, []int64{0, 2, 4, 7, 9, 11}),
		"other rows":        rag(numbers(13), []int64{0, 2, 4, 7, 7}, []int64{0, 2, 4, 5, 6, 6, 6, 13}),
		"lists of matrices": rag(tensor.Of(numbers(10), 5, 2), []int64{0, 1, 3}, []int64{0, 2, 2, 5}),
		"dense":             tensor.Of(numbers(16), 4, 2, 2),
		"dense single":      tensor.Of(numbers(6), 2, 3),
		"two":               tensor.Of(numbers(4), 2, 2),
		"of other type":     ops.Cast(rag(tensor.Of(numbers(10), 5, 2), []int64{0, 2, 2, 3, 5}), dtype.Float32),
		"empty":             rag(tensor.Of(numbers(0), 0, 2), []int64{0, 0}),
	}
	short := 0
	for nx, x := range operands {
		for ny, y := range operands {
			for _, ta := range []bool{false, true} {
				for _, tb := range []bool{false, true} {
					call := func(general bool) (string, tensor.Tensor) {
						generalOnly = general
						out, err := tenon.Try(func() tensor.Tensor { return ops.MatMulT(x, y, ta, tb) })
						if err != nil {
							return err.Error(), nil
						}
						return fmt.Sprint(out.Spec()), out
					}
					got, a := call(false)
					want, b := call(true)
					if got != want || (a == nil) != (b == nil) || a != nil && !sameBits(a, b) {
						t.Errorf("%s × %s, transposed %v %v: %s %v, the general way gives %s %v", nx, ny, ta, tb, got, a, want, b)
					}
					if a != nil {
						short++
					}
				}
			}
		}
	}
	if short < 20 {
		t.Errorf("%d products only", short)
	}
}

func anySplits(splits [][]int64) []any {
	out := make([]any, len(splits))
	for i, s := range splits {
		out[i] = s
	}
	return out
}
