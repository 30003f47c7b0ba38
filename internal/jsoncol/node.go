package jsoncol

import (
	"math"

	"github.com/tenonml/tenon/dtype"
)

// op is the action of the parser at a node.
type op uint8

const (
	opInfer op = iota // nothing known: anything but null stops the parser
	opBool
	opInt
	opUint // uint64, held as the bits of an int64
	opFloat
	opNarrow // a narrower float, rounded, held as a float64
	opString
	opList
	opStruct
	opUnion
	opMap
	opText // any value as its text
	opSkip // a key whose values are skipped
)

// A node is a place in the schema together with the rows that the parser has read for it from one
// chunk. The length of each slice is its capacity; n is the number of rows filled.
type node struct {
	op       op
	inferred bool
	closed   bool // struct: unknown keys are skipped or are an error
	skip     bool // closed struct: unknown keys are skipped
	policy   Missing
	schema   *Schema
	cells    int // number of leaves and lists that get a row when this node's row is missing

	n      int
	ints   []int64 // opInt, opUint; opUnion: the rows of the alternatives
	lo     int64   // range of opInt: v-lo, unsigned, is at most span
	span   uint64
	floats []float64
	bools  []bool
	tags   []int8
	ends   []int64 // opString, opList: where each row ends
	bytes  []byte
	nb     int // bytes filled
	// valid tells which of the first len(valid) rows are present; all later ones are, so that a
	// column without gaps has no overhead.
	valid []bool

	most, mostBytes int // upper bounds for the elements and bytes of one huge record

	elem   *node
	fields []field
	keys   []field        // the fields, followed by keys that have been skipped
	index  map[string]int // index of the names in keys, once there are more than a few
	alt    [numClasses]int8

	to target // destination of the rows
}

// A field is a node with the bytes by which the parser recognises its key: the name in quotes and
// the colon, with the first two words masked to its length.
type field struct {
	k0, m0, k1, m1 uint64
	size           int
	rest           string // what follows the first 16 bytes
	name           string
	node           *node
}

const (
	linearFields = 8  // number of keys up to which they are searched linearly
	maxSkipped   = 64 // number of skipped keys that a struct remembers
)

// skipped is the node of all skipped keys. Its row number is never valid, so that the parser
// recognises it at once.
var skipped = &node{op: opSkip, n: -1}

// newNode returns the empty node for s.
func newNode(s *Schema, o *Options) *node {
	n := &node{schema: s, inferred: s.inferred, policy: s.Missing, cells: 1}
	if n.policy == MissingInherit {
		n.policy = o.Missing
	}
	switch s.Kind {
	case Bool:
		n.op = opBool
	case Int64:
		n.op = opInt
		if d := s.dtype(); d == dtype.Uint64 {
			n.op = opUint
		} else {
			n.lo, n.span = intRange(d)
		}
	case Float64:
		n.op = opFloat
		if s.dtype() != dtype.Float64 {
			n.op = opNarrow
		}
	case String:
		n.op = opString
		if s.Text {
			n.op = opText
		}
	case List, Map:
		n.op = opList
		if s.Kind == Map {
			n.op = opMap
		}
		n.elem = newNode(s.Elem, o)
	case Struct:
		n.op = opStruct
		n.closed = !s.Open
		n.skip = o.SkipUnknown
		n.fields = make([]field, len(s.Fields))
		for i, f := range s.Fields {
			n.fields[i] = newField(f.Name, newNode(f.Schema, o))
			n.cells += n.fields[i].node.cells
		}
		n.keys = n.fields
		n.buildIndex()
	case Union:
		n.op = opUnion
		for i := range n.alt {
			n.alt[i] = -1
		}
		n.fields = make([]field, len(s.Fields))
		for i, f := range s.Fields {
			n.fields[i] = field{name: f.Name, node: newNode(f.Schema, o)}
			n.alt[f.Schema.Kind.class()] = int8(i)
		}
	}
	return n
}

func newField(name string, n *node) field {
	f := field{name: name, node: n}
	for _, c := range []byte(name) {
		if c < 0x20 || c == '"' || c == '\\' {
			f.k0, f.m0 = math.MaxUint64, math.MaxUint64 // JSON text always has an escape here
			return f
		}
	}
	key := make([]byte, 0, len(name)+3+16)
	key = append(append(append(key, '"'), name...), `":`...)
	f.size = len(key)
	word := func(at int) (k, m uint64) {
		for i := at; i < min(len(key), at+8); i++ {
			k |= uint64(key[i]) << (8 * (i - at))
			m |= 0xff << (8 * (i - at))
		}
		return k, m
	}
	f.k0, f.m0 = word(0)
	f.k1, f.m1 = word(8)
	if len(key) > 16 {
		f.rest = string(key[16:])
	}
	return f
}

// intRange returns the smallest value of integer type d, and its distance to the largest.
func intRange(d dtype.DType) (lo int64, span uint64) {
	bits := d.Bits()
	span = math.MaxUint64 >> (64 - bits)
	if d.IsSigned() {
		lo = -1 << (bits - 1)
	}
	return lo, span
}

