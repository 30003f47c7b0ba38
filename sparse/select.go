package sparse

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// Retain returns the tensor with only the values for which keep is true.
//
//	keep: bool[n], one for each value in order
func (t *Tensor) Retain(keep any) (r *Tensor, err error) {
	defer tenon.Catch(&err)
	k := tenon.Must(tensor.Convert(keep))
	if k.DType() != dtype.Bool || !k.Shape().CompatibleWith(t.values.Shape()) {
		return nil, bad("Retain", tenon.ErrShape, "keep", "is %v%v, want a boolean for each of %v values", k.DType(), k.Shape(), t.values.Shape())
	}
	return t.retained(k), nil
}

func (t *Tensor) retained(keep tensor.Tensor) *Tensor {
	r := trusted(ops.BooleanMask(t.indices, keep, 0), ops.BooleanMask(t.values, keep, 0), t.denseShape, t.spec.shape)
	r.canonical = t.canonical
	return r
}

// Mask returns the tensor without the values of some rows, given by their numbers along the
// outermost axis.
func (t *Tensor) Mask(rowNumbers any) (r *Tensor, err error) {
	defer tenon.Catch(&err)
	at := tenon.Must(tensor.Convert(rowNumbers))
	if t.rank() == 0 || at.Shape().Rank() != 1 || !at.DType().IsInteger() {
		return nil, bad("Mask", tenon.ErrShape, "", "%v%v do not identify rows of %v", at.DType(), at.Shape(), t.spec)
	}
	splits, _ := rows.Match([]any{t.column(0)}, []any{ops.Cast(at, dtype.Int64)})
	return t.retained(ops.Equal(rows.Lengths(splits), int64(0))), nil
}

// FillEmptyRows returns the tensor in row-major order with a value added at the first position of
// every row of the outermost axis that has none, and which rows those are.
//
//	t: [n, …], value: one element → [n, …], bool[n]
func (t *Tensor) FillEmptyRows(value any) (r *Tensor, empty tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	k := t.rank()
	if k == 0 {
		return nil, nil, bad("FillEmptyRows", tenon.ErrShape, "", "a scalar has no rows")
	}
	n := t.size(0)
	ones := ops.Ones(dtype.Int64, vector(length(t.values)))
	empty = ops.Equal(ops.SegmentSum(ones, t.column(0), n), int64(0))
	at := ops.Nonzero(empty) // [m, 1]
	m := length(at)
	padded := at
	if k > 1 {
		padded = ops.Concat([]tensor.Tensor{at, ops.Zeros(dtype.Int64, vector(m, k-1))}, 1)
	}
	fill := tenon.Must(tensor.Convert(value))
	if fill.Shape().Rank() > 0 {
		return nil, nil, bad("FillEmptyRows", tenon.ErrShape, "value", "has the shape %v, want one element", fill.Shape())
	}
	if t.DType() != dtype.String && fill.DType() != t.DType() {
		fill = ops.Cast(fill, t.DType())
	}
	values := ops.Concat([]tensor.Tensor{t.values, ops.BroadcastTo(fill, vector(m))}, 0)
	r = trusted(ops.Concat([]tensor.Tensor{t.indices, padded}, 0), values, t.denseShape, t.spec.shape).sorted()
	r.canonical = t.canonical
	return r, empty, nil
}

// MapValues returns a sparse tensor whose values are f of the values of the sparse arguments, which
// must all have values at the same coordinates.
//
//	MapValues(func(v ...tensor.Tensor) tensor.Tensor { return ops.Add(v[0], 5.0) }, t)
func MapValues(f func(values ...tensor.Tensor) tensor.Tensor, ts ...*Tensor) (r *Tensor, err error) {
	defer tenon.Catch(&err)
	if len(ts) == 0 {
		return nil, bad("MapValues", tenon.ErrInvalid, "", "there are no tensors")
	}
	values := make([]tensor.Tensor, len(ts))
	for i, t := range ts {
		if !t.spec.shape.CompatibleWith(ts[0].spec.shape) || !sameCoordinates(t.indices, ts[0].indices) {
			return nil, bad("MapValues", tenon.ErrInvalid, "", "tensors 0 and %d have their values at different coordinates", i)
		}
		values[i] = t.values
	}
	out := f(values...)
	if s := out.Shape(); s.Rank() != 1 || !s.CompatibleWith(values[0].Shape()) {
		return nil, bad("MapValues", tenon.ErrShape, "", "the function returns %v for values of shape %v", s, values[0].Shape())
	}
	return ts[0].withValues(out), nil
}

// sameCoordinates reports whether two tensors of coordinates may be equal. It compares them if both
// are known.
func sameCoordinates(a, b tensor.Tensor) bool {
	if a == b {
		return true
	}
	x, ok := op.Known(a)
	y, ok2 := op.Known(b)
	if !ok || !ok2 {
		return a.Shape().CompatibleWith(b.Shape())
	}
	return tensor.Equal(x, y, tensor.EqualOptions{})
}

// ToIndicator returns booleans that are true at the numbers in each row: the last dimension is
// replaced by one of size n. A number out of range is an error that names it.
//
//	t: int[a, m] → bool[a, n]
func (t *Tensor) ToIndicator(n int) (d tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	k := t.rank()
	if k == 0 || !t.DType().IsInteger() || n < 0 {
		return nil, bad("ToIndicator", tenon.ErrDType, "", "%v does not hold numbers below %d in rows", t.spec, n)
	}
	columns, ns := t.parts()
	columns[k-1], ns[k-1] = ops.Cast(t.values, dtype.Int64), n
	return ops.Greater(ops.ScatterND(stacked(columns, t.values), ops.Ones(dtype.Int64, vector(length(t.values))), vector(ns...)), int64(0)), nil
}
