package parquetio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The footer is a Thrift struct in the compact protocol, as defined by parquet.thrift of the
// format.

// A footer is the metadata at the end of a file.
type footer struct {
	root    *schemaElement
	columns []*schemaElement
	rows    int64
	groups  []rowGroup
	about   map[string]string
	writer  writer
	orders  bool // bounds have the order of the columns' types
}

// A schemaElement is a column, or a group of fields.
type schemaElement struct {
	name, path     string
	repetition     int64
	fields         []*schemaElement
	logical        logical
	column         int // its number, or -1 for groups
	typ            physical
	length         int // size of a value of fixed length in bytes
	maxDef, maxRep uint8
}

// The repetitions.
const (
	repOptional = 1
	repRepeated = 2
)

// A rowGroup has one chunk for each column.
type rowGroup struct {
	rows   int64
	chunks []chunkAt
}

// A chunkAt locates and describes a column chunk.
type chunkAt struct {
	file            string // name of another file that contains the chunk
	codec           codec
	entries, size   int64
	data, dict      int64   // offsets of the first data page and of the dictionary, or 0
	offsets, bounds span    // byte ranges of the page index, empty if there is none
	secret          *secret // nil if the chunk is not encrypted
	sealed          []byte  // metadata of the chunk, if it is encrypted

	nulls       int64  // -1 if unknown
	least, most []byte // bounds in the order of the type, or nil
	old         [2][]byte
}

// at returns the position and size of a chunk.
func (c *chunkAt) at() (at, size int64) {
	if at = c.data; c.dict > 0 {
		at = min(at, c.dict)
	}
	return at, c.size
}

var errFooter = errors.New("the footer is damaged")

