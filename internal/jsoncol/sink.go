package jsoncol

import (
	"math"
	"sync"
	"unsafe"

	"github.com/tenonml/tenon/dtype"
)

// A sink is a growing column: the parsers' nodes are appended to it chunk by chunk, in order. It
// has the same structure as the nodes of its schema.
type sink struct {
	schema *Schema
	kind   Kind
	n      int

	ints    []int64
	floats  []float64
	bools   []bool
	narrow  narrow // replaces ints or floats for other element types
	offsets []int64
	bytes   []byte
	valid   []bool // nil until a row is missing
	tags    []int8 // union; ints holds the index
	elem    *sink
	fields  []*sink
}

// A narrow holds elements of a type other than int64 and float64.
type narrow interface {
	grow(m *merger, n int)
	target(at int) narrow // the rows from at on, as a destination
	copyInts(src []int64)
	copyFloats(src []float64)
	compact(keep []bool)
	values() any
}

type narrowInts[T dtype.Integer] struct{ v []T }

func (s *narrowInts[T]) grow(m *merger, n int)  { s.v = extend(m, s.v, n) }
func (s *narrowInts[T]) target(at int) narrow   { return &narrowInts[T]{s.v[at:]} }
func (s *narrowInts[T]) values() any            { return s.v }
func (s *narrowInts[T]) copyFloats(_ []float64) {}
func (s *narrowInts[T]) compact(keep []bool)    { s.v = kept(s.v, keep) }
func (s *narrowInts[T]) copyInts(src []int64) {
	dst := s.v[:len(src)]
	for i, v := range src {
		dst[i] = T(v)
	}
}

type narrowFloats[T dtype.Real] struct {
	v     []T
	round func(float64) T
}

func (s *narrowFloats[T]) grow(m *merger, n int) { s.v = extend(m, s.v, n) }
func (s *narrowFloats[T]) target(at int) narrow  { return &narrowFloats[T]{s.v[at:], s.round} }
func (s *narrowFloats[T]) values() any           { return s.v }
func (s *narrowFloats[T]) copyInts(_ []int64)    {}
func (s *narrowFloats[T]) compact(keep []bool)   { s.v = kept(s.v, keep) }
func (s *narrowFloats[T]) copyFloats(src []float64) {
	dst := s.v[:len(src)]
	for i, v := range src {
		dst[i] = s.round(v)
	}
}

// newNarrow returns the storage for elements of type d, or nil for int64 and float64, which do not
// need any.
func newNarrow(d dtype.DType) narrow {
	switch d {
	case dtype.Int8:
		return &narrowInts[int8]{}
	case dtype.Int16:
		return &narrowInts[int16]{}
	case dtype.Int32:
		return &narrowInts[int32]{}
	case dtype.Uint8:
		return &narrowInts[uint8]{}
	case dtype.Uint16:
		return &narrowInts[uint16]{}
	case dtype.Uint32:
		return &narrowInts[uint32]{}
	case dtype.Uint64:
		return &narrowInts[uint64]{}
	case dtype.Float32:
		return &narrowFloats[float32]{round: func(f float64) float32 { return float32(f) }}
	case dtype.Float16:
		return &narrowFloats[dtype.F16]{round: dtype.F16From64}
	case dtype.BFloat16:
		return &narrowFloats[dtype.BF16]{round: dtype.BF16From64}
	}
	return nil
}

// newSink returns the empty column for s.
func newSink(s *Schema) *sink {
	k := &sink{schema: s, kind: s.Kind}
	switch s.Kind {
	case Int64, Float64:
		k.narrow = newNarrow(s.dtype())
	case String, List, Map:
		k.offsets = make([]int64, 1, 1+slack/8)
	}
	if s.Elem != nil {
		k.elem = newSink(s.Elem)
	}
	for _, f := range s.Fields {
		k.fields = append(k.fields, newSink(f.Schema))
	}
	return k
}

