package dtype

import "reflect"

// Native is the set of Go types that hold one element of a tensor.
type Native interface {
	Number | ~bool | ~string
}

// Number is the set of Go types that hold one number.
type Number interface {
	Real | ~complex64 | ~complex128
}

// Real is the set of Go types that hold one real number, the half-precision
// storage types included.
type Real interface {
	Integer | ~float32 | ~float64 | F16 | BF16
}

// Integer is the set of Go's integer types of fixed size, and int.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint32 | ~uint64 | uint16
}

// Of returns the element type that holds a T; int is Int64.
func Of[T Native]() DType {
	var zero T
	switch any(zero).(type) {
	case float32:
		return Float32
	case float64:
		return Float64
	case int64, int:
		return Int64
	case int32:
		return Int32
	case bool:
		return Bool
	case string:
		return String
	}
	return OfType(reflect.TypeFor[T]())
}

var (
	float16Type  = reflect.TypeFor[F16]()
	bfloat16Type = reflect.TypeFor[BF16]()
)

// OfType returns the element type that holds values of the Go type t, and None if
// there is none. A named type counts as its underlying type.
func OfType(t reflect.Type) DType {
	switch t {
	case nil:
		return None
	case float16Type:
		return Float16
	case bfloat16Type:
		return BFloat16
	}
	switch t.Kind() {
	case reflect.Bool:
		return Bool
	case reflect.Int8:
		return Int8
	case reflect.Int16:
		return Int16
	case reflect.Int32:
		return Int32
	case reflect.Int64, reflect.Int:
		return Int64
	case reflect.Uint8:
		return Uint8
	case reflect.Uint16:
		return Uint16
	case reflect.Uint32:
		return Uint32
	case reflect.Uint64, reflect.Uint:
		return Uint64
	case reflect.Float32:
		return Float32
	case reflect.Float64:
		return Float64
	case reflect.Complex64:
		return Complex64
	case reflect.Complex128:
		return Complex128
	case reflect.String:
		return String
	}
	return None
}

var goTypes = [count]reflect.Type{
	Bool: reflect.TypeFor[bool](), Int8: reflect.TypeFor[int8](), Int16: reflect.TypeFor[int16](),
	Int32: reflect.TypeFor[int32](), Int64: reflect.TypeFor[int64](), Uint8: reflect.TypeFor[uint8](),
	Uint16: reflect.TypeFor[uint16](), Uint32: reflect.TypeFor[uint32](), Uint64: reflect.TypeFor[uint64](),
	Float16: float16Type, BFloat16: bfloat16Type, Float32: reflect.TypeFor[float32](),
	Float64: reflect.TypeFor[float64](), Complex64: reflect.TypeFor[complex64](),
	Complex128: reflect.TypeFor[complex128](), String: reflect.TypeFor[string](),
}

// GoType returns the Go type of one element, and nil for None.
func (d DType) GoType() reflect.Type {
	if d >= count {
		return nil
	}
	return goTypes[d]
}
