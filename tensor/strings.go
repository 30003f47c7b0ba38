package tensor

import (
	"fmt"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
)

// Strings is a tensor of byte strings in row-major order. All bytes lie in one
// buffer; element i is bytes[offsets[i]:offsets[i+1]]. UTF-8 is usual but not
// required.
type Strings struct {
	spec    Spec
	offsets []int64 // one more than the number of elements
	bytes   []byte
}

// Spec returns the *Spec of the tensor. Its shape is fully known.
func (s *Strings) Spec() tenon.Spec { return &s.spec }

// DType returns dtype.String.
func (s *Strings) DType() dtype.DType { return dtype.String }

// Shape returns the sizes; all are known.
func (s *Strings) Shape() shape.Shape { return s.spec.shape }

// Len returns the number of elements.
func (s *Strings) Len() int { return len(s.offsets) - 1 }

// At returns element i in row-major order, without copying it.
func (s *Strings) At(i int) string {
	b := s.bytes[s.offsets[i]:s.offsets[i+1]]
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// Offsets returns the offsets of the elements in the buffer, one more than the
// number of elements. The first need not be 0. The slice must not be changed.
func (s *Strings) Offsets() []int64 { return s.offsets }

// Buffer returns the buffer that the offsets refer to. It must not be changed.
func (s *Strings) Buffer() []byte { return s.bytes }

// NewStrings returns a tensor over a buffer and offsets into it, without copying
// either. Offsets that decrease or reach beyond the buffer are an error that
// names the first such element.
func NewStrings(offsets []int64, bytes []byte, s shape.Shape) (*Strings, error) {
	n := s.Size()
	if n < 0 || len(offsets) != n+1 {
		return nil, tenon.NewError(tenon.ErrShape, "tensor.NewStrings", fmt.Sprintf("%d offsets do not fit shape %v", len(offsets), s))
	}
	prev := int64(0)
	for i, o := range offsets {
		if o < prev || o > int64(len(bytes)) {
			return nil, tenon.NewError(tenon.ErrInvalid, "tensor.NewStrings", fmt.Sprintf("offset %d is %d, after %d in a buffer of %d bytes", i, o, prev, len(bytes)))
		}
		prev = o
	}
	return &Strings{specOf(dtype.String, s), offsets, bytes}, nil
}

// WrapStrings is NewStrings for offsets that a kernel has just made and that need
// no checking.
func WrapStrings(offsets []int64, bytes []byte, s shape.Shape) *Strings {
	return &Strings{specOf(dtype.String, s), offsets, bytes}
}

// Reshaped returns the same elements under another shape of the same size.
func (s *Strings) Reshaped(sh shape.Shape) *Strings {
	if sh.Size() != s.Len() {
		tenon.Throw(tenon.NewError(tenon.ErrShape, "tensor.Reshaped", fmt.Sprintf("%v does not have the size of %v", sh, s.spec.shape)))
	}
	return WrapStrings(s.offsets, s.bytes, sh)
}

func fromStrings(data []string, s shape.Shape) *Strings {
	total := 0
	for _, x := range data {
		total += len(x)
	}
	offsets := make([]int64, len(data)+1, len(data)+1+Slack/8)
	bytes := make([]byte, 0, total+Slack)
	for i, x := range data {
		bytes = append(bytes, x...)
		offsets[i+1] = int64(len(bytes))
	}
	return WrapStrings(offsets, bytes, s)
}

// Slice returns the elements as Go strings that share the buffer.
func (s *Strings) Slice() []string {
	out := make([]string, s.Len())
	for i := range out {
		out[i] = s.At(i)
	}
	return out
}
