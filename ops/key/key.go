package key

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// Kind says what a key does.
type Kind uint8

// The kinds of keys.
const (
	AtKind       Kind = iota // one position: the axis is removed
	RangeKind                // positions in steps: the axis stays
	EllipsisKind             // all axes that no other key covers
	NewAxisKind              // adds an axis of size 1
	FieldKind                // a field of a structured value
	ByKind                   // positions or booleans in a tensor
)

// A Key selects a part of a value. Make one with the functions of this package.
type Key struct {
	Kind  Kind
	Start any         // of AtKind (the position) and RangeKind: nil, an int or a tenon.Value
	Stop  any         // for RangeKind
	Step  any         // for RangeKind
	Name  string      // for FieldKind
	Value tenon.Value // for ByKind
}

// Keys without parameters.
var (
	All      = Key{Kind: RangeKind}    // a whole axis
	Ellipsis = Key{Kind: EllipsisKind} // as many whole axes as remain
	NewAxis  = Key{Kind: NewAxisKind}  // a new axis of size 1
)

// At selects one position, an integer or a scalar integer tensor; the axis is
// removed. A position out of bounds is an error.
func At(position any) Key { return Key{Kind: AtKind, Start: position} }

// Range selects the positions from start up to, but not including, stop in steps. Each may be nil,
// for the ends of the axis and steps of 1.
func Range(start, stop, step any) Key {
	return Key{Kind: RangeKind, Start: start, Stop: stop, Step: step}
}

// From selects the positions from start on.
func From(start any) Key { return Range(start, nil, nil) }

// To selects the positions before stop.
func To(stop any) Key { return Range(nil, stop, nil) }

// Field selects a field of a structured value.
func Field(name string) Key { return Key{Kind: FieldKind, Name: name} }

// By selects the positions that an integer tensor lists, or those where a boolean
// tensor is true. The axes of an integer tensor replace the selected axis; a
// boolean tensor covers as many axes as it has and replaces them by one.
func By(v tenon.Value) Key { return Key{Kind: ByKind, Value: v} }

