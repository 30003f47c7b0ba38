package arena

import (
	"math"
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tenonml/tenon/internal/throw"
)

// Slack is the number of bytes after a buffer's last element that may be accessed.
const Slack = 64

// align is the boundary on which buffers start.
const align = 64

// minBits is the logarithm of the smallest class.
const minBits = 8

// classes is the number of size classes, enough for every int.
const classes = 4 * (64 - minBits)

var pools [classes]sync.Pool

// A Buffer is memory on loan. The zero value is not usable; buffers come from Alloc.
type Buffer struct {
	data  []byte // requested length, with at least Slack more capacity
	class int
	state atomic.Uint32
	freed []uintptr // in debug mode, where the buffer was released
}

const (
	lent uint32 = iota
	released
)

// classOf returns the class of n bytes and the size of that class.
func classOf(n int) (class, size int) {
	if n <= 1<<minBits {
		return 0, 1 << minBits
	}
	top := bits.Len(uint(n-1)) - 1  // 1<<top <= n-1 < 2<<top
	quarter := (n - 1) >> (top - 2) // 4 to 7: the leading three bits
	return 4*(top-minBits) + quarter - 3, (quarter + 1) << (top - 2)
}

// Alloc lends a buffer of n bytes with arbitrary contents. It panics if n is negative; a size that
// comes from outside the program must be checked first.
func Alloc(n int) *Buffer {
	if n < 0 {
		throw.Bug("arena: cannot allocate %d bytes", n)
	}
	class, size := classOf(n)
	b, _ := pools[class].Get().(*Buffer)
	if b == nil {
		rooms.make(size)
		b = &Buffer{data: arbitrary(size + Slack), class: class}
		weight.allocated(size)
	}
	b.state.Store(lent)
	b.data = b.data[:n]
	if debugging() {
		recordAlloc(b)
	}
	return b
}

// Lend lends a buffer of n elements with arbitrary contents. It panics if n is negative.
func Lend[T Element](n int) (*Buffer, []T) {
	b := Alloc(bytesOf[T](n))
	return b, View[T](b, n)
}

// bytesOf returns how many bytes n elements have.
func bytesOf[T Element](n int) int {
	size := int(unsafe.Sizeof(*new(T)))
	if n < 0 || n > math.MaxInt/2/size {
		throw.Bug("arena: cannot allocate %d elements", n)
	}
	return n * size
}

// aligned returns n zeroed bytes from the runtime that start on a boundary of align.
func aligned(n int) []byte {
	raw := make([]byte, n+align-1)
	preferHugePages(raw)
	return alignedPart(raw, n)
}

// arbitrary is aligned without clearing. Clearing a large result takes as long as filling it.
func arbitrary(n int) []byte {
	raw := untouched(n + align - 1)
	renewHuge(raw)
	return alignedPart(raw, n)
}

// untouched returns at least n bytes that are not cleared. A strings.Builder provides such memory;
// nobody else has access to it.
func untouched(n int) []byte {
	var b strings.Builder
	b.Grow(n)
	b.WriteByte(0)
	return unsafe.Slice(unsafe.StringData(b.String()), b.Cap())
}

func alignedPart(raw []byte, n int) []byte {
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(raw))) & (align - 1))
	return raw[skip : skip+n : skip+n]
}

// Make returns n elements of zeroed memory owned by the garbage collector, with the alignment and
// slack of a buffer. It is for memory that nobody releases explicitly, such as the elements of a
// tensor held by a program. It panics if n is negative.
func Make[T Element](n int) []T {
	size := bytesOf[T](n)
	b := aligned(size + Slack)
	weight.allocated(size)
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(T))))[:n]
}

// Len returns the requested number of bytes.
func (b *Buffer) Len() int { return len(b.data) }

// Bytes returns the buffer's memory, with the slack in its capacity.
func (b *Buffer) Bytes() []byte {
	b.mustBeLent("Bytes of")
	return b.data
}

// Release gives the buffer back. Neither it nor any slice of it may be used after
// that.
func (b *Buffer) Release() {
	if b.state.Swap(released) == released {
		throw.Bug("%s", misuse("Release of", b))
	}
	if debugging() {
		quarantine(b)
		return
	}
	pools[b.class].Put(b)
}

func (b *Buffer) mustBeLent(what string) {
	if b.state.Load() == released {
		throw.Bug("%s", misuse(what, b))
	}
}

// Element is a type that a buffer can be viewed as.
type Element interface {
	~bool | ~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint |
		~float32 | ~float64 | ~complex64 | ~complex128
}

// View returns the first n elements of b as a slice of T, with the slack in its capacity. It panics
// if b is too short or has been released.
func View[T Element](b *Buffer, n int) []T {
	b.mustBeLent("View of")
	var zero T
	size := int(unsafe.Sizeof(zero))
	if n < 0 || n > len(b.data)/size {
		throw.Bug("arena: a view of %d elements of %d bytes in a buffer of %d bytes", n, size, len(b.data))
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b.data))), cap(b.data)/size)[:n]
}
