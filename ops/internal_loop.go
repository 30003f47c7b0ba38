package ops

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tenonml/tenon/internal/par"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Grain sizes of elementwise loops: numbers of elements that take a worker about
// 10 to 20 µs.
const (
	grainCheap = 32 << 10 // an addition
	grainDear  = 8 << 10  // a transcendental function
)

const (
	maxOperands = 3
	minRow      = 64   // rows with more elements than this are passed to the kernel one by one
	blockSize   = 1024 // otherwise operands are gathered in blocks of this many elements
	minCopied   = 4096 // transposed operands with more elements than this are copied first
)

// A run is a stretch of a loop's result: n elements from position at on. For each
// operand it has a pointer to as many elements, or to a single one if the
// operand's bit in scalars is set.
type run struct {
	at, n   int
	p       [maxOperands]unsafe.Pointer
	scalars uint8
}

// A loop walks over the elements of a result in row-major order, together with
// operands that are broadcast to it. Adjacent axes are merged if the layout of
// all operands allows it, so most loops have one or two axes left.
type loop struct {
	n        int   // elements of the result
	dims     []int // merged sizes, none of them 1
	operands []operand
	easy     bool // every operand is contiguous like the result or a scalar
	rows     bool // the innermost axis is long, and all operands have stride 0 or 1 along it
	block    int  // number of elements of a block if neither holds
	dimsRoom [8]int
	opsRoom  [maxOperands]operand
}

type operand struct {
	base    unsafe.Pointer
	size    int   // bytes of an element
	strides []int // in elements, by merged axis
	direct  bool  // laid out like the result
	scalar  bool  // a single element
	cyclic  bool  // repeats with each innermost row
	room    [8]int
}

// newLoop plans a loop over operands whose shapes broadcast to out.
func newLoop(out shape.Shape, operands ...*tensor.Dense) *loop {
	l := &loop{n: out.Size()}
	if l.n == 0 {
		return l
	}
	l.operands = l.opsRoom[:len(operands)]
	full := out.AppendDims(l.dimsRoom[:0])
	for i, d := range operands {
		if l.n >= minCopied && runsAcross(d, l.n) {
			d = move.Copied(d) // tile by tile, since gathering would read a cache line for each element
		}
		o := &l.operands[i]
		o.base, o.size = d.Raw(), d.DType().Size()
		o.strides = broadcastStrides(o.room[:0], full, d)
	}
	l.merge(full)
	l.classify()
	return l
}

// evenly returns the operands of a result with few elements as those of a single run: each is laid
// out like the result, or is a scalar, whose bit is then set. Planning a loop would take longer
// than running it.
func evenly(out shape.Shape, x, y, z *tensor.Dense) (p [maxOperands]unsafe.Pointer, scalars uint8, ok bool) {
	n := out.Size()
	for i, d := range [maxOperands]*tensor.Dense{x, y, z} {
		switch {
		case n == 0 || n > blockSize || !d.IsContiguous():
			return p, 0, false
		case d.Len() == n:
		case d.Len() == 1:
			scalars |= 1 << i
		default:
			return p, 0, false
		}
		p[i] = d.Raw()
	}
	return p, scalars, true
}

// runsAcross reports whether an operand with as many elements as the result is not contiguous along
// the last axis.
func runsAcross(d *tensor.Dense, n int) bool {
	if d.IsContiguous() || d.Len() != n {
		return false
	}
	strides := d.Strides()
	for i := len(strides) - 1; i >= 0; i-- {
		if d.Dim(i) != 1 {
			return strides[i] != 0 && strides[i] != 1
		}
	}
	return false
}

// broadcastStrides appends the stride for each axis of the result: 0 if the operand has size 1
// there or lacks the axis.
func broadcastStrides(dst, full []int, d *tensor.Dense) []int {
	s := d.Shape()
	own := s.Rank()
	var strides []int
	if !d.IsContiguous() {
		strides = d.Strides()
	}
	for range full {
		dst = append(dst, 0)
	}
	step := 1
	for i := own - 1; i >= 0; i-- {
		size := s.Dim(i)
		if size != 1 {
			if strides != nil {
				dst[len(full)-own+i] = strides[i]
			} else {
				dst[len(full)-own+i] = step
			}
		}
		step *= size
	}
	return dst
}

