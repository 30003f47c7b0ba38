package serve

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/anatomy"
	"github.com/tenonml/tenon/internal/rows"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// Rows are along the first axis of Values of any type, or along any axis of tensors.

// check returns an error if there cannot be rows along the axis.
func (a Arg) check() error {
	if a.Axis == 0 {
		return nil
	}
	if _, ok := a.Spec.(*tensor.Spec); !ok {
		return fmt.Errorf("calls cannot be joined along axis %d of %s, which is %s: only tensors can have rows along an axis other than the first", a.Axis, a.Name, tenon.String(a.Spec))
	}
	if a.Axis < 0 {
		return fmt.Errorf("axis %d of %s is negative; count from the first one", a.Axis, a.Name)
	}
	return nil
}

// rowsFirst returns an error if the rows of an argument or a result are along an axis other than the first, which
// protocols of rows require.
func (f *served) rowsFirst() error {
	for _, list := range [][]Arg{f.Args, f.Results} {
		for _, a := range list {
			if a.Axis > 0 {
				return badInput("the rows of %s are along axis %d, but this call needs rows along the first axis; call it with whole tensors", a.Name, a.Axis)
			}
		}
	}
	return nil
}

// hasRows reports whether values have an axis of rows, of any size.
func (a Arg) hasRows() bool {
	if a.Axis == 0 {
		return hasRows(a.Spec)
	}
	s, ok := a.Spec.(*tensor.Spec)
	return ok && s.Shape().Rank() > a.Axis && s.Shape().Dim(a.Axis) < 0
}

// rowsOf returns the number of rows.
func (a Arg) rowsOf(v tenon.Value) int {
	if a.Axis == 0 {
		return rowsOf(v)
	}
	if t, ok := v.(tensor.Tensor); ok && t.Shape().Rank() > a.Axis {
		return max(t.Shape().Dim(a.Axis), 0)
	}
	return 0
}

// join returns the rows of all values, in order.
func (a Arg) join(values []tenon.Value) (out tenon.Value, err error) {
	if a.Axis == 0 {
		return rows.Concat(values)
	}
	defer tenon.Catch(&err)
	return ops.Concat(values, a.Axis), nil
}

// slice returns rows lo to hi-1.
func (a Arg) slice(v tenon.Value, lo, hi int) (out tenon.Value, err error) {
	if a.Axis == 0 {
		return rows.Slice(v, lo, hi)
	}
	defer tenon.Catch(&err)
	keys := slices.Repeat([]any{key.All}, a.Axis)
	return ops.Index(v, append(keys, key.Range(lo, hi, nil))...), nil
}

// sameRows returns the number of rows of the arguments. For functions of the program and batched ones it checks that
// all arguments have the same number; for other saved models it returns that of the first argument with rows. It is 1
// if no argument has rows.
func (f *served) sameRows(args []tenon.Value) (int, error) {
	n, first := -1, ""
	for i, a := range f.Args {
		if a.Spec == nil || !a.hasRows() {
			continue
		}
		switch rows := a.rowsOf(args[i]); {
		case n < 0:
			n, first = rows, a.Name
		case rows != n && (f.Batched || f.found == nil):
			return 0, badInput("%s has %d rows, but %s has %d", first, n, a.Name, rows)
		}
	}
	if n < 0 {
		n = 1
	}
	return n, nil
}

// hasRows reports whether values of a Spec have a first axis of any size.
func hasRows(s tenon.Spec) bool {
	a := anatomy.OfSpec(s)
	switch a.Kind {
	case anatomy.Optional, anatomy.Named, anatomy.Union, anatomy.Map, anatomy.Held:
		return hasRows(a.Inner)
	case anatomy.Records:
		t, ok := s.(*structured.Spec)
		return ok && t.Rank() > 0 && t.NRows() < 0
	}
	if t, ok := s.(interface{ Shape() shape.Shape }); ok {
		return t.Shape().Rank() > 0 && t.Shape().Dim(0) < 0
	}
	return byRows(s) && !slices.ContainsFunc(a.Fields, func(f tenon.Field) bool { return !hasRows(f.Spec) })
}

// rowsOf returns the size of the first axis of a Value.
func rowsOf(v tenon.Value) int {
	if _, ok := v.(tensor.Tensor); !ok {
		n, err := rows.Count(v)
		if err != nil {
			return 0
		}
		return max(n, 0)
	}
	if t, ok := v.(tensor.Tensor); ok && t.Shape().Rank() > 0 {
		if n := t.Shape().Dim(0); n >= 0 {
			return n
		}
		if d, ok := ops.Shape(t).(*tensor.Dense); ok {
			if s, ok := int64s(d); ok && len(s) > 0 {
				return int(s[0])
			}
		}
	}
	return 0
}
