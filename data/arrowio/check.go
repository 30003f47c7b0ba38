package arrowio

import (
	"encoding/binary"
	"errors"
	"fmt"

	flatbuffers "github.com/google/flatbuffers/go"
)

// The metadata of the IPC formats are flatbuffers, which hold offsets to themselves and
// lengths. arrow-go follows them without going out of bounds, but allocates what lengths
// say and walks a graph of fields as if it were a tree. So metadata are checked here
// before arrow-go gets them. Names of slots are those of the format's Schema.fbs, Message.fbs and File.fbs.

const (
	maxFields = 1 << 16 // in a schema
	maxLevels = 64      // of fields in fields
	maxMeta   = 64 << 20
)

// The kinds of messages.
const (
	kindSchema     = 1
	kindDictionary = 2
	kindBatch      = 3
)

var errMeta = errors.New("the metadata is damaged")

// slot returns the place of a table's field, and false where it has its default.
func slot(t *flatbuffers.Table, i int) (flatbuffers.UOffsetT, bool) {
	o := t.Offset(flatbuffers.VOffsetT(4 + 2*i))
	return t.Pos + flatbuffers.UOffsetT(o), o != 0
}

// vector returns the start and length of a vector whose elements have a width.
func vector(t *flatbuffers.Table, i, width int) (start flatbuffers.UOffsetT, n int, err error) {
	at, ok := slot(t, i)
	if !ok {
		return 0, 0, nil
	}
	start, n = t.Vector(at-t.Pos), t.VectorLen(at-t.Pos)
	if n < 0 || int64(n) > (int64(len(t.Bytes))-int64(start))/int64(width) {
		return 0, 0, errMeta
	}
	return start, n, nil
}

// child returns a table that a table refers to.
func child(t *flatbuffers.Table, at flatbuffers.UOffsetT) flatbuffers.Table {
	return flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(at)}
}

// each calls f with the tables of a vector.
func each(t *flatbuffers.Table, i int, f func(c *flatbuffers.Table) error) error {
	start, n, err := vector(t, i, 4)
	for k := 0; k < n && err == nil; k++ {
		c := child(t, start+flatbuffers.UOffsetT(4*k))
		err = f(&c)
	}
	return err
}

// pairs checks keys and values.
func pairs(t *flatbuffers.Table, i int) error {
	return each(t, i, func(c *flatbuffers.Table) error {
		for j := range 2 {
			if _, _, err := vector(c, j, 1); err != nil {
				return err
			}
		}
		return nil
	})
}

// views says how many arrays have a number of buffers that the schema does not tell:
// arrow-go takes the numbers from a vector without asking how many there are.
type views struct {
	batch        int           // in a batch
	dictionaries map[int64]int // in the values of each dictionary
}

// checkSchema checks a table Schema: endianness, fields, custom_metadata, features.
func checkSchema(t *flatbuffers.Table, v *views) error {
	left := maxFields
	*v = views{dictionaries: map[int64]int{}}
	if err := each(t, 1, func(f *flatbuffers.Table) error { return checkField(f, maxLevels, &left, v, &v.batch) }); err != nil {
		return err
	}
	if _, _, err := vector(t, 3, 8); err != nil {
		return err
	}
	return pairs(t, 2)
}

// checkField checks a table Field: name, nullable, type_type, type, dictionary, children,
// custom_metadata. The arrays with views in the field are added to n.
func checkField(t *flatbuffers.Table, levels int, left *int, v *views, n *int) error {
	if *left--; *left < 0 || levels == 0 {
		return fmt.Errorf("the schema has more than %d fields, or nests them more than %d deep", maxFields, maxLevels)
	}
	if _, _, err := vector(t, 0, 1); err != nil {
		return err
	}
	if at, ok := slot(t, 3); ok { // a union's type ids are the only vector in a type
		const typeUnion = 14
		c := child(t, at)
		if t.GetByteSlot(4+2*2, 0) == typeUnion {
			if _, _, err := vector(&c, 1, 4); err != nil {
				return err
			}
		}
	}
	dictionary, encoded := slot(t, 4)
	own := 0
	if encoded { // the field's type and children are those of the values
		n = &own
	}
	const typeBinaryView, typeUtf8View = 23, 24
	if kind := t.GetByteSlot(4+2*2, 0); kind == typeBinaryView || kind == typeUtf8View {
		*n++
	}
	if err := each(t, 5, func(f *flatbuffers.Table) error { return checkField(f, levels-1, left, v, n) }); err != nil {
		return err
	}
	if encoded {
		c := child(t, dictionary)
		id := c.GetInt64Slot(4, 0)
		v.dictionaries[id] = max(v.dictionaries[id], own)
	}
	return pairs(t, 6)
}

