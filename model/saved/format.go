package saved

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
)

// An entry is a tensor in a file.
type entry struct {
	name  string
	code  string // the format's name of the element type
	shape []int
	begin int64 // of its bytes, after the header
	end   int64
}

// codes are the format's names of element types.
var codes = map[string]dtype.DType{
	"BOOL": dtype.Bool,
	"I8":   dtype.Int8, "I16": dtype.Int16, "I32": dtype.Int32, "I64": dtype.Int64,
	"U8": dtype.Uint8, "U16": dtype.Uint16, "U32": dtype.Uint32, "U64": dtype.Uint64,
	"F16": dtype.Float16, "BF16": dtype.BFloat16, "F32": dtype.Float32, "F64": dtype.Float64,
	"C64": dtype.Complex64,
}

// codeOf is the inverse of codes, for the types that are written unchanged.
var codeOf = func() map[dtype.DType]string {
	m := map[dtype.DType]string{}
	for c, d := range codes {
		if !d.IsComplex() {
			m[d] = c
		}
	}
	return m
}()

// foreignBits are the widths of the element types that have no dtype.
var foreignBits = map[string]int64{
	"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
	"F8_E5M2FNUZ": 8, "F8_E4M3FNUZ": 8,
}

// foreignPrefix, followed by the format's name of an element type, is the type name of opaque
// values that hold tensors of that element type.
const foreignPrefix = "safetensors."

// foreignSpec returns the Spec of a tensor whose element type has no dtype: its shape, with its
// bytes as a component.
func foreignSpec(e *entry) *tenon.Opaque {
	bytes := leafSpec(dtype.Uint8, []int{int(e.end - e.begin)})
	return tenon.NewOpaque(foreignPrefix+e.code, tenon.Shape{Shape: shape.Of(e.shape...)}, []tenon.Field{{Name: "bytes", Spec: bytes}})
}

// The parts of a tensor of strings are named after it, followed by a colon and one of these.
const (
	partOffsets = ":offsets"
	partBytes   = ":bytes"
	partShape   = ":shape"
)

// The keys of the metadata.
const (
	metaVersion = "tenon.version"
	metaValues  = "tenon.values"
	version     = "1"
)

// size returns the number of bytes of elements with a type and shape.
func size(code string, dims []int) (int64, error) {
	bits, ok := foreignBits[code]
	if d, known := codes[code]; known {
		bits, ok = int64(d.Size())*8, true
	}
	if !ok {
		return 0, fmt.Errorf("the element type %q is unknown", code)
	}
	n := int64(1)
	for _, d := range dims {
		if d == 0 {
			return 0, nil
		}
	}
	for _, d := range dims {
		if n > maxBytes*8/int64(d) {
			return 0, fmt.Errorf("the shape %v has too many elements", dims)
		}
		n *= int64(d)
	}
	if n > maxBytes*8/bits {
		return 0, fmt.Errorf("the shape %v has too many elements", dims)
	}
	if n *= bits; n%8 != 0 {
		return 0, fmt.Errorf("%d bits are not a whole number of bytes", n)
	}
	return n / 8, nil
}

// maxBytes bounds the size of a tensor, far beyond any file, so that sizes in bits do not
// overflow.
const maxBytes = 1 << 59