// column returns the finished column.
func (k *sink) column() *Column {
	c := &Column{Kind: k.kind, Len: k.n, Valid: k.valid, Offsets: k.offsets, Bytes: k.bytes, Tags: k.tags}
	switch k.kind {
	case Bool, Int64, Float64, String:
		c.DType = k.schema.dtype()
	}
	switch {
	case k.narrow != nil:
		c.Values = k.narrow.values()
	case k.kind == Bool:
		c.Values = padded(k.bools)
	case k.kind == Int64:
		c.Values = padded(k.ints)
	case k.kind == Float64:
		c.Values = padded(k.floats)
	case k.kind == Union:
		c.Index = padded(k.ints)
		c.Tags = padded(k.tags)
	case k.kind == String:
		c.Bytes = padded(k.bytes)
	}
	if k.elem != nil {
		c.Elem = k.elem.column()
	}
	for i, f := range k.fields {
		c.Fields = append(c.Fields, Field{k.schema.Fields[i].Name, f.column()})
	}
	return c
}

// found returns the schema of the column as inferred, without anything that belongs to this reader.
//
// above is the validity of the struct that k is a field of: a value missing only because the struct
// is does not make the field optional.
func (k *sink) found(above []bool) *Schema {
	s := k.schema
	f := &Schema{Kind: s.Kind, DType: s.DType, Text: s.Text, Missing: s.Missing, Default: s.Default, Open: s.Open && !s.inferred}
	f.nulls = k.kind == Null && k.n > 0
	if f.Missing == MissingInherit && k.isOptional(above) {
		f.Missing = MissingMasked
	}
	if k.elem != nil {
		f.Elem = k.elem.found(nil)
	}
	above = nil
	if k.kind == Struct {
		above = k.valid
	}
	for i, field := range k.fields {
		f.Fields = append(f.Fields, SchemaField{s.Fields[i].Name, field.found(above)})
	}
	return f
}

// isOptional reports whether a row of k is missing that is present above.
func (k *sink) isOptional(above []bool) bool {
	for i, ok := range k.valid {
		if !ok && (above == nil || above[i]) {
			return true
		}
	}
	return false
}

// padded returns s, or an empty slice with slack if it has no memory yet.
func padded[T any](s []T) []T {
	if s == nil {
		return make([]T, 0, slack)
	}
	return s
}

// A merger appends nodes to sinks. Finding the destinations for the rows of a chunk happens in the
// order of the chunks, one at a time; the copying may then overlap with finding those of the next
// chunk. Only before a buffer is moved must all copying have ended.
type merger struct {
	copies sync.RWMutex // read-locked by each copy in progress
	moving bool         // write-locked by the chunk whose turn it is
	// grow is the factor by which a buffer that is too small grows: the size of the input divided
	// by the size of what has been read, if that is known.
	grow   float64
	merges int
	huge   int // more bytes of elements than a chunk of small records can have
	// gaps is the number of further missing values that may be filled in for rows that were read
	// before their field was found.
	gaps int64
}

// scale sets grow after read of total bytes. The first chunks say less about the rest, so they get
// a wider margin; reserved memory that is not used costs little.
func (m *merger) scale(read, total int64) {
	m.merges++
	m.grow = 2
	if total > 0 && read > 0 {
		m.grow = max(1, float64(total)/float64(read)) * (1 + 0.25/math.Sqrt(float64(m.merges)))
	}
}

// settle waits for all copies to finish, so that buffers may be moved and changed.
func (m *merger) settle() {
	if !m.moving {
		m.copies.Lock()
		m.moving = true
	}
}

// resume ends what settle began.
func (m *merger) resume() {
	if m.moving {
		m.moving = false
		m.copies.Unlock()
	}
}

// extend returns s with n more elements of arbitrary value, followed by the slack.
func extend[T any](m *merger, s []T, n int) []T {
	need := len(s) + n
	var zero T
	spare := slack / int(unsafe.Sizeof(zero))
	if need+spare > cap(s) {
		m.settle()
		grown := make([]T, need, max(int(float64(need)*m.grow), need+16)+spare)
		copy(grown, s)
		return grown
	}
	return s[:need]
}
