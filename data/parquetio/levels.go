package parquetio

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tenonml/tenon"
)

// The levels of a column say for each of its entries which lists it goes on in and how much
// of what is around it is there. An entry belongs to a slot of a value within the lists up
// to repetition level R, whose elements are from definition level E on, where
//
//	rep <= R and def >= E
//
// The slots are the elements of those lists; the value is there in a slot where def is at
// least its own definition level. So one pass over the levels gives the offsets of a list
// and another the validity of anything.

// A stream is the levels of a column, of all its entries.
type stream struct {
	n    int
	defs []int16 // nil: there is nothing that may be missing
	reps []int16 // nil: nothing repeats
}

// def returns the definition level of an entry.
func (s *stream) def(q int) int16 {
	if s.defs == nil {
		return 0
	}
	return s.defs[q]
}

// count returns how many slots there are.
func (s *stream) count(rep, def int16) int {
	if s.defs == nil {
		return s.n
	}
	n := 0
	for q, d := range s.defs {
		if d >= def && (s.reps == nil || s.reps[q] <= rep) {
			n++
		}
	}
	return n
}

// valid returns which slots of a value are there, as bits, and how many are not; nil bits
// where all are.
func (s *stream) valid(rep, def, own int16) (bits []byte, nulls int) {
	if s.defs == nil {
		return nil, 0
	}
	i := 0
	for q, d := range s.defs {
		if d < def || s.reps != nil && s.reps[q] > rep {
			continue
		}
		if i&7 == 0 {
			bits = append(bits, 0)
		}
		if d >= own {
			bits[i>>3] |= 1 << (i & 7)
		} else {
			nulls++
		}
		i++
	}
	if nulls == 0 {
		return nil, 0
	}
	return bits, nulls
}

// offsets returns where the elements of the lists in each slot begin, and behind them how
// many there are.
func (s *stream) offsets(rep, def int16, n *node) []int64 {
	var out []int64
	count := int64(0)
	for q := range s.n {
		d, r := s.def(q), int16(0)
		if s.reps != nil {
			r = s.reps[q]
		}
		if d >= def && r <= rep {
			out = append(out, count)
		}
		if d >= n.elemDef && r <= n.rep {
			count++
		}
	}
	return append(out, count)
}

// A group makes arrays of the columns of a row group.
type group struct {
	fn      string
	data    map[int]*column
	columns func(leaf int) string
}

// build returns a value with an element for each slot.
func (g *group) build(n *node, rep, def int16) arrow.ArrayData {
	s := &g.data[n.first()].stream
	switch {
	case n.elem != nil:
		return g.list(n, s, rep, def)
	case n.leaf >= 0:
		return g.leaf(n, s, rep, def)
	}
	children := make([]arrow.ArrayData, len(n.fields))
	for i, f := range n.fields {
		children[i] = g.build(f, rep, def)
		if children[i].Len() != children[0].Len() {
			tenon.Throw(fail(tenon.ErrInvalid, g.fn, g.columns(f.first()), "there are %d values, and %d of %s beside it", children[i].Len(), children[0].Len(), g.columns(n.first())))
		}
	}
	bits, nulls := g.validity(n, s, rep, def)
	return array.NewData(n.typ, children[0].Len(), []*memory.Buffer{bits}, children, nulls, 0)
}

// validity returns the buffer of what is there.
func (g *group) validity(n *node, s *stream, rep, def int16) (*memory.Buffer, int) {
	if !n.nullable {
		return nil, 0
	}
	bits, nulls := s.valid(rep, def, n.def)
	if bits == nil {
		return nil, 0
	}
	return memory.NewBufferBytes(bits), nulls
}

func (g *group) list(n *node, s *stream, rep, def int16) arrow.ArrayData {
	ends := s.offsets(rep, def, n)
	elem := g.build(n.elem, n.rep, n.elemDef)
	last := ends[len(ends)-1]
	if int64(elem.Len()) != last {
		tenon.Throw(fail(tenon.ErrInvalid, g.fn, g.columns(n.first()), "lists of %d elements have %d", last, elem.Len()))
	}
	bits, nulls := g.validity(n, s, rep, def)
	if n.isMap {
		if last > math.MaxInt32 {
			tenon.Throw(fail(tenon.ErrUnsupported, g.fn, g.columns(n.first()), "maps of %d entries in one row group", last))
		}
		short := make([]int32, len(ends))
		for i, e := range ends {
			short[i] = int32(e)
		}
		entries := n.typ.(*arrow.MapType).Elem()
		elem = array.NewData(entries, elem.Len(), elem.Buffers(), elem.Children(), 0, 0)
		return array.NewData(n.typ, len(ends)-1, []*memory.Buffer{bits, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(short))}, []arrow.ArrayData{elem}, nulls, 0)
	}
	return array.NewData(n.typ, len(ends)-1, []*memory.Buffer{bits, memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(ends))}, []arrow.ArrayData{elem}, nulls, 0)
}

// leaf returns the values of a column, with room where there are none.
func (g *group) leaf(n *node, s *stream, rep, def int16) arrow.ArrayData {
	slots := s.count(rep, def)
	bits, nulls := s.valid(rep, def, n.def)
	var at []bool
	if bits != nil {
		at = make([]bool, slots)
		for i := range at {
			at[i] = bits[i>>3]>>(i&7)&1 != 0
		}
	}
	if n.typ.ID() == arrow.NULL {
		return array.NewData(n.typ, slots, []*memory.Buffer{nil}, nil, slots, 0)
	}
	d, err := g.data[n.leaf].data(n.typ, slots, at)
	tenon.Throw(damaged(g.fn, g.columns(n.leaf), err))
	if bits == nil || !n.nullable { // what is missing is a record around it
		return d
	}
	buffers := append([]*memory.Buffer{memory.NewBufferBytes(bits)}, d.Buffers()[1:]...)
	return array.NewData(d.DataType(), slots, buffers, nil, nulls, 0)
}
