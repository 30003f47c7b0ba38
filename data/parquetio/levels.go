package parquetio

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/arena"
)

// For each entry of a column, the levels tell which lists it continues and how much of the
// structure around it is present. An entry belongs to a slot of a value within the lists up
// to repetition level R, whose elements exist from definition level E on, if
//
//	rep <= R and def >= E
//
// The slots are the elements of those lists; the value in a slot is present if def is at
// least the value's own definition level. So a pass over the levels, eight at a time,
// yields a bitset of the entries of each list, and counting bits yields offsets and
// validity.

// A stream holds the levels of all entries of a column.
type stream struct {
	n              int
	maxDef, maxRep uint8
	defs           []uint8 // nil if nothing can be missing
	reps           []uint8 // nil if nothing repeats
	known          map[[2]uint8]bitset
	lent           []*arena.Buffer
}

// A bitset is a set of entries of a column, the first one in the lowest bit.
type bitset []uint64

func (b bitset) count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

const (
	ones = 0x0101010101010101
	high = 0x8080808080808080
)

// A threshold compares eight levels at a time with a fixed level.
type threshold struct {
	add  uint64 // makes the lower bits of a greater level carry into its highest bit
	some uint64 // all ones if either the highest bit or the carry suffices; 0 if both are needed
}

func thresholdOf(level uint8) threshold {
	t := threshold{add: uint64(0x7f-level&0x7f) * ones}
	if level < 0x80 {
		t.some = ^uint64(0)
	}
	return t
}

// more returns which of eight levels are greater, in the highest bit of each.
func (t threshold) more(x uint64) uint64 {
	over := x&^high + t.add
	return (over&x | (over|x)&t.some) & high
}

// marked returns which of 64 levels are greater, the first one in the lowest bit.
func (t threshold) marked(levels *[64]uint8) uint64 {
	word := uint64(0)
	for k := 0; k < 64; k += 8 {
		m := t.more(binary.LittleEndian.Uint64(levels[k : k+8]))
		word |= (m >> 7 * 0x0102040810204080 >> 56) << k
	}
	return word
}

// above counts the levels greater than level.
func above(levels []uint8, level uint8) int {
	t, n := thresholdOf(level), 0
	for len(levels) >= 64 {
		sums := uint64(0) // one byte-wide counter for every eighth level
		x := (*[64]uint8)(levels)
		for k := 0; k < 64; k += 8 {
			sums += t.more(binary.LittleEndian.Uint64(x[k:k+8])) >> 7
		}
		n += int(sums * ones >> 56)
		levels = levels[64:]
	}
	for _, l := range levels {
		if l > level {
			n++
		}
	}
	return n
}

// where returns the entries whose repetition level is at most rep and whose definition level is at
// least def.
func (s *stream) where(rep, def uint8) bitset {
	if b, ok := s.known[[2]uint8{rep, def}]; ok {
		return b
	}
	out := make(bitset, (s.n+63)/64)
	for w := range out {
		word := ^uint64(0)
		if rep < s.maxRep {
			word &^= thresholdOf(rep).of(s.reps[:s.n], w)
		}
		if def > 0 {
			word &= thresholdOf(def-1).of(s.defs[:s.n], w)
		}
		out[w] = word
	}
	if r := s.n & 63; r > 0 {
		out[len(out)-1] &= 1<<r - 1
	}
	if s.known == nil {
		s.known = map[[2]uint8]bitset{}
	}
	s.known[[2]uint8{rep, def}] = out
	return out
}

// of is marked for the levels from 64*w on, of which there may be fewer than 64.
func (t threshold) of(levels []uint8, w int) uint64 {
	if levels = levels[64*w:]; len(levels) >= 64 {
		return t.marked((*[64]uint8)(levels))
	}
	var rest [64]uint8
	copy(rest[:], levels)
	return t.marked(&rest)
}

// count returns the number of slots.
func (s *stream) count(rep, def uint8) int {
	if def == 0 && rep >= s.maxRep {
		return s.n
	}
	return s.where(rep, def).count()
}

