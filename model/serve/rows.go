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

// Rows: those of Values of all types are along the first axis, those of tensors along any one.

// check reports whether there can be rows along an axis.
func (a Arg) check() error {
	if a.Axis == 0 {
		return nil
	}
	if _, ok := a.Spec.(*tensor.Spec); !ok {
		return fmt.Errorf("calls cannot be joined along axis %d of %s, which is %s: only tensors have rows along another axis than the first", a.Axis, a.Name, tenon.String(a.Spec))
	}
	if a.Axis < 0 {
		return fmt.Errorf("axis %d of %s is negative; count from the first one", a.Axis, a.Name)
	}
	return nil
}

// rowsFirst returns an error where the rows of an argument or a result are along another axis than the first: protocols of rows
// define them along that.
func (f *served) rowsFirst() error {
	for _, list := range [][]Arg{f.Args, f.Results} {
		for _, a := range list {
			if a.Axis > 0 {
				return badInput("the rows of %s are along axis %d, and here rows are along the first one: call it with whole tensors", a.Name, a.Axis)
			}
		}
	}
	return nil
}

// hasRows reports whether values have an axis for rows, of any size.
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

// slice returns the rows from lo up to, not including, hi.
func (a Arg) slice(v tenon.Value, lo, hi int) (out tenon.Value, err error) {
	if a.Axis == 0 {
		return rows.Slice(v, lo, hi)
	}
	defer tenon.Catch(&err)
	keys := slices.Repeat([]any{key.All}, a.Axis)
	return ops.Index(v, append(keys, key.Range(lo, hi, nil))...), nil
}

// sameRows checks that all arguments of a function of the program, or of a batched one, have the same number of rows, and
// returns it; of other saved models, that of the first argument with rows. It is 1 where no argument has rows.
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
			return 0, badInput("%s has %d rows, %s has %d", first, n, a.Name, rows)
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
