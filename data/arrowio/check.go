package arrowio

import (
	"encoding/binary"
	"errors"
	"fmt"

	flatbuffers "github.com/google/flatbuffers/go"
)

// The metadata of the IPC formats is encoded as flatbuffers, which contain offsets and lengths. arrow-go
// does not read out of bounds, but it allocates according to these lengths and traverses a graph of fields
// as if it were a tree. So metadata is checked here before it is passed to arrow-go. The names of slots are
// those of the format's Schema.fbs, Message.fbs and File.fbs.

const (
	maxFields = 1 << 16 // largest number of fields in a schema
	maxLevels = 64      // largest nesting of fields
	maxMeta   = 64 << 20
)

// The kinds of messages.
const (
	kindSchema     = 1
	kindDictionary = 2
	kindBatch      = 3
)

var errMeta = errors.New("the metadata is damaged")

// slot returns the position of a table's field, and false if it has its default value.
func slot(t *flatbuffers.Table, i int) (flatbuffers.UOffsetT, bool) {
	o := t.Offset(flatbuffers.VOffsetT(4 + 2*i))
	return t.Pos + flatbuffers.UOffsetT(o), o != 0
}

// vector returns the start and length of a vector whose elements have the given width.
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

// each calls f with each table of a vector.
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

// views records how many arrays have a number of buffers that the schema does not determine:
// arrow-go takes the numbers from a vector without checking its length.
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
// custom_metadata. It adds the number of arrays with views in the field to n.
func checkField(t *flatbuffers.Table, levels int, left *int, v *views, n *int) error {
	if *left--; *left < 0 || levels == 0 {
		return fmt.Errorf("the schema has more than %d fields, or nests them more than %d deep", maxFields, maxLevels)
	}
	if _, _, err := vector(t, 0, 1); err != nil {
		return err
	}
	if at, ok := slot(t, 3); ok { // the type ids of a union are the only vector in a type
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
	if encoded { // type and children of the field describe the values
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

// checkMessage checks a table Message: version, header_type, header, bodyLength, custom_metadata.
// It returns the length of the body. A schema determines what later messages must contain.
func checkMessage(b []byte, v *views) (body int64, err error) {
	defer func() {
		if recover() != nil { // an offset is out of bounds
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

// checkBatch checks a table RecordBatch: length, nodes, buffers, compression, and
// variadicBufferCounts, which has one entry for each array with views.
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
		return fmt.Errorf("there are numbers of buffers for %d arrays, but %d arrays with views", n, views)
	}
	for i := range n {
		if k := t.GetInt64(start + flatbuffers.UOffsetT(8*i)); k < 0 || k > int64(buffers) {
			return fmt.Errorf("an array has %d buffers, but there are only %d", k, buffers)
		}
	}
	return err
}

// schemaMessage returns the metadata of a message with the schema of a footer. Only the
// footer is authoritative for the schema of a file: what follows the first magic bytes need
// not be one.
//
// A message is a table with a forward reference to its schema. It is therefore prepended to
// the footer: an offset to the table, its four slots (version, header_type, header,
// bodyLength), and the table.
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
	le.PutUint16(b[slots+8:], 4) // no body: its length is 0
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

// A block locates a message of a file.
type block struct{ at, meta, body int64 }

// A footer is the index at the end of a file.
type footer struct {
	schema       []byte // metadata of a message with the schema
	views        views
	dictionaries []block
	batches      []block
}

// checkFooter checks the metadata of a file in memory: its table Footer (version, schema,
// dictionaries, recordBatches, custom_metadata) and the messages that it refers to.
func checkFooter(file []byte) (f *footer, err error) {
	defer func() {
		if recover() != nil { // an offset is out of bounds
			err = errMeta
		}
	}()
	end := len(file) - 10 // before the length of the footer and the last magic bytes
	n := int64(binary.LittleEndian.Uint32(file[end:]))
	if n < 4 || n > int64(end-8) {
		return nil, errors.New("the file has no footer")
	}
	f = &footer{}
	if f.schema, err = schemaMessage(file[int64(end)-n:end], &f.views); err != nil {
		return nil, err
	}
	t := root(file[int64(end)-n : end])
	whole := map[int64]bool{} // the dictionaries seen
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
					return nil, fmt.Errorf("dictionary %d occurs twice", id)
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
		return nil, fmt.Errorf("a message has %d and %d bytes at byte %d of %d", x.meta, x.body, x.at, size)
	}
	b := file[x.at : x.at+x.meta]
	if binary.LittleEndian.Uint32(b) == continuation {
		b = b[4:]
	}
	b = b[4:]
	body, err := checkMessage(b, v)
	if err == nil && body != x.body {
		return nil, fmt.Errorf("a message has a body of %d bytes instead of %d", body, x.body)
	}
	return b, err
}
