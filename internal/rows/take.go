package rows

import (
	"errors"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext/codec"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Count returns the number of rows of a value, or shape.Unknown. Components with different numbers
// of rows, and values without rows, are errors.
func Count(v tenon.Value) (n int, err error) {
	defer tenon.Catch(&err)
	w, shared := wayOf(v)
	switch w {
	case asTensor:
		return countTensor(v)
	case boxed:
		ts, err := v.Spec().(tenon.Boxer).Box(v, 1)
		if err != nil {
			return 0, err
		}
		if len(ts) == 0 {
			return shape.Unknown, nil
		}
		return countTensor(ts[0])
	case byComponents:
		parts, err := v.Spec().Disassemble(v)
		if err != nil {
			return 0, err
		}
		return countAll(parts, v.Spec().Components(), shared)
	}
	return 0, noRows(v.Spec())
}

// countAll returns the number of rows of the components that are not shared.
func countAll(parts []tenon.Value, fields []tenon.Field, shared []bool) (int, error) {
	n, seen := shape.Unknown, ""
	for k, p := range parts {
		if shared[k] {
			continue
		}
		m, err := Count(p)
		if err != nil {
			return 0, codec.Within(fields[k].Name, err)
		}
		if m < 0 {
			continue
		}
		if n >= 0 && n != m {
			return 0, codec.Within(fields[k].Name, fail(tenon.ErrShape, "has %d rows, %s has %d", m, seen, n))
		}
		n, seen = m, fields[k].Name
	}
	return n, nil
}

// counted is a tensor whose shape may not include its number of rows.
type counted interface{ NRows() tensor.Tensor }

func countTensor(v tenon.Value) (int, error) {
	t, ok := v.(tensor.Tensor)
	if !ok {
		return 0, noRows(v.Spec())
	}
	s := t.Shape()
	if s.HasRank() && s.Rank() == 0 {
		return 0, fail(tenon.ErrShape, "%s has no rows", tenon.String(v.Spec()))
	}
	if n := s.Dim(0); s.HasRank() && n >= 0 {
		return n, nil
	}
	if r, ok := v.(counted); ok {
		if n, ok := r.NRows().(*tensor.Dense); ok {
			return int(tensor.Item[int64](ops.Cast(n, dtype.Int64))), nil
		}
	}
	return shape.Unknown, nil
}

// CountTensor returns the number of rows as an int64 scalar, which is symbolic if the value is.
func CountTensor(v tenon.Value) (n tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	if n, err := Count(v); err != nil || n >= 0 {
		return tensor.Scalar(int64(n)), err
	}
	w, shared := wayOf(v)
	switch w {
	case asTensor:
		if r, ok := v.(counted); ok {
			return ops.Cast(r.NRows(), dtype.Int64), nil
		}
		return ops.Gather(ops.Shape(v), int64(0), 0), nil
	case boxed:
		ts, err := v.Spec().(tenon.Boxer).Box(v, 1)
		if err != nil {
			return nil, err
		}
		if r, ok := ts[0].(counted); ok {
			return ops.Cast(r.NRows(), dtype.Int64), nil
		}
		return ops.Gather(ops.Shape(ts[0]), int64(0), 0), nil
	case byComponents:
		parts, err := v.Spec().Disassemble(v)
		if err != nil {
			return nil, err
		}
		for k, p := range parts {
			if !shared[k] {
				return CountTensor(p)
			}
		}
	}
	return nil, noRows(v.Spec())
}

// Take returns row i of a value; i is an int, or an integer scalar, which may be symbolic.
func Take(v tenon.Value, i any) (tenon.Value, error) {
	return apart(v, RowSpec, func(t tenon.Value) tensor.Tensor {
		n, isInt := i.(int)
		if r, ok := numberedOf(t); ok && isInt && n >= 0 {
			return tenon.Must(r.AtNumbers(tensor.Scalar(int64(n))))
		}
		if !isInt {
			return ops.Gather(t, i, 0)
		}
		x, err := tenon.Try(func() tensor.Tensor { return ops.Index(t, n) })
		if errors.Is(err, tenon.ErrUnsupported) || errors.Is(err, tenon.ErrDType) { // the type may support rows only by number
			return ops.Gather(t, int64(n), 0)
		}
		return tenon.Must(x, err)
	})
}

// Slice returns the rows [lo, hi) of a value.
func Slice(v tenon.Value, lo, hi int) (tenon.Value, error) {
	if d, ok := v.(*tensor.Dense); ok && d.Rank() > 0 && d.IsContiguous() && 0 <= lo && lo <= hi && hi <= d.Dim(0) {
		dims := d.Shape().Dims()
		dims[0] = hi - lo
		each := 1
		for _, n := range dims[1:] {
			each *= n
		}
		return d.View(lo*each, shape.Of(dims...), d.Strides()), nil
	}
	return apart(v, anyNumber, func(t tenon.Value) tensor.Tensor {
		x, err := tenon.Try(func() tensor.Tensor { return ops.Index(t, key.Range(lo, hi, nil)) })
		if errors.Is(err, tenon.ErrUnsupported) || errors.Is(err, tenon.ErrDType) {
			return ops.Gather(t, ops.Range(int64(lo), int64(hi), int64(1)), 0)
		}
		return tenon.Must(x, err)
	})
}

// Gather returns the rows of a value that are listed in a vector of integers.
func Gather(v tenon.Value, at tensor.Tensor) (tenon.Value, error) {
	return apart(v, anyNumber, func(t tenon.Value) tensor.Tensor {
		if r, ok := numberedOf(t); ok && at.DType() == dtype.Int64 {
			return tenon.Must(r.AtNumbers(at))
		}
		return ops.Gather(t, at, 0)
	})
}

// numbered is a tensor that takes entries by number, without reading the others.
type numbered interface {
	tensor.Tensor
	AtNumbers(at tensor.Tensor) (tensor.Tensor, error)
}

// numberedOf returns a tensor whose rows are its entries, if it takes entries by number.
func numberedOf(v tenon.Value) (numbered, bool) {
	r, ok := v.(numbered)
	return r, ok && r.Shape().Rank() == 1
}

func anyNumber(s tenon.Spec) (tenon.Spec, error) { return resized(s, shape.Unknown) }

// apart applies take to the tensors that hold the rows of a value, and assembles the results
// according to the Spec of the result.
func apart(v tenon.Value, result func(tenon.Spec) (tenon.Spec, error), take func(tenon.Value) tensor.Tensor) (out tenon.Value, err error) {
	defer tenon.Catch(&err)
	s := v.Spec()
	w, shared := wayOf(v)
	switch w {
	case asTensor:
		return take(v), nil
	case boxed:
		ts, err := s.(tenon.Boxer).Box(v, 1)
		if err != nil {
			return nil, err
		}
		if itself(ts, v) {
			return take(v), nil
		}
		for k, t := range ts {
			ts[k] = take(t)
		}
		spec, err := result(s)
		if err != nil {
			return nil, err
		}
		return unboxed(spec, ts)
	case byComponents:
		if _, err := Count(v); err != nil {
			return nil, err
		}
		parts, err := s.Disassemble(v)
		if err != nil {
			return nil, err
		}
		for k, p := range parts {
			if shared[k] {
				continue
			}
			if parts[k], err = apart(p, result, take); err != nil {
				return nil, codec.Within(s.Components()[k].Name, err)
			}
		}
		spec, err := result(s)
		if err != nil {
			return nil, err
		}
		return Assemble(spec, parts)
	}
	return nil, noRows(s)
}

// itself reports whether a value boxes to itself.
func itself(ts []tenon.Value, v tenon.Value) bool { return len(ts) == 1 && ts[0] == v }

func unboxed(s tenon.Spec, ts []tenon.Value) (tenon.Value, error) {
	b, ok := s.(tenon.Boxer)
	if !ok {
		return nil, fail(tenon.ErrUnsupported, "%s is not a tenon.Boxer, but its batch or row is", tenon.String(s))
	}
	return b.Unbox(ts)
}
