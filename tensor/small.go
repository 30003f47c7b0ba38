package tensor

import (
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
)

// inline is the largest size in bytes of elements that lie in the tensor itself. Small
// tensors are made in large numbers and soon forgotten: what counts is how few bytes
// one takes, since that decides how often the collector runs. So these come in
// several sizes, each one of the sizes in which the runtime hands out memory, and no
// pointer leads to their elements.
const inline = 128

// Tensors with their elements. The elements follow the Dense without a gap.
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

// newSmall returns a tensor of n zeros, of at most inline bytes.
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

// The elements of small tensors are where Raw looks for them: a constant of an unsigned
// type other than 0 cannot be negated.
const (
	_ = -(unsafe.Offsetof(small16{}.data) - unsafe.Sizeof(Dense{}))
	_ = -(unsafe.Offsetof(small32{}.data) - unsafe.Sizeof(Dense{}))
	_ = -(unsafe.Offsetof(small64{}.data) - unsafe.Sizeof(Dense{}))
	_ = -(unsafe.Offsetof(small128{}.data) - unsafe.Sizeof(Dense{}))
)

// withExtra is a tensor apart with its extra, for those that have one from the start.
type withExtra struct {
	apart
	own extra
}

// newWith is newApart for a tensor with an extra, which the caller fills.
func newWith(spec Spec, n int, p unsafe.Pointer, room int) (*Dense, *extra) {
	d := new(withExtra)
	d.set(spec, n, p, room)
	d.extra = unsafe.Pointer(&d.own)
	return &d.Dense, &d.own
}