// List makes keys from Go values: a Key is kept, an integer or a scalar integer
// tensor becomes [At], a string [Field], and any other Value [By].
func List(keys ...any) ([]Key, error) {
	out := make([]Key, len(keys))
	for i, k := range keys {
		switch k := k.(type) {
		case Key:
			out[i] = k
		case int:
			out[i] = At(k)
		case int64:
			out[i] = At(int(k))
		case int32:
			out[i] = At(int(k))
		case string:
			out[i] = Field(k)
		case tenon.Value:
			if t, ok := k.(tensor.Tensor); ok && t.DType().IsInteger() && t.Shape().IsScalar() {
				out[i] = At(k)
			} else {
				out[i] = By(k)
			}
		default:
			return nil, wrong(i, "a %T is not a key", k)
		}
		if err := out[i].check(i); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func wrong(i int, format string, args ...any) *tenon.Error {
	return &tenon.Error{Kind: tenon.ErrDType, Where: fmt.Sprintf("key %d", i), Msg: fmt.Sprintf(format, args...)}
}

func (k Key) check(i int) error {
	if k.Kind == ByKind && k.Value == nil {
		return wrong(i, "the tensor of positions is nil")
	}
	if k.Kind == AtKind && k.Start == nil {
		return wrong(i, "the position is nil")
	}
	for _, b := range []any{k.Start, k.Stop, k.Step} {
		switch b := b.(type) {
		case nil, int, int32, int64:
		case tensor.Tensor:
			if !b.DType().IsInteger() || b.Shape().HasRank() && !b.Shape().IsScalar() {
				return wrong(i, "a bound is a %v%v, want an integer scalar", b.DType(), b.Shape())
			}
		default:
			return wrong(i, "a bound is a %T, want an integer or a scalar tensor", b)
		}
	}
	return nil
}

// IsAll reports whether the key is [All].
func (k Key) IsAll() bool {
	return k.Kind == RangeKind && k.Start == nil && k.Stop == nil && k.Step == nil
}

// bound returns the value of a bound. set reports whether there is a bound, and known whether its
// value is known.
func bound(b any) (n int, set, known bool) {
	switch b := b.(type) {
	case nil:
		return 0, false, true
	case int:
		return b, true, true
	case int32:
		return int(b), true, true
	case int64:
		return int(b), true, true
	}
	t, ok := op.Known(b)
	if !ok {
		return 0, true, false
	}
	v, ok := op.Ints(t)
	if !ok || len(v) != 1 {
		return 0, true, false
	}
	return v[0], true, true
}

// Position returns the position that a key of AtKind selects on an axis of size
// n; known is false if it is not known. A position that is out of bounds is an
// error of kind tenon.ErrRange.
func (k Key) Position(n int) (at int, known bool, err error) {
	p, _, known := bound(k.Start)
	if !known || n < 0 {
		return 0, false, nil
	}
	if p < -n || p >= n {
		return 0, true, &tenon.Error{Kind: tenon.ErrRange, Msg: fmt.Sprintf("position %d is out of bounds for an axis of size %d", p, n)}
	}
	if p < 0 {
		p += n
	}
	return p, true, nil
}

// Span returns the first position, the number of positions and the step that a
// key of RangeKind selects on an axis of size n. known is false if a bound is not
// known, or if n matters and is not known (negative). A step of 0 is an error.
func (k Key) Span(n int) (first, count, step int, known bool, err error) {
	start, hasStart, ok1 := bound(k.Start)
	stop, hasStop, ok2 := bound(k.Stop)
	step, hasStep, ok3 := bound(k.Step)
	if !hasStep {
		step = 1
	}
	if ok3 && step == 0 {
		return 0, 0, 0, true, &tenon.Error{Kind: tenon.ErrInvalid, Msg: "the step is 0"}
	}
	if !ok1 || !ok2 || !ok3 || n < 0 {
		return 0, 0, 0, false, nil
	}
	lo, hi := 0, n // bounds are clipped to this range
	if step < 0 {
		lo, hi = -1, n-1
	}
	place := func(b int) int {
		if b < 0 {
			b += n
		}
		return min(max(b, lo), hi)
	}
	first, end := lo, hi
	if step < 0 {
		first, end = hi, lo
	}
	if hasStart {
		first = place(start)
	}
	if hasStop {
		end = place(stop)
	}
	switch {
	case step > 0 && end > first:
		count = (end-first-1)/step + 1
	case step < 0 && end < first:
		count = (first-end-1)/-step + 1
	}
	return first, count, step, true, nil
}

// Expand checks a list of keys against a rank and replaces an ellipsis by whole
// axes, appending one if there is none. In the result there are as many keys of
// kinds AtKind, RangeKind and ByKind as there are axes, with NewAxisKind among
// them. An unknown rank is an error.
func Expand(keys []Key, rank int) ([]Key, error) {
	used, at := 0, -1
	for i, k := range keys {
		switch k.Kind {
		case EllipsisKind:
			if at >= 0 {
				return nil, &tenon.Error{Kind: tenon.ErrInvalid, Where: fmt.Sprintf("key %d", i), Msg: "there is a second ellipsis"}
			}
			at = i
		case NewAxisKind:
		case FieldKind:
			return nil, &tenon.Error{Kind: tenon.ErrDType, Where: fmt.Sprintf("key %d", i), Msg: fmt.Sprintf("a tensor has no field %q", k.Name)}
		default:
			used += k.Axes()
		}
	}
	if rank < 0 {
		return nil, &tenon.Error{Kind: tenon.ErrShape, Msg: "the rank is not known"}
	}
	if used > rank {
		return nil, &tenon.Error{Kind: tenon.ErrShape, Msg: fmt.Sprintf("keys for %d axes, the tensor has %d", used, rank)}
	}
	if at < 0 && used == rank {
		return keys, nil
	}
	if at < 0 {
		at = len(keys)
	}
	out := make([]Key, 0, len(keys)+rank-used)
	out = append(out, keys[:at]...)
	for range rank - used {
		out = append(out, All)
	}
	if at < len(keys) {
		out = append(out, keys[at+1:]...)
	}
	return out, nil
}

// Axes returns the number of axes of a value that the key covers.
func (k Key) Axes() int {
	switch k.Kind {
	case AtKind, RangeKind:
		return 1
	case ByKind:
		if t, ok := k.Value.(tensor.Tensor); ok && t.DType().IsBool() {
			return max(t.Shape().Rank(), 0)
		}
		return 1
	}
	return 0
}
