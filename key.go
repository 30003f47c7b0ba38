package tenon

import "unique"

// A Keyer is a Spec that remembers its key.
type Keyer interface{ SpecKey() string }

// Key returns the canonical text of s, interned: equal Specs have the same string
// as key, so that comparing keys costs no more than comparing pointers.
func Key(s Spec) string {
	if k, ok := s.(Keyer); ok {
		return k.SpecKey()
	}
	return unique.Make(Text(s)).Value()
}
