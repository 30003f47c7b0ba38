package inputs

import "math"

// Sum is a checksum of the elements added to it, in order.
type Sum struct {
	n    int
	s, a float64
}

// Number is what a checksum takes.
type Number interface {
	~float32 | ~float64 | ~int | ~int32 | ~int64
}

// Add adds elements to a checksum. NaN, infinities and what is above 1e38 count as 0.
func Add[T Number](c *Sum, xs []T) {
	for _, x := range xs {
		f := float64(x)
		if !(math.Abs(f) <= 1e38) {
			f = 0
		}
		w := float64(1 + c.n%31)
		c.s += f * w
		c.a += math.Abs(f) * w
		c.n++
	}
}

// Checksum returns the number of elements and the two sums.
func (c *Sum) Checksum() []float64 { return []float64{float64(c.n), c.s, c.a} }

// Of returns the checksum of one array.
func Of[T Number](xs []T) []float64 {
	var c Sum
	Add(&c, xs)
	return c.Checksum()
}
