package dataset

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/memory"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// PackOptions control how sequences are packed into bins.
type PackOptions struct {
	// Length is the capacity of a bin. A longer sequence is an error.
	Length int

	// Path names the Value in an element whose rows are counted, as [Dataset.Specs] names it;
	// a field of a record is named in the form of structured.PathString. "" means that the
	// element is the Value.
	Path string

	// Window is the number of elements that are packed together. 0 means 16384. A bin contains only
	// elements of one window.
	Window int

	// MaxSegments is the largest number of elements in a bin. 0 means no limit.
	MaxSegments int
}

// Pack returns the dataset of bins: batches, of kind Ragged, of elements whose total length is at
// most Length. Each element is in one bin. Bins are planned from lengths alone, and the lengths
// of stored rows are known without reading the rows. The segments of a bin stay ragged: elements
// of ~tokens make bins of [segments, ~tokens], and batches of bins [bins, ~segments, ~tokens], so
// that no padding, segment numbers or positions have to be stored.
//
// Bins are those of the first epoch: Shuffle before Pack to assign elements to bins at random,
// Shuffle after it to vary the order of the bins in each epoch, and Repeat before it to make
// different bins in each epoch. The elements must be numbered.
func (d *Dataset[T]) Pack(o PackOptions) *Dataset[T] {
	var err error
	if o.Length < 1 || o.Window < 0 || o.MaxSegments < 0 {
		err = invalid("Pack", "the options %+v are not positive", o)
	}
	if o.Window == 0 {
		o.Window = 16384
	}
	return onNumbered("Pack", d, err, func(up *node[T]) *node[T] {
		p := &packing[T]{up: up, o: o}
		plans := sync.OnceValue(p.count)
		g := grouping{
			size: func() (int64, error) {
				c := plans()
				return c.bins, c.err
			},
			members: func(i int64, to []int64) ([]int64, error) {
				c := plans()
				if c.err != nil {
					return nil, c.err
				}
				return p.members(c, i%c.bins, to)
			},
		}
		return grouped("Pack", up, BatchOptions{Kind: Ragged}, nil, g)
	})
}

// packing plans windows of elements.
type packing[T any] struct {
	up *node[T]
	o  PackOptions

	mu    sync.Mutex
	plans map[int64]binPlan // plans by window
	order []int64           // the planned windows, oldest first
	held  int64             // size of the plans in bytes

	lens   sync.Mutex
	counts map[*stored[T]][]int64
}

// binPlan holds the bins of a window: the elements of each bin, relative to the first element of
// the window, follow those of the preceding bin.
type binPlan struct{ members, ends []int32 }

// packCount counts the bins.
type packCount struct {
	all    int64   // number of elements
	starts []int64 // first bin of each window
	bins   int64
	err    error
}

func (p *packing[T]) count() (c packCount) {
	if c.all, c.err = p.up.size(); c.err != nil {
		return c
	}
	if c.all/int64(p.o.Window) > maxBlocks {
		c.err = invalid("Pack", "cannot pack %d elements", c.all)
		return c
	}
	for w := int64(0); w*int64(p.o.Window) < c.all; w++ {
		c.starts = append(c.starts, c.bins)
		plan, err := p.plan(w, c.all)
		if err != nil {
			c.err = err
			return c
		}
		c.bins += int64(len(plan.ends))
	}
	return c
}

// plan returns the bins of a window. Plans are kept, four bytes for each element, so that bins can
// be requested in any order without planning each time.
func (p *packing[T]) plan(window, all int64) (binPlan, error) {
	p.mu.Lock()
	plan, ok := p.plans[window]
	p.mu.Unlock()
	if ok {
		return plan, nil
	}
	first := window * int64(p.o.Window)
	lengths, err := p.lengths(first, min(first+int64(p.o.Window), all))
	if err != nil {
		return plan, err
	}
	bin, n, err := PlanBins(lengths, p.o.Length, p.o.MaxSegments)
	if err != nil {
		return plan, err
	}
	plan = sortedBins(bin, n)
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.plans[window]; !ok {
		if p.plans == nil {
			p.plans = map[int64]binPlan{}
		}
		p.plans[window] = plan
		p.order = append(p.order, window)
		p.held += plan.bytes()
		for p.held > max(minPlans, memory.Budget()/16) && len(p.order) > 1 {
			p.held -= p.plans[p.order[0]].bytes()
			delete(p.plans, p.order[0])
			p.order = p.order[1:]
		}
	}
	return plan, nil
}

