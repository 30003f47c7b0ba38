package tensor

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/shape"
)

// Box implements [tenon.Boxer.Box] for Specs whose values are tensors, which operations can stack
// and slice as they are: it returns the value itself. It returns an error if the value does not
// belong to s or has fewer than minRank dimensions; a value of unknown rank is accepted.
func Box(s tenon.Spec, v tenon.Value, minRank int) ([]tenon.Value, error) {
	t, err := boxed(s, "Box", v)
	if err != nil {
		return nil, err
	}
	if sh := t.Shape(); minRank > shape.MaxRank || sh.HasRank() && sh.Rank() < minRank {
		return nil, tenon.NewError(tenon.ErrShape, s.TypeName()+".Box", fmt.Sprintf("%s has fewer than %d dimensions", tenon.String(v.Spec()), minRank))
	}
	return []tenon.Value{v}, nil
}

// Unbox implements [tenon.Boxer.Unbox] to go with [Box].
func Unbox(s tenon.Spec, tensors []tenon.Value) (tenon.Value, error) {
	if len(tensors) != 1 {
		return nil, tenon.NewError(tenon.ErrInvalid, s.TypeName()+".Unbox", fmt.Sprintf("got %d tensors, want 1", len(tensors)))
	}
	if _, err := boxed(s, "Unbox", tensors[0]); err != nil {
		return nil, err
	}
	return tensors[0], nil
}

// boxed returns v as a tensor that belongs to s.
func boxed(s tenon.Spec, fn string, v tenon.Value) (Tensor, error) {
	if t, ok := v.(Tensor); ok && tenon.Compatible(s, v.Spec()) {
		return t, nil
	}
	got := "nil, want " + tenon.String(s)
	if v != nil {
		got = fmt.Sprintf("%s, want %s%s", tenon.String(v.Spec()), tenon.String(s), tenon.HiddenDifference(v.Spec(), s))
	}
	return nil, tenon.NewError(tenon.ErrDType, s.TypeName()+"."+fn, "got "+got)
}
