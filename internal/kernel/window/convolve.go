package window

import (
	"slices"
	"unsafe"

	"github.com/tenonml/tenon/internal/arena"
	"github.com/tenonml/tenon/internal/kernel/gemm"
	"github.com/tenonml/tenon/internal/kernel/stream"
	"github.com/tenonml/tenon/internal/par"
)

// A Convolution is a product of the windows of a batch of items with a kernel, with features
// last,
//
//	y[i, window, o] = Σ x[i, position, c]·kernel[element, c, o]
//
// where the sum is over the elements of a window that lie at a position, and over their features
// c. Features are divided into groups; the features of a group contribute only to the results of
// the same group.
//
// The windows are never materialised. The positions that the windows of a block cover are copied,
// with zeros for those outside. The windows of a line are then overlapping rows at a fixed stride,
// which consist of a run of numbers for each element along the outer axes, and a matrix product can
// read them.
type Convolution struct {
	Axes                   []Axis
	Items                  int
	Features, Out, Groups  int // features of x and of y, over all groups
	outer                  []Axis
	last                   Axis
	in, out                int // features of x and of y in one group
	beside                 int // number of window elements along the outer axes
	step                   int // numbers at one position of the last axis: beside·in
	positions, windows     int
	stretch, stretches     int // windows of a stretch, and stretches along the last axis
	lines, units, most     int // windows along the outer axes, stretches in total, positions covered by a stretch
	taps, rounds, elements int // window elements along the last axis per product, number of such products, elements of a window

	row                  Axis // the last of the outer axes, or one with a single position
	far                  int  // number of window elements along the other outer axes
	high, across, blocks int  // lines of windows of a block, blocks along the row axis, blocks in total
	tall, next           int  // lines of positions that a block covers, and from those of a line of windows to those of the next
}

// Sizes by which scratch memory and sums are divided.
const (
	stretchBytes = 48 << 10 // size of a stretch, which fits into the second-level cache, and mostly into the first
	sumLength    = 1024     // length up to which products sum in a single block
	lineSum      = 256      // the same over windows, whose lines should stay in the first-level cache
	direct       = 16       // number of features from which a product with one column for each fills vectors
	few          = 64       // number of results below which a product adds too little to be worth reading and writing what it adds to
	sumParts     = 8        // number of ranges of units with separate partial sums for the kernel's gradient
	unitWork     = 1 << 22  // multiply-adds worth a task with its own scratch memory
)

// plan derives all other fields from the sizes.
func (c *Convolution) plan(size int) {
	n := len(c.Axes) - 1
	c.outer, c.last = c.Axes[:n], c.Axes[n]
	c.in, c.out = c.Features/c.Groups, c.Out/c.Groups
	c.beside, c.lines, c.positions = 1, 1, c.last.In
	for _, a := range c.outer {
		c.beside, c.lines, c.positions = c.beside*a.Size, c.lines*a.Out, c.positions*a.In
	}
	c.windows, c.elements, c.step = c.lines*c.last.Out, c.beside*c.last.Size, c.beside*c.in
	c.stretch = min(c.last.Out, max(16, stretchBytes/max(1, size*c.step*c.last.Stride)))
	c.stretches = (c.last.Out + c.stretch - 1) / max(1, c.stretch)
	c.units = c.Items * c.lines * c.stretches
	c.most = c.seen(c.stretch)
}

// seen returns the number of positions that n windows along the last axis cover.
func (c *Convolution) seen(n int) int {
	return (n-1)*c.last.Stride + (c.last.Size-1)*c.last.Dilation + 1
}

// work returns the number of multiply-adds of one unit.
func (c *Convolution) work() int { return max(1, c.stretch*c.elements*c.in*c.Out) }

// round returns the range of window elements along the last axis of product r.
func (c *Convolution) round(r int) (lo, hi int) { return r * c.taps, min(c.last.Size, (r+1)*c.taps) }

// A unit is a stretch of windows along the last axis.
type unit struct {
	item, from, n int   // item, number of the first window within it, number of windows
	first         int   // position of the first window's first element along the last axis
	start         []int // the same along the outer axes
	k             []int
}

