package slab

// bounds of the pieces that are allocated, in values
const (
	least = 4
	most  = 256
)

// A Slab hands out values of a type. The zero value is ready for use. What it has handed out
// is kept in memory by any part of the piece that it was cut of.
type Slab[T any] struct {
	room []T
	size int // of the last piece
}

// Take returns n values that are zero, with no room behind them; nil for none.
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

// New returns a value that is zero.
func (s *Slab[T]) New() *T { return &s.Take(1)[0] }

// Copy returns the values of a slice that is to be used again.
func (s *Slab[T]) Copy(from []T) []T {
	out := s.Take(len(from))
	copy(out, from)
	return out
}
