package interp

import (
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tenonml/tenon/internal/kernel/fused"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/internal/kernel/stream"
	"github.com/tenonml/tenon/internal/par"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

const (
	// rowBlockBytes is blockBytes for blocks of whole rows, which cost more to start.
	rowBlockBytes = 8192

	// blockRows is the largest number of rows in a block; empty rows would otherwise leave it
	// unbounded.
	blockRows = 512

	// longRow is the number of elements from which rows are not copied into a buffer.
	longRow = 1 << 15
)

// form is the layout of an operand relative to the result.
type form struct {
	base   unsafe.Pointer
	size   int // size of an element in bytes
	n      int // number of elements
	scalar bool
	period int // number of elements after which it repeats; 0 if it is as long as the result

	// An operand that is a part of a longer axis consists of pieces of row elements, gap elements apart.
	// Each block copies its part into a temporary. 0 if all elements are consecutive.
	row, gap int
}

// run is the data of one run of a group.
type run struct {
	n, step int     // number of elements, and of elements of the shortest repeating row, or n
	splits  []int64 // row splits, if the group has rows
	block   int     // number of elements of a block
	forms   []form
	scalars []uint8          // as in shapes
	chains  []*fused.Chain   // likewise
	outs    []unsafe.Pointer // destination of each node that writes to memory
	past    bool             // results are too large for the cache and are written with non-temporal stores
	gaps    bool             // some operands have gaps
	far     bool             // operands come from memory and are prefetched
	failed  atomic.Bool      // the rows cannot be processed block by block
	copies  []*tensor.Dense  // of operands that are not contiguous
	scratch
}

// scratch is the memory of one worker for one group. The addresses of temporaries do not change
// from run to run, so that each block updates only those of other operands.
type scratch struct {
	temps  []byte
	stride int                 // distance between temporaries in bytes
	at     []unsafe.Pointer    // addresses of the block's parts of inputs, and then of results outside of temporaries
	x      [][3]unsafe.Pointer // the operands of each node
	chains []fused.ChainRun
	coming []coming             // what is being prefetched
	splits [blockRows + 1]int64 // row splits of a block, starting at 0
}

// take returns memory from the pool, or new memory if the pool is empty.
func take[T any](pool *sync.Pool) *T {
	if x, ok := pool.Get().(*T); ok {
		return x
	}
	return new(T)
}

// run computes the group's outputs. It reports false if the shapes do not allow it or it does not
// pay off; the nodes then run one by one.
func (g *group) run(slots []tensor.Tensor) bool {
	if g.kernel != nil {
		return g.kernel.run(g, slots)
	}
	r := take[run](&g.runs)
	ok := g.prepare(r, slots)
	if ok && (g.whole == nil || !g.whole.run(g, r)) {
		g.all(r)
		ok = !r.failed.Load()
	}
	clear(r.forms)
	clear(r.outs)
	for _, c := range r.copies {
		tensor.Release(c)
	}
	clear(r.copies)
	r.copies, r.splits = r.copies[:0], nil
	r.failed.Store(false)
	g.runs.Put(r)
	return ok
}

// prepare determines the forms of the operands and allocates the results.
func (g *group) prepare(r *run, slots []tensor.Tensor) bool {
	r.gaps = false
	r.forms = slices.Grow(r.forms[:0], len(g.inputs))[:len(g.inputs)]
	var s shape.Shape
	if g.splits >= 0 {
		if !g.prepareRows(r, slots) {
			return false
		}
	} else if s = g.prepareElements(r, slots); r.n <= 0 {
		return false
	}
	if !g.full(r) {
		return false
	}
	r.outs = slices.Grow(r.outs[:0], len(g.nodes))[:len(g.nodes)]
	bytes := 0
	for i, k := range g.outAt {
		nd := &g.nodes[k]
		if r.splits != nil {
			n := r.n
			if nd.perRow {
				n = len(r.splits) - 1
			}
			if s = shape.Of(n); nd.rank > 1 {
				s = column(n, nd.rank)
			}
		}
		t := tensor.Uninit(nd.dtype, s)
		slots[g.outs[i]] = t
		r.outs[k] = t.Raw()
		if !nd.perRow {
			bytes += r.n * nd.dtype.Size()
		}
	}
	r.past = bytes >= stream.Threshold
	r.isFar(g)
	return true
}

func column(n, rank int) shape.Shape {
	dims := make([]int, rank)
	for i := range dims {
		dims[i] = 1
	}
	dims[0] = n
	return shape.Of(dims...)
}

// prepareElements is the part of prepare for groups without rows. It returns the shape of the
// results, and sets r.n to 0 if the group cannot run.
func (g *group) prepareElements(r *run, slots []tensor.Tensor) shape.Shape {
	var largest *tensor.Dense
	n := -1
	r.n, r.block = 0, blockBytes/g.size
	for _, in := range g.inputs {
		d, ok := slots[in.slot].(*tensor.Dense)
		if !ok || repeats(d) {
			return shape.Shape{}
		}
		if d.Len() > n {
			largest, n = d, d.Len()
		}
	}
	if n <= 0 || n < minElements && len(g.nodes) < minNodes {
		return shape.Shape{}
	}
	s := largest.Shape()
	r.step = n
	for i, in := range g.inputs {
		f, ok := r.formOf(slots[in.slot].(*tensor.Dense), s)
		if !ok {
			return s
		}
		r.forms[i] = f
		if f.period > 0 {
			if r.step != n && r.step != f.period {
				return s
			}
			r.step = f.period
		}
	}
	r.n = n
	return s
}

// prepareRows is the part of prepare for groups with rows.
func (g *group) prepareRows(r *run, slots []tensor.Tensor) bool {
	partition, ok := slots[g.inputs[g.splits].slot].(*tensor.Dense)
	if !ok {
		return false
	}
	s, err := rows.Entries(partition)
	if err != nil {
		return false
	}
	r.splits, r.n, r.block = s, int(s[len(s)-1]), rowBlockBytes/g.size
	r.step = r.n
	if r.n == 0 {
		return false
	}
	for i, in := range g.inputs {
		want := r.n
		switch in.role {
		case ofRows:
			want = len(s) - 1
		case unused, splits:
			continue
		}
		d, ok := slots[in.slot].(*tensor.Dense)
		if !ok || !d.IsContiguous() {
			return false
		}
		f := form{base: d.Raw(), size: d.DType().Size(), n: d.Len()}
		switch {
		case in.role == table:
		case d.Rank() > 0 && d.Len() == want && d.Dim(0) == want:
		case d.Len() == 1:
			f.scalar = true
		default:
			return false
		}
		r.forms[i] = f
	}
	return true
}

// repeats reports whether elements of d share memory: a copy would be larger than what it is of.
func repeats(d *tensor.Dense) bool {
	if d.IsContiguous() {
		return false
	}
	var room [8]int
	for i, stride := range d.AppendStrides(room[:0]) {
		if stride == 0 && d.Dim(i) > 1 {
			return true
		}
	}
	return false
}

// formOf finds how d lies beside a result of shape s. Of elements that do not follow each other in pieces
// long enough to be copied block by block, it makes a copy, which costs less than to run the nodes one by one.
func (r *run) formOf(d *tensor.Dense, s shape.Shape) (form, bool) {
	if !d.IsContiguous() {
		if row, gap := piecesOf(d); row >= minPiece && d.Shape().Equal(s) {
			r.gaps = true
			return form{base: d.Raw(), size: d.DType().Size(), n: d.Len(), row: row, gap: gap}, true
		}
		d = tensor.Contiguous(d)
		r.copies = append(r.copies, d)
	}
	f := form{base: d.Raw(), size: d.DType().Size(), n: d.Len()}
	switch {
	case d.Shape().Equal(s):
		return f, true
	case d.Len() == 1 && d.Rank() <= s.Rank():
		f.scalar = true
		return f, true
	}
	// A repeating row: its shape is the end of s, preceded by axes of size 1.
	own := d.Shape()
	if own.Rank() > s.Rank() {
		return f, false
	}
	ones := true
	for a := own.Rank() - 1; a >= 0; a-- {
		same := own.Dim(a) == s.Dim(a-own.Rank()+s.Rank())
		switch {
		case ones && same:
		case own.Dim(a) == 1:
			ones = false
		default:
			return f, false
		}
	}
	f.period = d.Len()
	if k := r.copiesOfRow(f.period, s.Size()); k > 1 {
		d = tensor.Contiguous(d.View(0, shape.Of(k, f.period), []int{0, 1}))
		r.copies = append(r.copies, d)
		f.base, f.n, f.period = d.Raw(), d.Len(), d.Len()
	}
	if f.period == s.Size() { // no longer repeats
		f.period = 0
		return f, true
	}
	return f, f.period >= 64
}

// copiesOfRow returns how many copies of a repeating row of n elements are put behind one another, so that
// blocks need not be as short as the row: as many as fit into a block and divide all of the elements.
func (r *run) copiesOfRow(n, all int) int {
	k := max(1, r.block/n)
	for all/n%k != 0 {
		k--
	}
	return k
}

// shapes records which inputs are single elements or repeat, and what follows from that.
type shapes struct {
	inputs  []int8  // by input: kind of its form
	scalars []uint8 // by node: mask of the operands that are single elements
	chains  []*fused.Chain
	full    bool
}

// The kinds of forms.
const (
	isFull int8 = iota
	isScalar
	isPeriodic
)

func (f *form) kind() int8 {
	switch {
	case f.scalar:
		return isScalar
	case f.period > 0:
		return isPeriodic
	}
	return isFull
}

// full records which operands are single elements, and reports whether every node has an operand as
// long as the result, so that all results have the expected length. The findings are kept for the
// next run.
func (g *group) full(r *run) bool {
	s := g.known.Load()
	if s == nil || !s.are(r.forms) {
		s = g.shapesOf(r.forms)
		g.known.Store(s)
	}
	r.scalars, r.chains = s.scalars, s.chains
	return s.full
}

func (s *shapes) are(forms []form) bool {
	for i := range forms {
		if forms[i].kind() != s.inputs[i] {
			return false
		}
	}
	return true
}

func (g *group) shapesOf(forms []form) *shapes {
	s := &shapes{inputs: make([]int8, len(forms)), scalars: make([]uint8, len(g.nodes)), chains: g.chainsOf(forms), full: true}
	for i := range forms {
		s.inputs[i] = forms[i].kind()
	}
	for k := range g.nodes {
		nd := &g.nodes[k]
		long := nd.n == 0
		for j, o := range nd.operands[:nd.n] {
			switch {
			case o < 0 || g.inputs[o].role == table:
				long = true
			case forms[o].scalar:
				s.scalars[k] |= 1 << j
			default:
				long = long || forms[o].period == 0
			}
		}
		s.full = s.full && long
	}
	return s
}

// all computes all elements. Work is divided by the rows of the group, or by those of the shortest
// period, or else into blocks.
func (g *group) all(r *run) {
	grain := 16 * r.block
	n, part := r.n, g.elements
	if r.splits != nil {
		n, part = len(r.splits)-1, g.rows
	}
	if g.streams(r) {
		part = g.stream
	}
	switch {
	case r.splits != nil:
		grain = max(1, int(float64(grain)*float64(n)/float64(r.n)))
	case r.step != r.n:
		grain = max(1, grain/r.step) * r.step
	}
	if n <= grain {
		part(0, n, r, &r.scratch)
		return
	}
	par.For(n, grain, func(lo, hi int) {
		w := take[scratch](&g.scratches)
		part(lo, hi, r, w)
		g.scratches.Put(w)
	})
}

// elements computes the elements [lo, hi).
func (g *group) elements(lo, hi int, r *run, w *scratch) {
	g.reserve(r, w, blockBytes)
	g.startChains(r, w)
	for i := lo; i < hi; {
		m := min(r.block, hi-i)
		if r.step != r.n {
			m = min(m, r.step-i%r.step) // stay within one row
		}
		g.do(r, w, part{value: i, values: m})
		i += m
	}
	g.forget(w, r)
}

// rows computes the rows [lo, hi).
func (g *group) rows(lo, hi int, r *run, w *scratch) {
	g.reserve(r, w, r.block*g.size)
	g.startChains(r, w)
	s := r.splits
	average := min((hi-lo)*r.block*7/8/(int(s[hi]-s[lo])+1)+1, blockRows)
	average = max(1, average-average%segment.BlockRows)
	for lo < hi && !r.failed.Load() {
		end := min(lo+average, hi)
		for end > lo+1 && int(s[end]-s[lo]) > r.block {
			end -= (end - lo) / 2
		}
		p := part{value: int(s[lo]), values: int(s[end] - s[lo]), row: lo, rows: end - lo}
		if p.values > r.block {
			if p.values > longRow {
				r.failed.Store(true)
				break
			}
			g.reserve(r, w, p.values*g.size)
		}
		p.splits = w.splits[:p.rows+1]
		segment.FromZero(p.splits, s[lo:end+1])
		if !g.do(r, w, p) {
			r.failed.Store(true)
		}
		lo = end
	}
	g.forget(w, r)
}

// reserve makes room for temporaries of the given size.
func (g *group) reserve(r *run, w *scratch, bytes int) {
	stride := (bytes+segment.Room+63)&^63 + stagger
	n := (g.regs + len(g.outs)) * stride
	if r.gaps {
		n += len(g.inputs) * stride
	}
	if w.stride == stride && len(w.temps) >= n {
		return
	}
	w.stride = stride
	if len(w.temps) < n {
		w.temps = make([]byte, n)
	}
	if w.x == nil {
		w.at = make([]unsafe.Pointer, len(g.inputs)+len(g.outs))
		w.x = make([][3]unsafe.Pointer, len(g.nodes))
	}
	for k := range g.nodes {
		if g.nodes[k].idle || g.nodes[k].chained {
			continue
		}
		for j, o := range g.nodes[k].operands[:g.nodes[k].n] {
			if o < 0 && g.nodes[-1-o].reg < g.regs {
				w.x[k][j] = w.temporary(g.nodes[-1-o].reg)
			}
		}
	}
}

// temporary returns the address of a temporary.
func (w *scratch) temporary(reg int) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(w.temps)), reg*w.stride)
}