// unit sets u to number i.
func (c *Convolution) unit(u *unit, i int) {
	s := i % c.stretches
	line := i / c.stretches % c.lines
	u.item = i / c.stretches / c.lines
	u.n = min(c.stretch, c.last.Out-s*c.stretch)
	u.from = line*c.last.Out + s*c.stretch
	u.first = s*c.stretch*c.last.Stride - c.last.Before
	u.start, u.k = u.start[:0], u.k[:0]
	for range c.outer {
		u.start, u.k = append(u.start, 0), append(u.k, 0)
	}
	for a := len(c.outer) - 1; a >= 0; a-- {
		u.start[a] = line%c.outer[a].Out*c.outer[a].Stride - c.outer[a].Before
		line /= c.outer[a].Out
		u.k[a] = 0
	}
}

// eachLine calls f for each window element e along the outer axes, with the first position of its
// line and whether it lies at a position.
func (c *Convolution) eachLine(u *unit, f func(e, line int, ok bool)) {
	eachElement(c.outer, u, func(e, n int, ok bool) { f(e, n*c.last.In, ok) })
}

// eachElement calls f for each element e of a unit's first window along the first of the outer axes,
// with its position along them, and whether there is one.
func eachElement(axes []Axis, u *unit, f func(e, n int, ok bool)) {
	for e := 0; ; e++ {
		n, ok := origin(axes, u.start, u.k)
		f(e, n, ok)
		i := len(axes) - 1
		for ; i >= 0; i-- {
			if u.k[i]++; u.k[i] < axes[i].Size {
				break
			}
			u.k[i] = 0
		}
		if i < 0 {
			return
		}
	}
}

// inside returns the range of the positions covered by a unit along the last axis that exist.
func (c *Convolution) inside(u *unit) (lo, hi int) {
	n := c.seen(u.n)
	lo = min(n, max(0, -u.first))
	return lo, max(lo, min(n, c.last.In-u.first))
}

// reached returns the range of a unit's windows whose element k along the last axis exists, and the
// position of that of the first one.
func (c *Convolution) reached(u *unit, k int) (lo, hi, position int) {
	stride, at := c.last.Stride, u.first+k*c.last.Dilation
	lo = max(0, (-at+stride-1)/stride)
	if at < c.last.In {
		hi = min(u.n, (c.last.In-1-at)/stride+1)
	}
	return lo, hi, at + lo*stride
}

// spread copies n pieces of size elements that start to elements apart in dst and from elements
// apart in src.
func spread[T gemm.Element](dst, src []T, n, size, to, from int) {
	if size == to && size == from {
		n, size = 1, n*size
	}
	switch size {
	case 1:
		for i := range n {
			dst[i*to] = src[i*from]
		}
	case 2:
		for i := range n {
			*(*[2]T)(dst[i*to:]) = *(*[2]T)(src[i*from:])
		}
	case 3:
		for i := range n {
			*(*[3]T)(dst[i*to:]) = *(*[3]T)(src[i*from:])
		}
	case 4:
		for i := range n {
			*(*[4]T)(dst[i*to:]) = *(*[4]T)(src[i*from:])
		}
	default:
		for i := range n {
			copy(dst[i*to:][:size], src[i*from:])
		}
	}
}

// arranged returns the rows of the kernel for each group in the order in which products take them:
//
//	[groups, ranges of lines elements along the outer axes, ranges of taps elements along the last axis,
//	elements of the first range, elements of the second, features, out]
func arranged[T gemm.Element](c *Convolution, kernel []T, lines, taps int) []T {
	out := make([]T, 0, len(kernel))
	for g := range c.Groups {
		for e0 := 0; e0 < c.beside; e0 += lines {
			for k0 := 0; k0 < c.last.Size; k0 += taps {
				for e := e0; e < e0+lines; e++ {
					from, to := e*c.last.Size+k0, e*c.last.Size+min(k0+taps, c.last.Size)
					for i := from * c.in; i < to*c.in; i++ {
						out = append(out, kernel[i*c.Out+g*c.out:][:c.out]...)
					}
				}
			}
		}
	}
	return out
}

// scratch is the memory that one goroutine works with.
type scratch[T gemm.Element] struct {
	block
	lent    *arena.Buffer
	seen    []T // of lent
	panels  []gemm.Panels[T]
	product gemm.Panels[T]
}

