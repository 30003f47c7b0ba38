package arrowio

import (
	"encoding/json"
	"math"
	"unicode/utf8"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// A part is Arrow data together with its description for a field.
type part struct {
	data     arrow.ArrayData
	meta     map[string]string
	nullable bool
}

func (p part) len() int { return p.data.Len() }

func (p part) field(name string) arrow.Field {
	return arrow.Field{Name: name, Type: p.data.DataType(), Nullable: p.nullable, Metadata: arrow.MetadataFrom(p.meta)}
}

// with returns the part with an additional metadata entry.
func (p part) with(key, value string) part {
	meta := map[string]string{key: value}
	for k, v := range p.meta {
		if k != key {
			meta[k] = v
		}
	}
	p.meta = meta
	return p
}

// buffer returns bytes as a buffer.
func buffer(b []byte) *memory.Buffer { return memory.NewBufferBytes(b) }

// asBytes returns the memory of numbers.
func asBytes[T int32 | int64](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(*new(T))))
}

var primitives = map[dtype.DType]arrow.DataType{
	dtype.Int8: arrow.PrimitiveTypes.Int8, dtype.Int16: arrow.PrimitiveTypes.Int16,
	dtype.Int32: arrow.PrimitiveTypes.Int32, dtype.Int64: arrow.PrimitiveTypes.Int64,
	dtype.Uint8: arrow.PrimitiveTypes.Uint8, dtype.Uint16: arrow.PrimitiveTypes.Uint16,
	dtype.Uint32: arrow.PrimitiveTypes.Uint32, dtype.Uint64: arrow.PrimitiveTypes.Uint64,
	dtype.Float16: arrow.FixedWidthTypes.Float16, dtype.BFloat16: arrow.PrimitiveTypes.Uint16,
	dtype.Float32: arrow.PrimitiveTypes.Float32, dtype.Float64: arrow.PrimitiveTypes.Float64,
}

// numbers returns the n elements of a contiguous tensor; complex ones become twice as many floats.
func numbers(d *tensor.Dense) part {
	n, t := d.Len(), d.DType()
	if t == dtype.Bool {
		return part{data: array.NewData(arrow.FixedWidthTypes.Boolean, n, []*memory.Buffer{nil, buffer(pack(tensor.Elems[bool](d)))}, nil, 0, 0)}
	}
	if t.IsComplex() {
		n, t = 2*n, t.Real()
	}
	return part{data: array.NewData(primitives[t], n, []*memory.Buffer{nil, buffer(d.Bytes())}, nil, 0, 0)}
}

// pack returns booleans as bits, the first in the lowest bit of the first byte.
func pack(x []bool) []byte {
	out := make([]byte, (len(x)+7)/8)
	for i, b := range x {
		if b {
			out[i>>3] |= 1 << (i & 7)
		}
	}
	return out
}

// texts returns strings: as large_utf8 if they are UTF-8, and otherwise as large_binary.
func texts(s *tensor.Strings) part {
	offsets := s.Offsets()
	typ := arrow.DataType(arrow.BinaryTypes.LargeString)
	if !isText(offsets, s.Buffer()) {
		typ = arrow.BinaryTypes.LargeBinary
	}
	return part{data: array.NewData(typ, s.Len(), []*memory.Buffer{nil, buffer(asBytes(offsets)), buffer(s.Buffer())}, nil, 0, 0)}
}

// isText reports whether each string is UTF-8.
func isText(offsets []int64, b []byte) bool {
	from, to := offsets[0], offsets[len(offsets)-1]
	if !utf8.Valid(b[from:to]) {
		return false
	}
	for _, o := range offsets {
		if o < to && !utf8.RuneStart(b[o]) {
			return false
		}
	}
	return true
}

// list divides the elements of a part into the rows of a partition.
func list(p *ragged.RowPartition, child part) part {
	if k := p.StaticUniformRowLength(); p.IsUniform() && k > 0 && k <= math.MaxInt32 {
		return fixed(child, k)
	}
	splits := tensor.Contiguous(ops.Identity(p.RowSplits()).(*tensor.Dense))
	item := child.field("item")
	typ := arrow.DataType(arrow.LargeListOfField(item))
	if splits.DType() == dtype.Int32 {
		typ = arrow.ListOfField(item)
	}
	return part{data: array.NewData(typ, splits.Len()-1, []*memory.Buffer{nil, buffer(splits.Bytes())}, []arrow.ArrayData{child.data}, 0, 0)}
}

// fixed divides the elements of a part into lists of k.
func fixed(child part, k int) part {
	typ := arrow.FixedSizeListOfField(int32(k), child.field("item"))
	return part{data: array.NewData(typ, child.len()/k, []*memory.Buffer{nil}, []arrow.ArrayData{child.data}, 0, 0)}
}

// emptyLists returns n lists without elements.
func emptyLists(child part, n int) part {
	typ := arrow.LargeListOfField(child.field("item"))
	return part{data: array.NewData(typ, n, []*memory.Buffer{nil, buffer(asBytes(make([]int64, n+1)))}, []arrow.ArrayData{child.data}, 0, 0)}
}

// single puts all elements of a part into one list.
func single(child part) part {
	typ := arrow.LargeListOfField(child.field("item"))
	return part{data: array.NewData(typ, 1, []*memory.Buffer{nil, buffer(asBytes([]int64{0, int64(child.len())}))}, []arrow.ArrayData{child.data}, 0, 0)}
}

// record combines parts as the fields of a struct.
func record(n int, names []string, children []part) part {
	fields := make([]arrow.Field, len(children))
	data := make([]arrow.ArrayData, len(children))
	for i, c := range children {
		fields[i], data[i] = c.field(names[i]), c.data
	}
	return part{data: array.NewData(arrow.StructOf(fields...), n, []*memory.Buffer{nil}, data, 0, 0)}
}

// shaped divides elements by all axes of a shape except the first. The requested number of
// outermost axes become nested lists. The axes below them become a single tensor type if there are
// elements and they are numbers.
func shaped(leaf part, dims []int, lists int, names []string) part {
	inner := dims[1:]
	size := 1
	for _, k := range inner {
		size *= k
	}
	split := min(max(lists, 0), len(inner))
	tail := inner[split:]
	if !arrow.IsPrimitive(leaf.data.DataType().ID()) || size == 0 || size > math.MaxInt32 {
		split, tail = len(inner), nil
	}
	if len(tail) > 0 {
		k := 1
		for _, n := range tail {
			k *= n
		}
		leaf = fixed(leaf, k).with(keyExtName, fixedShape).with(keyExtMeta, fixedShapeMeta(tail, names))
	}
	for i := split - 1; i >= 0; i-- {
		if inner[i] > 0 && inner[i] <= math.MaxInt32 {
			leaf = fixed(leaf, inner[i])
			continue
		}
		n := dims[0]
		for _, k := range inner[:i] {
			n *= k
		}
		leaf = emptyLists(leaf, n)
	}
	return leaf
}

// shapeMeta is the metadata of the two tensor types.
type shapeMeta struct {
	Shape       []int    `json:"shape,omitempty"`
	DimNames    []string `json:"dim_names,omitempty"`
	Permutation []int    `json:"permutation,omitempty"`
	Uniform     []*int   `json:"uniform_shape,omitempty"`
}

func fixedShapeMeta(dims []int, names []string) string {
	m := shapeMeta{Shape: dims}
	if len(names) == len(dims) {
		m.DimNames = names
	}
	text, _ := json.Marshal(m) // integers and strings can always be encoded
	return string(text)
}
