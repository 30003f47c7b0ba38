package tensor

import (
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
)

// scratchSize is the size of a Scratch in bytes: 128 numbers of eight bytes.
const scratchSize = 1024

// A Scratch is memory for a tensor of a few elements that is used in a computation and then
// forgotten. Reusing a Scratch creates no garbage. The zero value is ready for use.
type Scratch struct {
	own  Dense
	data [scratchSize / 8]uint64
}

// Check at compile time that the elements are where Raw expects them.
const _ = -(unsafe.Offsetof(Scratch{}.data) - unsafe.Sizeof(Dense{}))

// Tensor returns a tensor whose elements are arbitrary, like [Uninit]. A tensor of up to 1024 bytes
// is stored in s and replaces the previous one: the caller guarantees that the previous tensor, its
// views, and slices of it from [Data] are no longer used.
func (s *Scratch) Tensor(dt dtype.DType, sh shape.Shape) *Dense {
	n := sh.Size()
	if n < 0 || n > scratchSize || n*dt.Size() > scratchSize || dt.Size() == 0 {
		return Uninit(dt, sh)
	}
	s.own.spec = specOf(dt, sh)
	s.own.spec.bits |= size(n, n*dt.Size(), scratchSize)
	return &s.own
}

// Holds reports whether the elements of a tensor are stored in s.
func (s *Scratch) Holds(d *Dense) bool {
	at := uintptr(d.Raw()) - uintptr(unsafe.Pointer(s))
	return at < unsafe.Sizeof(*s)
}
