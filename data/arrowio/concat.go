package arrowio

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tenonml/tenon"
)

// holds reports whether f is true for a type or for any type nested in it.
func holds(t arrow.DataType, f func(arrow.DataType) bool) bool {
	if f(t) {
		return true
	}
	if e, ok := t.(arrow.ExtensionType); ok {
		return holds(e.StorageType(), f)
	}
	if d, ok := t.(*arrow.DictionaryType); ok {
		return holds(d.ValueType, f)
	}
	if n, ok := t.(arrow.NestedType); ok {
		return slices.ContainsFunc(n.Fields(), func(c arrow.Field) bool { return holds(c.Type, f) })
	}
	return false
}

// isBare reports whether arrays of a type have no buffers.
func isBare(t arrow.DataType) bool { return t.ID() == arrow.NULL || t.ID() == arrow.RUN_END_ENCODED }

func isUnion(t arrow.DataType) bool {
	return t.ID() == arrow.SPARSE_UNION || t.ID() == arrow.DENSE_UNION
}

// validated returns an array after checking its offsets, lengths and indices.
func (r *reading) validated(at string, a arrow.Array) arrow.Array {
	if holds(a.DataType(), isBare) {
		a = array.MakeFromData(withNulls(a.Data()))
	}
	checked := a
	if holds(a.DataType(), isString) {
		checked = array.MakeFromData(withoutText(a.Data()))
	}
	tenon.Throw(damaged(r.fn, at, array.ValidateFull(checked)))
	return a
}

func isString(t arrow.DataType) bool { return t.ID() == arrow.LARGE_STRING }

// withoutText returns arrays of valid UTF-8 strings as arrays of bytes. It validates all of them as a single text,
// and checks that each starts at a character boundary: arrow-go validates them one by one, which is slow for short
// strings.
func withoutText(d arrow.ArrayData) arrow.ArrayData {
	if isString(d.DataType()) {
		if isUTF8(d) {
			return retype(d, arrow.BinaryTypes.LargeBinary)
		}
		return d
	}
	children := slices.Clone(d.Children())
	types := make([]arrow.DataType, len(children))
	same := true
	for i, c := range children {
		children[i] = withoutText(c)
		types[i] = children[i].DataType()
		same = same && children[i] == c
	}
	if same {
		return d
	}
	t := d.DataType()
	switch x := t.(type) {
	case *arrow.StructType:
		fields := slices.Clone(x.Fields())
		for i := range fields {
			fields[i].Type = types[i]
		}
		t = arrow.StructOf(fields...)
	case *arrow.LargeListType:
		item := x.ElemField()
		item.Type = types[0]
		t = arrow.LargeListOfField(item)
	default:
		return d
	}
	return array.NewData(t, d.Len(), d.Buffers(), children, d.NullN(), d.Offset())
}

// isUTF8 reports whether all strings of an array are UTF-8. Its offsets have not been checked yet.
func isUTF8(d arrow.ArrayData) bool {
	b := d.Buffers()
	if d.Len() == 0 || len(b) != 3 || b[1] == nil || b[2] == nil || d.Offset() < 0 || b[1].Len()/8 <= d.Offset()+d.Len() {
		return false
	}
	text := b[2].Bytes()
	ends := offsets(d, true)
	from, to := ends[0], ends[len(ends)-1]
	if from < 0 || to < from || to > int64(len(text)) || !utf8.Valid(text[from:to]) {
		return false
	}
	if isASCII(text[from:to]) {
		return true
	}
	for _, e := range ends {
		if e < from || e > to || e < to && !utf8.RuneStart(text[e]) {
			return false
		}
	}
	return true
}

