package named

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/dimtext"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/tensor"
)

// The operations in this file keep all dimensions. What becomes of an element depends on the other
// elements along one dimension.

// Softmax is the function [Softmax] for the names in the list.
func (d Dims) Softmax(x tenon.Value) *Tensor { return d.jointly("named.Softmax", ops.Softmax, x) }

// LogSoftmax is the function [LogSoftmax] for the names in the list.
func (d Dims) LogSoftmax(x tenon.Value) *Tensor {
	return d.jointly(logSoftmax, ops.LogSoftmax, x)
}

const logSoftmax = "named.LogSoftmax"

// worthMoving is the number of elements from which an axis is moved to the innermost position for
// an operation along it: accessing memory with large strides then costs more than moving it once.
const worthMoving = 1 << 14

// innermost returns a large tensor stored with the given dimensions innermost, and their axes
// there. The order of a result is free, so nothing is moved back. In a trace, the layout pass makes
// the result of a contraction in this order right away.
func (t *Tensor) innermost(dims *layout, r *reduction) (*Tensor, []int) {
	n := len(t.spec.names.ids)
	inside := true
	for _, a := range r.axes {
		inside = inside && a >= n-len(r.axes)
	}
	if size := t.data.Shape().Size(); inside || isRagged(t.data) || size >= 0 && size < worthMoving {
		return t, r.axes
	}
	axes := make([]int, len(r.axes))
	for i := range axes {
		axes[i] = n - len(axes) + i
	}
	return t.ordered(r.rest.and(dims)), axes
}

// jointly applies an operation along a single axis to the axes of the list as if they were one.
func (d Dims) jointly(fn string, f func(x any, axis int) tensor.Tensor, x tenon.Value) *Tensor {
	t := tensorOf(fn, x)
	r := d.axesOf(fn, t)
	if t.side != nil {
		tenon.Throw(t.side.seen.check(fn, d.group(), one{"scores", t}))
	}
	switch len(r.axes) {
	case 0:
		fail(tenon.ErrInvalid, fn, "there is no dimension to apply the operation along")
	case 1:
		u, axes := t.innermost(d.group(), r)
		return newTensor(f(u.data, axes[0]), u.spec.names, t.own())
	}
	switch {
	case t.inside(d.group()):
		return t.unpacked(d.jointly(fn, f, t.packed()))
	case isRagged(t.data):
		return d.jointlyRagged(fn, t, fn == logSoftmax)
	}
	u := t.ordered(r.rest.and(d.group()))
	s := ops.Shape(u.data)
	k := len(r.rest.ids)
	merged := ops.Reshape(u.data, ops.Concat([]tensor.Tensor{ops.Slice(s, []int{0}, []int{k}), tensor.Of([]int64{-1})}, 0))
	return newTensor(ops.Reshape(f(merged, -1), s), u.spec.names, t.own()).ordered(t.spec.names)
}

// LayerNorm returns (x - mean) / √(variance + eps) along a dimension or set, times scale plus
// offset, each of which may be nil. Unless they are numbers, scale and offset must have the
// normalized dimensions, and all of their dimensions must be among those of x. The variance is the
// biased one.
func (d Dims) LayerNorm(x tenon.Value, scale, offset any, eps float64) *Tensor {
	const fn = "named.LayerNorm"
	t := tensorOf(fn, x)
	d.normalise(fn, t, one{"scale", nil}, scale)
	d.normalise(fn, t, one{"offset", nil}, offset)
	t, axes := t.innermost(d.group(), d.axesOf(fn, t))
	if a, b, ok := d.parameters(t, scale, offset); ok {
		return newTensor(ops.LayerNorm(t.data, a, b, eps, axes...), t.spec.names, t.own())
	}
	y := newTensor(ops.LayerNorm(t.data, nil, nil, eps, axes...), t.spec.names, t.own())
	return affine(fn, y, scale, offset)
}

// parameters returns scale and offset in the form that the operation accepts, so that they are
// applied in the same pass. That requires that they have exactly the dimensions in the list.
func (d Dims) parameters(t *Tensor, scale, offset any) (a, b any, ok bool) {
	order := t.spec.names.both(d.group())
	take := func(x any) (any, bool) {
		if x == nil {
			return nil, true
		}
		p, named := asNamed(x)
		if !named || p == nil || p.side != nil || t.side != nil || !equalNames(p.spec.names, order) || p.DType() != t.DType() {
			return nil, false
		}
		q := p.ordered(order).data
		for i, n := range order.ids {
			if q.Shape().Dim(i) != t.size(n) || q.Shape().Dim(i) < 0 {
				return nil, false
			}
		}
		return q, !isRagged(t.data)
	}
	if a, ok = take(scale); ok {
		b, ok = take(offset)
	}
	return a, b, ok
}

