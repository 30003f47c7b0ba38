package dtype

import "fmt"

// DType is the type of a tensor's elements.
type DType uint8

// The element types. Their order is stable: binary encodings store it.
const (
	None DType = iota // no single element type
	Bool
	Int8
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float16
	BFloat16
	Float32
	Float64
	Complex64
	Complex128
	String
	count
)

type class uint8

const (
	classNone class = iota
	classBool
	classSigned
	classUnsigned
	classFloat
	classComplex
	classString
)

var table = [count]struct {
	name  string
	size  uint8
	class class
}{
	None:       {"none", 0, classNone},
	Bool:       {"bool", 1, classBool},
	Int8:       {"int8", 1, classSigned},
	Int16:      {"int16", 2, classSigned},
	Int32:      {"int32", 4, classSigned},
	Int64:      {"int64", 8, classSigned},
	Uint8:      {"uint8", 1, classUnsigned},
	Uint16:     {"uint16", 2, classUnsigned},
	Uint32:     {"uint32", 4, classUnsigned},
	Uint64:     {"uint64", 8, classUnsigned},
	Float16:    {"float16", 2, classFloat},
	BFloat16:   {"bfloat16", 2, classFloat},
	Float32:    {"float32", 4, classFloat},
	Float64:    {"float64", 8, classFloat},
	Complex64:  {"complex64", 8, classComplex},
	Complex128: {"complex128", 16, classComplex},
	String:     {"string", 0, classString},
}

// All returns every element type, in order, without None.
func All() []DType {
	all := make([]DType, 0, count-1)
	for d := None + 1; d < count; d++ {
		all = append(all, d)
	}
	return all
}

// Parse returns the type with the given name, as String prints it.
func Parse(name string) (DType, error) {
	for d := range count {
		if table[d].name == name {
			return d, nil
		}
	}
	return None, fmt.Errorf("dtype: no element type is called %q", name)
}

// MarshalText returns the type's name, for JSON, flags and the like.
func (d DType) MarshalText() ([]byte, error) {
	if d >= count {
		return nil, fmt.Errorf("dtype: there is no element type %d", uint8(d))
	}
	return []byte(d.String()), nil
}

// UnmarshalText reads the name of a type.
func (d *DType) UnmarshalText(text []byte) (err error) {
	*d, err = Parse(string(text))
	return err
}

// IsValid reports whether d is one of the declared constants, None included.
func (d DType) IsValid() bool { return d < count }

func (d DType) class() class {
	if d >= count {
		return classNone
	}
	return table[d].class
}

// String returns the type's name: "float32".
func (d DType) String() string {
	if d >= count {
		return fmt.Sprintf("dtype(%d)", uint8(d))
	}
	return table[d].name
}

// Size returns the size of one element in bytes. It is 0 for None, and for
// String, whose elements have no fixed size.
func (d DType) Size() int {
	if d >= count {
		return 0
	}
	return int(table[d].size)
}

// Bits returns the width of an integer or floating type in bits.
func (d DType) Bits() int { return d.Size() * 8 }

// IsBool reports whether d is Bool.
func (d DType) IsBool() bool { return d == Bool }

// IsSigned reports whether d is a signed integer.
func (d DType) IsSigned() bool { return d.class() == classSigned }

// IsUnsigned reports whether d is an unsigned integer.
func (d DType) IsUnsigned() bool { return d.class() == classUnsigned }

// IsInteger reports whether d is an integer.
func (d DType) IsInteger() bool { return d.IsSigned() || d.IsUnsigned() }

// IsFloat reports whether d is a real floating type.
func (d DType) IsFloat() bool { return d.class() == classFloat }

// IsComplex reports whether d is complex.
func (d DType) IsComplex() bool { return d.class() == classComplex }

// IsReal reports whether d is an integer or a real floating type.
func (d DType) IsReal() bool { return d.IsInteger() || d.IsFloat() }

// IsNumeric reports whether d is an integer, floating or complex.
func (d DType) IsNumeric() bool { return d.IsReal() || d.IsComplex() }

// IsDifferentiable reports whether gradients exist for d: floating or complex.
func (d DType) IsDifferentiable() bool { return d.IsFloat() || d.IsComplex() }

// IsString reports whether d is String.
func (d DType) IsString() bool { return d == String }

// Real returns the type of a complex type's parts, and d itself otherwise.
func (d DType) Real() DType {
	switch d {
	case Complex64:
		return Float32
	case Complex128:
		return Float64
	}
	return d
}

// Complex returns the complex type with parts of type d, and None where there is none.
func (d DType) Complex() DType {
	switch d {
	case Float32, Complex64:
		return Complex64
	case Float64, Complex128:
		return Complex128
	}
	return None
}
