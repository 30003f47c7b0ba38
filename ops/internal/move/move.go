package move

import (
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/kernel/str"
	"github.com/tenonml/tenon/internal/kernel/stream"
	"github.com/tenonml/tenon/internal/par"
	"github.com/tenonml/tenon/internal/strided"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// short is the number of elements up to which examining strides is not worthwhile for a copy.
const short = 64

// Apply applies a structural kernel to one concrete tensor.
func Apply(x tensor.Tensor, f func(d *tensor.Dense) *tensor.Dense) tensor.Tensor {
	if s, ok := x.(*tensor.Strings); ok {
		return Strings(s, f(Positions(0, s.Shape())))
	}
	return f(x.(*tensor.Dense))
}

// ApplyList applies a structural kernel to concrete tensors of one element type.
func ApplyList(xs []tenon.Value, f func(ds []*tensor.Dense) *tensor.Dense) tensor.Tensor {
	ds := make([]*tensor.Dense, len(xs))
	var columns []str.Column
	at := 0
	for i, x := range xs {
		switch x := x.(type) {
		case *tensor.Dense:
			ds[i] = x
		case *tensor.Strings:
			ds[i] = Positions(at, x.Shape())
			at += x.Len()
			columns = append(columns, Column(x))
		}
	}
	out := f(ds)
	if len(columns) == 0 {
		return out
	}
	c := str.Concat(columns...)
	if rising(tensor.Data[int64](out)) && out.Len() == c.Len() {
		return Tensor(c, out.Shape()) // consecutive in memory as they are
	}
	return Strings(Tensor(c, shape.Of(c.Len())), out)
}

// Behind returns concrete tensors of strings, concatenated, with the given shape.
func Behind(xs []tenon.Value, s shape.Shape) *tensor.Strings {
	columns := make([]str.Column, len(xs))
	for i, x := range xs {
		columns[i] = Column(x.(*tensor.Strings))
	}
	return Tensor(str.Concat(columns...), s)
}

// rising reports whether the positions are 0, 1, 2, …
func rising(at []int64) bool {
	for i, p := range at {
		if p != int64(i) {
			return false
		}
	}
	return true
}

// Positions returns at, at+1, … with the given shape.
func Positions(at int, s shape.Shape) *tensor.Dense {
	d, p := tensor.Make[int64](s)
	for i := range p {
		p[i] = int64(at + i)
	}
	return d
}

// Strings returns the strings at the given positions, in their shape. It throws if a position is
// out of range.
func Strings(s *tensor.Strings, at *tensor.Dense) *tensor.Strings {
	c, err := str.Gather(Column(s), tensor.Data[int64](at))
	tenon.Throw(err)
	return Tensor(c, at.Shape())
}

// Column returns the strings of a tensor in the form that the kernels of package
// str take.
func Column(s *tensor.Strings) str.Column {
	return str.Column{Offsets: s.Offsets(), Bytes: s.Buffer()}
}

// Tensor returns a column as a tensor.
func Tensor(c str.Column, s shape.Shape) *tensor.Strings {
	if len(c.Offsets) == 0 { // a tensor has one offset even if it has no strings
		c.Offsets = []int64{0}
	}
	return tensor.WrapStrings(c.Offsets, c.Bytes, s)
}

// CopyTo copies src into dst, which has the same shape and is not yet published.
func CopyTo(dst, src *tensor.Dense) {
	if dst.Len() == 0 {
		return
	}
	var dims, to, from [8]int
	s := dst.Shape()
	strided.Copy(dst.Raw(), src.Raw(), s.AppendDims(dims[:0]), dst.AppendStrides(to[:0]), src.AppendStrides(from[:0]), dst.DType().Size())
}

// CopyPart copies src to dst, which is part of a result of whole bytes that is not yet published.
func CopyPart(dst, src []byte, whole int) {
	const piece = 256 << 10
	dst = dst[:len(src)]
	par.For(len(src), piece, func(lo, hi int) {
		if whole >= stream.Threshold {
			stream.Copy(dst[lo:hi], src[lo:hi])
		} else {
			copy(dst[lo:hi], src[lo:hi])
		}
	})
}

// Copied returns a row-major copy.
func Copied(x *tensor.Dense) *tensor.Dense {
	out := tensor.Uninit(x.DType(), x.Shape())
	CopyTo(out, x)
	return out
}

// RowMajor returns x itself or a copy in row-major order.
func RowMajor(x *tensor.Dense) *tensor.Dense {
	if x.IsContiguous() {
		return x
	}
	return Copied(x)
}

// Stretched returns a view of x with shape s, to which it broadcasts.
func Stretched(x *tensor.Dense, s shape.Shape) *tensor.Dense {
	strides := make([]int, s.Rank())
	off := s.Rank() - x.Rank()
	for i, st := range x.Strides() {
		if x.Dim(i) != 1 {
			strides[off+i] = st
		}
	}
	return x.View(0, s, strides)
}

// Fill sets every element of dst, which is not yet published, to the only element of value.
func Fill(dst, value *tensor.Dense) {
	if to := dst; to.IsContiguous() && to.Len() > 0 && to.Len() <= short {
		b := to.Bytes()
		for n := copy(b, value.Bytes()); n < len(b); {
			n += copy(b[n:], b[:n])
		}
		return
	}
	CopyTo(dst, value.View(0, dst.Shape(), make([]int, dst.Rank())))
}

// Words returns the elements of a row-major tensor as Ts of the same size, with
// the slack included in the capacity.
func Words[T any](d *tensor.Dense) []T {
	b := d.Bytes()
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), cap(b)/int(unsafe.Sizeof(zero)))[:d.Len()]
}