// merge drops axes of size 1 and merges adjacent axes that every operand crosses
// with one stride.
func (l *loop) merge(full []int) {
	k := 0 // merged axes so far; they are written in place
	for i, size := range full {
		if size == 1 {
			continue
		}
		joins := k > 0
		for j := range l.operands {
			s := l.operands[j].strides
			joins = joins && s[k-1] == s[i]*size
		}
		if joins {
			full[k-1] *= size
			for j := range l.operands {
				s := l.operands[j].strides
				s[k-1] = s[i]
			}
			continue
		}
		full[k] = size
		for j := range l.operands {
			s := l.operands[j].strides
			s[k] = s[i]
		}
		k++
	}
	l.dims = full[:k]
	for j := range l.operands {
		l.operands[j].strides = l.operands[j].strides[:k]
	}
}

// classify decides how runs are formed.
func (l *loop) classify() {
	l.easy, l.rows = true, true
	inner := 1
	if k := len(l.dims); k > 0 {
		inner = l.dims[k-1]
	}
	for j := range l.operands {
		o := &l.operands[j]
		o.direct, o.scalar, o.cyclic = true, true, true
		step := 1
		for i := len(l.dims) - 1; i >= 0; i-- {
			st := o.strides[i]
			o.direct = o.direct && st == step
			o.scalar = o.scalar && st == 0
			o.cyclic = o.cyclic && (st == 0 || i == len(l.dims)-1)
			step *= l.dims[i]
		}
		if k := len(l.dims); k > 0 && o.strides[k-1] != 0 && o.strides[k-1] != 1 {
			l.rows = false
		}
		l.easy = l.easy && (o.direct || o.scalar)
	}
	l.rows = l.rows && inner >= minRow
	l.block = blockSize
	if inner < blockSize {
		l.block = blockSize / inner * inner
	}
}

// each calls f for runs that cover the result, using several workers if it is
// large. f returns -1, or the index within the run of an element that caused an
// error; each returns the position of the first such element, or -1.
func (l *loop) each(grain int, f func(r run) int) int {
	if l.n == 0 {
		return -1
	}
	if l.n <= grain {
		return l.chunk(0, l.n, f)
	}
	grain = max(grain/l.block, 1) * l.block
	var bad atomic.Int64
	bad.Store(int64(l.n))
	par.For(l.n, grain, func(lo, hi int) {
		b := l.chunk(lo, hi, f)
		for old := bad.Load(); b >= 0 && int64(b) < old; old = bad.Load() {
			if bad.CompareAndSwap(old, int64(b)) {
				break
			}
		}
	})
	if b := int(bad.Load()); b < l.n {
		return b
	}
	return -1
}

func (l *loop) chunk(lo, hi int, f func(r run) int) int {
	switch {
	case l.easy:
		return l.whole(lo, hi, f)
	case l.rows:
		return l.byRow(lo, hi, f)
	}
	return l.byBlock(lo, hi, f)
}

func (o *operand) at(i int) unsafe.Pointer { return unsafe.Add(o.base, i*o.size) }

func (l *loop) whole(lo, hi int, f func(r run) int) int {
	r := run{at: lo, n: hi - lo}
	for j := range l.operands {
		o := &l.operands[j]
		if o.direct {
			r.p[j] = o.at(lo)
		} else {
			r.p[j] = o.base
			r.scalars |= 1 << j
		}
	}
	return fault(lo, f(r))
}

func fault(at, i int) int {
	if i < 0 {
		return -1
	}
	return at + i
}

