package ext

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ext/codec"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Box encodes v as tensors of at least the given rank: those of its fields, one after the other. A
// field that all rows share (batch=keep) is repeated for each row, so that it can be stacked,
// sliced and taken apart like the others; with a field that has no rows (batch=none), only rank 0
// is allowed.
func (s *Spec) Box(v tenon.Value, minRank int) (out []tenon.Value, err error) {
	defer tenon.Catch(&err)
	if v == nil || !tenon.Compatible(s, v.Spec()) {
		return nil, s.fail(tenon.ErrDType, "Box", "", fmt.Sprintf("the value is a %s, want %v", typeNameOf(v), s))
	}
	if minRank > shape.MaxRank {
		return nil, s.fail(tenon.ErrShape, "Box", "", fmt.Sprintf("no tensor has rank %d", minRank))
	}
	parts, err := s.Disassemble(v)
	if err != nil {
		return nil, err
	}
	policies := s.policies()
	var shared []int // indices in out of the fields that all rows share
	var rows tensor.Tensor
	for k, p := range parts {
		f, rank := s.fields[k], minRank
		b, ok := f.Spec.(tenon.Boxer)
		if !ok {
			return nil, s.fail(tenon.ErrUnsupported, "Box", f.Name, fmt.Sprintf("%s cannot be boxed", tenon.String(f.Spec)))
		}
		switch {
		case policies[k] == batchKeep:
			rank = 0
		case policies[k] == batchNone && minRank > 0:
			return nil, s.fail(tenon.ErrUnsupported, "Box", f.Name, "values with this field have no rows (batch=none)")
		}
		boxed, err := b.Box(p, rank)
		if err == nil && len(boxed) != boxedLen(f.Spec) {
			err = s.fail(tenon.ErrUnsupported, "Box", "", fmt.Sprintf("%s boxes into %d tensors", tenon.String(f.Spec), len(boxed)))
		}
		if err != nil {
			return nil, codec.Within(f.Name, err)
		}
		for _, x := range boxed {
			if policies[k] == batchKeep {
				shared = append(shared, len(out))
			} else if t, ok := x.(tensor.Tensor); ok && rows == nil {
				rows = t
			}
			out = append(out, x)
		}
	}
	if minRank <= 0 {
		return out, nil
	}
	for _, i := range shared {
		x, ok := out[i].(tensor.Tensor)
		if !ok || rows == nil {
			return nil, s.fail(tenon.ErrUnsupported, "Box", "", "no field has rows for which to repeat what they share")
		}
		lead := ops.Index(ops.Shape(rows), key.To(minRank))
		out[i] = ops.BroadcastTo(x, ops.Concat([]tensor.Tensor{lead, ops.Shape(x)}, 0))
	}
	return out, nil
}

// boxedLen returns the number of tensors that a value of a Spec is boxed into.
func boxedLen(s tenon.Spec) int {
	d, ok := specOf(s)
	if !ok {
		return 1
	}
	n := 0
	for _, f := range d.fields {
		n += boxedLen(f.Spec)
	}
	return n
}

// Unbox is the inverse of [Spec.Box]. A field that all rows share is taken from
// the first row.
func (s *Spec) Unbox(tensors []tenon.Value) (v tenon.Value, err error) {
	defer tenon.Catch(&err)
	if n := boxedLen(s); len(tensors) != n {
		return nil, s.fail(tenon.ErrInvalid, "Unbox", "", fmt.Sprintf("got %d tensors, want %d", len(tensors), n))
	}
	policies := s.policies()
	parts := make([]tenon.Value, len(s.fields))
	for k, f := range s.fields {
		b, ok := f.Spec.(tenon.Boxer)
		if !ok {
			return nil, s.fail(tenon.ErrUnsupported, "Unbox", f.Name, fmt.Sprintf("%s cannot be boxed", tenon.String(f.Spec)))
		}
		n := boxedLen(f.Spec)
		boxed := tensors[:n]
		if policies[k] == batchKeep {
			boxed = firstRows(f.Spec, boxed)
		}
		if parts[k], err = b.Unbox(boxed); err != nil {
			return nil, codec.Within(f.Name, err)
		}
		tensors = tensors[n:]
	}
	return s.Assemble(parts)
}

// firstRows takes the first row of boxed tensors along each axis that values of the Spec do not
// have.
func firstRows(s tenon.Spec, boxed []tenon.Value) []tenon.Value {
	var out []tenon.Value
	if d, ok := specOf(s); ok {
		for _, f := range d.fields {
			n := boxedLen(f.Spec)
			out = append(out, firstRows(f.Spec, boxed[:n])...)
			boxed = boxed[n:]
		}
		return out
	}
	want, ok := s.(interface{ Shape() shape.Shape })
	for _, x := range boxed {
		if t, isTensor := x.(tensor.Tensor); ok && isTensor && want.Shape().HasRank() && t.Shape().HasRank() {
			for range t.Shape().Rank() - want.Shape().Rank() {
				t = ops.Index(t, 0)
			}
			x = t
		}
		out = append(out, x)
	}
	return out
}
