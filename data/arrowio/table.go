package arrowio

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tenonml/tenon"
)

// ToTable returns Values with the same columns as a table in which each Value is a chunk.
func ToTable(values ...tenon.Value) (t arrow.Table, err error) {
	const fn = "arrowio.ToTable"
	defer recovered(fn, &err)
	defer tenon.Catch(&err)
	if len(values) == 0 {
		return nil, fail(tenon.ErrInvalid, fn, "", "there are no values")
	}
	var schema *arrow.Schema
	batches := make([]arrow.RecordBatch, len(values))
	for i, v := range values {
		if v == nil {
			return nil, fail(tenon.ErrInvalid, fn, "", "value %d is nil", i)
		}
		if batches[i], err = toRecord(v, false); err != nil {
			return nil, err
		}
		if schema == nil {
			schema = batches[i].Schema()
		}
		if batches[i], err = conformed(fn, batches[i], schema); err != nil {
			return nil, err
		}
	}
	return array.NewTableFromRecords(schema, batches), nil
}

// conformed returns a batch converted to the types of a schema: strings that happen to be UTF-8
// become large_binary if that is expected.
func conformed(fn string, b arrow.RecordBatch, schema *arrow.Schema) (arrow.RecordBatch, error) {
	if schema.NumFields() != int(b.NumCols()) {
		return nil, fail(tenon.ErrDType, fn, "", "there are %d columns, but the first batch has %d", b.NumCols(), schema.NumFields())
	}
	cols := make([]arrow.Array, b.NumCols())
	for i, f := range schema.Fields() {
		c := b.Column(i)
		d, ok := retypedData(c.Data(), f.Type)
		if !ok || b.ColumnName(i) != f.Name {
			e := fail(tenon.ErrDType, fn, b.ColumnName(i), "the column is %v, but that of the first batch is %q %v", c.DataType(), f.Name, f.Type)
			e.Hint = "all batches of a file or table must have columns of the same types; if a column has strings that are not UTF-8, its first batch must contain one"
			return nil, e
		}
		cols[i] = array.MakeFromData(d)
	}
	return array.NewRecordBatch(schema, cols, b.NumRows()), nil
}

// retypedData returns data with a type that differs from its own only in strings being binary, and
// in metadata.
func retypedData(d arrow.ArrayData, want arrow.DataType) (arrow.ArrayData, bool) {
	have := d.DataType()
	if arrow.TypeEqual(have, want) {
		return d, true
	}
	if have.ID() == arrow.LARGE_STRING && want.ID() == arrow.LARGE_BINARY {
		return retype(d, want), true
	}
	a, ok := have.(arrow.NestedType)
	b, ok2 := want.(arrow.NestedType)
	if !ok || !ok2 || have.ID() != want.ID() || len(a.Fields()) != len(b.Fields()) {
		return nil, false
	}
	children := make([]arrow.ArrayData, len(d.Children()))
	for i, c := range d.Children() {
		if children[i], ok = retypedData(c, b.Fields()[i].Type); !ok || a.Fields()[i].Name != b.Fields()[i].Name {
			return nil, false
		}
	}
	if x, ok := have.(*arrow.FixedSizeListType); ok && x.Len() != want.(*arrow.FixedSizeListType).Len() {
		return nil, false
	}
	return array.NewData(want, d.Len(), d.Buffers(), children, d.NullN(), d.Offset()), true
}

// FromTable returns a table as a Value, like [FromRecord]. Columns of several chunks are
// concatenated.
func FromTable(t arrow.Table, o ReadOptions) (v tenon.Value, err error) {
	const fn = "arrowio.FromTable"
	defer recovered(fn, &err)
	defer tenon.Catch(&err)
	if t == nil {
		return nil, fail(tenon.ErrInvalid, fn, "", "the table is nil")
	}
	size := int64(0)
	chunks := make([][]arrow.Array, t.NumCols())
	for i := range chunks {
		chunks[i] = t.Column(i).Data().Chunks()
		for _, c := range chunks[i] {
			size += dataSize(c.Data())
		}
	}
	return newReading(fn, o, size).joined(t.Schema(), chunks, t.NumRows()), nil
}

// joined returns the chunks of columns as a single Value.
func (r *reading) joined(schema *arrow.Schema, chunks [][]arrow.Array, n int64) tenon.Value {
	schema, chunks = r.projected(schema, chunks)
	cols := make([]arrow.Array, len(chunks))
	for i, list := range chunks {
		f := schema.Field(i)
		tenon.Throw(damaged(r.fn, f.Name, proceed(r.o.Context)))
		if len(list) == 1 {
			cols[i] = list[0]
			continue
		}
		if len(list) == 0 {
			cols[i] = array.MakeArrayOfNull(memory.DefaultAllocator, f.Type, 0)
			continue
		}
		data := make([]arrow.ArrayData, len(list))
		for k, c := range list {
			data[k] = r.validated(f.Name, c).Data()
			r.take(f.Name, dataSize(data[k]))
		}
		d, err := r.concat(data)
		tenon.Throw(damaged(r.fn, f.Name, err))
		cols[i] = array.MakeFromData(d)
	}
	return r.value(schema, cols, n)
}
