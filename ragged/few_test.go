package ragged

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/tensor"
)

// The short ways give what the general way gives, the Spec included.
func TestFewRows(t *testing.T) {
	flat := func(n int, dims ...int) tensor.Tensor {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(i)
		}
		return tensor.Of(x, dims...)
	}
	make1 := func(values tensor.Tensor, splits ...int64) *Tensor {
		x, err := FromRowSplits(values, splits)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	mask := make1(tensor.Of([]bool{true, false, true, true, false}), 0, 2, 2, 5)
	cases := map[string]*Tensor{
		"values": make1(flat(5, 5), 0, 2, 2, 5),
		"items":  make1(flat(10, 5, 2), 0, 2, 2, 5),
		"empty":  make1(flat(0, 0), 0, 0, 0, 0),
	}
	for name, x := range cases {
		for op, f := range map[string]func() tensor.Tensor{
			"gather":  func() tensor.Tensor { return ops.Gather(x, []int64{2, 0, 2, 1}, 0) },
			"no rows": func() tensor.Tensor { return ops.Gather(x, []int64{}, 0) },
			"mask": func() tensor.Tensor {
				if x.flat.Shape().Dim(0) == 0 {
					return x
				}
				return ops.BooleanMask(x, mask, 0)
			},
			"by mask": func() tensor.Tensor { return ops.Index(x, key.By(tensor.Of([]bool{false, true, true}))) },
			"tile": func() tensor.Tensor {
				times := []int{2, 3}
				if x.rank() > 2 {
					times = append(times, 1)
				}
				return ops.Tile(x, times)
			},
			"tile nothing": func() tensor.Tensor {
				times := []int{0, 2}
				if x.rank() > 2 {
					times = append(times, 1)
				}
				return ops.Tile(x, times)
			},
			"repeat rows":          func() tensor.Tensor { return ops.Repeat(x, 3, 0) },
			"repeat entries":       func() tensor.Tensor { return ops.Repeat(x, 2, 1) },
			"sum of rows":          func() tensor.Tensor { return ops.Sum(x, 0) },
			"product of rows":      func() tensor.Tensor { return ops.Prod(x, 0) },
			"largest by position":  func() tensor.Tensor { return ops.Max(x, 0) },
			"segments":             func() tensor.Tensor { return ops.SegmentSum(x, []int64{1, 3, 1}, int64(4)) },
			"smallest of segments": func() tensor.Tensor { return ops.SegmentMin(x, []int64{1, 3, 1}, int64(5)) },
			"coordinates": func() tensor.Tensor {
				at, _, _, err := x.ToSparse()
				if err != nil {
					t.Fatal(err)
				}
				return at
			},
			"counts": func() tensor.Tensor {
				if x.rank() > 2 {
					return x
				}
				n, err := BinCountRows(ops.Cast(x, dtype.Int64).(*Tensor), BinCountOptions{})
				if err != nil {
					t.Fatal(err)
				}
				return n
			},
			"pairs":         func() tensor.Tensor { return must(Combinations(x, 2, 1, CombinationOptions{})) },
			"product":       func() tensor.Tensor { return must(Cartesian([]tensor.Tensor{x, mask, x}, 1, CartesianOptions{})) },
			"last of parts": func() tensor.Tensor { return ops.Split(x, []int{1, 2}, 0)[1] },
			"index by mask": func() tensor.Tensor {
				if x.flat.Shape().Dim(0) == 0 {
					return x
				}
				return ops.Index(x, mask)
			},
			"element": func() tensor.Tensor {
				if x.flat.Shape().Dim(0) == 0 {
					return x
				}
				return ops.Index(x, -1, 1)
			},
			"box": func() tensor.Tensor {
				_, _, box, err := x.ToSparse()
				if err != nil {
					t.Fatal(err)
				}
				return box
			},
			"stack":         func() tensor.Tensor { return ops.Stack([]tensor.Tensor{x, x}, 0) },
			"stack rows":    func() tensor.Tensor { return ops.Stack([]tensor.Tensor{x, x, x}, 1) },
			"stack items":   func() tensor.Tensor { return ops.Stack([]tensor.Tensor{x, x, x}, 2) },
			"stack at end":  func() tensor.Tensor { return ops.Stack([]tensor.Tensor{x, x}, -1) },
			"ranges":        func() tensor.Tensor { return ops.Index(x, key.From(1), key.Range(1, -1, nil)) },
			"ranges turned": func() tensor.Tensor { return ops.Index(x, key.Range(nil, nil, -1), key.Range(nil, 0, -2)) },
			"block": func() tensor.Tensor {
				begin, size := []int{1, 1}, []int{2, 2}
				if x.rank() > 2 {
					begin, size = append(begin, 0), append(size, -1)
				}
				return ops.Slice(x, begin, size)
			},
			"stitched": func() tensor.Tensor {
				return tenon.Must(DynamicStitch([]tensor.Tensor{tensor.Of([]int64{4, 1, 0}), tensor.Of([]int64{1, 6, 2})}, []tensor.Tensor{x, x}))
			},
		} {
			short := f()
			generalOnly = true
			general := f()
			generalOnly = false
			if a, b := fmt.Sprint(short.Spec()), fmt.Sprint(general.Spec()); a != b {
				t.Errorf("%s of %s has the Spec %s, the general way gives %s", op, name, a, b)
			}
			if a, b := show(short), show(general); a != b {
				t.Errorf("%s of %s is %s, the general way gives %s", op, name, a, b)
			}
		}
	}
}

