package tensor

import (
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
)

// scratchSize is the size of a Scratch in bytes: 128 numbers of eight bytes.
const scratchSize = 1024

// A Scratch is memory for a tensor of a few elements that is computed with and forgotten:
// whoever keeps it for the next one costs the collector nothing. The zero value is ready
// for use.
type Scratch struct {
	own  Dense
	data [scratchSize / 8]uint64
}

// The elements are where Raw looks for them.
const _ = -(unsafe.Offsetof(Scratch{}.data) - unsafe.Sizeof(Dense{}))

// Tensor returns a tensor whose elements are arbitrary, like [Uninit]. One of up to 1024
// bytes lies in s and replaces the one that was made in it before: the caller warrants that
// nobody uses that any more, a view of it, or a slice from [Data].
func (s *Scratch) Tensor(dt dtype.DType, sh shape.Shape) *Dense {
	n := sh.Size()
	if n < 0 || n > scratchSize || n*dt.Size() > scratchSize || dt.Size() == 0 {
		return Uninit(dt, sh)
	}
	s.own.spec = specOf(dt, sh)
	s.own.spec.bits |= size(n, n*dt.Size(), scratchSize)
	return &s.own
}

// Holds reports whether the elements of a tensor lie in s.
func (s *Scratch) Holds(d *Dense) bool {
	at := uintptr(d.Raw()) - uintptr(unsafe.Pointer(s))
	return at < unsafe.Sizeof(*s)
}
