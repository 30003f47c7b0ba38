package parquetio

import "encoding/binary"

// The kinds of values.
const (
	kindTrue   = 1
	kindFalse  = 2
	kindByte   = 3
	kindInt16  = 4
	kindInt32  = 5
	kindInt64  = 6
	kindDouble = 7
	kindBinary = 8
	kindList   = 9
	kindSet    = 10
	kindMap    = 11
	kindStruct = 12
)

// maxStructs is the maximum nesting of structs, lists and maps.
const maxStructs = 32

// thrift reads values in the compact protocol.
type thrift struct {
	b     []byte
	bad   bool
	depth int
}

func (w *thrift) byte() byte {
	if len(w.b) == 0 {
		w.bad = true
		return 0
	}
	c := w.b[0]
	w.b = w.b[1:]
	return c
}

func (w *thrift) varint() uint64 {
	v, n := binary.Uvarint(w.b)
	if n <= 0 {
		w.bad = true
		return 0
	}
	w.b = w.b[n:]
	return v
}

func (w *thrift) integer() int64 {
	v := w.varint()
	return int64(v>>1) ^ -int64(v&1)
}

func (w *thrift) skip(n uint64) {
	if n > uint64(len(w.b)) {
		w.bad = true
		return
	}
	w.b = w.b[n:]
}

// fields iterates over the fields of a struct; f reads those for which it returns true, and the
// others are skipped.
func (w *thrift) fields(f func(id int, kind byte) bool) {
	w.depth++
	defer func() { w.depth-- }()
	if w.depth > maxStructs {
		w.bad = true
	}
	id := 0
	for !w.bad {
		c := w.byte()
		if c == 0 {
			return
		}
		if delta := int(c >> 4); delta > 0 {
			id += delta
		} else {
			id = int(w.integer())
		}
		if kind := c & 15; !f(id, kind) {
			w.value(kind)
		}
	}
}

// list reads the header of a list.
func (w *thrift) list() (n uint64, kind byte) {
	c := w.byte()
	if n = uint64(c >> 4); n == 15 {
		n = w.varint()
	}
	if n > uint64(len(w.b)) { // each element has at least one byte
		w.bad = true
	}
	return n, c & 15
}

// value skips a value.
func (w *thrift) value(kind byte) {
	switch {
	case kind == kindTrue || kind == kindFalse:
	case kind == kindByte:
		w.skip(1)
	case kind <= kindInt64 && kind > kindByte:
		w.varint()
	case kind == kindDouble:
		w.skip(8)
	case kind == kindBinary:
		w.skip(w.varint())
	case kind == kindList || kind == kindSet:
		n, elem := w.list()
		w.elements(n, elem)
	case kind == kindMap:
		n := w.varint()
		if n == 0 {
			return
		}
		if n > uint64(len(w.b)) { // each entry has at least one byte
			w.bad = true
			return
		}
		kinds := w.byte()
		w.elements(n, kinds>>4, kinds&15)
	case kind == kindStruct:
		w.fields(func(int, byte) bool { return false })
	default:
		w.bad = true
	}
}

// elements skips n groups of values of the given kinds, in which booleans take one byte.
func (w *thrift) elements(n uint64, kinds ...byte) {
	w.depth++
	defer func() { w.depth-- }()
	if w.depth > maxStructs {
		w.bad = true
	}
	for i := uint64(0); i < n && !w.bad; i++ {
		for _, k := range kinds {
			if k == kindTrue || k == kindFalse {
				k = kindByte
			}
			w.value(k)
		}
	}
}

// number reads a number of 16 to 64 bits.
func (w *thrift) number(kind byte, to *int64) bool {
	if kind < kindInt16 || kind > kindInt64 {
		return false
	}
	*to = w.integer()
	return true
}

// text reads a string.
func (w *thrift) text(kind byte, to *string) bool {
	if kind != kindBinary {
		return false
	}
	*to = string(w.bytes())
	return true
}

// numbers reads those fields of a struct that have a destination.
func (w *thrift) numbers(to map[int]*int64) {
	w.fields(func(id int, kind byte) bool {
		at, ok := to[id]
		return ok && w.number(kind, at)
	})
}

// each reads a list of elements of a kind.
func (w *thrift) each(kind byte, read func()) {
	n, k := w.list()
	if k != kind && !(kind == kindTrue && k == kindFalse) { // booleans may have either kind
		w.bad = w.bad || n > 0
	}
	for i := uint64(0); i < n && !w.bad; i++ {
		read()
	}
}

func (w *thrift) bytes() []byte {
	n := w.varint()
	b := w.b
	w.skip(n)
	if w.bad {
		return nil
	}
	return b[:n]
}
