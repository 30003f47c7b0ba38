package window

import (
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
	clear(dx)
	n := c.Features
	divide := elementwise.Binary[T](elementwise.Div)
	// Items are the tasks, because the windows of one item overlap in dx.
	each := c.lines * c.stretches
	par.For(c.Items, max(1, c.grain()/max(1, each)), func(lo, hi int) {
		s := &scratch[T]{}
		ones, count := make([]T, c.stretch*n), make([]T, c.stretch*n)
		for i := range ones {
			ones[i] = 1
		}
		for i := lo * each; i < hi*each; i++ {
			c.unit(&s.unit, i)
			// add adds where elements of windows equal the greatest one: to places of windows, or to positions.
			add := func(dst []T, positions bool, what []T) {
				c.eachLine(&s.unit, func(_, line int, ok bool) {
					if !ok {
						return
					}
					for k := range c.last.Size {
						first, end, position := c.reached(&s.unit, k)
						if first >= end {
							continue
						}
						p := (s.item*c.positions + line + position) * n
						to, row := first*n, n
						if positions {
							to, row = p, c.last.Stride*n
						}
						addEqual(dst[to:], x[p:], y[(s.item*c.windows+s.from+first)*n:], what[first*n:], end-first, n, row, c.last.Stride*n)
					}
				})
			}
			clear(count)
			add(count, false, ones)
			share := count[:s.n*n]
			divide(share, ct[(s.item*c.windows+s.from)*n:][:s.n*n], share) // by 0 only where no element equals y
			add(dx, true, count)
		}
	})
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
	add32 func(dst, x, y, add *float32, rows, n, dstRow, xRow int)
	add64 func(dst, x, y, add *float64, rows, n, dstRow, xRow int)
}

var table = cpu.NewTable(kernels{})

// addEqual adds an element of add to that of dst where those of x and y are equal. Rows have n
// elements; those of dst and x begin dstRow and xRow elements after each other, and those of y and
// add lie one behind the other.
func addEqual[T float32 | float64](dst, x, y, add []T, rows, n, dstRow, xRow int) {
	if n == 0 || rows == 0 {
		return
	}
	if dstRow == n && xRow == n { // one long row
		rows, n = 1, rows*n
	}
	_, _ = dst[(rows-1)*dstRow+n-1], x[(rows-1)*xRow+n-1]
	_, _ = y[rows*n-1], add[rows*n-1]
	switch k := table.Now(); d := any(&dst[0]).(type) {
	case *float32:
		if k.add32 != nil {
			k.add32(d, any(&x[0]).(*float32), any(&y[0]).(*float32), any(&add[0]).(*float32), rows, n, dstRow, xRow)
			return
		}
	case *float64:
		if k.add64 != nil {
			k.add64(d, any(&x[0]).(*float64), any(&y[0]).(*float64), any(&add[0]).(*float64), rows, n, dstRow, xRow)
			return
		}
	}
	for r := range rows {
		d, x := dst[r*dstRow:][:n], x[r*xRow:][:n]
		y, add := y[r*n:][:n], add[r*n:][:n]
		for i, v := range x {
			if v == y[i] {
				d[i] += add[i]
			}
		}
	}
}
