package arrowio

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// elementTypes maps types of arrays to element types.
var elementTypes = map[arrow.Type]dtype.DType{
	arrow.BOOL: dtype.Bool, arrow.INT8: dtype.Int8, arrow.INT16: dtype.Int16, arrow.INT32: dtype.Int32, arrow.INT64: dtype.Int64,
	arrow.UINT8: dtype.Uint8, arrow.UINT16: dtype.Uint16, arrow.UINT32: dtype.Uint32, arrow.UINT64: dtype.Uint64,
	arrow.FLOAT16: dtype.Float16, arrow.FLOAT32: dtype.Float32, arrow.FLOAT64: dtype.Float64,
	arrow.DATE32: dtype.Int32, arrow.TIME32: dtype.Int32, arrow.DATE64: dtype.Int64, arrow.TIME64: dtype.Int64,
	arrow.TIMESTAMP: dtype.Int64, arrow.DURATION: dtype.Int64, arrow.INTERVAL_MONTHS: dtype.Int32,
	arrow.STRING: dtype.String, arrow.BINARY: dtype.String, arrow.LARGE_STRING: dtype.String, arrow.LARGE_BINARY: dtype.String,
	arrow.STRING_VIEW: dtype.String, arrow.BINARY_VIEW: dtype.String, arrow.FIXED_SIZE_BINARY: dtype.String,
}

// bytesOf returns the elements of a buffer from the array's offset on, of the given width in bytes.
// With ends, there is one more element.
func bytesOf(d arrow.ArrayData, k, width, ends int) []byte {
	b := d.Buffers()[k]
	if b == nil || d.Len() == 0 && b.Len() == 0 {
		return make([]byte, ends*width)
	}
	return b.Bytes()[d.Offset()*width : (d.Offset()+d.Len()+ends)*width]
}

// vector returns the elements of an array without structure as a tensor of the given type or, for
// dtype.None, of the type that corresponds to the array's.
//
//	[n], or [n/2] if a complex type is requested
func (r *reading) vector(at string, d arrow.ArrayData, want dtype.DType) tensor.Tensor {
	if t, ok := d.DataType().(*arrow.DictionaryType); ok && want == dtype.String {
		if d.Len() == 0 {
			return tensor.Of([]string{}, 0)
		}
		words, codes := r.vector(at, d.Dictionary(), want).(*tensor.Strings), r.codes(at, t, d)
		for _, c := range tensor.Data[int32](codes) {
			if c >= 0 && int(c) < words.Len() {
				r.take(at, int64(len(words.At(int(c)))))
			}
		}
		return ops.Gather(words, codes, 0)
	}
	id := d.DataType().ID()
	have, ok := elementTypes[id]
	if !ok {
		tenon.Throw(r.unsupported(at, d.DataType()))
	}
	if want == dtype.None {
		want = have
	}
	n := d.Len()
	switch {
	case have == dtype.String && want == dtype.String:
		return r.texts(at, d)
	case have == dtype.Bool && want == dtype.Bool:
		return tensor.Vector(unpack(d, 1))
	case have == want || have == dtype.Uint16 && want == dtype.BFloat16:
	case want.IsComplex() && want.Real() == have && n%2 == 0:
		n /= 2
	default:
		tenon.Throw(r.mismatch(at, d.DataType(), want.String()))
	}
	b := bytesOf(d, 1, have.Size(), 0)
	b = r.own(b)
	return tenon.Must(tensor.FromBytes(want, shape.Of(n), b))
}

// borrowed reports whether memory must be copied: it belongs to Arrow, or to a file that is mapped
// only while it is being read.
func (r *reading) borrowed(b []byte) bool {
	if r.o.Copy || len(r.mapped) == 0 || len(b) == 0 {
		return r.o.Copy
	}
	at, from := uintptr(unsafe.Pointer(&b[0])), uintptr(unsafe.Pointer(&r.mapped[0]))
	return at >= from && at < from+uintptr(len(r.mapped))
}

// own returns memory that remains valid.
func (r *reading) own(b []byte) []byte {
	if r.borrowed(b) {
		return bytes.Clone(b)
	}
	return b
}

// shifted returns offsets shifted to start at 0.
func shifted(ends []int64) []int64 {
	out := make([]int64, len(ends))
	for i, o := range ends {
		out[i] = o - ends[0]
	}
	return out
}

// unpack returns the bits of a buffer as booleans.
func unpack(d arrow.ArrayData, k int) []bool {
	out := make([]bool, d.Len())
	if len(out) == 0 {
		return out
	}
	b, off := d.Buffers()[k].Bytes(), d.Offset()
	for i := range out {
		out[i] = b[(off+i)>>3]>>((off+i)&7)&1 != 0
	}
	return out
}

