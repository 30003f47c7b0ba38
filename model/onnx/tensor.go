package onnx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// dtypes are the element types, by their number in TensorProto.DataType.
var dtypes = map[int]dtype.DType{
	1: dtype.Float32, 2: dtype.Uint8, 3: dtype.Int8, 4: dtype.Uint16, 5: dtype.Int16, 6: dtype.Int32, 7: dtype.Int64,
	8: dtype.String, 9: dtype.Bool, 10: dtype.Float16, 11: dtype.Float64, 12: dtype.Uint32, 13: dtype.Uint64,
	14: dtype.Complex64, 15: dtype.Complex128, 16: dtype.BFloat16,
}

// A foreignType is an element type that Tenon lacks. Its elements are read as another type that
// holds all of them.
type foreignType struct {
	name string
	bits int
	as   dtype.DType
	of   func(bits uint8) float64
}

// foreign lists these types by number.
var foreign = map[int]foreignType{
	17: {"float8e4m3fn", 8, dtype.Float32, minifloat(4, 3, 7, false, func(b uint8) bool { return b&0x7f == 0x7f })},
	18: {"float8e4m3fnuz", 8, dtype.Float32, minifloat(4, 3, 8, false, func(b uint8) bool { return b == 0x80 })},
	19: {"float8e5m2", 8, dtype.Float32, minifloat(5, 2, 15, true, func(b uint8) bool { return b&0x7f > 0x7c })},
	20: {"float8e5m2fnuz", 8, dtype.Float32, minifloat(5, 2, 16, false, func(b uint8) bool { return b == 0x80 })},
	21: {"uint4", 4, dtype.Uint8, func(b uint8) float64 { return float64(b) }},
	22: {"int4", 4, dtype.Int8, func(b uint8) float64 { return float64(int8(b<<4) >> 4) }},
	23: {"float4e2m1", 4, dtype.Float32, minifloat(2, 1, 1, false, func(uint8) bool { return false })},
	24: {"float8e8m0", 8, dtype.Float32, func(b uint8) float64 {
		if b == 0xff {
			return math.NaN()
		}
		return math.Ldexp(1, int(b)-127)
	}},
	25: {"uint2", 2, dtype.Uint8, func(b uint8) float64 { return float64(b) }},
	26: {"int2", 2, dtype.Int8, func(b uint8) float64 { return float64(int8(b<<6) >> 6) }},
}

// minifloat decodes floating-point numbers with a sign, a biased exponent and a fraction of
// some bits (https://onnx.ai/onnx/technical/float8.html).
func minifloat(exponent, fraction, bias int, infinite bool, nan func(b uint8) bool) func(b uint8) float64 {
	return func(b uint8) float64 {
		if nan(b) {
			return math.NaN()
		}
		e := int(b>>fraction) & (1<<exponent - 1)
		f := float64(b&(1<<fraction-1)) / float64(int(1)<<fraction)
		x := math.Ldexp(1+f, e-bias)
		switch {
		case e == 0:
			x = math.Ldexp(f, 1-bias)
		case infinite && e == 1<<exponent-1:
			x = math.Inf(1)
		}
		if b>>(exponent+fraction)&1 != 0 {
			x = -x
		}
		return x
	}
}

// value reads n elements.
func (f foreignType) value(t *protoTensor, external reader, dims []int, n int) (tensor.Tensor, error) {
	raw := t.raw
	size := (n*f.bits + 7) / 8
	switch {
	case t.isOut:
		var err error
		if external == nil {
			return nil, errOutside
		}
		if raw, err = external(t.external, size); err != nil {
			return nil, err
		}
	case !t.hasRaw:
		raw = pack(t.int32s, 1)
	}
	if len(raw) != size {
		return nil, fmt.Errorf("%d bytes for %d elements of type %s", len(raw), n, f.name)
	}
	var table [256]float64
	for i := range 1 << f.bits {
		table[i] = f.of(uint8(i))
	}
	each, mask := 8/f.bits, byte(1<<f.bits-1)
	out := make([]float64, n)
	for i := range out {
		out[i] = table[raw[i/each]>>(i%each*f.bits)&mask]
	}
	return ops.Cast(tensor.Wrap(out, shape.Of(dims...)), f.as), nil
}

var errOutside = errors.New("its elements are in another file, but the model was not read from a folder")

// elementType returns the element type with a number.
func elementType(n int) (dtype.DType, error) {
	if dt, ok := dtypes[n]; ok {
		return dt, nil
	}
	if f, ok := foreign[n]; ok {
		return 0, unsupported("elements are of type %s, which Tenon does not have", f.name)
	}
	return 0, fmt.Errorf("elements are of unknown type %d", n)
}

// maxElements bounds the number of elements of a tensor, so that indices stay far from
// overflow.
const maxElements = 1 << 48

// sizes returns the shape of a tensor and the number of its elements.
func sizes(dims []int64) ([]int, int, error) {
	if len(dims) > 64 {
		return nil, 0, fmt.Errorf("it has %d dimensions, more than the limit of 64", len(dims))
	}
	out, n, zero := make([]int, len(dims)), uint64(1), false
	for i, d := range dims {
		if d < 0 {
			return nil, 0, fmt.Errorf("it has the size %d", d)
		}
		out[i] = int(d)
		if d == 0 {
			zero = true
			continue
		}
		hi, lo := bits.Mul64(n, uint64(d))
		if n = lo; hi != 0 || n > maxElements {
			return nil, 0, fmt.Errorf("the product of the sizes %v is too large", dims)
		}
	}
	if zero {
		n = 0
	}
	return out, int(n), nil
}

