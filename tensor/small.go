package tensor

import (
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
)

// inline is the largest size in bytes of elements that are stored in the tensor itself. Small
// tensors are made in large numbers and soon forgotten, so what counts is how few bytes one takes,
// since that decides how often the garbage collector runs. They therefore come in several sizes,
// each of them a size class of the runtime, and need no pointer to their elements.
const inline = 128

// Tensors with their elements, which follow the Dense without a gap.
type (
	small16 struct {
		Dense
		data [2]uint64
	}
	small32 struct {
		Dense
		data [4]uint64
	}
	small64 struct {
		Dense
		data [8]uint64
	}
	small128 struct {
		Dense
		data [16]uint64
	}
)

// newSmall returns a tensor of n zeros, which take at most inline bytes.
func newSmall(dt dtype.DType, s shape.Shape, n, bytes int) *Dense {
	var d *Dense
	room := 16
	switch {
	case bytes <= 16:
		d = &new(small16).Dense
	case bytes <= 32:
		d, room = &new(small32).Dense, 32
	case bytes <= 64:
		d, room = &new(small64).Dense, 64
	default:
		d, room = &new(small128).Dense, 128
	}
	d.spec.shape, d.spec.bits = s, bits(dt)|size(n, bytes, room)
	return d
}

// Check at compile time that the elements of small tensors are where Raw expects them: negating an
// unsigned constant other than 0 does not compile.
const (
	_ = -(unsafe.Offsetof(small16{}.data) - unsafe.Sizeof(Dense{}))
	_ = -(unsafe.Offsetof(small32{}.data) - unsafe.Sizeof(Dense{}))
	_ = -(unsafe.Offsetof(small64{}.data) - unsafe.Sizeof(Dense{}))
	_ = -(unsafe.Offsetof(small128{}.data) - unsafe.Sizeof(Dense{}))
)

// withExtra is an apart with its extra, for tensors that have one from the start.
type withExtra struct {
	apart
	own extra
}

// newWith is newApart for a tensor with an extra, which the caller fills in.
func newWith(spec Spec, n int, p unsafe.Pointer, room int) (*Dense, *extra) {
	d := new(withExtra)
	d.set(spec, n, p, room)
	d.extra = unsafe.Pointer(&d.own)
	return &d.Dense, &d.own
}
