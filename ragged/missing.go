package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Functions that make, find, fill and remove missing elements. If something may
// be missing, their results are tensors of package masked; the mask has the
// dimensions outside of what may be missing.

// Mask returns x with those entries missing for which mask is false: elements if the mask has the
// shape of x, and whole rows if it has fewer dimensions.
//
//	x: [n, (m)], mask: bool[n, (m)] or bool[n] → x with missing entries. Gradient: for x, where it is present.
func Mask(x tensor.Tensor, mask any) (y tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	const fn = "ragged.Mask"
	m := tenon.Must(tensor.Convert(mask))
	if o, ok := missing(lifted(m)); ok {
		m = ops.LogicalAnd(o.Full(), withoutMask(o))
	}
	if m.DType() != dtype.Bool {
		return nil, failed(tenon.ErrDType, fn, "mask", "is %s, not boolean", tenon.String(m.Spec()))
	}
	if r, k := x.Shape().Rank(), m.Shape().Rank(); k > r || k == 0 {
		return nil, invalid(fn, "mask", "has %d dimensions, the tensor %d", k, r)
	}
	if r, ok := x.(Records); ok {
		at := tenon.Must(Mask(r.Numbers(), m))
		m, _ := missing(at)
		return masked.New(x, m.Mask())
	}
	values, old, depth := maskedAt(x)
	sameOuter(fn, withoutMask(values), m)
	switch k := m.Shape().Rank(); {
	case old == nil:
		return masked.New(values, m)
	case k == depth:
		return masked.New(values, ops.LogicalAnd(old, m))
	case k < depth:
		return masked.New(x, m)
	}
	inner := tenon.Must(Mask(values, m))
	return masked.New(inner, old)
}

// withoutMask returns the values of x, including filler.
func withoutMask(x tensor.Tensor) tensor.Tensor {
	for {
		m, ok := missing(x)
		if !ok {
			return x
		}
		x = m.Values()
	}
}

// sameOuter throws an error unless x begins with the dimensions of y.
func sameOuter(fn string, x, y tensor.Tensor) {
	if n, m := outermostSize(x), outermostSize(y); n >= 0 && m >= 0 && n != m {
		tenon.Throw(invalid(fn, "mask", "has %d rows, the tensor %d", m, n))
	}
	k := rankOf(y) - 1
	_, a := split(atLeast(x, k))
	_, b := split(atLeast(y, k))
	samePartitions(fn, a[:k], b)
}

// NaNToMissing returns x with NaNs missing; elements of types without NaN are unchanged.
func NaNToMissing(x tensor.Tensor) (y tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	if !x.DType().IsFloat() && !x.DType().IsComplex() {
		return x, nil
	}
	return Mask(x, ops.LogicalNot(ops.IsNaN(withoutMask(lifted(x)))))
}

// IsMissing reports whether each entry of an axis is missing. The result is itself missing below
// missing rows.
//
//	x: [n, (m)] → bool[n] at axis 0, bool[n, (m)] at axis 1. No gradient.
func IsMissing(x tensor.Tensor, axis int) (y tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return isMissing(x, axisIn("ragged.IsMissing", x, axis)), nil
}

func isMissing(x tensor.Tensor, axis int) tensor.Tensor {
	values, mask, depth := maskedAt(x)
	switch {
	case mask != nil && depth == axis+1:
		return ops.LogicalNot(mask)
	case mask != nil && depth <= axis:
		return withMask(isMissing(values, axis), mask)
	case mask != nil:
		return isMissing(values, axis)
	}
	if n := outermostSize(x); axis == 0 && n >= 0 {
		return ops.Zeros(dtype.Bool, []int{n})
	}
	return ops.Less(localIndex(x, axis), int64(0))
}

// DropMissing removes missing entries from x, along one axis or along all.
//
//	x: [n, (m)] with missing elements, axis 1 → [n, (k)]. Gradient: the cotangent at the previous positions.
func DropMissing(x tensor.Tensor, axes ...int) (y tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	at := make([]int, len(axes))
	for i, a := range axes {
		at[i] = axisIn("ragged.DropMissing", x, a)
	}
	return dropped(x, at), nil
}

func dropped(x tensor.Tensor, axes []int) tensor.Tensor {
	values, mask, depth := maskedAt(x)
	if mask == nil {
		return x
	}
	drop := len(axes) == 0
	for _, a := range axes {
		drop = drop || a == depth-1
	}
	if !drop {
		return withMask(dropped(values, axes), mask)
	}
	return dropped(kept(values, mask), axes)
}

