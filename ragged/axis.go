package ragged

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
)

// The axes that calls name.

// rank returns the number of dimensions.
func (t *Tensor) rank() int { return len(t.parts) + t.flat.Shape().Rank() }

// axesOf returns the axes of a call on x, counted from the start, in ascending order and without
// duplicates. It returns nil if the call names none, which means all axes. The list must not be
// changed.
func axesOf(c *op.Call, x *Tensor) []int {
	r := x.rank()
	var given []int
	switch a := c.Attr("axis").(type) {
	case int:
		return one(checkedAxis(c, a, r))
	case []int:
		given = a
	}
	switch {
	case given == nil:
		return nil
	case len(given) == 1:
		return one(checkedAxis(c, given[0], r))
	}
	axes := make([]int, len(given))
	for i, a := range given {
		axes[i] = checkedAxis(c, a, r)
	}
	slices.Sort(axes)
	for i := 1; i < len(axes); i++ {
		if axes[i] == axes[i-1] {
			tenon.Throw(c.Errorf(tenon.ErrAxis, "an axis is repeated in %v", given))
		}
	}
	return axes
}

// one returns a list of one axis, which must not be changed.
func one(axis int) []int { return rising(axis, axis+1) }

// checkedAxis returns the axis counted from the start. It throws if there is no
// such axis.
func checkedAxis(c *op.Call, a, rank int) int {
	if a < -rank || a >= rank {
		tenon.Throw(c.Errorf(tenon.ErrAxis, "axis %d is out of range for rank %d", a, rank))
	}
	if a < 0 {
		a += rank
	}
	return a
}

var firstNumbers = [...]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

// rising returns the numbers from lo up to, but not including, hi. The list must
// not be changed.
func rising(lo, hi int) []int {
	if hi <= len(firstNumbers) {
		return firstNumbers[lo:hi:hi]
	}
	all := make([]int, hi-lo)
	for i := range all {
		all[i] = lo + i
	}
	return all
}

// axisOf returns the single axis that a call on x names, counted from the start.
func axisOf(c *op.Call, x *Tensor) int {
	axes := axesOf(c, x)
	if len(axes) != 1 {
		tenon.Throw(c.Errorf(tenon.ErrAxis, "got the axes %v, want one", axes))
	}
	return axes[0]
}

// all returns all axes. The list must not be changed.
func all(rank int) []int { return rising(0, rank) }

// divided separates the axes that are partitioned, or outside all partitions, from the others,
// which it returns as axes of the flat values.
func (t *Tensor) divided(axes []int) (outer, inner []int) {
	k := len(t.parts)
	n := 0
	for n < len(axes) && axes[n] <= k {
		n++
	}
	for _, a := range axes[n:] {
		inner = append(inner, a-k)
	}
	return axes[:n], inner
}
