package parquetio

import (
	"bytes"
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tenonml/tenon"
)

// values are the present values of a column, in stored form: either of fixed width, or concatenated texts.
type values struct {
	n     int
	width int    // width in bytes, or 0 for texts
	fixed []byte // booleans take one byte each
	text  []byte
	ends  []int64 // n+1 offsets
}

// at returns a value.
func (v *values) at(i int) []byte {
	if v.ends != nil {
		return v.text[v.ends[i]:v.ends[i+1]]
	}
	return v.fixed[i*v.width : (i+1)*v.width]
}

// numbers returns values as numbers of their width.
func numbers[T numeric](v *values) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(v.fixed))), v.n)
}

type numeric interface {
	int32 | int64 | uint32 | uint64 | float32 | float64
}

// asBytes returns the memory of numbers.
func asBytes[T numeric](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(*new(T))))
}

// there returns the positions of the present elements of the array, or nil if all are, and their
// number.
func (s *shred) there() ([]int32, int) {
	n := s.data.Len()
	if s.defs == nil {
		return nil, n
	}
	if have := bytes.Count(s.defs, []byte{s.def}); have == n {
		return nil, n
	} else {
		list, k := make([]int32, 0, have), int32(0)
		for _, l := range s.defs {
			if l < s.slot {
				continue
			}
			if l == s.def {
				list = append(list, k)
			}
			k++
		}
		return list, have
	}
}

// values returns the values of a leaf.
func (s *shred) values(c *slot) *values {
	pick, n := s.there()
	d := s.data
	v := &values{n: n, width: c.width}
	if n == 0 {
		if c.typ == typeByteArray {
			v.ends = []int64{0}
		}
		return v
	}
	if t, ok := d.DataType().(*arrow.DictionaryType); ok {
		pick = codesOf(d, t, pick)
		d = d.Dictionary()
	}
	if c.typ == typeByteArray {
		v.texts(d, pick)
		return v
	}
	if d.DataType().ID() == arrow.BOOL {
		v.fixed = picked(bitsOf(d, 1), 1, pick)
		return v
	}
	width := d.DataType().(arrow.FixedWidthDataType).BitWidth() / 8
	b := d.Buffers()[1].Bytes()[d.Offset()*width : (d.Offset()+d.Len())*width]
	v.fixed = widened(d.DataType(), picked(b, width, pick), n, c.width)
	return v
}

// codesOf returns the dictionary indices of the chosen elements of a dictionary array.
func codesOf(d arrow.ArrayData, t *arrow.DictionaryType, pick []int32) []int32 {
	codes := arrow.Int32Traits.CastFromBytes(d.Buffers()[1].Bytes())[d.Offset() : d.Offset()+d.Len()]
	if pick == nil {
		return codes
	}
	out := make([]int32, len(pick))
	for i, k := range pick {
		out[i] = codes[k]
	}
	return out
}

// picked returns the chosen elements of a given width, in aligned memory.
func picked(b []byte, width int, pick []int32) []byte {
	if pick == nil {
		return b
	}
	out := make([]byte, len(pick)*width+16)[:len(pick)*width]
	switch width {
	case 4:
		move[uint32](out, b, pick)
	case 8:
		move[uint64](out, b, pick)
	default:
		for i, k := range pick {
			copy(out[i*width:(i+1)*width], b[int(k)*width:])
		}
	}
	return out
}

func move[T uint32 | uint64](to, from []byte, pick []int32) {
	size := int(unsafe.Sizeof(*new(T)))
	x := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(from))), len(from)/size)
	y := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(to))), len(pick))
	for i, k := range pick {
		y[i] = x[k]
	}
}

// texts sets v to the chosen texts.
func (v *values) texts(d arrow.ArrayData, pick []int32) {
	ends, text := endsOf(d), []byte(nil)
	if b := d.Buffers()[2]; b != nil {
		text = b.Bytes()
	}
	if pick == nil {
		v.text, v.ends = text, ends
		return
	}
	size := int64(0)
	for _, k := range pick {
		size += ends[k+1] - ends[k]
	}
	v.text, v.ends = make([]byte, 0, size), make([]int64, 1, len(pick)+1)
	for _, k := range pick {
		v.text = append(v.text, text[ends[k]:ends[k+1]]...)
		v.ends = append(v.ends, int64(len(v.text)))
	}
}

// widened returns n numbers in the form in which they are stored.
func widened(t arrow.DataType, b []byte, n, width int) []byte {
	out := func() []byte { return make([]byte, n*width) }
	switch t := t.(type) {
	case *arrow.Int8Type:
		return wide(out(), b, func(b []byte, i int) int32 { return int32(int8(b[i])) })
	case *arrow.Uint8Type:
		return wide(out(), b, func(b []byte, i int) int32 { return int32(b[i]) })
	case *arrow.Int16Type:
		return wide(out(), b, func(b []byte, i int) int32 { return int32(int16(binary.LittleEndian.Uint16(b[2*i:]))) })
	case *arrow.Uint16Type:
		return wide(out(), b, func(b []byte, i int) int32 { return int32(binary.LittleEndian.Uint16(b[2*i:])) })
	case *arrow.TimestampType:
		if t.Unit == arrow.Second {
			return milliseconds(b, n)
		}
	case *arrow.Decimal128Type: // the lowest byte last, as few as the digits need
		to := out()
		for i := range n {
			x := b[16*i : 16*i+16]
			for k := range width {
				to[i*width+width-1-k] = x[k]
			}
		}
		return to
	}
	return b
}

func wide(to, b []byte, f func(b []byte, i int) int32) []byte {
	for i := range len(to) / 4 {
		binary.LittleEndian.PutUint32(to[4*i:], uint32(f(b, i)))
	}
	return to
}

// milliseconds converts n seconds to milliseconds, the coarsest unit of Parquet.
func milliseconds(b []byte, n int) []byte {
	const k = 1000
	out := make([]byte, 0, 8*n)
	for i := range n {
		x := int64(binary.LittleEndian.Uint64(b[8*i:]))
		if x > math.MaxInt64/k || x < math.MinInt64/k {
			tenon.Throw(fail(tenon.ErrUnsupported, "parquetio.Writer.Write", "", "Parquet cannot store a timestamp %d seconds from 1970, which is beyond 64 bits in milliseconds", x))
		}
		out = binary.LittleEndian.AppendUint64(out, uint64(x*k))
	}
	return out
}
