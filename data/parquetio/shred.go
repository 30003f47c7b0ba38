package parquetio

import (
	"bytes"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tenonml/tenon"
)

// entries are the entries of a column down to some depth of its type, as levels. Those whose definition level is at
// least def have an element in the array at that depth, in the same order.
type entries struct {
	n    int     // number of entries
	defs []uint8 // nil if all are def
	reps []uint8 // nil if all are 0
	def  uint8   // level at which an element exists
	slot uint8
	rep  uint8
}

// A shred is a leaf of a column with its levels.
type shred struct {
	entries
	data arrow.ArrayData
}

// shreds returns the leaves of a column, in schema order. An array of lists is walked once, and elements of lists
// that are missing, as under a mask, are dropped.
func shreds(f arrow.Field, d arrow.ArrayData, s entries, to []shred) []shred {
	if f.Nullable || f.Type.ID() == arrow.NULL {
		s = s.optional(d)
	}
	switch t := f.Type.(type) {
	case *arrow.StructType:
		for i, g := range t.Fields() {
			to = shreds(g, array.NewSliceData(d.Children()[i], int64(d.Offset()), int64(d.Offset()+d.Len())), s, to)
		}
		return to
	case arrow.ListLikeType:
		inner, child := s.lists(d)
		item := t.ElemField()
		if m, ok := t.(*arrow.MapType); ok {
			item = arrow.Field{Type: m.Elem()}
		}
		return shreds(item, child, inner, to)
	}
	return append(to, shred{s, d})
}

// rowsOf returns the entries of a column of n rows.
func rowsOf(n int) entries { return entries{n: n} }

// optional adds a definition level for elements that may be missing.
func (s entries) optional(d arrow.ArrayData) entries {
	before := s.def
	s.def++
	all := d.DataType().ID() != arrow.NULL && (d.NullN() == 0 || len(d.Buffers()) == 0 || d.Buffers()[0] == nil || d.Buffers()[0].Len() == 0)
	if all && s.defs == nil {
		return s
	}
	var valid []byte // one byte for each element
	switch {
	case all:
		valid = bytes.Repeat([]byte{1}, d.Len())
	case d.DataType().ID() == arrow.NULL:
		valid = make([]byte, d.Len())
	default:
		valid = bitsOf(d, 0)
	}
	if s.defs == nil {
		s.defs = valid
		for i := range s.defs {
			s.defs[i] += before
		}
		return s
	}
	s.defs = slices.Clone(s.defs)
	k := 0
	for i, l := range s.defs {
		if l >= s.slot {
			if l == before {
				s.defs[i] += valid[k]
			}
			k++
		}
	}
	return s
}

// bitsOf returns the bits of a buffer of an array, one byte for each.
func bitsOf(d arrow.ArrayData, buffer int) []byte {
	n, from := d.Len(), d.Offset()
	out := make([]byte, n+8) // bits are unpacked eight at a time
	b := d.Buffers()[buffer].Bytes()
	if from%8 == 0 {
		unpackBytes(out[:(n+7)/8*8], b[from/8:(from+n+7)/8], 1)
		return out[:n]
	}
	for i := range n {
		out[i] = b[(from+i)>>3] >> ((from + i) & 7) & 1
	}
	return out[:n]
}

// lists adds a level for the elements of lists, and returns the elements.
func (s entries) lists(d arrow.ArrayData) (entries, arrow.ArrayData) {
	ends := endsOf(d)
	most := s.n + int(ends[len(ends)-1]-ends[0])
	in := entries{def: s.def + 1, slot: s.def + 1, rep: s.rep + 1, defs: filled(most, s.def+1), reps: filled(most, s.rep+1)}
	var runs []span // ranges of elements to keep
	begin, at, k := ends[0], 0, 0
	if s.defs == nil && s.reps == nil {
		for i := range s.n {
			in.reps[at] = 0
			if ends[i+1] == ends[i] {
				in.defs[at] = s.def
				at++
			} else {
				at += int(ends[i+1] - ends[i])
			}
		}
		k = s.n
	} else {
		defs, reps := s.levels()
		for i, l := range defs {
			in.reps[at] = reps[i]
			size := 0
			if l >= s.slot {
				size = int(ends[k+1] - ends[k])
				k++
			}
			if l == s.def && size > 0 {
				at += size
				continue
			}
			in.defs[at] = l
			at++
			if size > 0 { // elements of a missing list
				if ends[k-1] > begin {
					runs = append(runs, span{begin, ends[k-1]})
				}
				begin = ends[k]
			}
		}
	}
	in.n, in.defs, in.reps = at, in.defs[:at], in.reps[:at]
	if ends[k] > begin || len(runs) == 0 {
		runs = append(runs, span{begin, ends[k]})
	}
	return in, gathered(d.Children()[0], runs)
}

// levels returns the levels of all entries.
func (s entries) levels() (defs, reps []uint8) {
	if defs = s.defs; defs == nil {
		defs = filled(s.n, s.def)
	}
	if reps = s.reps; reps == nil {
		reps = make([]uint8, s.n)
	}
	return defs, reps
}

func filled(n int, x uint8) []uint8 { return repeated(make([]uint8, 0, n), x, n) }

// gathered returns the concatenation of ranges of an array.
func gathered(d arrow.ArrayData, runs []span) arrow.ArrayData {
	parts := make([]arrow.Array, len(runs))
	for i, r := range runs {
		parts[i] = array.MakeFromData(array.NewSliceData(d, r.from, r.to))
	}
	if len(parts) == 1 {
		return parts[0].Data()
	}
	return tenon.Must(array.Concatenate(parts, memory.DefaultAllocator)).Data()
}

// endsOf returns the offsets of lists, including the end of the last one.
func endsOf(d arrow.ArrayData) []int64 {
	n, from := d.Len(), d.Offset()
	if t, ok := d.DataType().(*arrow.FixedSizeListType); ok {
		out := make([]int64, n+1)
		for i := range out {
			out[i] = int64(from+i) * int64(t.Len())
		}
		return out
	}
	b := d.Buffers()[1]
	switch {
	case n == 0 || b == nil:
		return make([]int64, n+1)
	case d.DataType().ID() == arrow.LARGE_LIST || d.DataType().ID() == arrow.LARGE_STRING || d.DataType().ID() == arrow.LARGE_BINARY:
		return arrow.Int64Traits.CastFromBytes(b.Bytes())[from : from+n+1]
	}
	out := make([]int64, n+1)
	for i, e := range arrow.Int32Traits.CastFromBytes(b.Bytes())[from : from+n+1] {
		out[i] = int64(e)
	}
	return out
}
