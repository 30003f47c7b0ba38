package protoio

import (
	"slices"
	"sync"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/wire"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A gatherer concatenates the results of the chunks of a batch, in order, as soon as all preceding
// chunks are done. The values are then still in the cache, and the scanner that read them can
// continue with another chunk.
type gatherer struct {
	plan   *plan
	listed bool
	bytes  int // size of all messages
	first  int // size of those in the first chunk

	mu      sync.Mutex
	next    int        // number of the chunk whose turn it is
	waiting []*scanner // chunks that wait for their turn
	parts   []gathered
	err     error
}

// gathered is a column being concatenated.
type gathered struct {
	column
	buffer
}

func newGatherer(p *plan, messages [][]byte, step int, listed bool) *gatherer {
	g := &gatherer{plan: p, listed: listed, waiting: make([]*scanner, (len(messages)+step-1)/step), parts: make([]gathered, len(p.keys))}
	for _, m := range messages[:min(step, len(messages))] {
		g.first += len(m)
	}
	for i := range g.parts {
		c := &g.parts[i]
		c.kind = p.kinds[i]
		rows := len(messages)
		if listed {
			c.column.steps = append(make([]int64, 0, rows+1), 0)
			rows = 0
		}
		c.splits = append(room[int64](dtype.Int64, rows+1), 0)
	}
	return g
}

var scanners = sync.Pool{New: func() any { return new(scanner) }}

// prepare returns a scanner for the given number of rows.
func prepare(p *plan, rows int) *scanner {
	s := scanners.Get().(*scanner)
	if s.plan != p {
		s.plan, s.first, s.other = p, known{}, known{source: ignored}
		s.keys = make(map[string]*known, len(p.keys))
		s.order, s.table = s.order[:0], s.table[:0]
	}
	s.row, s.bad, s.left, s.failed, s.exact = 0, 0, 0, nil, false
	for len(s.bufs) < len(p.keys) {
		s.bufs = append(s.bufs, buffer{})
	}
	s.wrong = slices.Grow(s.wrong[:0], len(p.keys))[:len(p.keys)]
	clear(s.wrong)
	for i, k := range p.kinds {
		s.bufs[i].reset(k, rows)
	}
	return s
}

// lend lets the scanner of chunk i append directly to the columns if it is that chunk's turn
// already, which is always the case with one worker. The first chunk is an exception, because it is
// not known yet how much room is needed.
func (g *gatherer) lend(i int, s *scanner) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s.lent = i > 0 && i == g.next && g.err == nil; s.lent {
		s.swap(g)
	}
}

// swap exchanges the values in the scanner's buffers with those in the columns.
func (s *scanner) swap(g *gatherer) {
	for k := range g.parts {
		f, c := &s.bufs[k], &g.parts[k].buffer
		f.ints, c.ints = c.ints, f.ints
		f.floats, c.floats = c.floats, f.floats
		f.bytes, c.bytes = c.bytes, f.bytes
		f.ends, c.ends = c.ends, f.ends
	}
}

// put adds chunk i, and chunks that have waited for it.
func (g *gatherer) put(i int, s *scanner) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s.lent {
		s.swap(g)
	}
	g.waiting[i] = s
	for g.next < len(g.waiting) && g.waiting[g.next] != nil {
		s := g.waiting[g.next]
		g.waiting[g.next] = nil
		if g.err == nil {
			g.err = s.failed
		}
		if g.err == nil {
			for k := range g.parts {
				g.parts[k].addRows(&s.bufs[k])
				if !s.lent {
					g.parts[k].add(&s.bufs[k], g)
				}
			}
		}
		scanners.Put(s)
		g.next++
	}
}

// add appends the values of a chunk.
func (c *gathered) add(f *buffer, g *gatherer) {
	if g.next == 0 {
		c.ints = room[int64](dtype.Int64, g.roomFor(len(f.ints)))
		c.floats = room[float32](dtype.Float32, g.roomFor(len(f.floats)))
		c.bytes = room[byte](dtype.Uint8, g.roomFor(len(f.bytes)))
		c.ends = append(room[int64](dtype.Int64, g.roomFor(len(f.ends)-1)+1), 0)
	}
	c.ints = append(c.ints, f.ints...)
	c.floats = append(c.floats, f.floats...)
	offset := int64(len(c.bytes))
	c.bytes = append(c.bytes, f.bytes...)
	n := len(c.ends)
	c.ends = slices.Grow(c.ends, len(f.ends)-1)[:n+len(f.ends)-1]
	for i, e := range f.ends[1:] {
		c.ends[n+i] = offset + e
	}
}

// room returns an empty slice with uncleared capacity for n elements.
func room[T dtype.Number](d dtype.DType, n int) []T {
	return tensor.Elems[T](tensor.Uninit(d, shape.Of(n)))[:0:n]
}

// addRows appends the lengths of the rows of a chunk, and those of its feature lists.
func (c *gathered) addRows(f *buffer) {
	for _, n := range f.steps {
		c.column.steps = append(c.column.steps, c.column.steps[len(c.column.steps)-1]+max(n, 0))
	}
	n := len(c.splits)
	at := c.splits[n-1]
	c.splits = slices.Grow(c.splits, len(f.lens))[:n+len(f.lens)]
	splits, signs := c.splits[n:], int64(0)
	for i, l := range f.lens {
		signs |= l
		at += l &^ (l >> 63) // 0 if the feature is absent
		splits[i] = at
	}
	if c.missing == nil && signs < 0 {
		c.missing = make([]bool, n-1, cap(c.splits))
	}
	if c.missing != nil {
		for _, l := range f.lens {
			c.missing = append(c.missing, l == absent)
		}
	}
}

// roomFor returns the number of elements to make room for, given the number in the first chunk:
// enough if all messages are alike. That is not far above what the messages could contain, because
// the first chunk does not have more elements than bytes.
func (g *gatherer) roomFor(n int) int {
	if n == 0 {
		return 0
	}
	return int(float64(n)*float64(g.bytes)/float64(max(g.first, 1))*1.03) + 4*wire.Slack
}

// columns returns the concatenated columns.
func (g *gatherer) columns() ([]column, error) {
	if g.err != nil {
		return nil, g.err
	}
	out := make([]column, len(g.parts))
	for i := range g.parts {
		c := &g.parts[i]
		switch c.kind {
		case int64List:
			c.values = vectorOf(c.ints)
		case floatList:
			c.values = vectorOf(c.floats)
		default:
			if len(c.ends) == 0 { // no messages
				c.ends = []int64{0}
			}
			c.values = tensor.WrapStrings(fitted(c.ends), fitted(c.bytes), shape.Of(len(c.ends)-1))
		}
		out[i] = c.column
	}
	return out, nil
}

func vectorOf[T dtype.Number](xs []T) tensor.Tensor { return tensor.Vector(fitted(xs)) }

// fitted returns a slice without its spare capacity if that is large.
func fitted[T any](xs []T) []T {
	if cap(xs) > len(xs)+len(xs)/4+64 {
		return slices.Clone(xs)
	}
	return xs
}
