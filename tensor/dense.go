package tensor

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/arena"
	"github.com/tenonml/tenon/internal/strided"
	"github.com/tenonml/tenon/shape"
)

// Slack is the number of readable bytes after the last element of every buffer that this package
// allocates. Tensors of a few bytes have no buffer: their elements are stored in the tensor itself.
const Slack = 64

// Dense is a tensor of numbers or booleans in memory.
//
// A Dense is always part of a larger struct. The elements of a small tensor follow it (see
// small16), so that a few numbers and everything known about them share a cache line. If the
// elements are elsewhere, their address follows (see apart).
type Dense struct {
	_    noCopy
	spec Spec
}

// The bits of a Dense's Spec other than the element type.
const (
	dense   bits = 1 << 8  // this is the Spec of a Dense
	outside bits = 1 << 9  // the elements do not follow the Dense, which is part of an apart
	gaps    bits = 1 << 10 // the elements are not in row-major order or not contiguous; their strides are in extra

	slackAt  = 11 // number of bytes that may be read after the elements of tensors without gaps
	maxSlack = 0xFF
	countAt  = 19 // number of elements
)

// size returns the bits for n elements that take the given number of bytes, in memory of which room
// bytes may be read.
func size(n, bytes, room int) bits {
	return dense | bits(n)<<countAt | bits(min(room-bytes, maxSlack))<<slackAt
}

// extra holds what only few tensors have. All fields but the memo are set before anybody else sees
// the tensor.
type extra struct {
	strides []int         // in elements; nil: row-major without gaps
	room    int           // with strides: number of bytes that may be read from the first element on
	lent    *arena.Buffer // the buffer that Release gives back
	memo    atomic.Pointer[memo]
}

// apart is a tensor whose elements are elsewhere.
type apart struct {
	Dense
	ptr   unsafe.Pointer // the first element
	extra unsafe.Pointer // *extra; nil for most tensors
}

// A noCopy makes vet report a copy of a tensor, which would lose what follows it.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// newApart returns a tensor over memory at p, of which room bytes may be read. The
// shape is fully known.
func newApart(spec Spec, n int, p unsafe.Pointer, room int) *Dense {
	d := new(apart)
	d.set(spec, n, p, room)
	return &d.Dense
}

func (d *apart) set(spec Spec, n int, p unsafe.Pointer, room int) {
	d.spec, d.ptr = spec, p
	d.spec.bits |= outside | size(n, n*spec.DType().Size(), room)
}

// apart returns d as the apart that it is part of, for a tensor whose elements
// are elsewhere.
func (d *Dense) apart() *apart { return (*apart)(unsafe.Pointer(d)) }

// aux returns the place of a tensor's extra.
func (d *Dense) aux() *unsafe.Pointer {
	if d.spec.bits&outside == 0 {
		return &d.spec.note
	}
	return &d.apart().extra
}

// more returns a tensor's extra, which may be nil.
func (d *Dense) more() *extra { return (*extra)(atomic.LoadPointer(d.aux())) }

var (
	_ Tensor         = (*Dense)(nil)
	_ Tensor         = (*Strings)(nil)
	_ tenon.Batcher  = (*Spec)(nil)
	_ tenon.Boxer    = (*Spec)(nil)
	_ tenon.Leaf     = (*Spec)(nil)
	_ tenon.Equaler  = (*Spec)(nil)
	_ tenon.Subtyper = (*Spec)(nil)
	_ tenon.Merger   = (*Spec)(nil)
)

// Spec returns the *Spec of the tensor. Its shape is fully known.
func (d *Dense) Spec() tenon.Spec { return &d.spec }

// DType returns the type of the elements.
func (d *Dense) DType() dtype.DType { return d.spec.DType() }

// Shape returns the sizes; all are known.
func (d *Dense) Shape() shape.Shape { return d.spec.shape }

// Len returns the number of elements.
func (d *Dense) Len() int { return int(d.spec.bits >> countAt) }

// Rank returns the number of axes.
func (d *Dense) Rank() int { return d.spec.shape.Rank() }

// Dim returns the size of an axis, which may count from the end.
func (d *Dense) Dim(axis int) int { return d.spec.shape.Dim(axis) }

// IsContiguous reports whether the elements lie in row-major order without gaps.
func (d *Dense) IsContiguous() bool { return d.spec.bits&gaps == 0 }

// Strides returns the distance between neighbors along each axis, in elements.
func (d *Dense) Strides() []int {
	return d.AppendStrides(make([]int, 0, d.Rank()))
}

// AppendStrides appends the strides to a slice, for callers that have memory for
// them.
func (d *Dense) AppendStrides(to []int) []int {
	if !d.IsContiguous() {
		return append(to, d.more().strides...)
	}
	return appendRowMajor(to, d.spec.shape)
}

// RowMajor returns the strides of a contiguous tensor with a fully known shape.
func RowMajor(s shape.Shape) []int { return appendRowMajor(make([]int, 0, max(0, s.Rank())), s) }

