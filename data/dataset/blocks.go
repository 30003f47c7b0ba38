package dataset

import (
	"slices"
	"sync"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/elements"
)

// BlockOptions control how blocks are read and kept in memory.
type BlockOptions struct {
	// Bytes limits the memory of the blocks that are kept. 0 means 256 MiB. The block being read,
	// and those that a shuffle needs at the same time, are always kept.
	Bytes int64

	// Name returns the origin of a block, such as a file and its row group. It appears in errors of
	// functions of the elements. Nil means no name.
	Name func(block int64) string
}

// maxBlocks limits the number of blocks of a dataset, because each block takes some memory.
const maxBlocks = 1 << 27

// FromBlocks returns the dataset of the rows of blocks that are read as a whole, such as the
// row groups of a file. sizes are the numbers of rows of the blocks, and read reads a block: a
// Value, or a structure of Values, with that many rows. The most recently used blocks are kept
// in memory. [Dataset.ShuffleBlocks] reads each block about once. read must be safe for
// concurrent use.
func FromBlocks[T any](sizes []int64, read func(block int64) (T, error), o BlockOptions) *Dataset[T] {
	up := computed("Blocks", int64(len(sizes)), read)
	for i, n := range sizes {
		if n < 0 {
			return failing[T](invalid("FromBlocks", "block %d has %d rows", i, n))
		}
	}
	return blocksOf("FromBlocks", up.n, func() ([]int64, error) { return sizes, nil }, o)
}

// blocksOf returns the rows of the elements of a node whose numbers of rows are known.
func blocksOf[T any](name string, up *node[T], sizes func() ([]int64, error), o BlockOptions) *Dataset[T] {
	if o.Bytes == 0 {
		o.Bytes = 256 << 20
	}
	starts := sync.OnceValues(func() ([]int64, error) { return startsOf(name, sizes) })
	kept := &blockCache[T]{up: up, bytes: o.Bytes, least: 1, name: o.Name}
	find := func(i int64) (block, row int64, size int64) {
		s, _ := starts() // size has already returned the error
		n := int64(len(s) - 1)
		epoch, i := i/s[n], i%s[n]
		b, _ := slices.BinarySearch(s, i+1)
		return epoch*n + int64(b-1), i - s[b-1], s[b] - s[b-1]
	}
	n := &node[T]{
		name: name, below: []stage{up}, many: sizes, keep: kept.keep,
		size: func() (int64, error) {
			s, err := starts()
			if err != nil {
				return 0, err
			}
			return s[len(s)-1], nil
		},
		get: func(i int64) (x T, err error) {
			b, row, size := find(i)
			r, err := kept.block(b, size)
			if err != nil {
				return x, err
			}
			return r.row(row)
		},
		place: func(i int64) (ref[T], bool) {
			b, row, size := find(i)
			r, err := kept.block(b, size)
			return ref[T]{r, row}, err == nil
		},
		specs: func() []tenon.Field { return rowFields(up.fields()) },
	}
	return derived(n)
}

// startsOf returns the positions at which the blocks begin, followed by the total number of rows.
func startsOf(op string, sizes func() ([]int64, error)) ([]int64, error) {
	list, err := sizes()
	if err != nil {
		return nil, err
	}
	out := make([]int64, len(list)+1)
	for i, n := range list {
		if out[i+1] = out[i] + n; out[i+1] < out[i] {
			return nil, invalid(op, "the number of rows overflows int64")
		}
	}
	return out, nil
}

// blockCache keeps the most recently used blocks.
type blockCache[T any] struct {
	up    *node[T]
	bytes int64
	name  func(block int64) string

	mu    sync.Mutex
	least int // number of blocks that are always kept
	held  int64
	at    map[int64]*cached[T]
	first *cached[T] // the most recently used block; the others follow
}

type cached[T any] struct {
	number       int64
	ready        chan struct{}
	rows         *stored[T]
	err          error
	bytes        int64
	before, next *cached[T]
}

// keep sets a lower bound for the number of blocks that are kept.
func (c *blockCache[T]) keep(n int) {
	c.mu.Lock()
	c.least = max(c.least, n)
	c.mu.Unlock()
}

// block returns the rows of a block. It is read once for all concurrent callers.
func (c *blockCache[T]) block(i, size int64) (*stored[T], error) {
	c.mu.Lock()
	e, ok := c.at[i]
	if ok {
		c.unlink(e)
		c.link(e)
		c.mu.Unlock()
		<-e.ready
		return e.rows, e.err
	}
	if c.at == nil {
		c.at = map[int64]*cached[T]{}
	}
	e = &cached[T]{number: i, ready: make(chan struct{}), err: invalid("FromBlocks", "reading block %d panicked", i)}
	c.at[i] = e
	c.link(e)
	c.mu.Unlock()
	func() {
		defer close(e.ready)
		e.rows, e.err = c.read(i, size)
	}()
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.err != nil { // the next caller tries again
		if c.at[i] == e {
			c.unlink(e)
			delete(c.at, i)
		}
		return nil, e.err
	}
	if e.bytes = elements.SizeOf(e.rows.value); c.at[i] == e {
		c.held += e.bytes
	}
	for c.held > c.bytes && len(c.at) > c.least {
		last := c.first.before
		c.unlink(last)
		delete(c.at, last.number)
		c.held -= last.bytes
	}
	return e.rows, nil
}

