package ops_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Functions that have a short way for dense tensors agree with the operation, in
// results and in what they refuse.
func TestShortWays(t *testing.T) {
	x := ops.Cast(ops.Reshape(ops.Range(0, 24, 1), []int{2, 3, 4}), dtype.Float32).(*tensor.Dense)
	operands := map[string]*tensor.Dense{
		"plain": x, "transposed": x.View(0, shape.Of(4, 3, 2), []int{1, 4, 12}), "backward": x.View(23, shape.Of(2, 3, 4), []int{-12, -4, -1}),
		"empty": tensor.NewDense(x.DType(), shape.Of(2, 0, 4)), "repeated": x.View(3, shape.Of(2, 3, 4), []int{0, 0, 0}),
	}
	lookup := func(name string) *op.Op { o, _ := op.Lookup(name); return o }
	for which, x := range operands {
		check := func(name string, short func() tensor.Tensor, args ...any) {
			t.Helper()
			got, err1 := tenon.Try(short)
			want, err2 := op.Do(lookup(name), args...)
			switch {
			case (err1 == nil) != (err2 == nil):
				t.Errorf("%s %s %v: %v and %v", which, name, args[1:], err1, err2)
			case err1 != nil:
				if tenon.AsError(err1).Kind != tenon.AsError(err2).Kind {
					t.Errorf("%s %s %v: %v and %v", which, name, args[1:], err1, err2)
				}
			default:
				w := want[0].(tensor.Tensor)
				if !got.Shape().Equal(w.Shape()) || !cmp.Equal(tensor.Data[float32](got), tensor.Data[float32](w)) {
					t.Errorf("%s %s %v: %v, want %v", which, name, args[1:], got, w)
				}
			}
		}
		for _, perm := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {-1, 0, 1}, {0, 0, 1}, {0, 1}, {3, 0, 1}} {
			check("transpose", func() tensor.Tensor { return ops.Transpose(x, perm...) }, x, perm)
		}
		for _, dims := range [][]int{{24}, {4, -1}, {0, -1}, {2, 3, 4}, {-1, -1}, {5}, {-2, 12}, {0}} {
			check("reshape", func() tensor.Tensor { return ops.Reshape(x, dims) }, x, dims)
		}
		for _, axis := range []int{0, 1, 3, -1, -4, 4, -5} {
			check("expand_dims", func() tensor.Tensor { return ops.ExpandDims(x, axis) }, x, []int{axis})
		}
		for _, dims := range [][]int{{2, 3, 4}, {5, 2, 3, 4}, {4, 3, 2}, {0, 2, 3, 4}, {3, 4}, {2, 3, -1}, {2, 0, 4}, {1 << 40, 1 << 40, 2, 3, 4}} {
			check("broadcast_to", func() tensor.Tensor { return ops.BroadcastTo(x, dims) }, x, dims)
		}
		for _, b := range [][2][]int{{{0, 0, 0}, {1, -1, 2}}, {{1, 0, 1}, {1, 0, 1}}, {{0, 0, 0}, {-1, -1, -1}}, {{0, 0, 4}, {1, 1, 1}}, {{-1, 0, 0}, {1, 1, 1}}, {{0, 0}, {1, 1}}, {{2, 0, 0}, {0, -1, -1}}, {{0, 0, 0}, {-2, 0, 0}}} {
			check("slice", func() tensor.Tensor { return ops.Slice(x, b[0], b[1]) }, x, b[0], b[1])
		}
		for _, axis := range []int{0, 1, 2, -1, 3} {
			for _, idx := range []*tensor.Dense{tensor.Vector([]int{1, 0, 1}), tensor.Vector([]int32{0}), tensor.Vector([]int{}), tensor.Wrap([]int{0, 1, 1, 0}, shape.Of(2, 2)), tensor.Vector([]int{7}), tensor.Vector([]int{-1})} {
				check("gather", func() tensor.Tensor { return ops.Gather(x, idx, axis) }, x, idx, axis)
			}
			for _, list := range [][]tensor.Tensor{{x, x}, {x}, {x, operands["plain"]}, {x, operands["empty"]}, {x, tensor.Vector([]float32{1})}, {}} {
				check("concat", func() tensor.Tensor { return ops.Concat(list, axis) }, list, axis)
			}
		}
		for _, keys := range [][]any{
			{0}, {-1, 0}, {1, 0, 3}, {2}, {0, key.From(1)}, {key.Range(nil, nil, -1), 0}, {key.All, key.Range(2, 0, -1), key.To(2)}, {key.Range(5, 9, 2)}, {key.Ellipsis, 0},
			{key.NewAxis}, {key.All, key.Range(0, 100, 50)}, {0, 0, 0, 0}, {key.Range(nil, nil, 0)}, {key.From(tensor.Scalar(1))}, {key.At(1)}, {key.All, key.All, key.Range(-1, -5, -3)},
		} {
			list, err := key.List(keys...)
			if err != nil {
				t.Fatal(err)
			}
			text, values := key.Split(list)
			check("index", func() tensor.Tensor { return ops.Index(x, keys...) }, x, text, values)
		}
	}
}

