package saved

import (
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/tensor"
)

// Tensors returns the names of all tensors of the file in the format's sense, including those
// of which Values are made, in the order of their bytes.
func (f *File) Tensors() []string {
	out := make([]string, len(f.header.entries))
	for i, e := range f.header.entries {
		out[i] = e.name
	}
	return out
}

// TensorSpec returns the element type and shape of a tensor of [File.Tensors]. 8-bit
// floating-point numbers (F8_E4M3, F8_E5M2 and their variants) are read as float32.
func (f *File) TensorSpec(name string) (*tensor.Spec, error) {
	e, ok := f.tensors[name]
	if !ok {
		return nil, f.fail(tenon.ErrNotFound, "saved.File.TensorSpec", name, "the file has no such tensor")
	}
	if d, ok := codes[e.code]; ok {
		return leafSpec(d, e.shape), nil
	}
	if _, ok := eightBits[e.code]; ok {
		return leafSpec(dtype.Float32, e.shape), nil
	}
	return nil, f.fail(tenon.ErrUnsupported, "saved.File.TensorSpec", name, "elements of type %s are not supported", e.code)
}

// Tensor reads a tensor of [File.Tensors].
func (f *File) Tensor(name string) (tensor.Tensor, error) {
	s, err := f.TensorSpec(name)
	if err != nil {
		return nil, err
	}
	e := f.tensors[name]
	value, ok := eightBits[e.code]
	if !ok {
		return f.dense(e, s.DType(), e.shape)
	}
	raw, err := f.dense(e, dtype.Uint8, e.shape)
	if err != nil {
		return nil, err
	}
	out := tensor.Uninit(dtype.Float32, s.Shape())
	to := tensor.Data[float32](out)
	for i, b := range tensor.Data[uint8](raw) {
		to[i] = value(b)
	}
	return out, nil
}

// eightBits are the 8-bit numbers of the OCP's specification (OFP8), and those without negative
// zero and infinities (FNUZ), whose exponent bias is larger by one.
var eightBits = map[string]func(b byte) float32{
	"F8_E5M2": func(b byte) float32 { return dtype.F16(uint16(b) << 8).Float32() },
	"F8_E4M3": func(b byte) float32 {
		if b&0x7F == 0x7F {
			return float32(math.NaN())
		}
		return small(b, 3, 7)
	},
	"F8_E5M2FNUZ": func(b byte) float32 { return unsignedZero(b, 2, 16) },
	"F8_E4M3FNUZ": func(b byte) float32 { return unsignedZero(b, 3, 8) },
	"F8_E8M0": func(b byte) float32 {
		if b == 0xFF {
			return float32(math.NaN())
		}
		return float32(math.Ldexp(1, int(b)-127))
	},
}

func unsignedZero(b byte, fraction, bias int) float32 {
	if b == 0x80 {
		return float32(math.NaN())
	}
	return small(b, fraction, bias)
}

// small decodes a number with a sign, an exponent and a fraction of the given bits. An exponent
// of zero marks subnormal numbers.
func small(b byte, fraction, bias int) float32 {
	exponent, rest := int(b&0x7F)>>fraction, int(b)&(1<<fraction-1)
	if exponent == 0 {
		exponent++
	} else {
		rest |= 1 << fraction
	}
	x := math.Ldexp(float64(rest), exponent-bias-fraction)
	if b&0x80 != 0 {
		x = math.Copysign(x, -1)
	}
	return float32(x)
}
