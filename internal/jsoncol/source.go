package jsoncol

import (
	"fmt"

	"github.com/tenonml/tenon/dtype"
)

// A source is a column prepared for writing: it has been checked, its keys are encoded and its
// element type is known.
type source struct {
	op      writeOp
	len     int
	valid   []bool
	ints    []int64
	floats  []float64
	bools   []bool
	small   func(dst []byte, row int) ([]byte, error) // other element types
	offsets []int64
	text    []byte // followed by slack
	elem    *source
	fields  []sourceField
	tags    []int8
	index   []int64
	name    string // name within its parent, for errors
	size    int    // upper bound for the bytes of a row, not counting strings and lists
}

// A sourceField is a field with the bytes that precede its value.
type sourceField struct {
	k0, k1 uint64 // the first 16 bytes of the key
	size   int    // size of the key
	source *source
	key    []byte // `,"name":`
}

type writeOp uint8

const (
	writeNull writeOp = iota
	writeBool
	writeInt
	writeFloat
	writeSmall
	writeString
	writeList
	writeStruct
	writeUnion
	writeMap
)

// maxNumber is the largest number of bytes of a formatted number, plus some slack.
const maxNumber = 40

// newSource returns the source for c. It checks everything that writing relies on: lengths,
// offsets, tags and indices.
func newSource(c *Column, path string) (*source, error) {
	bad := func(format string, args ...any) (*source, error) {
		if path == "" {
			path = "the root"
		}
		return nil, fmt.Errorf("column %s: %s", path, fmt.Sprintf(format, args...))
	}
	if c == nil {
		return bad("is nil")
	}
	if c.Len < 0 || c.Valid != nil && len(c.Valid) != c.Len {
		return bad("%d rows with a validity of %d", c.Len, len(c.Valid))
	}
	s := &source{len: c.Len, valid: c.Valid, size: maxNumber}
	switch c.Kind {
	case Null:
		return s, nil
	case Bool, Int64, Float64:
		n := s.setValues(c.Values)
		if n < 0 {
			return bad("values of type %T in a column of kind %v", c.Values, c.Kind)
		}
		if n != c.Len {
			return bad("%d values in %d rows", n, c.Len)
		}
	case String, List, Map:
		s.offsets = c.Offsets
		end := len(c.Bytes)
		s.op = writeString
		if c.Kind == Map && (c.Elem == nil || c.Elem.Kind != Struct || len(c.Elem.Fields) != 2 || c.Elem.Fields[0].Column.Kind != String || c.Elem.Fields[0].Column.Valid != nil) {
			return bad("a map without keys and values")
		}
		if c.Kind != String {
			elem, err := newSource(c.Elem, path+"[]")
			if err != nil {
				return nil, err
			}
			s.op, s.elem, end = writeList, elem, elem.len
			if c.Kind == Map {
				s.op = writeMap
			}
		}
		if row := badOffset(c.Offsets, c.Len, end); row >= 0 {
			return bad("offsets of row %d are not in order or not in the %d elements", row, end)
		}
		s.text = c.Bytes
		if cap(s.text)-len(s.text) < slack {
			s.text = append(make([]byte, 0, len(s.text)+slack), s.text...)
		}
		s.text = s.text[:len(s.text)+slack]
	case Struct:
		s.op = writeStruct
		for _, f := range c.Fields {
			field, err := newSource(f.Column, joinPath(path, f.Name))
			if err != nil {
				return nil, err
			}
			if field.len != c.Len {
				return bad("field %q has %d rows, the struct %d", f.Name, field.len, c.Len)
			}
			field.name = quoteName(f.Name)
			key, err := appendKey(f.Name)
			if err != nil {
				return bad("field name %q is not UTF-8", f.Name)
			}
			g := sourceField{key: key, size: len(key), source: field}
			words := append(key[:len(key):len(key)], make([]byte, 16)...)
			g.k0, g.k1 = wordAt(words, 0), wordAt(words, 8)
			s.fields = append(s.fields, g)
			s.size += len(key) + 16 + field.size
		}
	case Union:
		s.op, s.tags, s.index = writeUnion, c.Tags, c.Index
		for _, f := range c.Fields {
			alt, err := newSource(f.Column, path)
			if err != nil {
				return nil, err
			}
			s.fields = append(s.fields, sourceField{source: alt})
		}
		if len(s.tags) != c.Len || len(s.index) != c.Len {
			return bad("%d tags and %d indices in %d rows", len(s.tags), len(s.index), c.Len)
		}
		for row, tag := range s.tags {
			if tag < 0 {
				continue
			}
			if int(tag) >= len(s.fields) || s.index[row] < 0 || s.index[row] >= int64(s.fields[tag].source.len) {
				return bad("row %d is row %d of alternative %d, which does not exist", row, s.index[row], tag)
			}
		}
	default:
		return bad("unknown kind %d", c.Kind)
	}
	return s, nil
}

// badOffset returns the first row with invalid offsets, or -1.
func badOffset(offsets []int64, rows, end int) int {
	if len(offsets) != rows+1 {
		return min(rows, len(offsets))
	}
	last := offsets[0]
	if last < 0 {
		return 0
	}
	for i, o := range offsets {
		if o < last || o > int64(end) {
			return i
		}
		last = o
	}
	return -1
}

// setValues sets the elements and returns their number, or -1 if JSON cannot represent their type.
func (s *source) setValues(values any) int {
	s.op = writeSmall
	switch v := values.(type) {
	case []bool:
		s.op, s.bools = writeBool, v
		return len(v)
	case []int64:
		s.op, s.ints = writeInt, v
		return len(v)
	case []float64:
		s.op, s.floats = writeFloat, v
		return len(v)
	case []int8:
		return small(s, v, appendInteger)
	case []int16:
		return small(s, v, appendInteger)
	case []int32:
		return small(s, v, appendInteger)
	case []uint8:
		return small(s, v, appendInteger)
	case []uint16:
		return small(s, v, appendInteger)
	case []uint32:
		return small(s, v, appendInteger)
	case []uint64:
		return small(s, v, appendInteger)
	case []float32:
		return small(s, v, func(dst []byte, v float32) []byte { return appendFloat32(dst, v) })
	case []dtype.F16:
		return small(s, v, func(dst []byte, v dtype.F16) []byte { return appendFloat32(dst, v.Float32()) })
	case []dtype.BF16:
		return small(s, v, func(dst []byte, v dtype.BF16) []byte { return appendFloat32(dst, v.Float32()) })
	}
	return -1
}