// RMSNorm returns x / √(mean x² + eps) along a dimension or set, times scale, which may be nil; see
// [LayerNorm].
func (d Dims) RMSNorm(x tenon.Value, scale any, eps float64) *Tensor {
	const fn = "named.RMSNorm"
	t := tensorOf(fn, x)
	d.normalise(fn, t, one{"scale", nil}, scale)
	t, axes := t.innermost(d.group(), d.axesOf(fn, t))
	if a, _, ok := d.parameters(t, scale, nil); ok {
		return newTensor(ops.RMSNorm(t.data, a, eps, axes...), t.spec.names, t.own())
	}
	y := newTensor(ops.RMSNorm(t.data, nil, eps, axes...), t.spec.names, t.own())
	return affine(fn, y, scale, nil)
}

// normalise checks that a scale or offset has the normalized dimensions: one that lacks them was
// usually made for another norm.
func (d Dims) normalise(fn string, t *Tensor, p one, x any) {
	d.axesOf(fn, t) // throws if a dimension is missing
	u, ok := asNamed(x)
	if !ok || u == nil || len(u.spec.names.ids) == 0 {
		return
	}
	lacks := d.group().without(u.spec.names)
	if len(lacks.ids) == 0 {
		return
	}
	p.t = u
	operands := []one{{"tensor", t}, p}
	s := scopeOf(operands)
	msg, hint := dimtext.Unscaled(fn, s.texts(lacks), s.operands(operands)...)
	tenon.Throw(worded(tenon.ErrInvalid, over(fn, d.group()), msg, hint))
}

// affine returns y·scale + offset, whose names must be among those of y.
func affine(fn string, y *Tensor, scale, offset any) *Tensor {
	within := func(x any) any {
		if t, ok := asNamed(x); ok && t != nil && !y.spec.names.hasAll(t.spec.names) {
			throwMissing(fn, t.spec.names.without(y.spec.names).ids[0], one{"tensor", y}, one{"scale or offset", t})
		}
		return x
	}
	if scale != nil {
		y = elementwise(fn, ops.Mul, y, within(scale))
	}
	if offset != nil {
		y = elementwise(fn, ops.Add, y, within(offset))
	}
	return y
}

// CumOptions are the options of cumulative operations; see ops.CumOptions.
type CumOptions = ops.CumOptions

// SortOptions say how elements are sorted; see ops.SortOptions.
type SortOptions = ops.SortOptions

// TopK returns the k largest elements along a dimension in descending order, and their positions,
// as int64. The dimension gets size k. Along a ragged dimension, rows shorter than k give all of
// their elements.
func (d Dims) TopK(x tenon.Value, k int) (values, positions *Tensor) {
	const fn = "named.TopK"
	t := tensorOf(fn, x)
	d.single(fn)
	r := d.axesOf(fn, t)
	if t.raggedAxis(r.axes[0]) {
		if k < 0 {
			fail(tenon.ErrInvalid, over(fn, d.group()), "the number of elements is %d", k)
		}
		first, o := key.Range(nil, k, nil), SortOptions{Descending: true}
		return d.Index(d.Sort(t, o), first), d.Index(d.ArgSort(t, o), first)
	}
	if isRagged(t.data) {
		v, p := d.TopK(t.packed(), k)
		return t.unpacked(v), t.unpacked(p)
	}
	u := t.ordered(r.rest.and(d.group()))
	if n := t.data.Shape().Dim(r.axes[0]); n >= 0 && k > n {
		msg, hint := dimtext.TooMany(d.group().String(), k, one{"tensor", t}.text())
		tenon.Throw(worded(tenon.ErrInvalid, over(fn, d.group()), msg, hint))
	}
	v, p := ops.TopK(u.data, int64(k))
	return newTensor(v, u.spec.names, t.own()), newTensor(p, u.spec.names, t.own())
}

// Reverse returns the elements along a dimension, or along each dimension of a set, in reverse
// order.
func (d Dims) Reverse(x tenon.Value) *Tensor {
	const fn = "named.Reverse"
	t := tensorOf(fn, x)
	r := d.axesOf(fn, t)
	if len(r.axes) == 0 {
		return t
	}
	return newTensor(ops.Reverse(t.data, r.axes...), t.spec.names, t.own())
}

// Roll moves the elements along a dimension toward its end by a number of places; elements moved
// beyond the end reappear at the start.
func (d Dims) Roll(x tenon.Value, shift int) *Tensor {
	return d.along("named.Roll", func(x tensor.Tensor, axis int) tensor.Tensor { return ops.Roll(x, []int{shift}, axis) }, x)
}

// along applies an operation along one axis.
func (d Dims) along(fn string, f func(x tensor.Tensor, axis int) tensor.Tensor, x tenon.Value) *Tensor {
	t := tensorOf(fn, x)
	d.single(fn)
	return newTensor(f(t.data, d.axesOf(fn, t).axes[0]), t.spec.names, t.own())
}

// Cast returns the elements converted to another type.
func Cast(x tenon.Value, d dtype.DType) *Tensor {
	t := tensorOf("named.Cast", x)
	return newTensor(ops.Cast(t.data, d), t.spec.names, t.own())
}