// forget drops references that would keep tensors alive; copies of single elements may stay.
func (g *group) forget(w *scratch, r *run) {
	clear(w.at)
	for _, l := range g.moving {
		if o := int(l.operand); o >= len(g.inputs) || !r.forms[o].scalar {
			w.x[l.node][l.index] = nil
		}
	}
}

// part is a block: a range of values, and the rows that contain them.
type part struct {
	value, values int
	row, rows     int
	splits        []int64 // starting at 0
}

// do computes one block. It reports false if an operation on rows cannot.
func (g *group) do(r *run, w *scratch, p part) bool {
	inputs := len(g.inputs)
	at := w.at
	for i := range r.forms {
		switch f := &r.forms[i]; {
		case f.scalar || g.inputs[i].role == table:
			at[i] = f.base
		case f.gap > 0:
			at[i] = w.temporary(g.regs + len(g.outs) + i)
			f.copy(at[i], &p)
		case f.period > 0:
			at[i] = unsafe.Add(f.base, p.value%f.period*f.size)
		case g.inputs[i].role == ofRows:
			at[i] = unsafe.Add(f.base, p.row*f.size)
		default:
			at[i] = unsafe.Add(f.base, p.value*f.size)
		}
	}
	for _, l := range g.moving[:g.read] {
		// Avoid writes of unchanged pointers, which would involve the write barrier.
		if x := &w.x[l.node][l.index]; *x != at[l.operand] {
			*x = at[l.operand]
		}
	}
	temps := unsafe.Pointer(unsafe.SliceData(w.temps))
	if r.far {
		r.expect(g, w, &p)
	}
	scalars, xs := r.scalars, w.x[:len(r.scalars)]
	for i := range g.loops {
		if r.far {
			w.fetch()
		}
		l := &g.loops[i]
		if l.chain > 0 {
			g.chain(r, w, &p, int(l.chain)-1)
			continue
		}
		k := int(l.node)
		n := p.values
		if l.perRow {
			n = p.rows
		}
		dst := unsafe.Add(temps, int(l.reg)*w.stride)
		if !l.plain {
			nd := &g.nodes[k]
			if nd.reg >= g.regs {
				dst = g.place(r, w, &p, k)
			}
			if nd.rows != nil {
				if !g.onRows(r, w, p, k, dst, n) {
					return false
				}
				continue
			}
		}
		l.f(dst, xs[k], n, scalars[k])
	}
	if r.far {
		w.fetch()
	}
	for j, k := range g.outAt {
		if nd := &g.nodes[k]; g.staged(nd, r) {
			size := nd.dtype.Size()
			to, n := unsafe.Add(r.outs[k], p.value*size), p.values*size
			if r.past {
				stream.Bytes(to, at[inputs+j], n)
			} else {
				copy(unsafe.Slice((*byte)(to), n), unsafe.Slice((*byte)(at[inputs+j]), n))
			}
		}
	}
	return true
}