// checkMessage checks a table Message: version, header_type, header, bodyLength,
// custom_metadata. It returns the length of the body. A schema says what is to be in the
// messages behind it.
func checkMessage(b []byte, v *views) (body int64, err error) {
	defer func() {
		if recover() != nil { // an offset out of bounds
			err = errMeta
		}
	}()
	t := root(b)
	if err := pairs(&t, 4); err != nil {
		return 0, err
	}
	body = t.GetInt64Slot(4+2*3, 0)
	if body < 0 {
		return 0, errMeta
	}
	at, ok := slot(&t, 2)
	if !ok {
		return 0, errMeta
	}
	h := child(&t, at)
	switch t.GetByteSlot(4+2*1, 0) {
	case kindSchema:
		return body, checkSchema(&h, v)
	case kindDictionary: // id, data, isDelta
		at, ok := slot(&h, 1)
		if !ok {
			return 0, errMeta
		}
		c := child(&h, at)
		return body, checkBatch(&c, body, v.dictionaries[h.GetInt64Slot(4, 0)])
	case kindBatch:
		return body, checkBatch(&h, body, v.batch)
	}
	return body, nil
}

func root(b []byte) flatbuffers.Table {
	return flatbuffers.Table{Bytes: b, Pos: flatbuffers.UOffsetT(binary.LittleEndian.Uint32(b))}
}

// checkBatch checks a table RecordBatch: length, nodes, buffers, compression,
// variadicBufferCounts, one for each array with views.
func checkBatch(t *flatbuffers.Table, body int64, views int) error {
	const node, buf = 16, 16 // two int64 each
	start, n, err := vector(t, 1, node)
	for i := range n {
		at := start + flatbuffers.UOffsetT(i*node)
		if length, nulls := t.GetInt64(at), t.GetInt64(at+8); length < 0 || nulls < 0 || nulls > length {
			return fmt.Errorf("an array of %d elements with %d nulls", length, nulls)
		}
	}
	if err != nil {
		return err
	}
	start, buffers, err := vector(t, 2, buf)
	if err != nil {
		return err
	}
	for i := range buffers {
		at := start + flatbuffers.UOffsetT(i*buf)
		if off, size := t.GetInt64(at), t.GetInt64(at+8); off < 0 || size < 0 || off > body || size > body-off {
			return fmt.Errorf("a buffer of %d bytes at byte %d of %d", size, off, body)
		}
	}
	start, n, err = vector(t, 4, 8)
	if err == nil && n < views {
		return fmt.Errorf("numbers of buffers for %d of %d arrays of views", n, views)
	}
	for i := range n {
		if k := t.GetInt64(start + flatbuffers.UOffsetT(8*i)); k < 0 || k > int64(buffers) {
			return fmt.Errorf("an array of %d buffers where there are %d in all", k, buffers)
		}
	}
	return err
}

