package attention

import "github.com/tenonml/tenon/internal/throw"

// Params describes attention of one head, or the first of a batch. Rows are
// consecutive elements; the row strides say how far apart they start.
type Params struct {
	Queries, Keys int
	Depth         int // of queries and keys
	Width         int // of values and results

	Q, K, V, Out             []float32 // [Queries, Depth], [Keys, Depth], [Keys, Width], [Queries, Width]
	QRow, KRow, VRow, OutRow int

	Scale float32 // of the scores, usually 1/sqrt(Depth)

	// Causal hides from query i the keys behind position i + Keys - Queries: with as many
	// keys as queries, each position sees itself and what came before. A query that
	// sees no key has the result 0.
	Causal bool

	// LogSum, if not nil, receives for each query the logarithm of the sum of its
	// exponentials, which Backward needs.
	LogSum []float32
}

// Batch is one dimension of a batch: its size, and how far apart the matrices of
// consecutive heads start. Stride 0 uses the same matrix again, for Q, K and V only.
type Batch struct{ Size, Q, K, V, Out, LogSum int }

// check panics where p or its batch reaches outside the slices.
func (p *Params) check(batch []Batch) {
	if min(p.Queries, p.Keys, p.Depth, p.Width) < 0 {
		throw.Bug("attention: %d queries and %d keys of depth %d, values of width %d", p.Queries, p.Keys, p.Depth, p.Width)
	}
	for _, o := range p.operands() {
		reach := (o.rows-1)*o.stride + o.cols
		if o.rows == 0 || o.cols == 0 {
			continue
		}
		if o.stride < o.cols && o.rows > 1 {
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

// operand is one of the matrices of a description.
type operand struct {
	name               string
	rows, cols, stride int
	length             int
	step               func(Batch) int
}

func (p *Params) operands() []operand {
	o := []operand{
		{"Q", p.Queries, p.Depth, p.QRow, len(p.Q), func(d Batch) int { return d.Q }},
		{"K", p.Keys, p.Depth, p.KRow, len(p.K), func(d Batch) int { return d.K }},
		{"V", p.Keys, p.Width, p.VRow, len(p.V), func(d Batch) int { return d.V }},
		{"Out", p.Queries, p.Width, p.OutRow, len(p.Out), func(d Batch) int { return d.Out }},
	}
	if p.LogSum != nil {
		o = append(o, operand{"LogSum", p.Queries, 1, 1, len(p.LogSum), func(d Batch) int { return d.LogSum }})
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
func (p *Params) at(h int, batch []Batch) Params {
	one := *p
	for i := len(batch) - 1; i >= 0; i-- {
		d := batch[i]
		x := h % d.Size
		h /= d.Size
		one.Q, one.K, one.V, one.Out = from(one.Q, x*d.Q), from(one.K, x*d.K), from(one.V, x*d.V), from(one.Out, x*d.Out)
		one.LogSum = from(one.LogSum, x*d.LogSum)
	}
	return one
}

// from returns x from element i on; operands without elements stay as they are.
func from(x []float32, i int) []float32 {
	if i > len(x) {
		return nil
	}
	return x[i:]
}