// FillMissing returns x with missing elements replaced by value. Given an axis, it replaces what is
// missing along that axis, for example missing rows by a row. A value with fewer dimensions than
// what is missing, such as a scalar for a missing row, becomes a row that contains only the value,
// whereas Awkward's fill_none would mix rows and scalars.
//
//	x: [n, (m)] with missing elements, value: scalar → [n, (m)]. Gradients: for x and for the value.
func FillMissing(x tensor.Tensor, value any, axis ...int) (y tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	const fn = "ragged.FillMissing"
	a := rankOf(x) - 1
	if len(axis) > 0 {
		a = axisIn(fn, x, axis[0])
	}
	return filledAt(fn, x, value, a), nil
}

func filledAt(fn string, x tensor.Tensor, value any, axis int) tensor.Tensor {
	values, mask, depth := maskedAt(x)
	if mask == nil {
		return x
	}
	if depth != axis+1 {
		return withMask(filledAt(fn, values, value, axis), mask)
	}
	if axis == rankOf(values)-1 {
		return ops.Where(mask, values, value)
	}
	if m, ok := missing(values); ok { // missing rows of rows with missing elements
		there := value
		if l, ok := value.([]any); !ok || len(l) > 0 {
			there = ops.Equal(ops.ZerosLike(value), ops.ZerosLike(value))
		}
		return withMask(filledAt(fn, withMask(m.Values(), mask), value, axis), filledAt(fn, withMask(m.Mask(), mask), there, axis))
	}
	// Append a row to replace missing ones after all rows, from where it is
	// gathered.
	v := rowLike(fn, values, value, axis)
	if axis == 0 {
		return gatherRows(ops.Concat([]tensor.Tensor{values, v}, 0), orLast(mask, outerSize(values)))
	}
	l := listsAt(values, axis)
	flat, _ := split(atLeast(mask, axis))
	return l.with(gatherRows(ops.Concat([]tensor.Tensor{l.values, v}, 0), orLast(flat, outerSize(l.values))), l.p)
}

// orLast returns the positions of the entries, with n for missing ones.
func orLast(mask, n tensor.Tensor) tensor.Tensor {
	n = ops.Cast(n, dtype.Int64)
	return ops.Where(mask, numbers(n), n)
}

// rowLike returns a value as a tensor with one row like those of x below an axis.
func rowLike(fn string, x tensor.Tensor, value any, axis int) tensor.Tensor {
	if l, ok := value.([]any); ok && len(l) == 0 {
		return emptyRow(fn, x, axis)
	}
	v, ok := value.(tensor.Tensor)
	if !ok {
		var err error
		v, err = Const(value, Options{})
		tenon.Throw(inNameOf(fn, err))
	}
	want := rankOf(x) - 1 - axis
	for rankOf(v) < want { // a row of one
		v = withAxis(v, 0)
	}
	if rankOf(v) != want {
		tenon.Throw(invalid(fn, "value", "has %d dimensions, a missing entry of axis %d has %d", rankOf(v), axis, want))
	}
	if v.DType() != x.DType() {
		v = ops.Cast(v, x.DType())
	}
	_, parts := split(x)
	return atLeast(withAxis(v, 0), min(max(len(parts)-axis, 0), rankOf(v)))
}

// emptyRow returns a tensor with one row without entries, like those of x below
// an axis.
func emptyRow(fn string, x tensor.Tensor, axis int) tensor.Tensor {
	flat, parts := split(x)
	if len(parts) <= axis {
		if s := x.Shape().Tail(axis + 1); s.IsFull() && s.Rank() > 0 && s.Dim(0) == 0 { // all rows are empty
			return ops.Reshape(part(flat, 0, -flat.Shape().Dim(0)), shape.Concat(shape.Of(1), s))
		}
		tenon.Throw(invalid(fn, "value", "an empty row does not match rows of equal length"))
	}
	d := parts[0].DType()
	none := rowsBetween(flat, 0, 0)
	out := []*RowPartition{newPartition(splitsOf(d, 0, 0), 0)}
	for range parts[axis+1:] {
		out = append(out, newPartition(splitsOf(d, 0), 0))
	}
	return build(none, out)
}

// splitsOf returns row splits of type d.
func splitsOf(d dtype.DType, splits ...int64) tensor.Tensor { return cast(tensor.Vector(splits), d) }

// missing returns x as a tensor with missing elements, if it is one.
func missing(x any) (*masked.Tensor, bool) {
	m, ok := x.(*masked.Tensor)
	return m, ok
}
