package shape

import "fmt"

// CompatibleWith reports whether some tensor can have both shapes.
func (s Shape) CompatibleWith(t Shape) bool {
	return s == t || s.compatibleWith(t) // usually they are equal, which saves the call
}

func (s Shape) compatibleWith(t Shape) bool {
	if s.Rank() < 0 || t.Rank() < 0 {
		return true
	}
	if s.Rank() != t.Rank() {
		return false
	}
	for i := range s.Rank() {
		if d, e := s.at(i), t.at(i); d >= 0 && e >= 0 && d != e {
			return false
		}
	}
	return true
}

// SubtypeOf reports whether every tensor of shape s has shape t.
func (s Shape) SubtypeOf(t Shape) bool {
	if t.Rank() < 0 {
		return true
	}
	if s.Rank() != t.Rank() {
		return false
	}
	for i := range s.Rank() {
		if e := t.at(i); e >= 0 && s.at(i) != e {
			return false
		}
	}
	return true
}

// Join returns the most specific shape above both: sizes that differ become
// unknown, and so does the rank if the ranks differ.
func Join(s, t Shape) Shape {
	if s.Equal(t) {
		return s
	}
	if s.Rank() < 0 || s.Rank() != t.Rank() {
		return UnknownRank
	}
	var b buffer
	dims := s.AppendDims(b[:0])
	for i, d := range dims {
		if d != t.at(i) {
			dims[i] = Unknown
		}
	}
	return make_(dims)
}

// Merge returns the most general shape that satisfies both, which combines what
// is known from each. It returns an error if they contradict each other.
func Merge(s, t Shape) (Shape, error) {
	if s.Rank() < 0 {
		return t, nil
	}
	if t.Rank() < 0 {
		return s, nil
	}
	if s.Rank() != t.Rank() {
		return Shape{}, fmt.Errorf("shapes %v and %v have different ranks", s, t)
	}
	var b buffer
	dims := s.AppendDims(b[:0])
	for i, d := range dims {
		switch e := t.at(i); {
		case d < 0:
			dims[i] = e
		case e >= 0 && d != e:
			return Shape{}, fmt.Errorf("shapes %v and %v differ at axis %d: %d and %d", s, t, i, d, e)
		}
	}
	return make_(dims), nil
}

// Broadcast returns the shape of an elementwise operation on operands of the given shapes: axes are
// aligned at the end, and axes that are absent or of size 1 are stretched. An unknown size and a
// known one other than 1 give the known one.
func Broadcast(shapes ...Shape) (Shape, error) {
	if len(shapes) == 0 {
		return Shape{}, nil
	}
	out := shapes[0]
	for _, s := range shapes[1:] {
		var err error
		if out, err = broadcast2(out, s); err != nil {
			return Shape{}, err
		}
	}
	return out, nil
}

func broadcast2(s, t Shape) (Shape, error) {
	if s.Rank() < 0 || t.Rank() < 0 {
		return UnknownRank, nil
	}
	if s.Rank() < t.Rank() {
		s, t = t, s
	}
	var b buffer
	dims := s.AppendDims(b[:0])
	off := s.Rank() - t.Rank()
	changed := false
	for i := range t.Rank() {
		x, y := dims[off+i], t.at(i)
		switch {
		case x == y || y == 1 || y == Unknown && x != 1:
		case x == 1 || x == Unknown:
			dims[off+i], changed = y, true
		default:
			return Shape{}, fmt.Errorf("shapes %v and %v do not broadcast: sizes %d and %d at axis %d", s, t, x, y, i-t.Rank())
		}
	}
	if !changed {
		return s, nil
	}
	return make_(dims), nil
}
