package sparse

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// ReduceOptions says what is reduced. With the zero value, all axes are reduced to a scalar.
type ReduceOptions struct {
	Axes     []int // nil: all
	KeepDims bool  // reduced axes are kept with size 1
	Sparse   bool  // the result is sparse, and has no value where there was nothing to reduce
}

// ReduceSum returns the sum of the values along axes, as a dense or sparse tensor.
func (t *Tensor) ReduceSum(o ReduceOptions) (r tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return t.reduce(o, ops.SegmentSum), nil
}

// ReduceMax returns the largest value along axes. Elements without a value are ignored, so that the
// maximum of negative values is negative; if there is no value at all, a dense result is 0. To
// count elements without a value as zeros, use ops.Max.
func (t *Tensor) ReduceMax(o ReduceOptions) (r tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return t.reduce(o, ops.SegmentMax), nil
}

// ReduceMin is [Tensor.ReduceMax] for the smallest value.
func (t *Tensor) ReduceMin(o ReduceOptions) (r tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return t.reduce(o, ops.SegmentMin), nil
}

// kept returns the axes that are not reduced.
func (t *Tensor) kept(axes []int) []int {
	if axes == nil {
		return nil
	}
	left := upTo(t.rank())
	for _, a := range axes {
		a = t.axis("Reduce", a)
		k := slices.Index(left, a)
		if k < 0 {
			tenon.Throw(bad("Reduce", tenon.ErrAxis, "axis", "axis %d appears twice", a))
		}
		left = slices.Delete(left, k, k+1)
	}
	return left
}

func (t *Tensor) reduce(o ReduceOptions, f func(data, ids, n any) tensor.Tensor) tensor.Tensor {
	s := t.coalesced()
	r := s.groups(s.kept(o.Axes), f)
	if o.KeepDims {
		r = r.restored(t, o.Axes)
	}
	if o.Sparse {
		return r
	}
	return r.dense(nil)
}

// groups reduces the values that agree in the remaining axes.
func (t *Tensor) groups(left []int, f func(data, ids, n any) tensor.Tensor) *Tensor {
	ids, first, _ := rows.Group(t.columns(left)...)
	columns, ns := make([]tensor.Tensor, len(left)), make([]any, len(left))
	for i, a := range left {
		columns[i], ns[i] = ops.Gather(t.column(a), first, 0), t.size(a)
	}
	r := t.build(columns, f(t.values, ids, length(first)), ns).sorted()
	r.canonical = len(left) > 0
	return r
}

// restored inserts the reduced axes of t again with size 1.
func (r *Tensor) restored(t *Tensor, axes []int) *Tensor {
	left := t.kept(axes)
	for a := range t.rank() {
		if !slices.Contains(left, a) {
			r = r.expanded(a)
		}
	}
	return r
}

// extreme returns a maximum or minimum in which elements without a value count as
// zeros.
func (t *Tensor) extreme(o ReduceOptions, segment func(data, ids, n any) tensor.Tensor, both func(x, y any) tensor.Tensor) tensor.Tensor {
	s := t.coalesced()
	stored := s.reduce(o, segment)
	ones := s.withValues(ops.Ones(dtype.Int64, vector(length(s.values))))
	count := ones.reduce(o, ops.SegmentSum)
	return ops.Where(ops.Less(count, s.reducedSize(o.Axes)), both(stored, ops.ZerosLike(stored)), stored)
}

// mean returns the mean, in which elements without a value count as zeros.
func (t *Tensor) mean(o ReduceOptions) tensor.Tensor {
	x := t
	if d := t.DType(); !d.IsFloat() && !d.IsComplex() {
		x = t.withValues(ops.Cast(t.values, dtype.Float64))
	}
	sum := x.reduce(o, ops.SegmentSum)
	return ops.Div(sum, ops.Cast(t.reducedSize(o.Axes), sum.DType()))
}

// reducedSize returns the number of elements per element of the result of a reduction over axes.
func (t *Tensor) reducedSize(axes []int) tensor.Tensor {
	n := tensor.Tensor(tensor.Scalar(int64(1)))
	left := t.kept(axes)
	for a := range t.rank() {
		if !slices.Contains(left, a) {
			n = ops.Mul(n, scalarOf(t.size(a)))
		}
	}
	return n
}

// Softmax returns exp(x)/Σ exp(x) over the values in each row of the last axis. Elements without a
// value are ignored, as if they were −∞.
//
//	t: float[a, n] → [a, n], with values at the same coordinates in row-major order
func (t *Tensor) Softmax() (r *Tensor, err error) {
	defer tenon.Catch(&err)
	k := t.rank()
	if k == 0 || !t.DType().IsFloat() {
		return nil, bad("Softmax", tenon.ErrDType, "", "%v has no rows of floating-point numbers", t.spec)
	}
	s := t.sorted()
	ids, first, _ := rows.Group(s.columns(upTo(k - 1))...)
	n := length(first)
	top := ops.StopGradient(ops.Gather(ops.SegmentMax(s.values, ids, n), ids, 0))
	e := ops.Exp(ops.Sub(s.values, top))
	return s.withValues(ops.Div(e, ops.Gather(ops.SegmentSum(e, ids, n), ids, 0))), nil
}
