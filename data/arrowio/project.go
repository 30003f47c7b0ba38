package arrowio

import (
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/colname"
	"github.com/tenonml/tenon/structured"
)

// A choice is a column to read, and which of its fields.
type choice struct {
	column int
	paths  [][]string // nil means all fields
}

// fieldNames returns the names of columns, made unique as field names of records.
func fieldNames(fields []arrow.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return colname.Unique(names)
}

// choices returns the columns requested by ReadOptions.Columns.
func (r *reading) choices(s *arrow.Schema) []choice {
	names := fieldNames(s.Fields())
	var out []choice
	for _, text := range r.o.Columns {
		path, k := []string{text}, slices.Index(names, text)
		if k < 0 {
			var err error
			if path, err = structured.ParsePath(text); err == nil {
				k = slices.Index(names, path[0])
			}
		}
		if k < 0 {
			e := fail(tenon.ErrNotFound, r.fn, text, "there is no such column")
			e.Hint = "the columns are " + strings.Join(names, ", ")
			tenon.Throw(e)
		}
		c := choice{column: k}
		if len(path) > 1 {
			c.paths = [][]string{path[1:]}
		}
		if at := slices.IndexFunc(out, func(o choice) bool { return o.column == k }); at < 0 {
			out = append(out, c)
		} else if c.paths == nil || out[at].paths == nil {
			out[at].paths = nil
		} else {
			out[at].paths = append(out[at].paths, c.paths...)
		}
	}
	return out
}

// projected returns the columns to read, each in chunks, with unique names. If columns are chosen,
// it returns only these.
func (r *reading) projected(s *arrow.Schema, chunks [][]arrow.Array) (*arrow.Schema, [][]arrow.Array) {
	if r.o.Columns == nil {
		return s, chunks
	}
	if kind, _ := s.Metadata().GetValue(keyWhole); kind != "" && !r.o.Plain {
		tenon.Throw(fail(tenon.ErrInvalid, r.fn, "ReadOptions.Columns", "the data is a single Value without columns to choose from"))
	}
	names := fieldNames(s.Fields())
	var fields []arrow.Field
	var cols [][]arrow.Array
	for _, c := range r.choices(s) {
		f, list := s.Field(c.column), chunks[c.column]
		f.Name = names[c.column]
		if c.paths != nil {
			pruned := make([]arrow.Array, len(list))
			for i, a := range list {
				_, d := r.pruned(below("", f.Name), f, a.Data(), c.paths)
				pruned[i] = array.MakeFromData(d)
			}
			f.Type = r.prunedType(below("", f.Name), f, c.paths)
			f.Metadata = unspecified(f.Metadata)
			list = pruned
		}
		fields, cols = append(fields, f), append(cols, list)
	}
	meta := unspecified(s.Metadata())
	return arrow.NewSchema(fields, &meta), cols
}

// unspecified returns metadata without the Spec, for columns that are no longer complete.
func unspecified(m arrow.Metadata) arrow.Metadata {
	rest := metaOf(m)
	delete(rest, keySpec)
	delete(rest, keyForm)
	return arrow.MetadataFrom(rest)
}

// prunedType returns the type of the result of pruned.
func (r *reading) prunedType(at string, f arrow.Field, paths [][]string) arrow.DataType {
	a := array.NewData(f.Type, 0, make([]*memory.Buffer, len(f.Type.Layout().Buffers)), emptyChildren(f.Type), 0, 0)
	_, d := r.pruned(at, f, a, paths)
	return d.DataType()
}

// emptyChildren returns children of a type without elements, for callers that need only their
// types.
func emptyChildren(t arrow.DataType) []arrow.ArrayData {
	n, ok := t.(arrow.NestedType)
	if !ok {
		return nil
	}
	var out []arrow.ArrayData
	for _, f := range n.Fields() {
		out = append(out, array.NewData(f.Type, 0, make([]*memory.Buffer, len(f.Type.Layout().Buffers)), emptyChildren(f.Type), 0, 0))
	}
	return out
}

// pruned returns an array with only the fields at the given paths, through lists. It does not copy
// or read the data.
func (r *reading) pruned(at string, f arrow.Field, d arrow.ArrayData, paths [][]string) (arrow.Field, arrow.ArrayData) {
	if slices.ContainsFunc(paths, func(p []string) bool { return len(p) == 0 }) {
		return f, d
	}
	f.Metadata = unspecified(f.Metadata)
	switch t := d.DataType().(type) {
	case *arrow.StructType:
		return r.prunedRecord(at, f, t, d, paths)
	case arrow.ListLikeType:
		item, child := r.pruned(at+"[]", t.ElemField(), d.Children()[0], paths)
		f.Type = retyped(t, item)
		return f, array.NewData(f.Type, d.Len(), d.Buffers(), []arrow.ArrayData{child}, d.NullN(), d.Offset())
	}
	tenon.Throw(fail(tenon.ErrNotFound, r.fn, at, "the column is %v: it has no field %s", d.DataType(), structured.PathString(paths[0])))
	return f, nil
}

func (r *reading) prunedRecord(at string, f arrow.Field, t *arrow.StructType, d arrow.ArrayData, paths [][]string) (arrow.Field, arrow.ArrayData) {
	names := fieldNames(t.Fields())
	var fields []arrow.Field
	var children []arrow.ArrayData
	for i, p := range paths {
		if slices.ContainsFunc(paths[:i], func(q []string) bool { return q[0] == p[0] }) {
			continue // already included with that one
		}
		k := slices.Index(names, p[0])
		if k < 0 {
			e := fail(tenon.ErrNotFound, r.fn, below(at, p[0]), "there is no such field")
			e.Hint = "the fields are " + strings.Join(names, ", ")
			tenon.Throw(e)
		}
		var rest [][]string
		for _, q := range paths[i:] {
			if q[0] == p[0] {
				rest = append(rest, q[1:])
			}
		}
		g, c := r.pruned(below(at, p[0]), t.Field(k), d.Children()[k], rest)
		g.Name = names[k]
		fields, children = append(fields, g), append(children, c)
	}
	f.Type = arrow.StructOf(fields...)
	return f, array.NewData(f.Type, d.Len(), d.Buffers(), children, d.NullN(), d.Offset())
}
