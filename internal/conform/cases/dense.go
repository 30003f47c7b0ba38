package cases

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/cmplx"
	"strconv"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/floats"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	HandleKind("dense", Kind{
		Decode: func(_ *Case, o Object) (any, error) {
			return Dense(DType(o["dtype"]), Shape(o["shape"]), As[[]any](o["data"])), nil
		},
		Compare: func(m *Matcher, want Object, got any) error {
			return m.MatchDense(Dense(DType(want["dtype"]), Shape(want["shape"]), As[[]any](want["data"])), got)
		},
	})
}

// Dense returns the tensor with elements as they are written.
func Dense(dt dtype.DType, s shape.Shape, data []any) tensor.Tensor {
	if s.Size() != len(data) {
		misread("%d elements do not fill the shape %v", len(data), s)
	}
	if dt == dtype.String {
		strs := make([]string, len(data))
		for i, x := range data {
			strs[i] = text(x)
		}
		t := tensor.Of(strs).(*tensor.Strings)
		return t.Reshaped(s)
	}
	t := tensor.NewDense(dt, s)
	switch dt {
	case dtype.Bool:
		fill(t, data, As[bool])
	case dtype.Int8:
		fill(t, data, func(x any) int8 { return int8(integer(x)) })
	case dtype.Int16:
		fill(t, data, func(x any) int16 { return int16(integer(x)) })
	case dtype.Int32:
		fill(t, data, func(x any) int32 { return int32(integer(x)) })
	case dtype.Int64:
		fill(t, data, integer)
	case dtype.Uint8:
		fill(t, data, func(x any) uint8 { return uint8(unsigned(x)) })
	case dtype.Uint16:
		fill(t, data, func(x any) uint16 { return uint16(unsigned(x)) })
	case dtype.Uint32:
		fill(t, data, func(x any) uint32 { return uint32(unsigned(x)) })
	case dtype.Uint64:
		fill(t, data, unsigned)
	case dtype.Float16:
		fill(t, data, func(x any) dtype.F16 { return dtype.F16From64(float(x)) })
	case dtype.BFloat16:
		fill(t, data, func(x any) dtype.BF16 { return dtype.BF16From64(float(x)) })
	case dtype.Float32:
		fill(t, data, func(x any) float32 { return float32(float(x)) })
	case dtype.Float64:
		fill(t, data, float)
	case dtype.Complex64:
		fill(t, data, func(x any) complex64 { return complex64(complexNumber(x)) })
	case dtype.Complex128:
		fill(t, data, complexNumber)
	}
	return t
}

func fill[T dtype.Number | ~bool](t *tensor.Dense, data []any, f func(any) T) {
	dst := tensor.Elems[T](t)
	for i, x := range data {
		dst[i] = f(x)
	}
}

// digits returns the text of a number, which may stand in a string where it is
// large.
func digits(x any) string {
	switch x := x.(type) {
	case json.Number:
		return x.String()
	case string:
		return x
	}
	misread("got the %T %v, want a number", x, x)
	return ""
}

func integer(x any) int64 {
	n, err := strconv.ParseInt(digits(x), 10, 64)
	if err != nil {
		misread("%v", err)
	}
	return n
}

func unsigned(x any) uint64 {
	n, err := strconv.ParseUint(digits(x), 10, 64)
	if err != nil {
		misread("%v", err)
	}
	return n
}

func float(x any) float64 {
	s := digits(x)
	if f, ok := special(s); ok {
		return f
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		misread("%v", err)
	}
	return f
}

func complexNumber(x any) complex128 {
	parts := As[[]any](x)
	if len(parts) != 2 {
		misread("a complex number has %d parts", len(parts))
	}
	return complex(float(parts[0]), float(parts[1]))
}

// text returns a string element; one that is not UTF-8 is written in base64.
func text(x any) string {
	o, ok := x.(Object)
	if !ok {
		return As[string](x)
	}
	b, err := base64.StdEncoding.DecodeString(As[string](o["b64"]))
	if err != nil {
		misread("%v", err)
	}
	return string(b)
}