// readFooter reads the footer of a file, and its encryption algorithm, or nil.
func readFooter(src io.ReaderAt, size int64, k *Keys) (*footer, *algorithm, error) {
	const end = 8 // length of the footer and magic bytes
	if size < 4+end {
		return nil, nil, errors.New("the file is too short")
	}
	var tail [end]byte
	if _, err := src.ReadAt(tail[:], size-end); err != nil && err != io.EOF {
		return nil, nil, err
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n <= 0 || n > size-end-4 {
		return nil, nil, errFooter
	}
	b := make([]byte, n)
	if _, err := src.ReadAt(b, size-end-n); err != nil && err != io.EOF {
		return nil, nil, err
	}
	var a *algorithm
	var err error
	switch string(tail[4:]) {
	case markSealed:
		b, a, err = sealedFooter(b, k)
	case mark:
		a, err = plainFooter(b, k)
	default:
		err = errors.New("the file does not end with the magic bytes of Parquet")
	}
	if err != nil {
		return nil, nil, err
	}
	w := &thrift{b: b}
	m := w.footer()
	if w.bad || m.root == nil {
		return nil, nil, errFooter
	}
	return m, a, m.check()
}

// check checks that the row groups match the columns.
func (m *footer) check() error {
	rows := int64(0)
	for i, g := range m.groups {
		if g.rows < 0 || len(g.chunks) != len(m.columns) {
			return fmt.Errorf("row group %d has %d rows and %d of %d columns", i, g.rows, len(g.chunks), len(m.columns))
		}
		rows += g.rows
	}
	if rows != m.rows {
		return fmt.Errorf("the row groups have %d rows, but the file has %d", rows, m.rows)
	}
	return nil
}

func (w *thrift) footer() *footer {
	m := &footer{about: map[string]string{}}
	w.fields(func(id int, kind byte) bool {
		switch {
		case id == 3:
			return w.number(kind, &m.rows)
		case id == 6:
			var by string
			if !w.text(kind, &by) {
				return false
			}
			m.writer = writerOf(by)
			return true
		case kind != kindList:
			return false
		case id == 2:
			w.schema(m)
		case id == 4:
			w.each(kindStruct, func() { m.groups = append(m.groups, w.rowGroup()) })
		case id == 5:
			w.each(kindStruct, func() {
				var key, value string
				w.fields(func(id int, kind byte) bool { return id == 1 && w.text(kind, &key) || id == 2 && w.text(kind, &value) })
				if _, ok := m.about[key]; !ok {
					m.about[key] = value
				}
			})
		case id == 7:
			w.each(kindStruct, func() {
				m.orders = true
				w.value(kindStruct)
			})
		default:
			return false
		}
		return true
	})
	return m
}

// schema reads the schema elements, parents before their children, which form a tree of limited
// depth.
func (w *thrift) schema(m *footer) {
	n, kind := w.list()
	if kind != kindStruct || n == 0 {
		w.bad = true
	}
	type group struct {
		e    *schemaElement
		left int64 // number of children still to come
	}
	var open []group // the enclosing groups
	for i := uint64(0); i < n && !w.bad; i++ {
		e, children, typ := w.element()
		for len(open) > 0 && open[len(open)-1].left == 0 {
			open = open[:len(open)-1]
		}
		const types = 8
		if children < 0 || uint64(children) > n || len(open) > 2*maxLevels || (i > 0) != (len(open) > 0) ||
			i > 0 && (e.repetition < 0 || e.repetition > repRepeated || children == 0 && (typ < 0 || typ >= types)) {
			w.bad = true
			return
		}
		if i == 0 {
			m.root = e
		} else {
			g := &open[len(open)-1]
			g.left--
			g.e.fields = append(g.e.fields, e)
			e.under(g.e, i > 1 && g.e != m.root)
			if children == 0 {
				e.column, e.typ = len(m.columns), physical(typ)
				m.columns = append(m.columns, e)
			}
		}
		open = append(open, group{e, children})
	}
	for _, g := range open {
		w.bad = w.bad || g.left > 0
	}
}

// under sets what an element inherits from its group.
func (e *schemaElement) under(g *schemaElement, inside bool) {
	e.path, e.maxDef, e.maxRep = e.name, g.maxDef, g.maxRep
	if inside {
		e.path = g.path + "." + e.name
	}
	if e.repetition != 0 {
		e.maxDef++
	}
	if e.repetition == repRepeated {
		e.maxRep++
	}
}

// element reads an element of a schema.
func (w *thrift) element() (e *schemaElement, children, typ int64) {
	e = &schemaElement{column: -1}
	typ = -1
	length, converted, scale, precision := int64(0), int64(-1), int64(0), int64(0)
	to := map[int]*int64{1: &typ, 2: &length, 3: &e.repetition, 5: &children, 6: &converted, 7: &scale, 8: &precision}
	w.fields(func(id int, kind byte) bool {
		switch {
		case id == 4:
			return w.text(kind, &e.name)
		case id == 10 && kind == kindStruct:
			e.logical = w.logical()
			return true
		}
		at, ok := to[id]
		return ok && w.number(kind, at)
	})
	if length == int64(int32(length)) {
		e.length = int(length)
	}
	if e.logical.kind == 0 && converted >= 0 && converted < int64(len(convertedTypes)) {
		if e.logical = convertedTypes[converted]; e.logical.kind == logicalDecimal {
			e.logical.precision, e.logical.scale = precision, scale
		}
	}
	return e, children, typ
}

func (w *thrift) rowGroup() rowGroup {
	var g rowGroup
	w.fields(func(id int, kind byte) bool {
		if id == 1 && kind == kindList {
			w.each(kindStruct, func() { g.chunks = append(g.chunks, w.chunk()) })
			return true
		}
		return id == 3 && w.number(kind, &g.rows)
	})
	return g
}

// chunk reads the description of a column chunk.
func (w *thrift) chunk() chunkAt {
	c := chunkAt{nulls: -1}
	said := false
	offsets, bounds := int64(0), int64(0) // sizes in bytes
	ends := map[int]*int64{4: &c.offsets.from, 5: &offsets, 6: &c.bounds.from, 7: &bounds}
	w.fields(func(id int, kind byte) bool {
		switch {
		case id == 1:
			return w.text(kind, &c.file)
		case id == 3 && kind == kindStruct:
			said = true
			w.inChunk(&c)
			return true
		case id == 8 && kind == kindStruct:
			c.secret = w.secret()
			return true
		case id == 9 && kind == kindBinary:
			c.sealed = w.bytes()
			return true
		}
		at, ok := ends[id]
		return ok && w.number(kind, at)
	})
	w.bad = w.bad || !said && c.secret == nil
	c.offsets.to, c.bounds.to = c.offsets.from+offsets, c.bounds.from+bounds
	return c
}

// inChunk reads the metadata of a column chunk.
func (w *thrift) inChunk(c *chunkAt) {
	packed := int64(0)
	to := map[int]*int64{4: &packed, 5: &c.entries, 7: &c.size, 9: &c.data, 11: &c.dict}
	w.fields(func(id int, kind byte) bool {
		if id == 12 && kind == kindStruct {
			w.statistics(c)
			return true
		}
		at, ok := to[id]
		return ok && w.number(kind, at)
	})
	c.codec = codec(packed)
}

func (w *thrift) statistics(c *chunkAt) {
	to := map[int]*[]byte{1: &c.old[1], 2: &c.old[0], 5: &c.most, 6: &c.least}
	w.fields(func(id int, kind byte) bool {
		if at, ok := to[id]; ok && kind == kindBinary {
			*at = w.bytes()
			return true
		}
		return id == 3 && w.number(kind, &c.nulls)
	})
}

// extremes returns the bounds of the values of a chunk in plain encoding, or false if there are none that can be
// relied on. Bounds written by old writers, without a defined order, are in the order of signed numbers.
func (c *chunkAt) extremes(m *footer, e *schemaElement) (least, most []byte, ok bool) {
	least, most = c.least, c.most
	sorted := e.order()
	if !m.orders {
		least, most = c.old[0], c.old[1]
	}
	same := string(least) == string(most)
	if least == nil || most == nil || sorted == unordered || !m.orders && sorted != signed && !same {
		return nil, nil, false
	}
	return least, most, m.writer.sound(e, same)
}

// A writer is the program that wrote a file, with its version.
type writer struct {
	name    string
	version [3]int
}

func writerOf(text string) writer {
	name, version, _ := strings.Cut(strings.ToLower(text), " version ")
	w := writer{name: name}
	fmt.Sscanf(version, "%d.%d.%d", &w.version[0], &w.version[1], &w.version[2])
	return w
}

// before reports whether w is the given program in an earlier version.
func (w writer) before(name string, version ...int) bool {
	if w.name != name {
		return false
	}
	for i, v := range version {
		if w.version[i] != v {
			return w.version[i] < v
		}
	}
	return false
}

// sound reports whether the bounds are known to be correct: some versions compared decimals, texts and unsigned
// numbers incorrectly (PARQUET-251, PARQUET-686, PARQUET-1655).
func (w writer) sound(e *schemaElement, same bool) bool {
	cpp := w.name == "parquet-cpp" || w.before("parquet-cpp-arrow", 4, 0, 0)
	if cpp && e.logical.kind == logicalDecimal && e.typ == typeFixed {
		return false
	}
	if !w.before("parquet-mr", 1, 10, 0) && !w.before("parquet-cpp", 1, 3, 0) {
		return true
	}
	return (e.order() == signed || same) && !(e.typ.text() && w.before("parquet-mr", 1, 8, 0))
}