func appendRowMajor(to []int, s shape.Shape) []int {
	at := len(to)
	to = s.AppendDims(to)
	n := 1
	for i := len(to) - 1; i >= at; i-- {
		to[i], n = n, n*to[i]
	}
	return to
}

// maxBytes bounds the size of a tensor by the address space of a process.
const maxBytes = 1 << 47

// NewDense allocates a tensor of zeros. Whoever allocates it may fill its memory
// through [Data] or [Dense.Bytes] before anybody else sees it. It throws if the
// shape is not fully known or does not fit in memory, and for the types String
// and None.
func NewDense(dt dtype.DType, s shape.Shape) *Dense {
	n := s.Size()
	if uint(n) > maxBytes/16 || dt.Size() == 0 {
		refuse(dt, s)
	}
	size := n * dt.Size()
	if size <= inline {
		return newSmall(dt, s, n, size)
	}
	buf := allocate(size)
	return newApart(specOf(dt, s), n, unsafe.Pointer(unsafe.SliceData(buf)), cap(buf))
}

// refuse throws an error that says what is wrong with a type and shape.
func refuse(dt dtype.DType, s shape.Shape) {
	switch {
	case dt.Size() == 0:
		tenon.Throw(tenon.NewError(tenon.ErrDType, "tensor.NewDense", fmt.Sprintf("elements of type %v have no fixed size", dt)))
	case s.Size() < 0:
		tenon.Throw(tenon.NewError(tenon.ErrShape, "tensor.NewDense", fmt.Sprintf("the shape %v is not fully known", s)))
	}
	tenon.Throw(tenon.NewError(tenon.ErrShape, "tensor.NewDense", fmt.Sprintf("a tensor %v%v does not fit in memory", dt, s)))
}

// large is the size in bytes from which buffers come from the arena.
const large = 16 << 10

// Uninit is NewDense without the zeros: the elements are arbitrary until the
// caller has set every one of them. A large buffer comes from a pool; [Release]
// returns it there.
func Uninit(dt dtype.DType, s shape.Shape) *Dense {
	n := s.Size()
	size := n * dt.Size()
	if size < large && !(arena.Debugging() && size > 0) {
		return NewDense(dt, s)
	}
	b := arena.Alloc(size)
	data := b.Bytes()
	d, x := newWith(specOf(dt, s), n, unsafe.Pointer(unsafe.SliceData(data)), cap(data))
	x.lent = b
	return d
}

// Release returns the memory of a tensor to a pool, from which the next large result takes it
// instead of allocating. It is never necessary: memory that is not released is garbage-collected.
// The caller guarantees that the tensor, its views, and slices of it from [Data] are no longer
// used. Release affects only tensors that own pooled memory and does nothing for others.
func Release(t Tensor) {
	if d, ok := t.(*Dense); ok && d.Pooled() {
		b := d.more().lent
		atomic.StorePointer(d.aux(), nil)
		d.spec.shape, d.apart().ptr = shape.Of(0), nil
		d.spec.bits = d.spec.bits&0xFF | dense | outside
		b.Release()
	}
}

// Pooled reports whether d owns memory that [Release] would return to the pool.
func (d *Dense) Pooled() bool {
	x := d.more()
	return x != nil && x.lent != nil
}

// Overlap reports whether the memory ranges of two tensors, from the first element to the last,
// have a byte in common.
func Overlap(a, b *Dense) bool {
	if a.Len() == 0 || b.Len() == 0 {
		return false
	}
	la, ha := a.bounds()
	lb, hb := b.bounds()
	return la < hb && lb < ha
}

// bounds returns the address of the first byte, and the address after the last one.
func (d *Dense) bounds() (lo, hi uintptr) {
	first, last := d.extent()
	p, size := uintptr(d.Raw()), d.spec.DType().Size()
	return p + uintptr(first*size), p + uintptr((last+1)*size)
}

// allocate returns size zeroed bytes followed by the slack. It allocates words so
// that every element type is aligned.
func allocate(size int) []byte {
	if size >= large {
		return arena.Make[byte](size)
	}
	words := make([]uint64, (size+Slack+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8)[:size]
}

// Make allocates a tensor of zeros and returns it along with its elements, which
// may be filled before anybody else sees it.
func Make[T dtype.Number | ~bool](s shape.Shape) (*Dense, []T) {
	d := NewDense(dtype.Of[T](), s)
	return d, slice[T](d)
}

// slice returns the contiguous elements, with the slack as capacity.
func slice[T any](d *Dense) []T {
	var zero T
	n := d.Len()
	return unsafe.Slice((*T)(d.Raw()), max(n, d.reach()/int(unsafe.Sizeof(zero))))[:n]
}

// Bytes returns the elements of a contiguous tensor as bytes in the machine's
// byte order (little-endian on every supported machine). The capacity includes
// the slack. It throws for a view with gaps.
func (d *Dense) Bytes() []byte {
	if !d.IsContiguous() {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, "tensor.Bytes", "the view is not contiguous"))
	}
	size := d.Len() * d.spec.DType().Size()
	return unsafe.Slice((*byte)(d.Raw()), max(size, d.reach()))[:size]
}