// valid returns the slots in which a value is present, and the number of those in which it is
// missing; the bitset is nil if none is missing.
func (s *stream) valid(rep, def, own uint8) (there bitset, nulls int) {
	if s.maxDef == 0 || own <= def {
		return nil, 0
	}
	slots, has := s.where(rep, def), s.where(s.maxRep, own)
	for w, m := range slots {
		nulls += bits.OnesCount64(m &^ has[w])
	}
	if nulls == 0 {
		return nil, 0
	}
	n := slots.count()
	there = make(bitset, (n+63)/64)
	at := 0
	put := func(v uint64, k int) {
		there[at>>6] |= v << (at & 63)
		if at&63+k > 64 {
			there[at>>6+1] |= v >> (64 - at&63)
		}
		at += k
	}
	for w, m := range slots {
		v, k := has[w]&m, bits.OnesCount64(m)
		switch {
		case k == 0:
		case v == m:
			put(^uint64(0)>>(64-k), k)
		case k == 64:
			put(v, k)
		default:
			x := uint64(0)
			for i := 0; m != 0; i++ {
				x |= v >> (bits.TrailingZeros64(m) & 63) & 1 << i
				m &= m - 1
			}
			put(x, k)
		}
	}
	return there, nulls
}

// offsets returns the position at which the elements of each slot's list begin, followed by their
// total number.
func (s *stream) offsets(rep, def uint8, n *node) []int64 {
	slots, elems := s.where(rep, def), s.where(n.rep, n.elemDef)
	out := make([]int64, 0, slots.count()+1)
	count := int64(0)
	for w, m := range slots {
		e := elems[w]
		for ; m != 0; m &= m - 1 {
			out = append(out, count+int64(bits.OnesCount64(e&(m&-m-1))))
		}
		count += int64(bits.OnesCount64(e))
	}
	return append(out, count)
}

// A group makes arrays from the columns of row groups.
type group struct {
	fn      string
	streams map[int]*stream
	leaves  map[int]arrow.ArrayData
	columns func(leaf int) string
}

// build returns an array with an element for each slot.
func (g *group) build(n *node, rep, def uint8) arrow.ArrayData {
	if n.leaf >= 0 {
		return g.leaves[n.leaf]
	}
	s := g.streams[n.first()]
	if n.elem != nil {
		return g.list(n, s, rep, def)
	}
	children := make([]arrow.ArrayData, len(n.fields))
	for i, f := range n.fields {
		children[i] = g.build(f, rep, def)
		if children[i].Len() != children[0].Len() {
			tenon.Throw(fail(tenon.ErrInvalid, g.fn, g.columns(f.first()), "there are %d values, but %d of the sibling %s", children[i].Len(), children[0].Len(), g.columns(n.first())))
		}
	}
	bits, nulls := g.validity(n, s, rep, def)
	return array.NewData(n.typ, children[0].Len(), []*memory.Buffer{bits}, children, nulls, 0)
}

// validity returns the validity buffer.
func (g *group) validity(n *node, s *stream, rep, def uint8) (*memory.Buffer, int) {
	if !n.nullable {
		return nil, 0
	}
	there, nulls := s.valid(rep, def, n.def)
	if there == nil {
		return nil, 0
	}
	return there.buffer(), nulls
}

// buffer returns the bits in Arrow's layout.
func (b bitset) buffer() *memory.Buffer {
	return memory.NewBufferBytes(arrow.Uint64Traits.CastToBytes(b))
}

// list returns lists.
func (g *group) list(n *node, s *stream, rep, def uint8) arrow.ArrayData {
	ends := s.offsets(rep, def, n)
	elem := g.build(n.elem, n.rep, n.elemDef)
	last := ends[len(ends)-1]
	if int64(elem.Len()) != last {
		tenon.Throw(fail(tenon.ErrInvalid, g.fn, g.columns(n.first()), "the lists need %d elements, but there are %d", last, elem.Len()))
	}
	bits, nulls := g.validity(n, s, rep, def)
	if n.isMap {
		if last > math.MaxInt32 {
			tenon.Throw(fail(tenon.ErrUnsupported, g.fn, g.columns(n.first()), "unsupported maps of %d entries in one row group", last))
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

// array returns the values of a column, with zeros for missing ones.
func (c *column) array(n *node, rep, def uint8) (arrow.ArrayData, error) {
	slots := c.stream.count(rep, def)
	there, nulls := c.valid(rep, def, n.def)
	if n.typ.ID() == arrow.NULL {
		return array.NewData(n.typ, slots, []*memory.Buffer{nil}, nil, slots, 0), nil
	}
	d, err := c.data(n.typ, slots, there)
	if err != nil || there == nil || !n.nullable { // only an enclosing record is missing
		return d, err
	}
	buffers := append([]*memory.Buffer{there.buffer()}, d.Buffers()[1:]...)
	return array.NewData(d.DataType(), slots, buffers, nil, nulls, 0), nil
}
