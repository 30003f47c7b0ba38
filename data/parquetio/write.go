package parquetio

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/internal/abort"
	"github.com/tenonml/tenon/internal/input"
	"github.com/tenonml/tenon/internal/par"
	"github.com/tenonml/tenon/internal/source"
)

// The keys of metadata.
const (
	keySchema = "tenon.schema"  // what the metadata of the whole say
	keyColumn = "tenon.column." // and those of a column, whose name follows
)

// packed encodes metadata as one string.
func packed(m arrow.Metadata) string {
	var b strings.Builder
	for i, k := range m.Keys() {
		b.WriteString(base64.StdEncoding.EncodeToString([]byte(k)) + "=" + base64.StdEncoding.EncodeToString([]byte(m.Values()[i])) + "\n")
	}
	return b.String()
}

// unpacked is the inverse of packed. Damaged entries are dropped.
func unpacked(text string) arrow.Metadata {
	m := map[string]string{}
	for line := range strings.Lines(text) {
		k, v, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		for len(k)%4 != 0 { // the padding of the key ends in =, too
			more, rest, ok := strings.Cut(v, "=")
			if !ok || more != "" {
				break
			}
			k, v = k+"=", rest
		}
		key, err := base64.StdEncoding.DecodeString(k)
		value, err2 := base64.StdEncoding.DecodeString(v)
		if err == nil && err2 == nil {
			m[string(key)] = string(value)
		}
	}
	return arrow.MetadataFrom(m)
}

// WriteFile writes a Value to a file, atomically replacing an existing one.
func WriteFile(name string, v tenon.Value, o WriteOptions) error {
	err := input.WriteFile(name, func(w io.Writer) error { return Encode(w, v, o) })
	var e *tenon.Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	return &tenon.Error{Kind: tenon.ErrInvalid, Op: "parquetio.WriteFile", Where: name, Err: err, Line: source.Line()}
}

// Encode writes a Value to w in the file format.
func Encode(w io.Writer, v tenon.Value, o WriteOptions) error {
	x := NewWriter(w, o)
	if err := x.Write(v); err != nil {
		return err
	}
	return x.Close()
}

// A Writer writes Values with the same columns, one after the other, each as row groups of its own.
// The first Value determines the columns and their types.
type Writer struct {
	w      io.Writer
	o      WriteOptions
	set    *arrow.Schema
	plan   *plan
	chunks []*chunk // one for each column; row groups reuse their memory
	at     int64    // position of the next row group
	groups []groupTail
	seal   *sealing // nil if the file is not encrypted
	err    error
}

// NewWriter returns a Writer to w. It must be closed, which does not close w.
func NewWriter(w io.Writer, o WriteOptions) *Writer {
	return &Writer{w: abort.Writer(o.Context, w), o: o}
}

// defaultRows is the default number of rows of a row group.
const defaultRows = 1 << 20

// Write adds a Value. After an error the Writer cannot be used any more.
func (x *Writer) Write(v tenon.Value) (err error) {
	const fn = "parquetio.Writer.Write"
	if x.err != nil {
		return x.err
	}
	defer func() { x.err = err }()
	defer unwritten(fn, &err)
	b, err := arrowio.ToRecord(v)
	if err != nil {
		return err
	}
	b = storable(b)
	if err := fits(fn, b.Schema()); err != nil {
		return err
	}
	if x.plan == nil {
		if err := x.begin(b.Schema()); err != nil {
			return failed(fn, err)
		}
	}
	if !sameFields(b.Schema(), x.set) {
		e := fail(tenon.ErrDType, fn, "", "the columns are %v, but those of the first value are %v", b.Schema(), x.set)
		e.Hint = "all values of a file must have columns of the same types; if a column has strings that are not UTF-8, the first value must contain one"
		return e
	}
	step := int64(x.o.GroupRows)
	if step <= 0 {
		step = defaultRows
	}
	for i := int64(0); i == 0 || i < b.NumRows(); i += step {
		if err := x.group(fn, b, i, min(i+step, b.NumRows())); err != nil {
			return err
		}
	}
	return nil
}

// group writes the rows [from, to) as a row group.
func (x *Writer) group(fn string, b arrow.RecordBatch, from, to int64) error {
	rows := int(to - from)
	if x.seal != nil {
		if err := numbered(len(x.groups)); err != nil {
			return failed(fn, err)
		}
		for i, k := range x.chunks {
			k.secret = x.seal.of(len(x.groups), i)
		}
	}
	var leaves []shred
	for i, f := range x.set.Fields() {
		leaves = shreds(f, array.NewSliceData(b.Column(i).Data(), from, to), rowsOf(rows), leaves)
	}
	errs := make([]error, len(leaves))
	par.For(len(leaves), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			func() {
				defer unwritten(fn, &errs[i])
				x.chunks[i].fill(&leaves[i], rows)
			}()
		}
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	g := groupTail{rows: rows}
	for _, k := range x.chunks {
		g.chunks = append(g.chunks, k.tail(x.at))
		if err := x.put(k.b); err != nil {
			return failed(fn, err)
		}
	}
	x.groups = append(x.groups, g)
	return nil
}