// Raw returns a pointer to the first element, for kernels that take strides.
func (d *Dense) Raw() unsafe.Pointer {
	if d.spec.bits&outside == 0 {
		return unsafe.Add(unsafe.Pointer(d), unsafe.Sizeof(*d))
	}
	return d.apart().ptr
}

// reach returns the number of bytes that may be read from the first element on.
func (d *Dense) reach() int {
	if d.spec.bits&gaps != 0 {
		return d.more().room
	}
	return d.Len()*d.spec.DType().Size() + int(d.spec.bits>>slackAt&maxSlack)
}

// FromBytes returns a tensor over bytes that hold its elements in row-major
// order, little-endian. It shares the memory if that is aligned, and copies it
// otherwise. The shape must be fully known and match the number of bytes.
func FromBytes(dt dtype.DType, s shape.Shape, b []byte) (*Dense, error) {
	n, err := s.CheckedSize(dt.Size())
	if err != nil || dt.Size() == 0 || len(b) != n*dt.Size() {
		return nil, tenon.NewError(tenon.ErrShape, "tensor.FromBytes", fmt.Sprintf("%d bytes are not a %v%v", len(b), dt, s))
	}
	p := unsafe.Pointer(unsafe.SliceData(b))
	if uintptr(p)%uintptr(min(8, dt.Size())) != 0 || n == 0 {
		d := NewDense(dt, s)
		copy(d.Bytes(), b)
		return d, nil
	}
	return newApart(specOf(dt, s), n, p, cap(b)), nil
}

// Reshaped returns the elements under another shape of the same size. It copies
// them only if d has gaps.
func (d *Dense) Reshaped(s shape.Shape) *Dense {
	c := Contiguous(d)
	if s.Size() != c.Len() {
		tenon.Throw(tenon.NewError(tenon.ErrShape, "tensor.Reshaped", fmt.Sprintf("%v does not have the size of %v", s, d.spec.shape)))
	}
	return newApart(specOf(c.spec.DType(), s), c.Len(), c.Raw(), c.reach())
}

// View returns a tensor that shares d's memory. It starts offset elements after
// d's first one and has the given shape and strides (in elements). It throws if
// the view would reach beyond d.
func (d *Dense) View(offset int, s shape.Shape, strides []int) *Dense {
	n := s.Size()
	es := d.spec.DType().Size()
	if len(strides) != s.Rank() || uint(n) > maxBytes/16 || n > 0 && !d.reaches(offset, s, strides) {
		tenon.Throw(tenon.NewError(tenon.ErrShape, "tensor.View", fmt.Sprintf("a view %v with strides %v at %d reaches beyond %v", s, strides, offset, &d.spec)))
	}
	p, room := d.Raw(), 0
	if n > 0 {
		p, room = unsafe.Add(p, offset*es), d.reach()-offset*es
	}
	spec := specOf(d.spec.DType(), s)
	if isRowMajor(s, strides) {
		return newApart(spec, n, p, room)
	}
	v, x := newWith(spec, n, p, n*es)
	v.spec.bits |= gaps
	x.strides, x.room = strides, room
	return v
}

// reaches reports whether d contains all elements of a non-empty view.
func (d *Dense) reaches(offset int, s shape.Shape, strides []int) bool {
	first, last := d.extent()
	if d.Len() == 0 || offset < first || offset > last {
		return false
	}
	lo, hi := offset, offset
	for i, st := range strides {
		steps := s.Dim(i) - 1
		switch {
		case steps == 0 || st == 0:
		case st > last-first || -st > last-first || steps > last-first: // keeps the product from overflowing
			return false
		case st < 0:
			lo += steps * st
		default:
			hi += steps * st
		}
	}
	return lo >= first && hi <= last
}

// extent returns the offsets from ptr of the first and last element that d
// reaches.
func (d *Dense) extent() (first, last int) {
	if d.IsContiguous() {
		return 0, d.Len() - 1
	}
	for i, st := range d.more().strides {
		if k := (d.spec.shape.Dim(i) - 1) * st; k < 0 {
			first += k
		} else {
			last += k
		}
	}
	return first, last
}

func isRowMajor(s shape.Shape, strides []int) bool {
	if s.Size() == 0 {
		return true
	}
	n := 1
	for i := len(strides) - 1; i >= 0; i-- {
		d := s.Dim(i)
		if d != 1 && strides[i] != n {
			return false
		}
		n *= d
	}
	return true
}

// Contiguous returns d itself if its elements lie in row-major order, and a
// copy in that order otherwise.
func Contiguous(d *Dense) *Dense {
	if d.IsContiguous() {
		return d
	}
	out := Uninit(d.spec.DType(), d.spec.shape)
	if d.Len() > 0 {
		dims := d.spec.shape.Dims()
		strided.Copy(out.Raw(), d.Raw(), dims, RowMajor(d.spec.shape), d.more().strides, d.spec.DType().Size())
	}
	return out
}