// minPlans is the number of bytes of plans that are always kept.
const minPlans = 64 << 20

func (b binPlan) bytes() int64 { return 4 * int64(len(b.members)+len(b.ends)) }

// sortedBins returns the elements of each of n bins, given the bin of each element.
func sortedBins(bin []int32, n int) binPlan {
	p := binPlan{make([]int32, len(bin)), make([]int32, n)}
	for _, b := range bin {
		p.ends[b]++
	}
	at := int32(0)
	for b, k := range p.ends {
		p.ends[b], at = at, at+k
	}
	for i, b := range bin {
		p.members[p.ends[b]] = int32(i)
		p.ends[b]++
	}
	return p
}

// members returns the elements of a bin.
func (p *packing[T]) members(c packCount, bin int64, to []int64) ([]int64, error) {
	w, _ := slices.BinarySearch(c.starts, bin+1) // the next window
	window := int64(w - 1)
	plan, err := p.plan(window, c.all)
	if err != nil {
		return nil, err
	}
	b := bin - c.starts[window]
	lo := int32(0)
	if b > 0 {
		lo = plan.ends[b-1]
	}
	for _, i := range plan.members[lo:plan.ends[b]] {
		to = append(to, window*int64(p.o.Window)+int64(i))
	}
	return to, nil
}

// lengths returns the lengths of elements.
func (p *packing[T]) lengths(lo, hi int64) ([]int64, error) {
	out := make([]int64, 0, hi-lo)
	var of *stored[T] // the stored rows that have these lengths
	var rows []int64
	for i := lo; i < hi; i++ {
		n := int64(-1)
		if r, ok := p.up.stored(i); ok {
			if r.of != of {
				var err error
				if rows, err = p.rowLengths(r.of); err != nil {
					return nil, err
				}
				of = r.of
			}
			if rows != nil {
				n = rows[r.row]
			}
		}
		if n < 0 {
			x, err := p.up.at(i)
			if err == nil {
				n, err = p.length(x)
			}
			if err != nil {
				return nil, elementError(i, err)
			}
		}
		if n > int64(p.o.Length) {
			e := errOf("Pack", "element %d has length %d, but the capacity of a bin is %d", i, n, p.o.Length)
			e.Hint = "split longer elements with FlatMap, or drop them with Filter"
			return nil, e
		}
		out = append(out, n)
	}
	return out, nil
}

// rowLengths returns the lengths of all stored rows, or nil if they are not ragged.
func (p *packing[T]) rowLengths(of *stored[T]) ([]int64, error) {
	p.lens.Lock()
	defer p.lens.Unlock()
	if n, ok := p.counts[of]; ok {
		return n, nil
	}
	var out []int64
	v, err := at(of.value, p.o.Path)
	if err != nil {
		return nil, err
	}
	if r, ok := v.(*ragged.Tensor); ok {
		if n, ok := r.Partition().RowLengths().(*tensor.Dense); ok {
			out = tensor.Data[int64](ops.Cast(n, dtype.Int64))
		}
	}
	if p.counts == nil || len(p.counts) > 64 { // blocks come and go
		p.counts = map[*stored[T]][]int64{}
	}
	p.counts[of] = out
	return out, nil
}

// length returns the length of an element.
func (p *packing[T]) length(x T) (int64, error) {
	v, err := at(x, p.o.Path)
	if err != nil {
		return 0, err
	}
	return rowCount(v)
}

// at returns the Value at a path in a structure of Values; the rest of the path may lead into the
// Value.
func at(x any, path string) (tenon.Value, error) {
	fields, leaves, err := leavesOf(x)
	if err != nil {
		return nil, err
	}
	for i, name := range fields {
		if name == path {
			return leaves[i], nil
		}
		rest := path
		if name != "" {
			if len(path) <= len(name) || path[:len(name)] != name || path[len(name)] != '.' {
				continue
			}
			rest = path[len(name)+1:]
		}
		if r, ok := leaves[i].(interface{ Path(string) tensor.Tensor }); ok {
			return tenon.Try(func() tenon.Value { return r.Path(rest) })
		}
	}
	return nil, invalid("Pack", "there is no %q in %s", path, fmt.Sprint(fields))
}

