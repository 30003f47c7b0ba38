package tenon

import "github.com/tenonml/tenon/shape"

// Equal reports whether two Specs are the same: the same type name and the same
// encoding.
func Equal(a, b Spec) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	if e, ok := a.(Equaler); ok {
		return e.EqualSpec(b)
	}
	if e, ok := b.(Equaler); ok {
		return e.EqualSpec(a)
	}
	return a.TypeName() == b.TypeName() && EqualEncoding(a.Encode(), b.Encode())
}

// Subtype reports whether every value of a is also one of b. By default the types
// must be the same, shapes and nested Specs inside the encodings may be subtypes,
// and all other static data must be equal.
func Subtype(a, b Spec) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	if s, ok := a.(Subtyper); ok {
		return s.SubtypeOf(b)
	}
	return SubtypeByEncoding(a, b)
}

// SubtypeByEncoding is the default rule of [Subtype], for types that refine it.
func SubtypeByEncoding(a, b Spec) bool {
	return a.TypeName() == b.TypeName() &&
		relate(a.Encode(), b.Encode(), relation{shapes: shape.Shape.SubtypeOf, specs: Subtype})
}

// Compatible reports whether some value belongs to both Specs.
func Compatible(a, b Spec) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	if c, ok := a.(Compatibler); ok {
		return c.CompatibleWith(b)
	}
	if c, ok := b.(Compatibler); ok {
		return c.CompatibleWith(a)
	}
	return CompatibleByEncoding(a, b)
}

// CompatibleByEncoding is the default rule of [Compatible].
func CompatibleByEncoding(a, b Spec) bool {
	return a.TypeName() == b.TypeName() &&
		relate(a.Encode(), b.Encode(), relation{shapes: shape.Shape.CompatibleWith, specs: Compatible})
}

// Belongs reports whether v is a value of s: its own Spec is a subtype of s.
func Belongs(v Value, s Spec) bool { return v != nil && Subtype(v.Spec(), s) }

// Merge returns the most specific Spec that is above all the given ones, and
// false if there is none. It never guesses: Specs whose static data differ cannot
// be merged.
func Merge(a Spec, rest ...Spec) (Spec, bool) {
	for _, b := range rest {
		var ok bool
		if a, ok = merge2(a, b); !ok {
			return nil, false
		}
	}
	return a, a != nil
}

func merge2(a, b Spec) (Spec, bool) {
	if a == nil || b == nil {
		return nil, false
	}
	if Equal(a, b) {
		return a, true
	}
	if m, ok := a.(Merger); ok {
		return m.MergeWith(b)
	}
	return MergeByEncoding(a, b)
}

// MergeByEncoding is the default rule of [Merge]. The type must be registered, so
// that the merged Spec can be decoded.
func MergeByEncoding(a, b Spec) (Spec, bool) {
	if a.TypeName() != b.TypeName() {
		return nil, false
	}
	e, ok := merge(a.Encode(), b.Encode())
	if !ok {
		return nil, false
	}
	s, err := Decode(a.TypeName(), e)
	return s, err == nil
}
