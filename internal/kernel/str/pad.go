package str

import (
	"github.com/tenonml/tenon/internal/arena"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/internal/par"
)

// Pad returns rows of equal width: longer rows are cut, and shorter ones are padded with fill. If
// no row is cut and fill is empty, the result shares the bytes of x.
func Pad(x Column, splits []int64, width int, fill []byte) Column {
	rows := max(len(splits)-1, 0)
	if rows == 0 || width == 0 {
		return Column{Offsets: []int64{0}}
	}
	p := padding{x: x, splits: splits, width: int64(width), fill: fill}
	p.out.Offsets = freshWords(rows*width + 1)
	if len(fill) == 0 && segment.MaxLength(splits) <= p.width {
		p.out.Bytes = x.Bytes
		p.out.Offsets[0] = x.Offsets[splits[0]]
		p.each(rows, func(p *padding, r int) {
			lo, hi, to := p.row(r)
			n := copy(to, p.x.Offsets[lo+1:hi+1])
			p.fillOffsets(to[n:], p.x.Offsets[hi])
		})
		return p.out
	}
	lent, starts := arena.Lend[int64](rows)
	defer lent.Release()
	p.starts = starts
	total := int64(0)
	for r := range rows {
		p.starts[r] = total
		lo, hi, _ := p.row(r)
		total += x.Offsets[hi] - x.Offsets[lo] + (p.width-hi+lo)*int64(len(fill))
	}
	p.out.Bytes = freshBytes(int(total))
	p.out.Offsets[0] = 0
	p.each(rows, func(p *padding, r int) {
		lo, hi, to := p.row(r)
		from, at := p.x.Offsets[lo], p.starts[r]
		for i, o := range p.x.Offsets[lo+1 : hi+1] {
			to[i] = o - from + at
		}
		at += int64(copy(p.out.Bytes[at:], p.x.Bytes[from:p.x.Offsets[hi]]))
		p.fillOffsets(to[hi-lo:], at)
		for range p.width - hi + lo {
			at += int64(copy(p.out.Bytes[at:], p.fill))
		}
	})
	return p.out
}

// A padding is the arguments and results of [Pad].
type padding struct {
	x      Column
	splits []int64
	width  int64
	fill   []byte
	starts []int64 // byte offsets of the rows of the result
	out    Column
}

// row returns the range of strings of x in row r, and the memory for its offsets.
func (p *padding) row(r int) (lo, hi int64, to []int64) {
	lo = p.splits[r]
	at := int64(r)*p.width + 1
	return lo, min(p.splits[r+1], lo+p.width), p.out.Offsets[at : at+p.width]
}

// fillOffsets writes the offsets of the fill strings that start at position at.
func (p *padding) fillOffsets(to []int64, at int64) {
	for i := range to {
		at += int64(len(p.fill))
		to[i] = at
	}
}

// each calls f for all rows, on several workers if there are many.
func (p *padding) each(rows int, f func(p *padding, r int)) {
	par.For(rows, max(1, chunk/int(p.width)), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			f(p, r)
		}
	})
}
