package attention

import (
	"math"

	"github.com/tenonml/tenon/internal/throw"
)

// Params describes attention of one head, or the first of a batch. The elements of a row are
// consecutive; the row strides are the distances between rows.
type Params[T float] struct {
	Queries, Keys int
	Depth         int // of queries and keys
	Width         int // of values and results

	Q, K, V, Out             []T // [Queries, Depth], [Keys, Depth], [Keys, Width], [Queries, Width]
	QRow, KRow, VRow, OutRow int

	Scale T // of the scores, usually 1/sqrt(Depth)

	// Causal hides from query i the keys after position i + Keys - Queries: with as many keys as
	// queries, each position sees itself and those before it. A query that sees no key has the
	// result 0.
	Causal bool

	// Mask, if not nil, is true where a query may see a key. MaskRow and MaskCol are the distances
	// between the elements of consecutive queries and keys. Mask hides keys in addition to Causal.
	Mask             []bool
	MaskRow, MaskCol int

	// LogSum, if not nil, receives for each query the logarithm of the sum of its
	// exponentials, which Backward needs.
	LogSum []T
}

// Batch is one dimension of a batch: its size, and the distance between the matrices of consecutive
// heads. A stride of 0 reuses the same matrix, which is allowed only for Q, K, V and Mask.
type Batch struct{ Size, Q, K, V, Out, LogSum, Mask int }

// float is the set of element types of attention.
type float interface{ float32 | float64 }

// check panics if p or its batch reaches outside the slices.
func (p *Params[T]) check(batch []Batch) {
	if min(p.Queries, p.Keys, p.Depth, p.Width) < 0 {
		throw.Bug("attention: %d queries and %d keys of depth %d, values of width %d", p.Queries, p.Keys, p.Depth, p.Width)
	}
	var room [6]operand
	for _, o := range p.operands(room[:0]) {
		reach := (o.rows-1)*o.stride + (o.cols-1)*o.col + 1
		if o.rows == 0 || o.cols == 0 {
			continue
		}
		if o.stride < o.cols && o.rows > 1 && !o.shared {
			throw.Bug("attention: rows of %s have %d elements and start %d apart", o.name, o.cols, o.stride)
		}
		for _, d := range batch {
			if d.Size < 0 || o.step(d) < 0 {
				throw.Bug("attention: a batch dimension of %s has size %d and stride %d", o.name, d.Size, o.step(d))
			}
			reach += max(d.Size-1, 0) * o.step(d)
		}
		if batchLen(batch) > 0 && reach > o.length {
			throw.Bug("attention: %s has %d elements, %d are described", o.name, o.length, reach)
		}
	}
}

// hide sets the scores that the mask hides from query i to -Inf, where scores begin at key j. It
// reports whether the query sees any of these keys.
func (p *Params[T]) hide(scores []T, i, j int) (some bool) {
	if p.Mask == nil {
		return len(scores) > 0
	}
	hidden := T(math.Inf(-1))
	for k, at := range scores {
		if p.sees(i, j+k) {
			some = true
		} else if at != hidden {
			scores[k] = hidden
		}
	}
	return some
}

// sees reports whether the mask lets query i see key j.
func (p *Params[T]) sees(i, j int) bool { return p.Mask[i*p.MaskRow+j*p.MaskCol] }

// operand is one of the matrices described by Params.
type operand struct {
	name        string
	rows, cols  int
	stride, col int  // distances between rows and between columns
	shared      bool // rows may overlap
	length      int
	step        func(Batch) int
}

// operands appends the operands to o, which has the capacity for them.
func (p *Params[T]) operands(o []operand) []operand {
	o = append(o,
		operand{"Q", p.Queries, p.Depth, p.QRow, 1, false, len(p.Q), func(d Batch) int { return d.Q }},
		operand{"K", p.Keys, p.Depth, p.KRow, 1, false, len(p.K), func(d Batch) int { return d.K }},
		operand{"V", p.Keys, p.Width, p.VRow, 1, false, len(p.V), func(d Batch) int { return d.V }},
		operand{"Out", p.Queries, p.Width, p.OutRow, 1, false, len(p.Out), func(d Batch) int { return d.Out }},
	)
	if p.LogSum != nil {
		o = append(o, operand{"LogSum", p.Queries, 1, 1, 1, false, len(p.LogSum), func(d Batch) int { return d.LogSum }})
	}
	if p.Mask != nil {
		o = append(o, operand{"Mask", p.Queries, p.Keys, p.MaskRow, p.MaskCol, true, len(p.Mask), func(d Batch) int { return d.Mask }})
	}
	return o
}

// batchLen returns the number of heads.
func batchLen(batch []Batch) int {
	n := 1
	for _, d := range batch {
		n *= d.Size
	}
	return n
}

// at returns head number h of the batch.
func (p *Params[T]) at(h int, batch []Batch) Params[T] {
	one := *p
	for i := len(batch) - 1; i >= 0; i-- {
		d := batch[i]
		x := h % d.Size
		h /= d.Size
		one.Q, one.K, one.V, one.Out = from(one.Q, x*d.Q), from(one.K, x*d.K), from(one.V, x*d.V), from(one.Out, x*d.Out)
		one.LogSum, one.Mask = from(one.LogSum, x*d.LogSum), from(one.Mask, x*d.Mask)
	}
	return one
}

// from returns x[i:]; operands without elements are returned as they are.
func from[T any](x []T, i int) []T {
	if i > len(x) {
		return nil
	}
	return x[i:]
}
