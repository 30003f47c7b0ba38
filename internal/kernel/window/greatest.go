package window

import (
	"slices"
	"unsafe"

	"github.com/tenonml/tenon/internal/cpu"
	"github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/internal/par"
)

// elementWork is the number of window elements worth a task with its own scratch memory.
const elementWork = 1 << 16

// Greatest combines each element of y, which holds the lowest value of its type, with those of the
// windows of x, feature by feature. greater is the maximum of elements of a size in bytes; Out and
// Groups of c are not used.
//
// The greatest elements of all lines of windows are found first, then those along the last axis.
func Greatest(c Convolution, y, x []byte, size int, greater elementwise.BinaryFunc) {
	c.alone(size)
	bytes := c.Features * size
	of := func(dst, x, y []byte, n int) {
		greater(unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]), n*c.Features)
	}
	par.For(c.units, c.grain(), func(lo, hi int) {
		var u unit
		lines, apart := make([]byte, c.most*bytes), make([]byte, c.stretch*bytes)
		for i := lo; i < hi; i++ {
			c.unit(&u, i)
			from, to := c.inside(&u)
			var best []byte // of the lines, at the positions from to to
			c.eachLine(&u, func(_, line int, ok bool) {
				if !ok || from == to {
					return
				}
				next := x[(u.item*c.positions+line+u.first+from)*bytes:]
				if best == nil {
					best = next
					return
				}
				of(lines, best, next, to-from)
				best = lines
			})
			for k := range c.last.Size {
				first, end, position := c.reached(&u, k)
				if first >= end || best == nil {
					continue
				}
				next := best[(position-u.first-from)*bytes:]
				if c.last.Stride > 1 {
					spread(apart, next, end-first, bytes, bytes, c.last.Stride*bytes)
					next = apart
				}
				d := y[(u.item*c.windows+u.from+first)*bytes:]
				of(d, d, next, end-first)
			}
		}
	})
}

// ShareGreatest sets dx to the gradient of [Greatest]: the cotangent of each result y is shared
// equally among the elements of its window that equal it.
func ShareGreatest[T float32 | float64](c Convolution, dx, x, y, ct []T) {
	c.alone(int(unsafe.Sizeof(*new(T))))
	n, each := c.Features, c.lines*c.stretches
	// Items are the tasks, because the windows of one item overlap in dx.
	par.For(c.Items, max(1, c.grain()/max(1, each)), func(lo, hi int) {
		var u unit
		size := c.positions * n
		clear(dx[lo*size : hi*size])
		elements, at := make([]reach, 0, c.elements), make([]int, 0, c.elements)
		for i := lo * each; i < hi*each; i++ {
			c.unit(&u, i)
			elements = c.reaches(&u, elements[:0])
			for w, end := 0, 0; w < u.n; w = end {
				at, end = at[:0], u.n
				for _, e := range elements { // those of window w, and up to where they stay the same
					switch {
					case w < e.lo:
						end = min(end, e.lo)
					case w < e.hi:
						end = min(end, e.hi)
						at = append(at, (e.at+w*c.last.Stride)*n)
					}
				}
				if len(at) > 0 {
					from, to := (u.item*c.windows+u.from+w)*n, (u.item*c.windows+u.from+end)*n
					shareEqual(dx[u.item*size:][:size], x[u.item*size:][:size], at, y[from:to], ct[from:to], n, c.last.Stride*n)
				}
			}
		}
	})
}

// A reach is a window element that exists for some windows of a unit, from lo to hi. For window 0, it
// would be at position at.
type reach struct{ lo, hi, at int }

// reaches appends the window elements that exist for windows of a unit.
func (c *Convolution) reaches(u *unit, list []reach) []reach {
	c.eachLine(u, func(_, line int, ok bool) {
		if !ok {
			return
		}
		for k := range c.last.Size {
			lo, hi, position := c.reached(u, k)
			if lo < hi {
				list = append(list, reach{lo, hi, line + position - lo*c.last.Stride})
			}
		}
	})
	return list
}

// alone plans units for windows whose features stay apart.
func (c *Convolution) alone(size int) {
	c.Out, c.Groups = c.Features, 1
	c.plan(size)
}

// grain returns the number of units worth a task that looks at each window element once.
func (c *Convolution) grain() int {
	return max(1, elementWork/max(1, c.stretch*c.elements*c.Features))
}

// kernels are the vector kernels for one instruction set.
type kernels struct {
	share32 func(dst, x *float32, at *int, elements int, y, ct *float32, windows, n, step int)
	share64 func(dst, x *float64, at *int, elements int, y, ct *float64, windows, n, step int)
}

var table = cpu.NewTable(kernels{})

// shareEqual adds, for each window and feature, an equal share of ct to the elements of dst where
// those of x equal y. The elements of the first window are at the given numbers, those of the next
// one step later, and each is n features.
func shareEqual[T float32 | float64](dst, x []T, at []int, y, ct []T, n, step int) {
	if n == 0 {
		return
	}
	windows := len(y) / n
	last := (windows-1)*step + n - 1
	_, _ = dst[slices.Max(at)+last], x[slices.Max(at)+last]
	_, _ = dst[slices.Min(at)], ct[windows*n-1]
	switch k := table.Now(); d := any(&dst[0]).(type) {
	case *float32:
		if k.share32 != nil {
			k.share32(d, any(&x[0]).(*float32), &at[0], len(at), any(&y[0]).(*float32), any(&ct[0]).(*float32), windows, n, step)
			return
		}
	case *float64:
		if k.share64 != nil {
			k.share64(d, any(&x[0]).(*float64), &at[0], len(at), any(&y[0]).(*float64), any(&ct[0]).(*float64), windows, n, step)
			return
		}
	}
	for w := range windows {
		for i, greatest := range y[w*n:][:n] {
			i, share := i+w*step, ct[w*n+i]
			equal := T(0)
			for _, a := range at {
				if x[a+i] == greatest {
					equal++
				}
			}
			for _, a := range at {
				if x[a+i] == greatest {
					dst[a+i] += share / equal
				}
			}
		}
	}
}