// buildIndex creates the index if there are enough keys to need one.
func (n *node) buildIndex() {
	if len(n.keys) <= linearFields {
		return
	}
	n.index = make(map[string]int, 2*len(n.keys))
	for i := range n.keys {
		n.index[n.keys[i].name] = i
	}
}

// find returns the index of the key called name, or -1.
func (n *node) find(name []byte) int {
	if n.index != nil {
		if i, ok := n.index[string(name)]; ok {
			return i
		}
		return -1
	}
	for i := range n.keys {
		if n.keys[i].name == string(name) {
			return i
		}
	}
	return -1
}

// skipKey adds a key whose values are skipped, so that it is predicted like a field from now on,
// and returns its index, or -1 if there are too many already.
func (n *node) skipKey(name string) int {
	i := len(n.keys)
	if i-len(n.fields) == maxSkipped {
		return -1
	}
	n.keys = append(n.keys, newField(name, skipped))
	n.fields = n.keys[:len(n.fields):len(n.fields)]
	if n.index != nil {
		n.index[name] = i
	} else {
		n.buildIndex()
	}
	return i
}

// reset removes all rows of n and of the nodes below it, and keeps the memory.
func (n *node) reset() {
	n.n, n.nb, n.valid = 0, 0, n.valid[:0]
	if n.elem != nil {
		n.elem.reset()
	}
	for i := range n.fields {
		n.fields[i].node.reset()
	}
}

// truncate removes the rows of n from row on, and anything below it that belongs to an unfinished
// row.
func (n *node) truncate(row int) {
	switch n.op {
	case opString, opText:
		n.nb = int(endOf(n.ends, row))
	case opList, opMap:
		n.elem.truncate(int(endOf(n.ends, row)))
	case opStruct:
		for i := range n.fields {
			n.fields[i].node.truncate(row)
		}
	case opUnion:
		for i := range n.fields {
			kept := 0
			for r := row - 1; r >= 0; r-- {
				if n.tags[r] == int8(i) {
					kept = int(n.ints[r]) + 1
					break
				}
			}
			n.fields[i].node.truncate(kept)
		}
	}
	n.n = row
	n.valid = n.valid[:min(len(n.valid), row)]
}

// endOf returns the end of the row before row.
func endOf(ends []int64, row int) int64 {
	if row == 0 {
		return 0
	}
	return ends[row-1]
}

// elemNumber returns the position of the element being read within the list row that n is about to
// get.
func (n *node) elemNumber() int { return n.elem.n - int(endOf(n.ends, n.n)) }

// grown returns s with more room: twice as much or, for one huge record, at once as much as it may
// need. Memory that is not used then is never touched.
func grown[T any](s []T, most int) []T {
	more := 2 * len(s)
	if len(s) > 1<<17 && most > len(s) {
		more = most
	}
	n := make([]T, max(16, more))
	copy(n, s)
	return n
}

// expect says that a chunk is one huge record with the given numbers of bytes and commas.
func (n *node) expect(bytes, commas int) {
	n.mostBytes, n.most = bytes, commas
	if bytes > 0 {
		n.mostBytes, n.most = bytes+slack, commas+slack
	}
	if n.elem != nil {
		n.elem.expect(bytes, commas)
	}
	for i := range n.fields {
		n.fields[i].node.expect(bytes, commas)
	}
}

func (n *node) pushInt(v int64) {
	if n.n == len(n.ints) {
		n.ints = grown(n.ints, n.most)
	}
	n.ints[n.n] = v
	n.n++
}

func (n *node) pushFloat(v float64) {
	if n.n == len(n.floats) {
		n.floats = grown(n.floats, n.most)
	}
	n.floats[n.n] = v
	n.n++
}

func (n *node) pushBool(v bool) {
	if n.n == len(n.bools) {
		n.bools = grown(n.bools, n.most)
	}
	n.bools[n.n] = v
	n.n++
}

// pushEnd ends a row of a string or a list.
func (n *node) pushEnd(end int) {
	if n.n == len(n.ends) {
		n.ends = grown(n.ends, n.most)
	}
	n.ends[n.n] = int64(end)
	n.n++
}

// pushAlt adds a row that is the next row of alternative tag, or of none if tag is -1.
func (n *node) pushAlt(tag int8, row int) {
	if n.n == len(n.tags) {
		n.tags = grown(n.tags, n.most)
	}
	n.tags[n.n] = tag
	n.pushInt(int64(row))
}

// room makes sure that size bytes and the slack fit after the bytes filled.
func (n *node) room(size int) {
	if need := n.nb + size + slack; need > len(n.bytes) {
		b := make([]byte, max(need, 2*len(n.bytes), 256))
		copy(b, n.bytes[:n.nb])
		n.bytes = b
	}
}

// invalid marks the row that n is about to get as missing.
func (n *node) invalid() {
	for len(n.valid) < n.n {
		n.valid = append(n.valid, true)
	}
	n.valid = append(n.valid, false)
}
