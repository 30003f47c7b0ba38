package ragged

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Functions that make, find, fill and remove missing elements. Their results are
// tensors of package masked where something may be missing: the mask has as many
// dimensions as lie outside of what is missing.

// Mask returns x without what the mask does not have: elements where the mask has the
// shape of x, whole rows where it has fewer dimensions.
//
//	x: [n, (m)], mask: bool[n, (m)] or bool[n] → x with missing entries. Gradient: of x, where it is there.
func Mask(x tensor.Tensor, mask any) (y tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	const fn = "ragged.Mask"
	m := tenon.Must(tensor.Convert(mask))
	if o, ok := missing(lifted(m)); ok {
		m = ops.LogicalAnd(o.Full(), withoutMask(o))
	}
	if m.DType() != dtype.Bool {
		return nil, &tenon.Error{Kind: tenon.ErrDType, Op: fn, Where: "mask", Msg: fmt.Sprintf("is %s, not boolean", tenon.String(m.Spec())), Line: source.Line()}
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
	tenon.Throw(sameOuter(fn, withoutMask(values), m))
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

// withoutMask returns the values of x, filler included.
func withoutMask(x tensor.Tensor) tensor.Tensor {
	for {
		m, ok := missing(x)
		if !ok {
			return x
		}
		x = m.Values()
	}
}

// sameOuter fails unless x starts with the dimensions of y.
func sameOuter(fn string, x, y tensor.Tensor) error {
	if n, m := outermostSize(x), outermostSize(y); n >= 0 && m >= 0 && n != m {
		return invalid(fn, "mask", "has %d rows, the tensor %d", m, n)
	}
	k := rankOf(y) - 1
	if k == 0 {
		return nil
	}
	_, a := split(atLeast(x, k))
	_, b := split(atLeast(y, k))
	for i := range k {
		d := widest([]*RowPartition{a[i], b[i]})
		if err := sameRows(fn, a[i].as(d), b[i].as(d)); err != nil {
			return err
		}
	}
	return nil
}

// NaNToMissing returns x without its NaNs; elements of a type that has none stay as they are.
func NaNToMissing(x tensor.Tensor) (y tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	if !x.DType().IsFloat() && !x.DType().IsComplex() {
		return x, nil
	}
	return Mask(x, ops.LogicalNot(ops.IsNaN(withoutMask(lifted(x)))))
}

// IsMissing tells for each entry of an axis whether it is missing. Below missing rows it
// is missing itself.
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

// DropMissing returns x without what is missing: at one axis, or at every one.
//
//	x: [n, (m)] with missing elements, axis 1 → [n, (k)]. Gradient: the cotangent in the old places.
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

// FillMissing returns x with a value for each missing element, or with axis, a position
// in a list, for what is missing there: for a missing row a row. A value with fewer
// dimensions than that, such as a scalar for a missing row, makes a row that holds it
// alone, where Awkward's fill_none would mix rows and scalars.
//
//	x: [n, (m)] with missing elements, value: scalar → [n, (m)]. Gradient: of x and of the value.
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
	if m, ok := missing(values); ok { // rows that lack elements among missing ones
		there := value
		if l, ok := value.([]any); !ok || len(l) > 0 {
			there = ops.Equal(ops.ZerosLike(value), ops.ZerosLike(value))
		}
		return withMask(filledAt(fn, withMask(m.Values(), mask), value, axis), filledAt(fn, withMask(m.Mask(), mask), there, axis))
	}
	// A row for what is missing: it goes behind all rows, to be taken from there.
	v := rowLike(fn, values, value, axis)
	if axis == 0 {
		return gatherRows(ops.Concat([]tensor.Tensor{values, v}, 0), orLast(mask, outerSize(values)))
	}
	l := listsAt(values, axis)
	flat, _ := split(atLeast(mask, axis))
	return l.with(gatherRows(ops.Concat([]tensor.Tensor{l.values, v}, 0), orLast(flat, outerSize(l.values))), l.p)
}

// orLast returns the positions of n entries, and n for those that are missing.
func orLast(mask, n tensor.Tensor) tensor.Tensor {
	n = ops.Cast(n, dtype.Int64)
	return ops.Where(mask, numbers(n), n)
}

// rowLike returns a value as a tensor with one row of the kind that x has below an axis.
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
	return atLeast(withAxis(v, 0), min(raggedBelow(x, axis), rankOf(v)))
}

// raggedBelow returns how many partitions x has below an axis.
func raggedBelow(x tensor.Tensor, axis int) int {
	_, parts := split(x)
	return max(len(parts)-axis, 0)
}

// emptyRow returns one row without entries of the kind that x has below an axis.
func emptyRow(fn string, x tensor.Tensor, axis int) tensor.Tensor {
	flat, parts := split(x)
	if len(parts) <= axis {
		if s := x.Shape().Tail(axis + 1); s.IsFull() && s.Rank() > 0 && s.Dim(0) == 0 { // all rows are empty
			return ops.Reshape(part(flat, 0, -flat.Shape().Dim(0)), shape.Concat(shape.Of(1), s))
		}
		tenon.Throw(invalid(fn, "value", "an empty row does not fit rows of one length"))
	}
	d := parts[0].DType()
	none := rowsBetween(flat, 0, 0)
	out := []*RowPartition{newPartition(splitsOf(d, 0, 0), 0)}
	for range parts[axis+1:] {
		out = append(out, newPartition(splitsOf(d, 0), 0))
	}
	return build(none, out)
}

// splitsOf returns row splits of a type.
func splitsOf(d dtype.DType, splits ...int64) tensor.Tensor { return cast(tensor.Vector(splits), d) }

// missing returns x as a tensor that may lack elements, if it is one.
func missing(x any) (*masked.Tensor, bool) {
	m, ok := x.(*masked.Tensor)
	return m, ok
}