// put writes bytes and advances the position.
func (x *Writer) put(b []byte) error {
	n, err := x.w.Write(b)
	x.at += int64(n)
	return err
}

// unwritten turns a panic of the underlying library into an error.
func unwritten(fn string, err *error) {
	switch r := recover().(type) {
	case nil:
	case *tenon.Error:
		*err = r
	default:
		*err = fail(tenon.ErrUnsupported, fn, "", "Parquet cannot store the value: %v", r)
	}
}

func failed(fn string, err error) error {
	return &tenon.Error{Kind: tenon.ErrInvalid, Op: fn, Err: err, Line: source.Line()}
}

// fits returns an error for columns that Parquet cannot represent.
func fits(fn string, s *arrow.Schema) error {
	for _, f := range s.Fields() {
		if t := unfit(f.Type); t != nil {
			e := fail(tenon.ErrUnsupported, fn, f.Name, "Parquet cannot store %v", t)
			e.Hint = "package arrowio writes every Value"
			return e
		}
	}
	return nil
}

// unfit returns a union within a type, or nil if there is none.
func unfit(t arrow.DataType) arrow.DataType {
	if id := t.ID(); id == arrow.SPARSE_UNION || id == arrow.DENSE_UNION {
		return t
	}
	if s, ok := t.(*arrow.StructType); ok && s.NumFields() == 0 {
		return t
	}
	if n, ok := t.(arrow.NestedType); ok {
		for _, f := range n.Fields() {
			if u := unfit(f.Type); u != nil {
				return u
			}
		}
	}
	return nil
}

// The magic bytes at the beginning and at the end of a file.
const (
	mark       = "PAR1"
	markSealed = "PARE" // where the footer is encrypted
)

// begin sets the columns to those of the first Value.
func (x *Writer) begin(s *arrow.Schema) error {
	x.set, x.plan = s, planOf(s.Fields())
	size := x.o.PageBytes
	if size <= 0 {
		size = defaultPage
	}
	for _, c := range x.plan.slots {
		x.chunks = append(x.chunks, &chunk{c: c, codec: x.codec(), pageBytes: size})
	}
	if x.o.Keys == nil {
		return x.put([]byte(mark))
	}
	var err error
	if x.seal, err = newSealing(x.o.Keys, leafPaths(s.Fields())); err != nil {
		return err
	}
	return x.put([]byte(markSealed))
}

func (x *Writer) codec() codec {
	return map[Compression]codec{Zstd: codecZstd, Uncompressed: codecNone, Snappy: codecSnappy, Gzip: codecGzip, LZ4: codecLZ4}[x.o.Compression]
}

// metadata returns the Specs.
func (x *Writer) metadata() [][2]string {
	if x.o.Plain {
		return nil
	}
	out := [][2]string{{keySchema, packed(x.set.Metadata())}}
	for _, f := range x.set.Fields() {
		out = append(out, [2]string{keyColumn + f.Name, packed(described(f))})
	}
	return out
}

// described returns the metadata of a column, including the sizes of its lists.
func described(f arrow.Field) arrow.Metadata {
	if list := sizes(f.Type); len(list) > 0 {
		m := f.Metadata.ToMap()
		m[keyLists] = strings.Join(list, " ")
		return arrow.MetadataFrom(m)
	}
	return f.Metadata
}

// Close writes the footer. It returns an error if no Value has been written.
func (x *Writer) Close() (err error) {
	const fn = "parquetio.Writer.Close"
	if x.err != nil {
		return x.err
	}
	if x.plan == nil {
		return fail(tenon.ErrInvalid, fn, "", "nothing has been written, so the columns are not known")
	}
	b := indexes(x.groups, x.at)
	end := x.plan.footer(x.groups, x.metadata(), x.codec())
	m := mark
	if x.seal != nil {
		end, m = x.seal.footer(end), markSealed
	}
	b = append(b, end...)
	b = append(binary.LittleEndian.AppendUint32(b, uint32(len(end))), m...)
	if err := x.put(b); err != nil {
		x.err = failed(fn, err)
		return x.err
	}
	x.err = fail(tenon.ErrInvalid, fn, "", "the writer is closed")
	return nil
}