// Functions with a short way of products, moments and normalisations, and einsums that were
// planned before, agree bit by bit with the operation.
func TestShortNumbers(t *testing.T) {
	bits := func(x tensor.Tensor) string { return string(tensor.Contiguous(x.(*tensor.Dense)).Bytes()) }
	for _, d := range []dtype.DType{dtype.Float16, dtype.Float32, dtype.Float64, dtype.Int64, dtype.Complex64} {
		for _, dims := range [][]int{{3, 4}, {1, 4}, {3, 1}, {1, 1}, {2, 1, 4}, {2, 3, 4}, {2, 3, 1}, {5, 7, 9, 33}, {0, 4}, {4, 0}} {
			s := shape.Of(dims...)
			x := ops.Cast(ops.Reshape(ops.Sin(ops.Mul(ops.Range(0, s.Size(), 1), 1.7)), dims), dtype.Float64)
			x = ops.Cast(ops.Mul(x, 9), d)
			k := dims[len(dims)-1]
			v := ops.Cast(ops.Mul(ops.Cos(ops.Range(0, k, 1)), 7), d)
			check := func(name string, short func() tensor.Tensor, args ...any) {
				t.Helper()
				o, _ := op.Lookup(name)
				for range 2 { // the second time a plan is kept
					got, err1 := tenon.Try(short)
					want, err2 := op.Do(o, args...)
					if (err1 == nil) != (err2 == nil) {
						t.Errorf("%s of %v%v: %v and %v", name, d, dims, err1, err2)
					} else if err1 == nil && (got.DType() != want[0].(tensor.Tensor).DType() || !got.Shape().Equal(want[0].(tensor.Tensor).Shape()) || bits(got) != bits(want[0].(tensor.Tensor))) {
						t.Errorf("%s of %v%v: %v and %v", name, d, dims, got, want[0])
					}
				}
			}
			check("matvec", func() tensor.Tensor { return ops.MatVec(x, v) }, x, v)
			check("einsum", func() tensor.Tensor { return ops.Einsum("...i,i->...", x, v) }, []tenon.Value{x, v}, "...i,i->...")
			check("einsum", func() tensor.Tensor { return ops.Einsum("ij,jk|2 ", x) }, []tenon.Value{x}, "ij,jk|2 ")
			for _, axis := range []int{0, -1, 5} {
				check("layer_norm", func() tensor.Tensor { return ops.LayerNorm(x, nil, nil, 1e-5, axis) }, x, nil, nil, []int{axis}, 1e-5)
				check("rms_norm", func() tensor.Tensor { return ops.RMSNorm(x, nil, 1e-5, axis) }, x, nil, []int{axis}, 1e-5)
				for ddof := -1; ddof < 3; ddof++ {
					check("reduce_variance", func() tensor.Tensor { return ops.VarianceDDOF(x, ddof, axis) }, x, []int{axis}, false, ddof)
					check("reduce_std", func() tensor.Tensor { return ops.StdDDOF(x, ddof, axis) }, x, []int{axis}, false, ddof)
				}
			}
			check("reduce_std", func() tensor.Tensor { return ops.StdKeep(x) }, x, nil, true, 0)
			check("softmax_cross_entropy_dense", func() tensor.Tensor { return ops.SoftmaxCrossEntropyDense(x, x) }, x, x)
			check("check_numerics", func() tensor.Tensor { return ops.CheckNumerics(x, "") }, x, "")
			check("polygamma", func() tensor.Tensor { return ops.Polygamma(x, 2) }, x, 2)
			check("band_part", func() tensor.Tensor { return ops.BandPart(x, 1, 0) }, x, -1, 0)
		}
	}
}
