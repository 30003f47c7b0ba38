package ops

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/reduce"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/tensor"
)

// rowKernel is a function of rows of n elements: dst and the operands consist of
// any number of consecutive whole rows.
type rowKernel struct {
	f32 func(dst []float32, x [][]float32, n int)
	f64 func(dst []float64, x [][]float64, n int)
}

// along applies the kernel along an axis of floating-point tensors of one shape.
// Half precision is computed in float32.
func (k rowKernel) along(c *op.Call, axis int, operands ...*tensor.Dense) (*tensor.Dense, error) {
	outer, n, inner, err := around(c, operands[0], axis)
	if err != nil {
		return nil, err
	}
	return k.lines(outer, n, inner, operands...), nil
}

// lines applies the kernel along the middle axis of [outer, n, inner].
func (k rowKernel) lines(outer, n, inner int, operands ...*tensor.Dense) *tensor.Dense {
	d := operands[0].DType()
	if d.Size() == 2 {
		wide := make([]*tensor.Dense, len(operands))
		for i, x := range operands {
			wide[i] = castDense(x, dtype.Float32)
		}
		return castDense(k.lines(outer, n, inner, wide...), d)
	}
	out := tensor.Uninit(d, operands[0].Shape())
	if out.Len() == 0 {
		return out
	}
	if d == dtype.Float64 {
		runLines(k.f64, out, operands, outer, n, inner)
	} else {
		runLines(k.f32, out, operands, outer, n, inner)
	}
	return out
}

func runLines[T float32 | float64](f func(dst []T, x [][]T, n int), out *tensor.Dense, operands []*tensor.Dense, outer, n, inner int) {
	dst := tensor.Elems[T](out)
	xs := make([][]T, len(operands))
	for i, x := range operands {
		xs[i] = tensor.Elems[T](x)
	}
	if inner == 1 {
		f(dst, xs, n)
		return
	}
	reduce.Lines(dst, xs, outer, n, inner, func(dst []T, xs [][]T) { f(dst, xs, len(dst)) })
}

// overAxes applies the kernel over several sorted axes taken together, moving them to the end and
// back if necessary.
func (k rowKernel) overAxes(axes []int, operands ...*tensor.Dense) *tensor.Dense {
	x := operands[0]
	dims := x.Shape().Dims()
	if trailing(axes, len(dims)) {
		lo := len(dims) - len(axes)
		return k.lines(product(dims[:lo]), product(dims[lo:]), 1, operands...)
	}
	if len(axes) == 1 {
		a := axes[0]
		return k.lines(product(dims[:a]), dims[a], product(dims[a+1:]), operands...)
	}
	order, inverse := axesLast(axes, len(dims))
	moved := make([]*tensor.Dense, len(operands))
	for i, x := range operands {
		moved[i] = move.Copied(permuted(x, order))
	}
	lo := len(dims) - len(axes)
	dims = moved[0].Shape().Dims()
	out := k.lines(product(dims[:lo]), product(dims[lo:]), 1, moved...)
	return move.Copied(permuted(out, inverse))
}

// trailing reports whether sorted axes are the last ones.
func trailing(axes []int, rank int) bool {
	for i, a := range axes {
		if a != rank-len(axes)+i {
			return false
		}
	}
	return true
}

// axesLast returns a permutation that puts the given axes last, and its inverse.
func axesLast(axes []int, rank int) (order, inverse []int) {
	order, inverse = make([]int, 0, rank), make([]int, rank)
	for i := range rank {
		if !contains(axes, i, rank) {
			order = append(order, i)
		}
	}
	order = append(order, axes...)
	for i, a := range order {
		inverse[a] = i
	}
	return order, inverse
}
