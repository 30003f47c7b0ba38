package elementwise

import (
	"sync/atomic"
	"unsafe"

	"github.com/tenonml/tenon/dtype"
)

// The untyped forms serve callers that know the element type only at run time. They take pointers
// to the first elements and a number of elements, and are otherwise like the typed kernels; a
// scalar operand is a pointer to one element.
type (
	// UnaryFunc is an untyped kernel of [Unary], [Predicate] and [Part].
	UnaryFunc = func(dst, x unsafe.Pointer, n int)

	// BinaryFunc is an untyped kernel of [Binary]; it returns -1 or the
	// index of the first element for which the function is not defined.
	BinaryFunc = func(dst, x, y unsafe.Pointer, n int) int

	// CompareFunc is an untyped kernel of [Compare]; dst points to bools.
	CompareFunc = func(dst, x, y unsafe.Pointer, n int)

	// SelectFunc is an untyped kernel of [Select]; cond points to bools.
	SelectFunc = func(dst, cond, x, y unsafe.Pointer, n int)

	// TernaryFunc is an untyped kernel of [Ternary]; bit i of scalars says that operand i (x, y, z
	// from bit 0) is a scalar.
	TernaryFunc = func(dst, x, y, z unsafe.Pointer, n int, scalars uint8)
)

// Form says which of two operands is a vector and which a scalar.
type Form uint8

// The forms of two operands.
const (
	VV    Form = iota // vector and vector
	VS                // vector and scalar
	SV                // scalar and vector
	SS                // scalar and scalar, for [SelectOf] only
	forms = iota
)

// kernels are the untyped kernels of one element type.
type kernels struct {
	unary     [opCount]UnaryFunc // including predicates and parts of complex numbers
	binary    [opCount][forms]BinaryFunc
	compare   [opCount][forms]CompareFunc
	ternary   [opCount]TernaryFunc
	selection [forms]SelectFunc
	casts     [dtype.String + 1]CastFunc // indexed by source type
}

// cached holds the kernels of each type, built when the type is first used.
var cached [dtype.String + 1]atomic.Pointer[kernels]

func kernelsOf(dt dtype.DType) *kernels {
	if int(dt) >= len(cached) {
		return &kernels{}
	}
	if k := cached[dt].Load(); k != nil {
		return k
	}
	k := build(dt)
	cached[dt].Store(k)
	return k
}

// UnaryOf returns the kernel of [Unary], [Predicate] or [Part] for elements of
// type dt, or nil if there is none.
func UnaryOf(op Op, dt dtype.DType) UnaryFunc {
	if op >= opCount {
		return nil
	}
	return kernelsOf(dt).unary[op]
}

// BinaryOf returns the kernel of [Binary], [BinaryVS] or [BinarySV] for
// operands of type dt, or nil if there is none.
func BinaryOf(op Op, dt dtype.DType, form Form) BinaryFunc {
	if op >= opCount || form >= forms {
		return nil
	}
	return kernelsOf(dt).binary[op][form]
}

// CompareOf returns the kernel of [Compare], [CompareVS] or [CompareSV] for
// operands of type dt, or nil if there is none.
func CompareOf(op Op, dt dtype.DType, form Form) CompareFunc {
	if op >= opCount || form >= forms {
		return nil
	}
	return kernelsOf(dt).compare[op][form]
}

// SelectOf returns the kernel of [Select] and its scalar forms for elements of
// type dt; nil for strings.
func SelectOf(dt dtype.DType, form Form) SelectFunc {
	if form >= forms {
		return nil
	}
	return kernelsOf(dt).selection[form]
}

// TernaryOf returns the kernel of [Ternary] for operands of type dt, or nil if
// there is none.
func TernaryOf(op Op, dt dtype.DType) TernaryFunc {
	if op >= opCount {
		return nil
	}
	return kernelsOf(dt).ternary[op]
}

// CastOf returns the kernel of [Cast] from one type to another, or nil if one
// of them is String or None.
func CastOf(to, from dtype.DType) CastFunc {
	if int(from) >= len(cached) {
		return nil
	}
	return kernelsOf(to).casts[from]
}

func build(dt dtype.DType) *kernels {
	k := &kernels{}
	switch dt {
	case dtype.Bool:
		fill[bool](k)
	case dtype.Int8:
		fill[int8](k)
	case dtype.Int16:
		fill[int16](k)
	case dtype.Int32:
		fill[int32](k)
	case dtype.Int64:
		fill[int64](k)
	case dtype.Uint8:
		fill[uint8](k)
	case dtype.Uint16:
		fill[uint16](k)
	case dtype.Uint32:
		fill[uint32](k)
	case dtype.Uint64:
		fill[uint64](k)
	case dtype.Float16:
		fill[dtype.F16](k)
	case dtype.BFloat16:
		fill[dtype.BF16](k)
	case dtype.Float32:
		fill[float32](k)
		k.unary[Angle] = untyped1(AngleReal[float32])
	case dtype.Float64:
		fill[float64](k)
		k.unary[Angle] = untyped1(AngleReal[float64])
	case dtype.Complex64:
		fill[complex64](k)
		for op := RealPart; op <= Modulus; op++ {
			k.unary[op] = untyped1(Part[float32, complex64](op))
		}
	case dtype.Complex128:
		fill[complex128](k)
		for op := RealPart; op <= Modulus; op++ {
			k.unary[op] = untyped1(Part[float64, complex128](op))
		}
	default:
		return k
	}
	for from := dtype.Bool; from < dtype.String; from++ {
		k.casts[from] = castOf(dt, from)
	}
	return k
}