// staged reports whether a result that is used outside of the group is first computed in a
// temporary: if it is written with non-temporal stores, or if its loop writes past its end. A chain
// needs no temporary, unless others read what it writes with non-temporal stores.
func (g *group) staged(nd *groupNode, r *run) bool {
	if nd.chained {
		return r.past && nd.shared
	}
	return !nd.perRow && (r.past || nd.rows != nil)
}

// onRows runs a node on the rows of a block.
func (g *group) onRows(r *run, w *scratch, p part, k int, dst unsafe.Pointer, n int) bool {
	nd := &g.nodes[k]
	var src []byte
	if nd.n > 0 {
		size, count, room := 0, p.values, 0
		o := nd.operands[0]
		from := nd.rows.From == op.PerRow
		if from {
			count = p.rows
		}
		if o < 0 {
			maker := &g.nodes[-1-o]
			size = maker.dtype.Size()
			if room = count * size; maker.reg < g.regs || g.staged(maker, r) {
				room = w.stride
			}
		} else {
			f := &r.forms[o]
			size = f.size
			switch {
			case g.inputs[o].role == table:
				count = f.n
				room = count * size
			case from:
				room = (f.n - p.row) * size
			default:
				room = (f.n - p.value) * size
			}
		}
		src = unsafe.Slice((*byte)(w.x[k][0]), room)[:count*size]
	}
	size := nd.dtype.Size()
	room := n * size
	if nd.reg < g.regs || g.staged(nd, r) {
		room = w.stride
	}
	return nd.rows.Run(unsafe.Slice((*byte)(dst), room)[:n*size], src, p.splits)
}
