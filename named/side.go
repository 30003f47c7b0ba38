package named

import "github.com/tenonml/tenon"

// A tensor inside Lift has names that the lifted function does not see. Results inherit them, so
// that a tensor from outside that has such a name is detected: there it would mean a different
// dimension.

// refuse throws an error if a layout that an operation makes or meets has a
// hidden name.
func (s *side) refuse(fn string, l *layout, operands ...one) {
	for _, n := range s.hidden.ids {
		if l.has(n) {
			tenon.Throw(errHidden(fn, n, operands...))
		}
	}
}

// sideOf2 returns the side of the result of an operation on two tensors.
func sideOf2(fn string, a, b *Tensor) *side {
	if a.side == nil && b.side == nil {
		return nil
	}
	return sideOf(fn, a, b)
}

// sideOf returns the side of the result of an operation on tensors.
func sideOf(fn string, ts ...*Tensor) *side {
	hidden := none
	for _, t := range ts {
		if t.side != nil {
			hidden = hidden.and(t.side.hidden)
		}
	}
	if hidden == none {
		return nil
	}
	s := &side{hidden: hidden, extra: none}
	for _, t := range ts {
		s.refuse(fn, t.spec.names, several(ts)...)
	}
	return s
}

// own returns the side of a result that depends on a single tensor.
func (t *Tensor) own() *side {
	if t.side == nil || t.side.hidden == none {
		return nil
	}
	return &side{hidden: t.side.hidden, extra: none}
}
