package shape

import "fmt"

// CompatibleWith reports whether some tensor has both shapes.
func (s Shape) CompatibleWith(t Shape) bool {
	if s.rank < 0 || t.rank < 0 {
		return true
	}
	if s.rank != t.rank {
		return false
	}
	b := t.view()
	for i, d := range s.view() {
		if d >= 0 && b[i] >= 0 && d != b[i] {
			return false
		}
	}
	return true
}

// SubtypeOf reports whether every tensor of shape s has shape t.
func (s Shape) SubtypeOf(t Shape) bool {
	if t.rank < 0 {
		return true
	}
	if s.rank != t.rank {
		return false
	}
	b := t.view()
	for i, d := range s.view() {
		if b[i] >= 0 && d != b[i] {
			return false
		}
	}
	return true
}

// Join returns the most specific shape above both: sizes that differ become
// unknown, and so does the rank if it differs.
func Join(s, t Shape) Shape {
	if s.Equal(t) {
		return s
	}
	if s.rank < 0 || s.rank != t.rank {
		return UnknownRank
	}
	dims, b := s.Dims(), t.view()
	for i, d := range dims {
		if d != b[i] {
			dims[i] = Unknown
		}
	}
	return make_(dims)
}

// Merge returns the most general shape that satisfies both: what one of them
// knows. It is an error where they contradict each other.
func Merge(s, t Shape) (Shape, error) {
	if s.rank < 0 {
		return t, nil
	}
	if t.rank < 0 {
		return s, nil
	}
	if s.rank != t.rank {
		return Shape{}, fmt.Errorf("shapes %v and %v have different ranks", s, t)
	}
	dims, b := s.Dims(), t.view()
	for i, d := range dims {
		switch {
		case d < 0:
			dims[i] = b[i]
		case b[i] >= 0 && d != b[i]:
			return Shape{}, fmt.Errorf("shapes %v and %v differ at axis %d: %d and %d", s, t, i, d, b[i])
		}
	}
	return make_(dims), nil
}

// Broadcast returns the shape of an elementwise operation on operands of the
// given shapes: axes are aligned at the end, and a size 1 or an absent axis
// stretches. An unknown size against a known one other than 1 gives the known one.
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
	if s.rank < 0 || t.rank < 0 {
		return UnknownRank, nil
	}
	if s.rank < t.rank {
		s, t = t, s
	}
	a, b := s.view(), t.view()
	off := len(a) - len(b)
	out := s
	if s.more != nil {
		out = make_(a)
	}
	o := out.view()
	for i := range b {
		x, y := a[off+i], b[i]
		switch {
		case x == y || y == 1:
		case x == 1:
			o[off+i] = y
		case x == Unknown:
			o[off+i] = y
		case y == Unknown:
		default:
			return Shape{}, fmt.Errorf("shapes %v and %v do not broadcast: sizes %d and %d at axis %d", s, t, x, y, i-len(b))
		}
	}
	return out, nil
}
