package shape

import "slices"

// With returns the shape with the size of one axis replaced. The axis may count
// from the end; the rank has to be known.
func (s Shape) With(axis, size int) Shape {
	if axis < 0 {
		axis += int(s.rank)
	}
	if s.more == nil {
		_ = s.dims[:s.rank][axis]
		s.dims[axis] = size
		return s
	}
	d := s.Dims()
	d[axis] = size
	return make_(d)
}

// Insert returns the shape with a new axis before axis; axis == Rank appends.
func (s Shape) Insert(axis, size int) Shape {
	if s.rank < 0 {
		return s
	}
	return make_(slices.Insert(s.Dims(), axis, size))
}

// Remove returns the shape without an axis, which may count from the end.
func (s Shape) Remove(axis int) Shape {
	if s.rank < 0 {
		return s
	}
	if axis < 0 {
		axis += int(s.rank)
	}
	return make_(slices.Delete(s.Dims(), axis, axis+1))
}

// Slice returns the axes from lo up to hi. Of an unknown rank nothing is known.
func (s Shape) Slice(lo, hi int) Shape {
	if s.rank < 0 {
		return UnknownRank
	}
	return make_(s.view()[lo:hi])
}

// Tail returns the axes from lo on.
func (s Shape) Tail(lo int) Shape {
	if s.rank < 0 {
		return UnknownRank
	}
	return make_(s.view()[lo:])
}

// Concat returns the axes of all shapes, one after the other; it has an unknown
// rank if one of them has.
func Concat(shapes ...Shape) Shape {
	var dims []int
	for _, s := range shapes {
		if s.rank < 0 {
			return UnknownRank
		}
		dims = s.AppendDims(dims)
	}
	return make_(dims)
}

// Relaxed returns the shape with the same rank and no known size.
func (s Shape) Relaxed() Shape { return OfRank(s.Rank()) }