// newScratch returns scratch memory with n numbers of any values, and for products with kernels that
// other goroutines use as well.
func newScratch[T gemm.Element](n int, kernels []gemm.Panels[T]) *scratch[T] {
	lent, seen := arena.Lend[T](n)
	return &scratch[T]{lent: lent, seen: seen, panels: slices.Clone(kernels)}
}

func (s *scratch[T]) release() { s.lent.Release() }

// Forward sets y to the convolution of x.
func Forward[T gemm.Element](c Convolution, y, x, kernel []T) {
	size := int(unsafe.Sizeof(*new(T)))
	c.plan(size)
	if c.in == 0 {
		clear(y)
		return
	}
	c.planBlocks(size)
	kernel = arranged(&c, kernel, c.row.Size, c.taps)
	panels := make([]gemm.Panels[T], c.Groups*c.far*c.rounds)
	past := c.far*c.rounds == 1 && len(y)*size >= stream.Threshold
	for i := range panels {
		panels[i].Past = past
		k0, k1 := c.round(i % c.rounds)
		rows := c.row.Size * c.in
		panels[i].Pack(kernel[(i/c.rounds*c.last.Size+k0)*rows*c.out:], (k1-k0)*rows, c.out, c.out, 1)
	}
	par.For(c.blocks, max(1, unitWork/(c.work()*c.high)), func(lo, hi int) {
		s := newScratch(c.far*c.tall*c.most*c.in, panels)
		defer s.release()
		for i := lo; i < hi; i++ {
			c.block(&s.block, i)
			for g := range c.Groups {
				gather(&c, &s.block, s.seen, x, g)
				for l := range s.lines {
					to := y[(s.item*c.windows+s.from+l*c.last.Out)*c.Out+g*c.out:]
					beta := T(0)
					for p := range c.far * c.rounds {
						k0, k1 := c.round(p % c.rounds)
						a := s.seen[c.at(l, p/c.rounds*c.row.Size, k0):]
						runs := gemm.Runs{Count: c.row.Size, Len: (k1 - k0) * c.in, Apart: c.most * c.in}
						s.panels[g*c.far*c.rounds+p].TimesRuns(to, c.Out, a, c.last.Stride*c.in, 1, s.n, c.out, runs, beta)
						beta = 1
					}
				}
			}
		}
	})
}

// Input sets x to the transpose of the convolution with respect to x, applied to y.
func Input[T gemm.Element](c Convolution, x, y, kernel []T) {
	c.plan(int(unsafe.Sizeof(*new(T))))
	if c.in >= direct && c.out > 0 && c.out < few && !slices.ContainsFunc(c.Axes, func(a Axis) bool { return a.Stride > 1 }) {
		m, kernel := mirrored(&c, kernel)
		Forward(m, x, y, kernel)
		return
	}
	clear(x)
	if c.in == 0 || c.out == 0 {
		return
	}
	kernel = arranged(&c, kernel, c.beside, 1)
	// Each window element along the outer axes is either a product of its own, or all are one
	// product.
	whole, columns := c.in >= direct || c.beside == 1, c.step
	if whole {
		columns = c.in
	}
	panels := make([]gemm.Panels[T], c.Groups*c.last.Size*c.step/columns)
	for i := range panels {
		panels[i].Pack(kernel[i*columns*c.out:], c.out, columns, 1, c.out)
	}
	// Divide by items, because the windows of one item overlap in x.
	par.For(c.Items, max(1, unitWork/(c.work()*c.lines*c.stretches)), func(lo, hi int) {
		s := newScratch(c.most*c.step, panels)
		defer s.release()
		for i := lo * c.lines * c.stretches; i < hi*c.lines*c.stretches; i++ {
			c.unit(&s.unit, i)
			for g := range c.Groups {
				from := y[(s.item*c.windows+s.from)*c.Out+g*c.out:]
				to := x[s.item*c.positions*c.Features+g*c.in:]
				if whole {
					inPlace(&c, s, to, from, g)
				} else {
					beside(&c, s, to, from, g)
				}
			}
		}
	})
}