// PlanBins assigns lengths to as few bins of the given capacity as it can, with at most most
// lengths in a bin, or any number if most is 0. It returns the bin of each length, counted from
// 0, and the number of bins. The longest come first, each assigned to the bin with the least room
// that suffices ("best fit decreasing"). The time is proportional to the number of lengths.
func PlanBins(lengths []int64, room, most int) (bin []int32, bins int, err error) {
	if room < 1 || room > 1<<24 || len(lengths) > 1<<31-1 {
		return nil, 0, invalid("PlanBins", "cannot assign %d lengths to bins of %d", len(lengths), room)
	}
	// Count the lengths, find the bins for each length, the longest first, and then assign each
	// length to the next of its bins. Nothing is sorted.
	next := make([]int32, room+2) // indexed by the room that a length leaves in an empty bin
	for i, n := range lengths {
		if n < 0 || n > int64(room) {
			return nil, 0, invalid("PlanBins", "length %d is %d, but the capacity of a bin is %d", i, n, room)
		}
		next[room-int(n)+1]++
	}
	p := newPlanner(room)
	if most > 0 {
		p.most, p.count = int32(min(most, len(lengths))), []int32{}
	}
	found := make([]int32, len(lengths))
	for k := range room + 1 {
		next[k+1] += next[k]
		for i := next[k]; i < next[k+1]; i++ {
			found[i] = p.put(room - k)
		}
	}
	bin = make([]int32, len(lengths))
	for i, n := range lengths {
		k := room - int(n)
		bin[i] = found[next[k]]
		next[k]++
	}
	return bin, len(p.next), nil
}

// planner keeps a list of bins for each amount of room left. A bit for each list says whether it is
// empty; a second level of bits says which words of the first are nonzero.
type planner struct {
	room  int
	head  []int32 // 1 plus the first bin of each list, or 0 if it is empty
	next  []int32 // 1 plus the next bin in the list of each bin
	count []int32 // number of lengths in each bin, or nil if there is no limit
	most  int32
	words []uint64
	upper []uint64
}

func newPlanner(room int) *planner {
	w := room/64 + 1
	return &planner{room: room, head: make([]int32, room+1), words: make([]uint64, w), upper: make([]uint64, w/64+1)}
}

// put assigns a length to a bin.
func (p *planner) put(n int) int32 {
	left := p.find(n)
	var b int32
	if left < 0 {
		b, left = int32(len(p.next)), p.room
		if p.next = append(p.next, 0); p.count != nil {
			p.count = append(p.count, 0)
		}
	} else {
		b = p.head[left] - 1
		if p.head[left] = p.next[b]; p.head[left] == 0 {
			if p.words[left>>6] &^= 1 << (left & 63); p.words[left>>6] == 0 {
				p.upper[left>>12] &^= 1 << (left >> 6 & 63)
			}
		}
	}
	if p.count != nil {
		if p.count[b]++; p.count[b] == p.most {
			return b
		}
	}
	left -= n // a full bin accepts lengths of 0
	p.next[b] = p.head[left]
	p.head[left] = b + 1
	p.words[left>>6] |= 1 << (left & 63)
	p.upper[left>>12] |= 1 << (left >> 6 & 63)
	return b
}

// find returns the least amount of room that is at least n and left in some bin, or -1.
func (p *planner) find(n int) int {
	w := n >> 6
	if x := p.words[w] >> (n & 63); x != 0 {
		return n + bits.TrailingZeros64(x)
	}
	w++
	for u := w >> 6; u < len(p.upper); u++ {
		x := p.upper[u]
		if u == w>>6 {
			x = x >> (w & 63) << (w & 63)
		}
		if x != 0 {
			w = u<<6 | bits.TrailingZeros64(x)
			return w<<6 | bits.TrailingZeros64(p.words[w])
		}
	}
	return -1
}
