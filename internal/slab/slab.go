package slab

// Bounds on the size of the pieces allocated, in values.
const (
	least = 4
	most  = 256
)

// A Slab allocates values of one type. The zero value is ready for use. Memory stays reachable as
// long as any value cut from the same piece is.
type Slab[T any] struct {
	room []T
	size int // size of the last piece
}

// Take returns n zero values without spare capacity, or nil if n is 0.
func (s *Slab[T]) Take(n int) []T {
	if n == 0 {
		return nil
	}
	if n > len(s.room) {
		if n > most/4 {
			return make([]T, n)
		}
		s.size = max(n, least, min(2*s.size, most))
		s.room = make([]T, s.size)
	}
	out := s.room[:n:n]
	s.room = s.room[n:]
	return out
}

// New returns a pointer to a zero value.
func (s *Slab[T]) New() *T { return &s.Take(1)[0] }

// Copy returns a copy of a slice.
func (s *Slab[T]) Copy(from []T) []T {
	out := s.Take(len(from))
	copy(out, from)
	return out
}
