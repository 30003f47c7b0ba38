package parquetio

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tenonml/tenon"
)

// A slot is a column of a file being written.
type slot struct {
	path           []string
	typ            physical
	width          int // size of a value of fixed length in bytes
	order          order
	maxDef, maxRep uint8
}

// An order is the order of a column's values in statistics.
type order uint8

const (
	unordered order = iota
	signed          // numbers, and decimals as signed big-endian ones
	unsigned        // numbers, and bytes
)

// An annotation is the annotated type of a leaf in the schema.
type annotation struct {
	converted        int64 // the converted type, the older form, or -1
	logical          func(w *record)
	precision, scale int64
}

// A plan is the schema of a file: its elements, parents before their children, and its columns.
type plan struct {
	elements []func(w *record)
	slots    []*slot
}

// The repetitions of fields.
const (
	fieldRequired = 0
	fieldOptional = 1
	fieldRepeated = 2
)

// The converted types of groups.
const (
	convertedMap  = 1
	convertedList = 3
)

// planOf returns the schema of columns.
func planOf(fields []arrow.Field) *plan {
	p := &plan{}
	p.group("schema", fieldRequired, len(fields), nil)
	for _, f := range fields {
		p.field(f, f.Name, nil, 0, 0)
	}
	return p
}

// group adds a group with the given number of children.
func (p *plan) group(name string, repetition int64, children int, say func(w *record)) {
	p.elements = append(p.elements, func(w *record) {
		w.integer(3, kindInt32, repetition)
		w.text(4, name)
		w.integer(5, kindInt32, int64(children))
		if say != nil {
			say(w)
		}
	})
}

// says returns the annotation of a group, in the older and the newer form.
func says(converted int64, logical int) func(w *record) {
	return func(w *record) {
		w.integer(6, kindInt32, converted)
		w.in(10, func() { w.in(logical, func() {}) })
	}
}

// field adds a field with the given name below the groups of a path, at the given levels.
func (p *plan) field(f arrow.Field, name string, path []string, def, rep uint8) {
	path = append(path[:len(path):len(path)], name)
	repetition := int64(fieldRequired)
	if f.Nullable || f.Type.ID() == arrow.NULL {
		repetition = fieldOptional
		def++
	}
	const (
		asMap  = 2
		asList = 3
	)
	switch t := f.Type.(type) {
	case *arrow.DictionaryType:
		f.Type = t.ValueType
		p.field(f, name, path[:len(path)-1], def-uint8(repetition), rep)
	case *arrow.StructType:
		p.group(name, repetition, t.NumFields(), nil)
		for _, g := range t.Fields() {
			p.field(g, g.Name, path, def, rep)
		}
	case *arrow.MapType:
		p.group(name, repetition, 1, says(convertedMap, asMap))
		p.group("key_value", fieldRepeated, 2, nil)
		path = append(path, "key_value")
		p.field(t.KeyField(), "key", path, def+1, rep+1)
		p.field(t.ItemField(), "value", path, def+1, rep+1)
	case arrow.ListLikeType:
		p.group(name, repetition, 1, says(convertedList, asList))
		p.group("list", fieldRepeated, 1, nil)
		p.field(t.ElemField(), "element", append(path, "list"), def+1, rep+1)
	default:
		p.leaf(f, path, repetition, def, rep)
	}
}

// leaf adds a column.
func (p *plan) leaf(f arrow.Field, path []string, repetition int64, def, rep uint8) {
	s := &slot{path: path, maxDef: def, maxRep: rep}
	a := s.stored(f)
	p.slots = append(p.slots, s)
	p.elements = append(p.elements, func(w *record) {
		w.integer(1, kindInt32, int64(s.typ))
		if s.typ == typeFixed {
			w.integer(2, kindInt32, int64(s.width))
		}
		w.integer(3, kindInt32, repetition)
		w.text(4, path[len(path)-1])
		if a.converted >= 0 {
			w.integer(6, kindInt32, a.converted)
		}
		if a.precision > 0 {
			w.integer(7, kindInt32, a.scale)
			w.integer(8, kindInt32, a.precision)
		}
		if a.logical != nil {
			w.in(10, func() { a.logical(w) })
		}
	})
}

// kinds are the storage types of numbers, and the converted types of narrower ones.
var kinds = map[arrow.Type]struct {
	typ       physical
	width     int
	order     order
	bits      byte
	converted int64
}{
	arrow.BOOL:  {typeBoolean, 1, unsigned, 0, -1},
	arrow.INT8:  {typeInt32, 4, signed, 8, 15},
	arrow.INT16: {typeInt32, 4, signed, 16, 16},
	arrow.INT32: {typeInt32, 4, signed, 0, -1},
	arrow.INT64: {typeInt64, 8, signed, 0, -1},
	arrow.UINT8: {typeInt32, 4, unsigned, 8, 11}, arrow.UINT16: {typeInt32, 4, unsigned, 16, 12},
	arrow.UINT32: {typeInt32, 4, unsigned, 32, 13}, arrow.UINT64: {typeInt64, 8, unsigned, 64, 14},
	arrow.FLOAT32: {typeFloat, 4, signed, 0, -1},
	arrow.FLOAT64: {typeDouble, 8, signed, 0, -1},
}