// MatchDense compares a tensor: element type, shape and elements within the
// tolerance.
func (m *Matcher) MatchDense(want tensor.Tensor, got any) error {
	g, ok := got.(tensor.Tensor)
	if !ok {
		return fmt.Errorf("got a %T, want a dense tensor", got)
	}
	if g.DType() != want.DType() {
		return fmt.Errorf("got dtype %v, want %v", g.DType(), want.DType())
	}
	switch g.(type) {
	case *tensor.Dense, *tensor.Strings:
	default:
		return fmt.Errorf("got a %T, want a dense tensor", got)
	}
	if !g.Shape().Equal(want.Shape()) {
		return fmt.Errorf("got shape %v, want %v", g.Shape(), want.Shape())
	}
	switch want.DType() {
	case dtype.Bool:
		return equalElems[bool](want, g)
	case dtype.Int8:
		return equalElems[int8](want, g)
	case dtype.Int16:
		return equalElems[int16](want, g)
	case dtype.Int32:
		return equalElems[int32](want, g)
	case dtype.Int64:
		return equalElems[int64](want, g)
	case dtype.Uint8:
		return equalElems[uint8](want, g)
	case dtype.Uint16:
		return equalElems[uint16](want, g)
	case dtype.Uint32:
		return equalElems[uint32](want, g)
	case dtype.Uint64:
		return equalElems[uint64](want, g)
	case dtype.String:
		return equalElems[string](want, g)
	case dtype.Float16:
		return elems(want, g, func(w, x dtype.F16) bool {
			return m.near(float64(w.Float32()), float64(x.Float32()), func() uint64 { return floats.ULP16(uint16(w), uint16(x), 5) })
		})
	case dtype.BFloat16:
		return elems(want, g, func(w, x dtype.BF16) bool {
			return m.near(float64(w.Float32()), float64(x.Float32()), func() uint64 { return floats.ULP16(uint16(w), uint16(x), 8) })
		})
	case dtype.Float32:
		return elems(want, g, m.near32)
	case dtype.Float64:
		return elems(want, g, m.near64)
	case dtype.Complex64:
		return elems(want, g, func(w, x complex64) bool {
			return m.near32(real(w), real(x)) && m.near32(imag(w), imag(x)) || m.nearComplex(complex128(w), complex128(x))
		})
	case dtype.Complex128:
		return elems(want, g, func(w, x complex128) bool {
			return m.near64(real(w), real(x)) && m.near64(imag(w), imag(x)) || m.nearComplex(w, x)
		})
	}
	return fmt.Errorf("dtype %v has no elements", want.DType())
}

func equalElems[T interface {
	dtype.Native
	comparable
}](want, got tensor.Tensor) error {
	return elems(want, got, func(w, g T) bool { return w == g })
}

func elems[T dtype.Native](want, got tensor.Tensor, same func(w, g T) bool) error {
	w, g := tensor.Data[T](want), tensor.Data[T](got)
	for i := range w {
		if !same(w[i], g[i]) {
			return fmt.Errorf("element %d is %v, want %v", i, g[i], w[i])
		}
	}
	return nil
}

func (m *Matcher) near32(w, g float32) bool {
	return m.near(float64(w), float64(g), func() uint64 { return floats.ULP32(w, g) })
}

func (m *Matcher) near64(w, g float64) bool {
	return m.near(w, g, func() uint64 { return floats.ULP64(w, g) })
}

func (m *Matcher) near(want, got float64, ulp func() uint64) bool {
	if m.Tol.ULP == 0 {
		return m.closeFloat(want, got)
	}
	if m.Tol.SignedZero && (want == 0 || got == 0) && math.Signbit(want) != math.Signbit(got) {
		return false
	}
	return ulp() <= m.Tol.ULP
}

// nearComplex compares within the tolerance by the distance in the plane.
func (m *Matcher) nearComplex(want, got complex128) bool {
	d := cmplx.Abs(got - want)
	return m.Tol.ULP == 0 && d <= m.Tol.Atol+m.Tol.Rtol*cmplx.Abs(want) && !math.IsInf(d, 0)
}
