package parquetio

import (
	"encoding/binary"
	"errors"
	"io"
)

// The footer is a struct of Thrift in the compact protocol. arrow-go takes memory by the
// numbers in it, so it is walked here first: lists are as long as there are bytes for, and
// the elements of the schema make one tree.

var errFooter = errors.New("the footer is damaged")

// checkFooter checks the end of a file.
func checkFooter(src io.ReaderAt, size int64) error {
	const end = 8 // the length of the footer, and the mark
	if size < 4+end {
		return errors.New("the file is too short")
	}
	var tail [end]byte
	if _, err := src.ReadAt(tail[:], size-end); err != nil && err != io.EOF {
		return err
	}
	switch string(tail[4:]) {
	case "PARE":
		return errors.New("the footer is encrypted")
	case "PAR1":
	default:
		return errors.New("the file does not end as Parquet does")
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n <= 0 || n > size-end-4 {
		return errFooter
	}
	b := make([]byte, n)
	if _, err := src.ReadAt(b, size-end-n); err != nil && err != io.EOF {
		return err
	}
	w := &thrift{b: b}
	w.fields(func(id int, kind byte) bool {
		const schema = 2
		if id != schema || kind != kindList {
			return false
		}
		w.schema()
		return true
	})
	if w.bad {
		return errFooter
	}
	return nil
}

// The kinds of values.
const (
	kindTrue   = 1
	kindFalse  = 2
	kindByte   = 3
	kindInt32  = 5
	kindInt64  = 6
	kindDouble = 7
	kindBinary = 8
	kindList   = 9
	kindSet    = 10
	kindMap    = 11
	kindStruct = 12
)

// maxStructs is how deep structs, lists and maps nest.
const maxStructs = 32

// thrift walks over values.
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

// fields walks over the fields of a struct; f reads those that it returns true for.
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

// list reads the head of a list.
func (w *thrift) list() (n uint64, kind byte) {
	c := w.byte()
	if n = uint64(c >> 4); n == 15 {
		n = w.varint()
	}
	if n > uint64(len(w.b)) { // each element has a byte at least
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
		if n > uint64(len(w.b)) { // each entry has a byte at least
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

// elements skips n times values of some kinds, in which truth values take a byte.
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

// schema checks that the elements of a schema, parents before their children, are a tree
// that does not nest too deep.
func (w *thrift) schema() {
	n, kind := w.list()
	if kind != kindStruct || n == 0 {
		w.bad = true
	}
	var open []int64 // children that are still to come, of each element that is around
	for i := uint64(0); i < n && !w.bad; i++ {
		children, typ, repetition := int64(0), int64(-1), int64(0)
		w.fields(func(id int, kind byte) bool {
			to := map[int]*int64{1: &typ, 3: &repetition, 5: &children}[id]
			if to == nil || kind != kindInt32 {
				return false
			}
			*to = w.integer()
			return true
		})
		const types, repetitions = 8, 3
		if i > 0 && (repetition < 0 || repetition >= repetitions || children == 0 && (typ < 0 || typ >= types)) {
			w.bad = true
		}
		for len(open) > 0 && open[len(open)-1] == 0 {
			open = open[:len(open)-1]
		}
		if i > 0 {
			if len(open) == 0 {
				w.bad = true
				return
			}
			open[len(open)-1]--
		}
		if children < 0 || uint64(children) > n || len(open) > 2*maxLevels {
			w.bad = true
		}
		open = append(open, children)
	}
	for _, left := range open {
		w.bad = w.bad || left > 0
	}
}
