package shape

import (
	"fmt"

	"github.com/tenonml/tenon/internal/throw"
)

// refuse throws an error. The functions in this file expect axes and sizes that
// the caller has checked.
func (s Shape) refuse(format string, args ...any) {
	throw.Throw(fmt.Errorf("shape: "+format+" (the shape is %v)", append(args, s)...))
}

// With returns the shape with the size of one axis replaced. The axis may count
// from the end; a shape of unknown rank is returned unchanged. With throws if
// there is no such axis or the size is invalid.
func (s Shape) With(axis, size int) Shape {
	if s.Rank() < 0 {
		return s
	}
	if axis < 0 {
		axis += s.Rank()
	}
	if axis < 0 || axis >= s.Rank() || size < Unknown {
		s.refuse("axis %d cannot have size %d", axis, size)
	}
	var b buffer
	d := s.AppendDims(b[:0])
	d[axis] = size
	return make_(d)
}

// Insert returns the shape with a new axis before axis; axis == Rank appends. It
// throws if the axis is out of range, the size is negative other than Unknown, or
// the rank would exceed [MaxRank].
func (s Shape) Insert(axis, size int) Shape {
	if s.Rank() < 0 {
		return s
	}
	if axis < 0 || axis > s.Rank() || size < Unknown || s.Rank() == MaxRank {
		s.refuse("an axis of size %d cannot be inserted at %d", size, axis)
	}
	var room [inline + 1]int
	d := append(s.AppendDims(room[:0]), size)
	copy(d[axis+1:], d[axis:])
	d[axis] = size
	return make_(d)
}

// Remove returns the shape without an axis, which may count from the end. It
// throws if there is no such axis.
func (s Shape) Remove(axis int) Shape {
	if s.Rank() < 0 {
		return s
	}
	if axis < 0 {
		axis += s.Rank()
	}
	if axis < 0 || axis >= s.Rank() {
		s.refuse("there is no axis %d", axis)
	}
	var b buffer
	d := s.AppendDims(b[:0])
	return make_(append(d[:axis], d[axis+1:]...))
}

// Slice returns the axes from lo up to hi. A shape of unknown rank gives
// UnknownRank. Slice throws unless 0 <= lo <= hi <= Rank.
func (s Shape) Slice(lo, hi int) Shape {
	if s.Rank() < 0 {
		return UnknownRank
	}
	if lo < 0 || hi < lo || hi > s.Rank() {
		s.refuse("there are no axes from %d to %d", lo, hi)
	}
	var b buffer
	return make_(s.view(&b)[lo:hi])
}

// Tail returns the axes from lo on. It throws unless 0 <= lo <= Rank.
func (s Shape) Tail(lo int) Shape { return s.Slice(lo, max(0, s.Rank())) }

// Concat returns the axes of all shapes, one after the other. The rank is unknown
// if one of theirs is. It throws if the rank would exceed [MaxRank].
func Concat(shapes ...Shape) Shape {
	var room [2 * inline]int
	dims := room[:0]
	for _, s := range shapes {
		if s.Rank() < 0 {
			return UnknownRank
		}
		dims = s.AppendDims(dims)
	}
	return Of(dims...)
}

// Relaxed returns the shape of the same rank whose sizes are all unknown.
func (s Shape) Relaxed() Shape { return OfRank(s.Rank()) }