// valid returns which elements of an array are present, or nil if all are.
func valid(d arrow.ArrayData) []bool {
	if id := d.DataType().ID(); id == arrow.SPARSE_UNION || id == arrow.DENSE_UNION || id == arrow.NULL {
		return nil
	}
	if len(d.Buffers()) == 0 || d.Buffers()[0] == nil || d.Buffers()[0].Len() == 0 || d.Len() == 0 {
		return nil
	}
	b, from, to := d.Buffers()[0].Bytes(), d.Offset(), d.Offset()+d.Len()
	count := 0
	i := from
	for ; i < to && i&7 != 0; i++ {
		count += int(b[i>>3] >> (i & 7) & 1)
	}
	for ; i+64 <= to; i += 64 {
		count += bits.OnesCount64(binary.LittleEndian.Uint64(b[i>>3:]))
	}
	for ; i < to; i++ {
		count += int(b[i>>3] >> (i & 7) & 1)
	}
	if count == d.Len() {
		return nil
	}
	return unpack(d, 0)
}

// validOrAll is valid, but always returns a boolean for each element. They may take more memory
// than the array.
func (r *reading) validOrAll(at string, d arrow.ArrayData) []bool {
	if v := valid(d); v != nil {
		return v
	}
	r.take(at, int64(d.Len()))
	return slices.Repeat([]bool{true}, d.Len())
}

// offsets returns the n+1 offsets of an array, which are 32-bit or, if wide is set, 64-bit. They
// have been validated.
func offsets(d arrow.ArrayData, wide bool) []int64 {
	if wide {
		b := bytesOf(d, 1, 8, 1)
		if uintptr(unsafe.Pointer(unsafe.SliceData(b)))%8 == 0 {
			return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/8)
		}
		out := make([]int64, len(b)/8)
		for i := range out {
			out[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
		}
		return out
	}
	b := bytesOf(d, 1, 4, 1)
	out := make([]int64, len(b)/4)
	for i := range out {
		out[i] = int64(int32(binary.LittleEndian.Uint32(b[4*i:])))
	}
	return out
}

// texts returns strings of all kinds.
func (r *reading) texts(at string, d arrow.ArrayData) tensor.Tensor {
	n := d.Len()
	var ends []int64
	var data []byte
	switch id := d.DataType().ID(); id {
	case arrow.FIXED_SIZE_BINARY:
		width := d.DataType().(*arrow.FixedSizeBinaryType).ByteWidth
		data = bytesOf(d, 1, width, 0)
		r.take(at, int64(n)*8)
		ends = make([]int64, n+1)
		for i := range ends {
			ends[i] = int64(i * width)
		}
	case arrow.STRING_VIEW, arrow.BINARY_VIEW:
		ends, data = r.views(at, d)
	default:
		ends = offsets(d, id == arrow.LARGE_STRING || id == arrow.LARGE_BINARY)
		if b := d.Buffers()[2]; b != nil {
			data = b.Bytes()
		}
	}
	if from, to := ends[0], ends[n]; r.borrowed(data) && to-from < int64(len(data))/2 {
		data, ends = data[from:to], shifted(ends) // drop the text of other rows
	}
	if r.borrowed(asBytes(ends)) {
		ends = slices.Clone(ends)
	}
	data = r.own(data)
	return tenon.Must(tensor.NewStrings(ends, data, shape.Of(n)))
}

// views returns the strings of a view array, concatenated.
func (r *reading) views(at string, d arrow.ArrayData) ([]int64, []byte) {
	a := array.MakeFromData(d)
	value := func(i int) []byte { return a.(*array.BinaryView).Value(i) }
	if s, ok := a.(*array.StringView); ok {
		value = func(i int) []byte { return []byte(s.Value(i)) }
	}
	ends := make([]int64, d.Len()+1)
	var data []byte
	for i := range d.Len() {
		if !a.IsNull(i) {
			v := value(i)
			r.take(at, int64(len(v)))
			data = append(data, v...)
		}
		ends[i+1] = int64(len(data))
	}
	return ends, data
}

// offsetsOfUnion returns the offsets of a dense union, which have been validated.
func offsetsOfUnion(d arrow.ArrayData) []int32 {
	b := d.Buffers()[2]
	if b == nil {
		return nil
	}
	out := make([]int32, d.Len())
	for i := range out {
		out[i] = int32(binary.LittleEndian.Uint32(b.Bytes()[4*(d.Offset()+i):]))
	}
	return out
}