// value returns the tensor that a message holds. external reads elements from other files.
func (t *protoTensor) value(external reader) (tensor.Tensor, error) {
	dims, n, err := sizes(t.dims)
	if err != nil {
		return nil, err
	}
	if f, ok := foreign[t.dtype]; ok {
		return f.value(t, external, dims, n)
	}
	dt, err := elementType(t.dtype)
	if err != nil {
		return nil, err
	}
	if dt == dtype.String {
		if len(t.texts) != n {
			return nil, fmt.Errorf("%d strings for the sizes %v", len(t.texts), dims)
		}
		offsets, all := make([]int64, n+1), []byte(nil)
		for i, s := range t.texts {
			all = append(all, s...)
			offsets[i+1] = int64(len(all))
		}
		return tensor.NewStrings(offsets, all, shape.Of(dims...))
	}
	raw := t.raw
	switch {
	case t.isOut:
		if external == nil {
			return nil, errOutside
		}
		if raw, err = external(t.external, n*dt.Size()); err != nil {
			return nil, err
		}
	case !t.hasRaw:
		raw = t.typed(dt)
	}
	if len(raw) != n*dt.Size() {
		return nil, fmt.Errorf("%d bytes for %d elements of type %v", len(raw), n, dt)
	}
	d := tensor.Uninit(dt, shape.Of(dims...))
	copy(d.Bytes(), raw)
	if dt == dtype.Bool {
		for i, x := range d.Bytes() {
			if x > 1 {
				d.Bytes()[i] = 1
			}
		}
	}
	return d, nil
}

// typed returns the bytes of elements in one of the typed lists.
func (t *protoTensor) typed(dt dtype.DType) []byte {
	switch dt {
	case dtype.Float32, dtype.Complex64:
		return t.floats
	case dtype.Float64, dtype.Complex128:
		return t.doubles
	case dtype.Int64:
		return pack(t.int64s, 8)
	case dtype.Uint64, dtype.Uint32:
		return pack(t.uint64s, dt.Size())
	default: // also the bits of half-precision numbers
		return pack(t.int32s, dt.Size())
	}
}

// pack returns the lower bytes of numbers.
func pack[T int64 | uint64](list []T, size int) []byte {
	out := make([]byte, 0, len(list)*size+8)
	for _, x := range list {
		out = binary.LittleEndian.AppendUint64(out, uint64(x))[:len(out)+size]
	}
	return out
}

// value returns a sparse tensor as a dense one.
func (s *protoSparse) value(external reader) (tensor.Tensor, error) {
	if s == nil || s.values == nil || s.indices == nil {
		return nil, fmt.Errorf("its values or positions are missing")
	}
	dims, n, err := sizes(s.dims)
	if err != nil {
		return nil, err
	}
	values, err := s.values.value(external)
	if err != nil {
		return nil, err
	}
	at, err := s.indices.value(external)
	if err != nil {
		return nil, err
	}
	d, ok := values.(*tensor.Dense)
	if !ok || at.DType() != dtype.Int64 || d.Shape().Rank() != 1 {
		return nil, fmt.Errorf("values of %v at positions of %v", values.Spec(), at.Spec())
	}
	if n > 1<<31 {
		return nil, fmt.Errorf("%d elements are too many to write out", n)
	}
	place, size := tensor.Data[int64](at), d.DType().Size()
	out := tensor.NewDense(d.DType(), shape.Of(dims...))
	from, to := d.Bytes(), out.Bytes()
	if rank := at.Shape().Rank(); rank == 2 && at.Shape().Dim(1) != len(dims) || rank > 2 || rank < 1 || at.Shape().Dim(0) != d.Len() {
		return nil, fmt.Errorf("positions of shape %v for %d values in %v", at.Shape(), d.Len(), dims)
	}
	for i := range d.Len() {
		k := int64(0)
		if at.Shape().Rank() == 1 {
			k = place[i]
		} else {
			for j, p := range place[i*len(dims) : (i+1)*len(dims)] {
				if p < 0 || p >= int64(dims[j]) {
					return nil, fmt.Errorf("position %d of value %d is outside of %v", p, i, dims)
				}
				k = k*int64(dims[j]) + p
			}
		}
		if k < 0 || k >= int64(n) {
			return nil, fmt.Errorf("position %d of value %d is outside of %v", k, i, dims)
		}
		copy(to[int(k)*size:(int(k)+1)*size], from[i*size:(i+1)*size])
	}
	return out, nil
}

// spec returns what a type says about a tensor.
func (t *protoType) spec() (*tensor.Spec, error) {
	dt := foreign[t.dtype].as
	if dt == dtype.None {
		var err error
		if dt, err = elementType(t.dtype); err != nil {
			return nil, err
		}
	}
	if !t.ranks {
		return tensor.NewSpec(dt, shape.UnknownRank), nil
	}
	dims := make([]int, len(t.dims))
	for i, d := range t.dims {
		if dims[i] = shape.Unknown; d.size >= 0 && d.size < math.MaxInt32 {
			dims[i] = int(d.size)
		}
	}
	if len(dims) > 64 {
		return nil, fmt.Errorf("it has %d dimensions, more than the limit of 64", len(dims))
	}
	return tensor.NewSpec(dt, shape.Of(dims...)), nil
}

// params returns the names of sizes.
func (t *protoType) params() []string {
	out := make([]string, len(t.dims))
	for i, d := range t.dims {
		out[i] = d.param
	}
	return slices.Clip(out)
}
