package tenon

import "unique"

// A Keyer is a Spec that remembers its key.
type Keyer interface{ SpecKey() string }

// Key returns the canonical text of s, interned: the keys of equal Specs are the
// same string and compare at the cost of a pointer.
func Key(s Spec) string {
	if k, ok := s.(Keyer); ok {
		return k.SpecKey()
	}
	return unique.Make(Text(s)).Value()
}