// schemaMessage returns the metadata of a message with the schema of a footer. The footer
// alone says what the schema of a file is: what lies behind the first mark need not be one.
//
// A message is a table that refers to its schema, forwards. So it is put before the footer:
// an offset to the table, its four slots (version, header_type, header, bodyLength), and the
// table.
func schemaMessage(footer []byte, v *views) ([]byte, error) {
	t := root(footer)
	at, ok := slot(&t, 1)
	if !ok {
		return nil, errors.New("the footer has no schema")
	}
	const slots, table, before = 4, 16, 32
	h := child(&t, at)
	b := make([]byte, before, before+len(footer))
	le := binary.LittleEndian
	le.PutUint32(b, table)
	le.PutUint16(b[slots:], table-slots)
	le.PutUint16(b[slots+2:], 12)
	le.PutUint16(b[slots+4:], 8)
	le.PutUint16(b[slots+6:], 10)
	le.PutUint16(b[slots+8:], 4) // and no body, whose length is 0
	le.PutUint32(b[table:], table-slots)
	le.PutUint32(b[table+4:], before+uint32(h.Pos)-(table+4))
	le.PutUint16(b[table+8:], uint16(t.GetInt16Slot(4, 0)))
	b[table+10] = kindSchema
	b = append(b, footer...)
	if _, err := checkMessage(b, v); err != nil {
		return nil, err
	}
	return b, nil
}

// A block is where a message of a file lies.
type block struct{ at, meta, body int64 }

// A footer is what the end of a file says about it.
type footer struct {
	schema       []byte // the metadata of a message with it
	views        views
	dictionaries []block
	batches      []block
}

// checkFooter checks the metadata of a file in memory: its table Footer (version, schema,
// dictionaries, recordBatches, custom_metadata) and the messages that it refers to.
func checkFooter(file []byte) (f *footer, err error) {
	defer func() {
		if recover() != nil { // an offset out of bounds
			err = errMeta
		}
	}()
	end := len(file) - 10 // the length of the footer, and the last mark
	n := int64(binary.LittleEndian.Uint32(file[end:]))
	if n < 4 || n > int64(end-8) {
		return nil, errors.New("the file has no footer")
	}
	f = &footer{}
	if f.schema, err = schemaMessage(file[int64(end)-n:end], &f.views); err != nil {
		return nil, err
	}
	t := root(file[int64(end)-n : end])
	whole := map[int64]bool{} // the dictionaries that are there
	for i := 2; i <= 3; i++ {
		const width = 24 // offset int64, metaDataLength int32 and padding, bodyLength int64
		start, n, err := vector(&t, i, width)
		if err != nil {
			return nil, err
		}
		for k := range n {
			at := start + flatbuffers.UOffsetT(k*width)
			b := block{t.GetInt64(at), int64(t.GetInt32(at + 8)), t.GetInt64(at + 16)}
			meta, err := b.check(file, &f.views)
			if err != nil {
				return nil, err
			}
			m := root(meta)
			if kind := m.GetByteSlot(4+2*1, 0); i == 2 && kind != kindDictionary || i == 3 && kind != kindBatch {
				return nil, errMeta
			}
			if i == 2 { // id, data, isDelta
				at, _ := slot(&m, 2)
				h := child(&m, at)
				id := h.GetInt64Slot(4, 0)
				if delta := h.GetBoolSlot(4+2*2, false); !delta && whole[id] {
					return nil, fmt.Errorf("dictionary %d is there twice", id)
				}
				whole[id] = true
			}
			if i == 2 {
				f.dictionaries = append(f.dictionaries, b)
			} else {
				f.batches = append(f.batches, b)
			}
		}
	}
	return f, nil
}

// check checks a message of a file and returns its metadata.
func (x block) check(file []byte, v *views) ([]byte, error) {
	size := int64(len(file))
	if x.at < 0 || x.at > size || x.meta < 16 || x.meta > size-x.at || x.body < 0 || x.body > size-x.at-x.meta || x.meta > maxMeta {
		return nil, fmt.Errorf("a message of %d and %d bytes at byte %d of %d", x.meta, x.body, x.at, size)
	}
	b := file[x.at : x.at+x.meta]
	if binary.LittleEndian.Uint32(b) == continuation {
		b = b[4:]
	}
	b = b[4:]
	body, err := checkMessage(b, v)
	if err == nil && body != x.body {
		return nil, fmt.Errorf("a message of %d bytes that should have %d", body, x.body)
	}
	return b, err
}
