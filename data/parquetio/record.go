package parquetio

import "encoding/binary"

// A record writes structs in Thrift's compact protocol; [thrift] is the corresponding reader.
type record struct {
	b    []byte
	last []int // number of the last field of each open struct
}

// field starts a field. Fields must be in ascending order, with numbers at most 15 apart.
func (w *record) field(id int, kind byte) {
	k := len(w.last) - 1
	w.b = append(w.b, byte(id-w.last[k])<<4|kind)
	w.last[k] = id
}

// structure writes a struct, either the outermost one or an element of a list; f writes its fields.
func (w *record) structure(f func()) {
	w.last = append(w.last, 0)
	f()
	w.last = w.last[:len(w.last)-1]
	w.b = append(w.b, 0)
}

// in writes a struct that is a field.
func (w *record) in(id int, f func()) {
	w.field(id, kindStruct)
	w.structure(f)
}

// integer writes a number of any width except a byte.
func (w *record) integer(id int, kind byte, v int64) {
	w.field(id, kind)
	w.b = binary.AppendVarint(w.b, v)
}

func (w *record) truth(id int, v bool) {
	kind := byte(kindFalse)
	if v {
		kind = kindTrue
	}
	w.field(id, kind)
}

func (w *record) text(id int, s string) {
	w.field(id, kindBinary)
	w.item(s)
}

// item writes a string as an element of a list.
func (w *record) item(s string) {
	w.b = append(binary.AppendUvarint(w.b, uint64(len(s))), s...)
}

// list starts a list of n elements.
func (w *record) list(id int, kind byte, n int) {
	w.field(id, kindList)
	const short = 15
	if n < short {
		w.b = append(w.b, byte(n)<<4|kind)
		return
	}
	w.b = binary.AppendUvarint(append(w.b, short<<4|kind), uint64(n))
}