func isASCII(b []byte) bool {
	const high = 0x8080808080808080
	for ; len(b) >= 32; b = b[32:] {
		if (binary.LittleEndian.Uint64(b)|binary.LittleEndian.Uint64(b[8:])|binary.LittleEndian.Uint64(b[16:])|binary.LittleEndian.Uint64(b[24:]))&high != 0 {
			return false
		}
	}
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// withNulls gives arrays of nulls and of runs the buffer that arrow-go's validation expects but its
// reader does not create.
func withNulls(d arrow.ArrayData) arrow.ArrayData {
	buffers := d.Buffers()
	if isBare(d.DataType()) && len(buffers) == 0 {
		buffers = []*memory.Buffer{nil}
	}
	children := slices.Clone(d.Children())
	for i, c := range children {
		children[i] = withNulls(c)
	}
	out := array.NewData(d.DataType(), d.Len(), buffers, children, d.NullN(), d.Offset())
	out.SetDictionary(dictionaryOf(d))
	return out
}

// concat concatenates validated arrays of one type. It uses arrow-go, except for unions.
func (r *reading) concat(list []arrow.ArrayData) (arrow.ArrayData, error) {
	t := list[0].DataType()
	if !holds(t, isUnion) {
		arrays := make([]arrow.Array, len(list))
		for i, d := range list {
			arrays[i] = array.MakeFromData(d)
		}
		a, err := array.Concatenate(arrays, memory.DefaultAllocator)
		if err != nil {
			return nil, err
		}
		return a.Data(), nil
	}
	if e, ok := t.(arrow.ExtensionType); ok {
		inner := make([]arrow.ArrayData, len(list))
		for i, d := range list {
			_, _, inner[i] = storage(arrow.Field{Type: e}, d)
		}
		d, err := r.concat(inner)
		if err != nil {
			return nil, err
		}
		return array.NewData(t, d.Len(), d.Buffers(), d.Children(), d.NullN(), d.Offset()), nil
	}
	if u, ok := t.(arrow.UnionType); ok {
		return r.concatUnions(u, list)
	}
	n := 0
	var present []bool
	var ends []int64
	fields := len(t.(arrow.NestedType).Fields())
	parts := make([][]arrow.ArrayData, fields)
	for _, d := range list {
		n += d.Len()
		present = append(present, r.validOrAll("", d)...)
		if l, ok := r.level(d); !ok {
			for i, c := range d.Children() {
				parts[i] = append(parts[i], slice(c, d.Offset(), d.Offset()+d.Len()))
			}
		} else {
			parts[0] = append(parts[0], l.child)
			if l.k < 0 {
				ends = appendEnds(ends, l.ends)
			}
		}
	}
	children := make([]arrow.ArrayData, fields)
	for i, p := range parts {
		var err error
		if children[i], err = r.concat(p); err != nil {
			return nil, err
		}
	}
	buffers := []*memory.Buffer{nil}
	if slices.Contains(present, false) {
		buffers[0] = buffer(pack(present))
	}
	switch t.ID() {
	case arrow.LARGE_LIST:
		buffers = append(buffers, buffer(asBytes(ends)))
	case arrow.LIST, arrow.MAP:
		short := make([]int32, len(ends))
		for i, e := range ends {
			if short[i] = int32(e); int64(short[i]) != e {
				return nil, fail(tenon.ErrInvalid, "", "", "the chunks have more elements than 32-bit offsets can address")
			}
		}
		buffers = append(buffers, buffer(asBytes(short)))
	}
	return array.NewData(t, n, buffers, children, array.UnknownNullCount, 0), nil
}

// appendEnds appends offsets that continue others.
func appendEnds(ends, more []int64) []int64 {
	if len(ends) == 0 {
		ends = []int64{0}
	}
	from := ends[len(ends)-1] - more[0]
	for _, e := range more[1:] {
		ends = append(ends, e+from)
	}
	return ends
}

// concatUnions concatenates unions.
func (r *reading) concatUnions(t arrow.UnionType, list []arrow.ArrayData) (arrow.ArrayData, error) {
	var ids []byte
	var ends []int32
	dense := t.Mode() == arrow.DenseMode
	parts := make([][]arrow.ArrayData, t.NumFields())
	before := make([]int32, t.NumFields()) // number of preceding elements of each variant
	for _, d := range list {
		if d.Len() == 0 {
			continue
		}
		own := d.Buffers()[1].Bytes()[d.Offset() : d.Offset()+d.Len()]
		ids = append(ids, own...)
		if dense {
			for i, e := range offsetsOfUnion(d) {
				ends = append(ends, e+before[t.ChildIDs()[own[i]]])
			}
		}
		for i, c := range d.Children() {
			if !dense {
				c = slice(c, d.Offset(), d.Offset()+d.Len())
			}
			before[i] += int32(c.Len())
			parts[i] = append(parts[i], c)
		}
	}
	if len(ids) == 0 {
		return list[0], nil
	}
	children := make([]arrow.ArrayData, len(parts))
	for i, p := range parts {
		var err error
		if children[i], err = r.concat(p); err != nil {
			return nil, err
		}
		if dense && children[i].Len() != int(before[i]) {
			return nil, fail(tenon.ErrInvalid, "", "", "the chunks have more elements than 32-bit offsets can address")
		}
	}
	buffers := []*memory.Buffer{nil, buffer(ids)}
	if dense {
		buffers = append(buffers, buffer(asBytes(ends)))
	}
	return array.NewData(t, len(ids), buffers, children, 0, 0), nil
}