// mirrored returns the transpose of a convolution whose windows are one position apart, as a
// convolution of its own: a position meets the windows that reach it in the reverse order of their
// elements.
func mirrored[T gemm.Element](c *Convolution, kernel []T) (Convolution, []T) {
	m := Convolution{Items: c.Items, Features: c.Out, Out: c.Features, Groups: c.Groups}
	for _, a := range c.Axes {
		a.In, a.Out, a.Before = a.Out, a.In, (a.Size-1)*a.Dilation-a.Before
		m.Axes = append(m.Axes, a)
	}
	out := make([]T, 0, len(kernel))
	for e := c.elements - 1; e >= 0; e-- {
		for o := range c.out {
			for g := range c.Groups {
				for i := range c.in {
					out = append(out, kernel[(e*c.in+i)*c.Out+g*c.out+o])
				}
			}
		}
	}
	return m, out
}

// inPlace adds a unit's products to the positions, one window element at a time.
func inPlace[T gemm.Element](c *Convolution, s *scratch[T], x, y []T, group int) {
	c.eachLine(&s.unit, func(e, line int, ok bool) {
		if !ok {
			return
		}
		for k := range c.last.Size {
			lo, hi, at := c.reached(&s.unit, k)
			if lo >= hi {
				continue
			}
			p := &s.panels[(group*c.last.Size+k)*c.beside+e]
			p.Times(x[(line+at)*c.Features:], c.last.Stride*c.Features, y[lo*c.Out:], c.Out, 1, hi-lo, c.in, c.out, 1, 1)
		}
	})
}

// beside accumulates a unit's products in the order of gathered positions and then adds them to the
// positions, because the few features of a single element would not fill vectors.
func beside[T gemm.Element](c *Convolution, s *scratch[T], x, y []T, group int) {
	n := c.seen(s.n)
	clear(s.seen[:n*c.step])
	for k := range c.last.Size {
		p := &s.panels[group*c.last.Size+k]
		p.Times(s.seen[k*c.last.Dilation*c.step:], c.last.Stride*c.step, y, c.Out, 1, s.n, c.step, c.out, 1, 1)
	}
	lo, hi := c.inside(&s.unit)
	c.eachLine(&s.unit, func(e, line int, ok bool) {
		if !ok {
			return
		}
		for p := lo; p < hi; p++ {
			to := x[(line+s.first+p)*c.Features:][:c.in]
			for i, v := range s.seen[p*c.step+e*c.in:][:c.in] {
				to[i] += v
			}
		}
	})
}

// Kernel sets kernel to the transpose of the convolution with respect to the kernel, applied to x
// and y.
func Kernel[T gemm.Element](c Convolution, kernel, x, y []T) {
	size := int(unsafe.Sizeof(*new(T)))
	c.plan(size)
	clear(kernel)
	if c.in == 0 || c.out == 0 {
		return
	}
	c.planBlocks(size)
	parts := max(1, min(sumParts, c.units*c.work()/unitWork, c.blocks))
	sums := make([][]T, parts)
	par.For(parts, 1, func(lo, hi int) {
		s := newScratch[T](c.far*c.tall*c.most*c.in, nil)
		defer s.release()
		for part := lo; part < hi; part++ {
			sums[part] = make([]T, len(kernel))
			for i := part * c.blocks / parts; i < (part+1)*c.blocks/parts; i++ {
				c.block(&s.block, i)
				for g := range c.Groups {
					gather(&c, &s.block, s.seen, x, g)
					s.addKernel(&c, sums[part], y, g)
				}
			}
		}
	})
	for _, sum := range sums {
		for i, v := range sum {
			kernel[i] += v
		}
	}
}

// addKernel adds a block's products to the sums of a group's kernel.
func (s *scratch[T]) addKernel(c *Convolution, sums, y []T, group int) {
	together := 1
	if c.stretches == 1 { // the windows of consecutive lines follow each other
		together = max(1, lineSum/s.n)
	}
	for l := 0; l < s.lines; l += together {
		n := min(together, s.lines-l)
		s.product.View(y[(s.item*c.windows+s.from+l*c.last.Out)*c.Out+group*c.out:], n*s.n, c.out, c.Out)
		runs := gemm.Runs{Count: n, Len: s.n, Apart: c.next * c.most * c.in}
		for e := range c.beside {
			for r := range c.rounds {
				k0, k1 := c.round(r)
				to := sums[(e*c.last.Size+k0)*c.in*c.Out+group*c.out:]
				s.product.TimesRuns(to, c.Out, s.seen[c.at(l, e, k0):], 1, c.last.Stride*c.in, (k1-k0)*c.in, c.out, runs, 1)
			}
		}
	}
}
