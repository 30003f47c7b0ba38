package inputs

import "github.com/tenonml/tenon/internal/arena"

const gamma = 0x9E3779B97F4A7C15

func mix(z uint64) uint64 {
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB
	return z ^ (z >> 31)
}

// Stream makes the draws of one stream of random numbers in turn.
type Stream struct{ state uint64 }

// NewStream returns stream k of workload w.
func NewStream(w, k int) *Stream { return &Stream{mix(uint64(w)*1000003 + uint64(k))} }

// Next returns the next 64 random bits.
func (s *Stream) Next() uint64 {
	s.state += gamma
	return mix(s.state)
}

// Below returns the next integer in [0, n), for n below 2^32.
func (s *Stream) Below(n int) int { return int((s.Next() >> 32) * uint64(n) >> 32) }

// Unit returns the next number in [0, 1), a multiple of 2^-24.
func (s *Stream) Unit() float32 { return float32(s.Next()>>40) * (1.0 / (1 << 24)) }

// Sym returns the next number in [-1, 1), exact in float32.
func (s *Stream) Sym() float32 { return 2*s.Unit() - 1 }

// What is returned lies where results of the library lie, too, which asks for huge pages
// from some size on. NumPy does so for its arrays, which are the inputs of the other
// systems; on the small pages of Go's heap sums of rows take half as long again.

// Syms returns the first n numbers in [-1, 1) of stream k of workload w, each times scale.
func Syms(w, k, n int, scale float32) []float32 {
	s := NewStream(w, k)
	out := arena.Make[float32](n)
	for i := range out {
		out[i] = s.Sym() * scale
	}
	return out
}

// Belows returns the first n integers in [0, limit) of stream k of workload w.
func Belows(w, k, n, limit int) []int64 {
	s := NewStream(w, k)
	out := arena.Make[int64](n)
	for i := range out {
		out[i] = int64(s.Below(limit))
	}
	return out
}

// Ragged returns the values and row splits of the ragged input of workload w with
// the given number of rows: lengths of 0 to 20 from stream k, values from stream
// k+1.
func Ragged(w, k, rows int) (values []float32, splits []int64) {
	s := NewStream(w, k)
	splits = arena.Make[int64](rows + 1)
	splits[0] = 0
	for i := range rows {
		splits[i+1] = splits[i] + int64(s.Below(21))
	}
	return Syms(w, k+1, int(splits[rows]), 1), splits
}
