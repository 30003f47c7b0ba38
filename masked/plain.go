package masked

import (
	"fmt"
	"log/slog"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Plain returns the values as plain data, with nil for missing ones; see tensor.Plain.
func (t *Tensor) Plain() (x any, err error) {
	defer tenon.Catch(&err)
	return without(tenon.Must(tensor.Plain(t.values)), tenon.Must(tensor.Plain(t.mask))), nil
}

// without replaces entries by nil where the mask is false. It throws.
func without(x, mask any) any {
	if there, ok := mask.(bool); ok {
		if !there {
			return nil
		}
		return x
	}
	list, _ := mask.([]any)
	entries, ok := x.([]any)
	if !ok || len(entries) != len(list) {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, "masked.Plain", fmt.Sprintf("a mask of %d does not fit a %T", len(list), x)))
	}
	out := make([]any, len(list))
	for i, m := range list {
		out[i] = without(entries[i], m)
	}
	return out
}

// FromPlain makes a tensor from plain data, in which nil stands for missing values; see
// tensor.FromPlain.
func (s *Spec) FromPlain(x any) (v tenon.Value, err error) {
	defer tenon.Catch(&err)
	m, ok := s.mask.(typed)
	if !ok || !m.Shape().HasRank() {
		return nil, tenon.NewError(tenon.ErrUnsupported, "masked.FromPlain", fmt.Sprintf("the depth of the mask of %s is not known", tenon.String(s)))
	}
	var mask []any
	filled := s.fill(x, x, m.Shape().Rank(), &mask)
	v = tenon.Must(s.Assemble([]tenon.Value{tenon.Must(tensor.FromPlain(filled, s.values)), tenon.Must(tensor.FromPlain(mask[0], s.mask))}))
	return v, tenon.Check(v)
}

// fill replaces what is missing by something that fits, and appends to the mask. all is the whole,
// whose present entries show what fits.
func (s *Spec) fill(x, all any, depth int, mask *[]any) any {
	if depth == 0 {
		*mask = append(*mask, x != nil)
		if x == nil {
			return s.filler(all)
		}
		return x
	}
	list, ok := x.([]any)
	if !ok {
		*mask = append(*mask, x)
		return x // the values' Spec will report the error
	}
	out, inner := make([]any, len(list)), []any{}
	for i, y := range list {
		out[i] = s.fill(y, all, depth-1, &inner)
	}
	*mask = append(*mask, inner)
	return out
}

// filler returns a stand-in for missing entries: a present entry, or zeros.
func (s *Spec) filler(all any) any {
	v, ok := s.values.(typed)
	if !ok {
		return nil
	}
	rank := s.mask.(typed).Shape().Rank()
	own := v.Shape()
	if !own.HasRank() || own.Rank() <= rank {
		return zeroOf(v.DType())
	}
	if like := firstThere(all, rank); like != nil {
		return like
	}
	return zeros(own.Slice(rank, own.Rank()), v.DType())
}

// firstThere returns the first entry at a depth that is not missing.
func firstThere(x any, depth int) any {
	list, ok := x.([]any)
	if depth == 0 || !ok {
		return x
	}
	for _, y := range list {
		if z := firstThere(y, depth-1); z != nil {
			return z
		}
	}
	return nil
}

func zeros(s shape.Shape, d dtype.DType) any {
	if s.Rank() == 0 {
		return zeroOf(d)
	}
	out := make([]any, max(0, s.Dim(0)))
	for i := range out {
		out[i] = zeros(s.Slice(1, s.Rank()), d)
	}
	return out
}

func zeroOf(d dtype.DType) any {
	switch {
	case d == dtype.String:
		return ""
	case d.IsBool():
		return false
	}
	return int64(0)
}

// MarshalJSON writes the value as tensor.AppendJSON does.
func (t *Tensor) MarshalJSON() ([]byte, error) { return tensor.AppendJSON(nil, t) }

// LogValue returns one line for package log/slog.
func (t *Tensor) LogValue() slog.Value { return tensor.LogValue(t) }