func (c *blockCache[T]) read(i, size int64) (*stored[T], error) {
	x, err := c.up.at(i)
	if err != nil {
		return nil, elementError(i, err)
	}
	r, err := newRows(x)
	if err == nil && r.n != size {
		err = invalid("FromBlocks", "block %d has %d rows, want %d", i, r.n, size)
	}
	if all, e := c.up.size(); err == nil && e == nil && c.name != nil {
		r.from = c.name(i % all)
	}
	return r, err
}

// link inserts an entry at the front of the circular list.
func (c *blockCache[T]) link(e *cached[T]) {
	if c.first == nil {
		e.before, e.next = e, e
	} else {
		e.before, e.next = c.first.before, c.first
		e.before.next, e.next.before = e, e
	}
	c.first = e
}

func (c *blockCache[T]) unlink(e *cached[T]) {
	if e.next == e {
		c.first = nil
		return
	}
	e.before.next, e.next.before = e.next, e.before
	if c.first == e {
		c.first = e.next
	}
}

// ShuffleBlocks returns all elements in an order that is determined by the seed and differs in
// each epoch. It is for elements that are read in blocks: those of [FromBlocks], of row groups
// of files, or of a cache. First the blocks are permuted, and then the elements within each
// window of blocks, so that only a window of blocks is in memory and each block is read about
// once. The boundaries of windows differ from epoch to epoch. Like that of [Dataset.Shuffle],
// the order is computed from numbers; it takes one number for each block.
func (d *Dataset[T]) ShuffleBlocks(window int, seed uint64) *Dataset[T] {
	if d.err != nil {
		return d
	}
	var err error
	if window < 1 {
		err = invalid("ShuffleBlocks", "the window must be at least 1 block, not %d", window)
	} else if d.n.many == nil || d.n.get == nil {
		e := errOf("ShuffleBlocks", "the elements of %s are not read in blocks", d.n.name)
		e.Kind = tenon.ErrUnsupported
		e.Hint = "call ShuffleBlocks directly after FromBlocks, or after Concat of such datasets; Shuffle takes any numbered dataset"
		err = e
	}
	if err != nil {
		return failing[T](err)
	}
	up := d.n
	if up.keep != nil {
		up.keep(window + 1)
	}
	starts := sync.OnceValues(func() ([]int64, error) { return startsOf("ShuffleBlocks", up.many) })
	var mu sync.Mutex
	orders := map[int64]*blockOrder{}
	order := func(epoch int64) *blockOrder {
		mu.Lock()
		defer mu.Unlock()
		if o, ok := orders[epoch]; ok {
			return o
		}
		if len(orders) > 2 {
			clear(orders)
		}
		s, _ := starts() // size has already returned the error
		o := newBlockOrder(s, int64(window), mix(seed^mix(uint64(epoch))))
		orders[epoch] = o
		return o
	}
	n := moved("ShuffleBlocks", up, nil, func(all, i int64) int64 {
		return i/all*all + order(i/all).number(i%all)
	})
	n.size = func() (int64, error) {
		s, err := starts()
		if err != nil {
			return 0, err
		}
		return s[len(s)-1], nil
	}
	return derived(n)
}

// blockOrder is the order of one epoch.
type blockOrder struct {
	starts []int64 // positions of the stored blocks
	blocks []int64 // in the order of the epoch
	ends   []int64 // position in the epoch at which each of these begins, and the end
	window int64
	shift  int64 // number of blocks in the first window
	key    uint64
}

func newBlockOrder(starts []int64, window int64, key uint64) *blockOrder {
	n := int64(len(starts) - 1)
	o := &blockOrder{starts: starts, window: window, key: key, shift: 1 + int64(mix(key^1)%uint64(window)), blocks: make([]int64, n), ends: make([]int64, n+1)}
	for i := range n {
		b := permuted(mix(key^2), n, i)
		o.blocks[i] = b
		o.ends[i+1] = o.ends[i] + starts[b+1] - starts[b]
	}
	return o
}

// number returns the number of the stored element that is number i of the epoch.
func (o *blockOrder) number(i int64) int64 {
	k, _ := slices.BinarySearch(o.ends, i+1)
	at := int64(k - 1)
	w, lo, hi := int64(0), int64(0), o.shift // number of the window, and its range of blocks
	if at >= o.shift {
		w = 1 + (at-o.shift)/o.window
		lo = o.shift + (w-1)*o.window
		hi = lo + o.window
	}
	hi = min(hi, int64(len(o.blocks)))
	first := o.ends[lo]
	i = first + permuted(mix(o.key^mix(uint64(w)+3)), o.ends[hi]-first, i-first)
	k, _ = slices.BinarySearch(o.ends, i+1)
	return o.starts[o.blocks[k-1]] + i - o.ends[k-1]
}
