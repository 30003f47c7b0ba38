package weights

import (
	"errors"
	"io"
	"math/bits"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// maxElements bounds the number of elements of a tensor, so that indices stay far from
// overflow.
const maxElements = 1 << 48

// count returns the product of sizes. It is an error if a size is negative, or if the product
// of the sizes that are not zero exceeds [maxElements].
func count(dims []int) (int, error) {
	n, zero := uint64(1), false
	for _, d := range dims {
		if d < 0 {
			return 0, invalid("it has the size %d", d)
		}
		if d == 0 {
			zero = true
			continue
		}
		hi, lo := bits.Mul64(n, uint64(d))
		if n = lo; hi != 0 || n > maxElements {
			return 0, invalid("the product of the sizes %v is too large", dims)
		}
	}
	if len(dims) > maxRank {
		return 0, invalid("it has %d dimensions, more than the limit of %d", len(dims), maxRank)
	}
	if zero {
		return 0, nil
	}
	return int(n), nil
}

// maxRank bounds the number of dimensions; NumPy has 64.
const maxRank = 64

// A section is a range of bytes in a file.
type section struct {
	r     io.ReaderAt
	at, n int64
}

// within returns the n bytes at offset at of a file of the given size, if they exist.
func within(r io.ReaderAt, size, at, n int64) (section, error) {
	if at < 0 || n < 0 || at > size || n > size-at {
		return section{}, invalid("%d bytes at offset %d extend beyond the end of the file, which has %d", n, at, size)
	}
	return section{r, at, n}, nil
}

// bytes reads the section.
func (s section) bytes() ([]byte, error) {
	b := make([]byte, s.n)
	return b, s.into(b)
}

// into fills b, which must have the length of the section.
func (s section) into(b []byte) error {
	n, err := s.r.ReadAt(b, s.at)
	if n == len(b) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// dense reads a section as the elements of a tensor in row-major order. swapped means that they
// have the opposite byte order.
func (s section) dense(spec *tensor.Spec, swapped bool) (tensor.Tensor, error) {
	d := tensor.Uninit(spec.DType(), spec.Shape())
	if err := s.into(d.Bytes()); err != nil {
		return nil, err
	}
	mend(spec.DType(), d.Bytes(), swapped)
	return d, nil
}

// mend converts bytes to elements of a tensor: to the machine's byte order, and bools to 0 or
// 1.
func mend(dt dtype.DType, b []byte, swapped bool) {
	if dt == dtype.Bool {
		for i, x := range b {
			if x > 1 {
				b[i] = 1
			}
		}
	}
	n := dt.Size()
	if dt.IsComplex() {
		n /= 2
	}
	if !swapped || n < 2 {
		return
	}
	for ; len(b) >= n; b = b[n:] {
		slices.Reverse(b[:n])
	}
}

// specOf returns the Spec of a tensor with the given sizes.
func specOf(dt dtype.DType, dims []int) *tensor.Spec { return tensor.NewSpec(dt, shape.Of(dims...)) }

// errOr returns the error, or the text if it is nil.
func errOr(err error, text string) any {
	if err != nil {
		return err
	}
	return text
}

// at adds the part of a file where it occurred to an error.
func at(where string, err error) error {
	var e *tenon.Error
	if !errors.As(err, &e) {
		return &tenon.Error{Kind: tenon.ErrInvalid, Where: where, Err: err}
	}
	f := *e
	if f.Where = where; e.Where != "" {
		f.Where += ": " + e.Where
	}
	return &f
}

// texts returns a tensor of strings.
func texts(list []string, dims []int) tensor.Tensor {
	return tensor.Of(list).(*tensor.Strings).Reshaped(shape.Of(dims...))
}