// byRow forms a run from each row of the innermost axis, or from the part of it
// between lo and hi.
func (l *loop) byRow(lo, hi int, f func(r run) int) int {
	last := len(l.dims) - 1
	inner := l.dims[last]
	for at := lo; at < hi; {
		row, first := at/inner, at%inner
		r := run{at: at, n: min(inner-first, hi-at)}
		for j := range l.operands {
			o := &l.operands[j]
			off, rest := 0, row
			for i := last - 1; i >= 0; i-- {
				off += rest % l.dims[i] * o.strides[i]
				rest /= l.dims[i]
			}
			if o.strides[last] == 0 {
				r.scalars |= 1 << j
			} else {
				off += first
			}
			r.p[j] = o.at(off)
		}
		if b := f(r); b >= 0 {
			return at + b
		}
		at += r.n
	}
	return -1
}

// A gatherBlock holds one block for each operand of any element type.
type gatherBlock [maxOperands][blockSize * 2]uint64

var gatherBlocks = sync.Pool{New: func() any { return new(gatherBlock) }}

// byBlock gathers the operands that are laid out differently from the result, one
// block at a time.
func (l *loop) byBlock(lo, hi int, f func(r run) int) int {
	b := gatherBlocks.Get().(*gatherBlock)
	bad := -1
	for at := lo; at < hi && bad < 0; at += l.block {
		r := run{at: at, n: min(l.block, hi-at)}
		for j := range l.operands {
			o := &l.operands[j]
			switch {
			case o.direct:
				r.p[j] = o.at(at)
			case o.scalar:
				r.p[j] = o.base
				r.scalars |= 1 << j
			default:
				r.p[j] = unsafe.Pointer(&b[j])
				// A repeated row is gathered only once: chunks and blocks are whole rows.
				if !o.cyclic || at == lo || l.dims[len(l.dims)-1] > l.block {
					gatherRun(r.p[j], o, l.dims, at, r.n)
				}
			}
		}
		bad = fault(at, f(r))
	}
	gatherBlocks.Put(b)
	return bad
}

func gatherRun(dst unsafe.Pointer, o *operand, dims []int, at, n int) {
	switch o.size {
	case 1:
		gatherElems(unsafe.Slice((*uint8)(dst), n), (*uint8)(o.base), o.strides, dims, at)
	case 2:
		gatherElems(unsafe.Slice((*uint16)(dst), n), (*uint16)(o.base), o.strides, dims, at)
	case 4:
		gatherElems(unsafe.Slice((*uint32)(dst), n), (*uint32)(o.base), o.strides, dims, at)
	case 8:
		gatherElems(unsafe.Slice((*uint64)(dst), n), (*uint64)(o.base), o.strides, dims, at)
	case 16:
		gatherElems(unsafe.Slice((*[2]uint64)(dst), n), (*[2]uint64)(o.base), o.strides, dims, at)
	}
}

// gatherElems copies the elements for the positions of the result from at on.
func gatherElems[T any](dst []T, base *T, strides, dims []int, at int) {
	var zero T
	size := int(unsafe.Sizeof(zero))
	last := len(dims) - 1
	var room [8]int
	index := append(room[:0], dims...)
	off := 0
	for i := last; i >= 0; i-- {
		index[i], at = at%dims[i], at/dims[i]
		off += index[i] * strides[i]
	}
	inner, step := dims[last], strides[last]
	for len(dst) > 0 {
		n := min(inner-index[last], len(dst))
		p := unsafe.Add(unsafe.Pointer(base), off*size)
		switch step {
		case 0:
			v := *(*T)(p)
			for i := range dst[:n] {
				dst[i] = v
			}
		case 1:
			copy(dst[:n], unsafe.Slice((*T)(p), n))
		default:
			for i := range dst[:n] {
				dst[i] = *(*T)(unsafe.Add(p, i*step*size))
			}
		}
		dst = dst[n:]
		off -= index[last] * step
		index[last] = 0
		for i := last - 1; i >= 0; i-- {
			index[i]++
			off += strides[i]
			if index[i] < dims[i] {
				break
			}
			off -= dims[i] * strides[i]
			index[i] = 0
		}
	}
}
