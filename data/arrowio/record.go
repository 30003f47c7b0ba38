package arrowio

import (
	"encoding/base64"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/anatomy"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// ToArray returns a Value as an array, and a field of the given name that describes it: the type,
// the names of canonical extension types, and the Spec. The array shares the Value's memory where
// possible.
func ToArray(name string, v tenon.Value) (f arrow.Field, a arrow.Array, err error) {
	defer recovered(encodeName, &err)
	defer tenon.Catch(&err)
	if v == nil {
		return f, nil, fail(tenon.ErrInvalid, encodeName, name, "the value is nil")
	}
	p, err := specified(encode(v), v.Spec())
	if err != nil {
		return f, nil, err
	}
	return p.field(name), array.MakeFromData(p.data), nil
}

// specified adds a Spec to the metadata of a part.
func specified(p part, s tenon.Spec) (part, error) {
	text, err := specText(s)
	if err != nil {
		return p, err
	}
	return p.with(keySpec, text), nil
}

// specText returns a Spec in the form used in metadata.
func specText(s tenon.Spec) (string, error) {
	b := tenon.AppendBinary(nil, s)
	if _, _, err := tenon.DecodeBinary(b); err != nil {
		return "", fail(tenon.ErrUnsupported, encodeName, "", "the Spec cannot be read back: %s", tenon.AsError(err).Msg)
	}
	return base64.StdEncoding.EncodeToString(b), nil
}

// specOf returns the Spec in metadata, or nil if there is none that can be read.
func (r *reading) specOf(m arrow.Metadata) tenon.Spec {
	text, ok := m.GetValue(keySpec)
	if !ok || r.o.Plain {
		return nil
	}
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	s, rest, err := tenon.DecodeBinary(b)
	if err != nil || len(rest) > 0 {
		return nil
	}
	return s
}

// FromArray returns an array as a Value: according to ReadOptions.Spec, to the field's metadata, or
// else to its Arrow type. The Value shares the array's memory where possible.
func FromArray(f arrow.Field, a arrow.Array, o ReadOptions) (v tenon.Value, err error) {
	const fn = "arrowio.FromArray"
	defer recovered(fn, &err)
	defer tenon.Catch(&err)
	if a == nil {
		return nil, fail(tenon.ErrInvalid, fn, f.Name, "the array is nil")
	}
	r := newReading(fn, o, dataSize(a.Data()))
	a = r.validated(f.Name, a)
	f.Type = a.DataType()
	return r.column(f, a, o.Spec), nil
}

// column returns a column as a Value.
func (r *reading) column(f arrow.Field, a arrow.Array, want tenon.Spec) tenon.Value {
	a.Retain() // keeps shared memory alive
	at := ""
	if f.Name != "" {
		at = below("", f.Name)
	}
	if want != nil {
		return r.decode(at, f, a.Data(), want)
	}
	if s := r.specOf(f.Metadata); s != nil {
		if v, err := tenon.Try(func() tenon.Value { return r.decode(at, f, a.Data(), s) }); err == nil {
			return v
		}
	}
	return r.natural(at, f, a.Data())
}

// dataSize returns the size of all buffers of an array in bytes.
func dataSize(d arrow.ArrayData) int64 {
	n := int64(0)
	for _, b := range d.Buffers() {
		if b != nil {
			n += int64(b.Len())
		}
	}
	for _, c := range d.Children() {
		n += dataSize(c)
	}
	if w := dictionaryOf(d); w != nil {
		n += dataSize(w)
	}
	return n
}

// ToRecord returns a Value as a record batch: a list of records becomes a column for each field,
// and anything else a single column.
func ToRecord(v tenon.Value) (b arrow.RecordBatch, err error) {
	defer recovered("arrowio.ToRecord", &err)
	defer tenon.Catch(&err)
	if v == nil {
		return nil, fail(tenon.ErrInvalid, "arrowio.ToRecord", "", "the value is nil")
	}
	return toRecord(v, false)
}

func toRecord(v tenon.Value, plain bool) (arrow.RecordBatch, error) {
	v = known(v)
	var p part
	meta := map[string]string{}
	columns, isTable := table(v.Spec())
	if isTable = isTable && inRows(v.Spec()); isTable {
		p = rows(v, 0)
	} else {
		one := encode(v)
		p = record(one.len(), []string{columnName}, []part{one})
		meta[keyWhole] = "column"
	}
	if !plain {
		text, err := specText(v.Spec())
		if err != nil {
			return nil, err
		}
		meta[keySpec] = text
	} else {
		meta = nil
	}
	t := p.data.DataType().(*arrow.StructType)
	fields := slices.Clone(t.Fields())
	var specs []tenon.Field
	if isTable && !plain {
		specs = columns.Fields
	}
	cols := make([]arrow.Array, len(fields))
	for i, c := range p.data.Children() {
		cols[i] = array.MakeFromData(c)
		m := metaOf(fields[i].Metadata)
		if specs != nil {
			text, err := specText(specs[i].Spec)
			if err != nil {
				return nil, err
			}
			m[keySpec], m[keyForm] = text, formRows
		}
		if plain {
			delete(m, keyForm)
		}
		fields[i].Metadata = arrow.MetadataFrom(m)
	}
	md := arrow.MetadataFrom(meta)
	return array.NewRecordBatch(arrow.NewSchema(fields, &md), cols, int64(p.len())), nil
}

// FromRecord returns a record batch as a Value: with its original type or, without a Spec, as a
// list of records with a field for each column.
func FromRecord(b arrow.RecordBatch, o ReadOptions) (v tenon.Value, err error) {
	const fn = "arrowio.FromRecord"
	defer recovered(fn, &err)
	defer tenon.Catch(&err)
	if b == nil {
		return nil, fail(tenon.ErrInvalid, fn, "", "the record batch is nil")
	}
	size := int64(0)
	for _, c := range b.Columns() {
		size += dataSize(c.Data())
	}
	return newReading(fn, o, size).batch(b), nil
}

// batch validates a record batch and returns it as a Value.
func (r *reading) batch(b arrow.RecordBatch) tenon.Value {
	chunks := make([][]arrow.Array, b.NumCols())
	for i, c := range b.Columns() {
		chunks[i] = []arrow.Array{c}
	}
	schema, chunks := r.projected(b.Schema(), chunks)
	cols := make([]arrow.Array, len(chunks))
	for i, list := range chunks {
		cols[i] = list[0]
	}
	return r.value(schema, cols, b.NumRows())
}

// value validates columns of n elements and returns them as a Value.
func (r *reading) value(schema *arrow.Schema, cols []arrow.Array, n int64) tenon.Value {
	names := fieldNames(schema.Fields())
	for i, c := range cols {
		tenon.Throw(damaged(r.fn, names[i], proceed(r.o.Context)))
		cols[i] = r.validated(names[i], c)
		if int64(c.Len()) != n {
			tenon.Throw(fail(tenon.ErrInvalid, r.fn, names[i], "the column has %d elements, but the batch has %d rows", c.Len(), n))
		}
	}
	want := r.o.Spec
	if want == nil {
		want = r.specOf(schema.Metadata())
	}
	kind, _ := schema.Metadata().GetValue(keyWhole)
	records, isTable := table(want)
	isColumn := kind != "" && !r.o.Plain || r.o.Spec != nil && !isTable
	if isColumn && len(cols) == 1 {
		return r.column(schema.Field(0), cols[0], want)
	}
	if isTable && slices.EqualFunc(records.Fields, names, func(f tenon.Field, name string) bool { return f.Name == name }) {
		v, err := tenon.Try(func() tenon.Value { return r.byRecords(schema, cols, n, records) })
		if err == nil {
			return v
		}
		if r.o.Spec != nil {
			tenon.Throw(err)
		}
	} else if r.o.Spec != nil {
		tenon.Throw(fail(tenon.ErrDType, r.fn, "", "the columns %q are not the fields of %s", names, tenon.String(r.o.Spec)))
	}
	return r.byColumns(schema, cols, n, names)
}

// byRecords returns columns as records of a Spec.
func (r *reading) byRecords(schema *arrow.Schema, cols []arrow.Array, n int64, a anatomy.Spec) tenon.Value {
	values := make([]tenon.Value, len(cols))
	for i, c := range a.Fields {
		cols[i].Retain()
		at, f := below("", c.Name), schema.Field(i)
		r.complete(at, f, cols[i].Data(), c.Spec)
		values[i] = r.rows(at, f, cols[i].Data(), c.Spec)
	}
	return tenon.Must(a.MakeRecords(nil, int(n), values))
}

// byColumns returns columns as records, converting each column separately.
func (r *reading) byColumns(schema *arrow.Schema, cols []arrow.Array, n int64, names []string) tenon.Value {
	fields := make([]structured.Field, len(cols))
	for i, c := range cols {
		f := schema.Field(i)
		f.Name = names[i]
		v, ok := r.column(f, c, nil).(tensor.Tensor)
		if !ok {
			tenon.Throw(fail(tenon.ErrUnsupported, r.fn, names[i], "the column is not a tensor"))
		}
		fields[i] = structured.Field{Name: names[i], Value: v}
	}
	return tenon.Must(structured.FromFields(fields, shape.Of(int(n)), structured.Options{NRows: int(n)}))
}