// stored sets the type of a column, and returns its annotation.
func (s *slot) stored(f arrow.Field) annotation {
	a := annotation{converted: -1}
	alone := func(logical int) func(w *record) { return func(w *record) { w.in(logical, func() {}) } }
	if k, ok := kinds[f.Type.ID()]; ok {
		s.typ, s.width, s.order = k.typ, k.width, k.order
		if k.bits > 0 {
			a.converted = k.converted
			a.logical = func(w *record) {
				w.in(10, func() {
					w.field(1, kindByte)
					w.b = append(w.b, k.bits)
					w.truth(2, k.order == signed)
				})
			}
		}
		return a
	}
	switch t := f.Type.(type) {
	case *arrow.NullType:
		s.typ, s.width, a.logical = typeInt32, 4, alone(11)
	case *arrow.Float16Type:
		s.typ, s.width, a.logical = typeFixed, 2, alone(15)
	case *arrow.StringType, *arrow.LargeStringType:
		s.typ, s.order, a.converted, a.logical = typeByteArray, unsigned, 0, alone(1)
	case *arrow.BinaryType, *arrow.LargeBinaryType:
		s.typ, s.order = typeByteArray, unsigned
	case *arrow.Date32Type:
		s.typ, s.width, s.order, a.converted, a.logical = typeInt32, 4, signed, 6, alone(6)
	case *arrow.Time32Type:
		s.typ, s.width, s.order, a.converted, a.logical = typeInt32, 4, signed, 7, inUnit(7, true, t.Unit)
	case *arrow.Time64Type:
		s.typ, s.width, s.order, a.logical = typeInt64, 8, signed, inUnit(7, true, t.Unit)
		if t.Unit == arrow.Microsecond {
			a.converted = 8
		}
	case *arrow.TimestampType:
		s.typ, s.width, s.order, a.logical = typeInt64, 8, signed, inUnit(8, t.TimeZone != "", t.Unit)
		switch t.Unit {
		case arrow.Second, arrow.Millisecond:
			a.converted = 9
		case arrow.Microsecond:
			a.converted = 10
		}
	case *arrow.Decimal128Type:
		if t.Scale < 0 || t.Scale > t.Precision {
			tenon.Throw(fail(tenon.ErrUnsupported, "parquetio.Writer.Write", f.Name, "Parquet cannot store a scale of %d", t.Scale))
		}
		s.typ, s.width, s.order, a.converted = typeFixed, decimalWidth(int(t.Precision)), signed, 5
		a.precision, a.scale = int64(t.Precision), int64(t.Scale)
		a.logical = func(w *record) {
			w.in(5, func() {
				w.integer(1, kindInt32, a.scale)
				w.integer(2, kindInt32, a.precision)
			})
		}
	case *arrow.FixedSizeBinaryType:
		s.typ, s.width, s.order = typeFixed, t.ByteWidth, unsigned
		if name, _ := f.Metadata.GetValue("ARROW:extension:name"); name == "arrow.uuid" && t.ByteWidth == 16 {
			a.logical = alone(14)
		}
	}
	if s.typ == typeFixed && s.width == 0 || s.typ == 0 && s.width == 0 {
		tenon.Throw(fail(tenon.ErrUnsupported, "parquetio.Writer.Write", f.Name, "Parquet cannot store %v", f.Type))
	}
	return a
}

// inUnit returns the annotation of times. Units that Parquet lacks are stored in milliseconds.
func inUnit(logical int, utc bool, u arrow.TimeUnit) func(w *record) {
	unit := map[arrow.TimeUnit]int{arrow.Second: 1, arrow.Millisecond: 1, arrow.Microsecond: 2, arrow.Nanosecond: 3}[u]
	return func(w *record) {
		w.in(logical, func() {
			w.truth(1, utc)
			w.in(2, func() { w.in(unit, func() {}) })
		})
	}
}

// decimalWidth returns the number of bytes that hold any signed number with the given number of
// decimal digits.
func decimalWidth(digits int) int {
	bits := float64(digits)*3.321928094887362 + 1 // digits times the binary logarithm of 10, plus a sign bit
	n := int(bits) / 8
	if float64(8*n) < bits {
		n++
	}
	return n
}