func show(x tensor.Tensor) string { return fmt.Sprint(x) }

// The short ways of selections agree with the general way on special values and ties.
func TestFewSelected(t *testing.T) {
	nan, zero := float32(math.NaN()), float32(math.Copysign(0, -1))
	x, err := FromRowSplits([]float32{1, nan, 0, zero, 1, nan, 2, 2, nan, nan, 3, -1, 5}, []int64{0, 6, 6, 8, 10, 13})
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func() []tensor.Tensor{
		"unique": func() []tensor.Tensor {
			values, inverse, counts, first := ops.Unique(x)
			return []tensor.Tensor{values, inverse, counts, first}
		},
		"none": func() []tensor.Tensor { return pair(ops.TopK(x, 0)) },
		"one":  func() []tensor.Tensor { return pair(ops.TopK(x, 1)) },
		"two":  func() []tensor.Tensor { return pair(ops.TopK(x, 2)) },
		"ten":  func() []tensor.Tensor { return pair(ops.TopK(ops.Cast(x, dtype.Float64), 10)) },
	} {
		short := f()
		generalOnly = true
		general := f()
		generalOnly = false
		for i := range short {
			if a, b := show(short[i]), show(general[i]); a != b {
				t.Errorf("result %d of %s is %s, the general way gives %s", i, name, a, b)
			}
			if a, b := fmt.Sprint(short[i].Spec()), fmt.Sprint(general[i].Spec()); a != b {
				t.Errorf("result %d of %s has the Spec %s, the general way gives %s", i, name, a, b)
			}
		}
	}
}

func pair(a, b tensor.Tensor) []tensor.Tensor { return []tensor.Tensor{a, b} }

// must returns the last of several results.
func must(parts []tensor.Tensor, err error) tensor.Tensor {
	if err != nil {
		panic(err)
	}
	return parts[len(parts)-1]
}

// The number of segments is one number, for rows of one length too, which tell how many
// there are by it.
func TestSegmentsAreCountedByAScalar(t *testing.T) {
	x, err := FromUniformRowLength([]float64{1, 2, 3, 4}, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tenon.Try(func() tensor.Tensor { return ops.SegmentSum(x, []int64{0, 0}, []int64{1}) }); !errors.Is(err, tenon.ErrShape) {
		t.Errorf("got %v", err)
	}
}