func fill[T dtype.Native](k *kernels) {
	for op := None + 1; op < opCount; op++ {
		if f := untyped1(Unary[T](op)); f != nil {
			k.unary[op] = f
		} else {
			k.unary[op] = untyped1(Predicate[T](op))
		}
		k.ternary[op] = untyped3(Ternary[T](op))
		if f := Binary[T](op); f != nil {
			vs, sv := BinaryVS[T](op), BinarySV[T](op)
			k.binary[op] = [forms]BinaryFunc{
				VV: func(dst, x, y unsafe.Pointer, n int) int {
					return f(unsafe.Slice((*T)(dst), n), unsafe.Slice((*T)(x), n), unsafe.Slice((*T)(y), n))
				},
				VS: func(dst, x, y unsafe.Pointer, n int) int {
					return vs(unsafe.Slice((*T)(dst), n), unsafe.Slice((*T)(x), n), *(*T)(y))
				},
				SV: func(dst, x, y unsafe.Pointer, n int) int {
					return sv(unsafe.Slice((*T)(dst), n), *(*T)(x), unsafe.Slice((*T)(y), n))
				},
			}
			shortWay[T](&k.binary[op], op)
		}
		if f := Compare[T](op); f != nil {
			vs, sv := CompareVS[T](op), CompareSV[T](op)
			k.compare[op] = [forms]CompareFunc{
				VV: func(dst, x, y unsafe.Pointer, n int) {
					f(unsafe.Slice((*bool)(dst), n), unsafe.Slice((*T)(x), n), unsafe.Slice((*T)(y), n))
				},
				VS: func(dst, x, y unsafe.Pointer, n int) {
					vs(unsafe.Slice((*bool)(dst), n), unsafe.Slice((*T)(x), n), *(*T)(y))
				},
				SV: func(dst, x, y unsafe.Pointer, n int) {
					sv(unsafe.Slice((*bool)(dst), n), *(*T)(x), unsafe.Slice((*T)(y), n))
				},
			}
		}
	}
	k.selection = [forms]SelectFunc{
		VV: func(dst, cond, x, y unsafe.Pointer, n int) {
			Select(unsafe.Slice((*T)(dst), n), unsafe.Slice((*bool)(cond), n), unsafe.Slice((*T)(x), n), unsafe.Slice((*T)(y), n))
		},
		VS: func(dst, cond, x, y unsafe.Pointer, n int) {
			SelectVS(unsafe.Slice((*T)(dst), n), unsafe.Slice((*bool)(cond), n), unsafe.Slice((*T)(x), n), *(*T)(y))
		},
		SV: func(dst, cond, x, y unsafe.Pointer, n int) {
			SelectSV(unsafe.Slice((*T)(dst), n), unsafe.Slice((*bool)(cond), n), *(*T)(x), unsafe.Slice((*T)(y), n))
		},
		SS: func(dst, cond, x, y unsafe.Pointer, n int) {
			SelectSS(unsafe.Slice((*T)(dst), n), unsafe.Slice((*bool)(cond), n), *(*T)(x), *(*T)(y))
		},
	}
}

// untyped3 hides the type of a kernel of three operands and repeats those that
// are scalars, a block at a time.
func untyped3[T dtype.Native](f func(dst, x, y, z []T)) TernaryFunc {
	if f == nil {
		return nil
	}
	return func(dst, x, y, z unsafe.Pointer, n int, scalars uint8) {
		out := unsafe.Slice((*T)(dst), n)
		if scalars == 0 {
			f(out, unsafe.Slice((*T)(x), n), unsafe.Slice((*T)(y), n), unsafe.Slice((*T)(z), n))
			return
		}
		operands := [3]unsafe.Pointer{x, y, z}
		var repeated [3]*block
		var vectors [3][]T
		step := n
		for i, p := range operands {
			if scalars&(1<<i) == 0 {
				vectors[i] = unsafe.Slice((*T)(p), n)
				continue
			}
			repeated[i] = blocks.Get().(*block)
			buf := as[T](repeated[i])
			step = min(step, len(buf))
			splat(buf[:min(n, len(buf))], *(*T)(p))
		}
		for done := 0; done < n; done += step {
			m := min(n-done, step)
			var at [3][]T
			for i := range at {
				if repeated[i] != nil {
					at[i] = as[T](repeated[i])[:m]
				} else {
					at[i] = vectors[i][done : done+m]
				}
			}
			f(out[done:done+m], at[0], at[1], at[2])
		}
		for _, b := range repeated {
			if b != nil {
				blocks.Put(b)
			}
		}
	}
}
