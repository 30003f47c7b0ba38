package tensor

import (
	"bytes"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
)

// EqualOptions say what [Equal] considers equal.
type EqualOptions struct {
	NaN bool // NaN equals NaN
}

// Equal reports whether two values are the same data: tensors with the same
// element type, shape and elements (the two zeros are equal), and other values
// with equal Specs and equal components. A nil value equals nil only.
//
// It compares values in memory and answers with a Go bool; ops.Equal is the
// elementwise operation, and [AllClose] allows small differences.
func Equal(a, b tenon.Value, options ...EqualOptions) bool {
	var o EqualOptions
	if len(options) > 0 {
		o = options[0]
	}
	return equal(a, b, o)
}

func equal(a, b tenon.Value, o EqualOptions) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	switch x := a.(type) {
	case *Dense:
		y, ok := b.(*Dense)
		return ok && x.equal(y, o)
	case *Strings:
		y, ok := b.(*Strings)
		return ok && x.equal(y)
	}
	s := a.Spec()
	if !tenon.Equal(s, b.Spec()) {
		return false
	}
	if tenon.IsLeaf(s) {
		return a == b
	}
	xs, err := s.Disassemble(a)
	if err != nil {
		return false
	}
	ys, err := s.Disassemble(b)
	return err == nil && slices.EqualFunc(xs, ys, func(x, y tenon.Value) bool { return equal(x, y, o) })
}

func (s *Strings) equal(t *Strings) bool {
	if !s.spec.shape.Equal(t.spec.shape) {
		return false
	}
	for i := range s.Len() {
		if s.At(i) != t.At(i) {
			return false
		}
	}
	return true
}

func (d *Dense) equal(e *Dense, o EqualOptions) bool {
	if d.spec.DType() != e.spec.DType() || !d.spec.shape.Equal(e.spec.shape) {
		return false
	}
	d, e = Contiguous(d), Contiguous(e)
	switch d.spec.DType() {
	case dtype.Float16:
		return equalFunc(d, e, o, func(x dtype.F16) float32 { return x.Float32() })
	case dtype.BFloat16:
		return equalFunc(d, e, o, func(x dtype.BF16) float32 { return x.Float32() })
	case dtype.Float32:
		return equalFunc(d, e, o, func(x float32) float32 { return x })
	case dtype.Float64:
		return equalFunc(d, e, o, func(x float64) float64 { return x })
	case dtype.Complex64:
		return equalComplex(slice[complex64](d), slice[complex64](e), o)
	case dtype.Complex128:
		return equalComplex(slice[complex128](d), slice[complex128](e), o)
	}
	return bytes.Equal(d.Bytes(), e.Bytes())
}

func equalFunc[T any, F float32 | float64](d, e *Dense, o EqualOptions, f func(T) F) bool {
	return slices.EqualFunc(slice[T](d), slice[T](e), func(x, y T) bool { return same(f(x), f(y), o) })
}

func same[F float32 | float64](x, y F, o EqualOptions) bool {
	return x == y || o.NaN && x != x && y != y
}

func equalComplex[C complex64 | complex128](xs, ys []C, o EqualOptions) bool {
	return slices.EqualFunc(xs, ys, func(x, y C) bool {
		a, b := complex128(x), complex128(y)
		return same(real(a), real(b), o) && same(imag(a), imag(b), o)
	})
}
