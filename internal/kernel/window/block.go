package window

import "github.com/tenonml/tenon/internal/kernel/gemm"

// A block is what is gathered at once: the positions that some lines of windows cover over a
// stretch of the last axis. The lines follow each other along the last of the outer axes, the row
// axis, so that they share most of their positions. Where they share none, because of the dilation or
// the stride, there is one line.
type block struct {
	unit      // of the first line
	lines int // of windows
}

// Sizes by which blocks are divided.
const (
	blockBytes = 128 << 10 // size of the positions of a block
	blockWork  = 1 << 22   // multiply-adds of a block
)

// planBlocks derives what products go over from the results of plan. There is at least one feature.
func (c *Convolution) planBlocks(size int) {
	c.row, c.far = Axis{In: 1, Out: 1, Size: 1, Stride: 1, Dilation: 1}, 1
	if n := len(c.outer); n > 0 {
		c.row, c.far = c.outer[n-1], c.beside/c.outer[n-1].Size
	}
	c.taps = 1
	if c.last.Dilation == 1 {
		c.taps = min(c.last.Size, max(1, sumLength/(c.row.Size*c.in)))
	}
	c.rounds = (c.last.Size + c.taps - 1) / c.taps
	c.high = 1
	if c.next = c.row.Stride / c.row.Dilation; c.next*c.row.Dilation == c.row.Stride && c.next <= c.row.Size {
		room := blockBytes/(c.far*c.most*c.in*size) - c.row.Size
		c.high = max(1, min(room/c.next+1, blockWork/c.work(), c.row.Out))
	}
	c.across = (c.row.Out + c.high - 1) / c.high
	c.high = (c.row.Out + c.across - 1) / c.across
	c.tall = c.covered(c.high)
	c.blocks = c.Items * c.lines / c.row.Out * c.across * c.stretches
}

// covered returns the number of lines of positions that n lines of windows of a block cover, each
// one dilation after the other.
func (c *Convolution) covered(n int) int { return (n-1)*c.next + c.row.Size }

// block sets b to number i.
func (c *Convolution) block(b *block, i int) {
	s, i := i%c.stretches, i/c.stretches
	first := i % c.across * c.high
	c.unit(&b.unit, (i/c.across*c.row.Out+first)*c.stretches+s)
	b.lines = min(c.high, c.row.Out-first)
}

// gather sets dst to the positions that a block covers, with zeros for those outside:
//
//	[elements along the outer axes but the row axis, lines along the row axis, positions, features of a group]
//
// The elements of a window along the row axis lie in lines one after the other.
func gather[T gemm.Element](c *Convolution, b *block, dst, x []T, group int) {
	n := c.seen(b.n)
	lo, hi := c.inside(&b.unit)
	first, others := 0, len(c.outer)-1
	if others >= 0 {
		first = b.start[others]
	}
	x = x[b.item*c.positions*c.Features:]
	eachElement(c.outer[:max(0, others)], &b.unit, func(e, from int, ok bool) {
		for q := range c.covered(b.lines) {
			line := dst[(e*c.tall+q)*c.most*c.in:][:n*c.in]
			p := first + q*c.row.Dilation
			if !ok || p < 0 || p >= c.row.In || lo == hi {
				clear(line)
				continue
			}
			clear(line[:lo*c.in])
			clear(line[hi*c.in:])
			from := ((from*c.row.In+p)*c.last.In + b.first + lo) * c.Features
			spread(line[lo*c.in:], x[from+group*c.in:], hi-lo, c.in, c.in, c.Features)
		}
	})
}

// at returns where gathered memory has element k along the last axis of the first window of a line,
// of element e along the outer axes.
func (c *Convolution) at(line, e, k int) int {
	q := e/c.row.Size*c.tall + line*c.next + e%c.row.Size
	return (q*c.most + k*c.last.Dilation) * c.in
}
