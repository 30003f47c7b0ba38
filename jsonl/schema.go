package jsonl

import (
	"maps"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/jsoncol"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func rowsOf(n int) shape.Shape { return shape.Of(n) }

// rowsUnknown returns the Spec of records, with any number of rows.
func rowsUnknown(t *structured.Tensor) (*structured.Spec, error) {
	row, err := t.Spec().(*structured.Spec).Unbatched()
	if err != nil {
		return nil, err
	}
	s, err := row.(tenon.Batcher).Batched(shape.Unknown)
	if err != nil {
		return nil, err
	}
	return s.(*structured.Spec), nil
}

// schema returns the schema of the columns to read: that of the Spec, or one that leaves
// the types to the data.
func (o *Options) schema(b *builder) (*jsoncol.Schema, error) {
	var s *jsoncol.Schema
	if o.Schema != nil {
		if o.Schema.Rank() > 1 {
			return nil, invalid("jsonl.Options.Schema", "", "has rank %d, a source has records of rank 1", o.Schema.Rank())
		}
		m := schemaMaker{missing: missing(o.Missing), forms: map[*jsoncol.Schema]form{}, widen: o.Widen}
		if o.Widen || m.missing == jsoncol.MissingMasked {
			m.missing = jsoncol.MissingInherit // what the schema makes optional always is
		}
		var err error
		if s, err = m.records(o.Schema, nil); err != nil {
			return nil, err
		}
		s.Missing = jsoncol.MissingError
		b.guide, b.forms = s, m.forms
	}
	for _, path := range slices.Sorted(maps.Keys(o.Defaults)) {
		names, err := splitPath(path)
		if err != nil {
			return nil, invalid("jsonl.Options.Defaults", path, "%v", err)
		}
		if s == nil {
			s = &jsoncol.Schema{Kind: jsoncol.Struct, Open: true}
		}
		if err := setDefault(s, names, path, o.Defaults[path]); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// setDefault gives the field at a path a value for records that lack it.
func setDefault(s *jsoncol.Schema, names []string, path string, value any) error {
	for s.Kind == jsoncol.List {
		s = s.Elem
	}
	if s.Kind != jsoncol.Struct {
		return invalid("jsonl.Options.Defaults", path, "leads through a field that is no record")
	}
	k := slices.IndexFunc(s.Fields, func(f jsoncol.SchemaField) bool { return f.Name == names[0] })
	if len(names) > 1 {
		if k < 0 {
			k = len(s.Fields)
			s.Fields = append(s.Fields, jsoncol.SchemaField{Name: names[0], Schema: &jsoncol.Schema{Kind: jsoncol.Struct, Open: true}})
		}
		return setDefault(s.Fields[k].Schema, names[1:], path, value)
	}
	leaf := leafFor(value)
	if leaf == nil {
		return invalid("jsonl.Options.Defaults", path, "is a %T, want a bool, int64, float64 or string", value)
	}
	if k < 0 {
		s.Fields = append(s.Fields, jsoncol.SchemaField{Name: names[0], Schema: leaf})
		return nil
	}
	f := s.Fields[k].Schema
	if n, ok := leaf.Default.(int64); ok && f.Kind == jsoncol.Float64 {
		leaf.Default = float64(n)
	} else if f.Kind != leaf.Kind {
		return invalid("jsonl.Options.Defaults", path, "is a %T, the field %s", value, f)
	}
	f.Missing, f.Default = jsoncol.MissingDefault, leaf.Default
	return nil
}

// leafFor returns the schema of a field with a default.
func leafFor(value any) *jsoncol.Schema {
	s := &jsoncol.Schema{Missing: jsoncol.MissingDefault}
	switch x := value.(type) {
	case bool:
		s.Kind, s.Default = jsoncol.Bool, x
	case int:
		s.Kind, s.Default = jsoncol.Int64, int64(x)
	case int64:
		s.Kind, s.Default = jsoncol.Int64, x
	case float64:
		s.Kind, s.Default = jsoncol.Float64, x
	case string:
		s.Kind, s.Default = jsoncol.String, x
	default:
		return nil
	}
	return s
}

// A form says more about a node of a schema than columns know.
type form struct {
	dense      bool // a list that is an axis of a dense tensor
	uniform    bool // a list of a declared length
	length     int  // of it; shape.Unknown: that of the first
	dictionary bool // strings that are kept as words
}

// schemaMaker turns Specs into schemas.
type schemaMaker struct {
	missing jsoncol.Missing // of what is not optional
	forms   map[*jsoncol.Schema]form
	widen   bool
}

// records returns the schema of one record.
func (m *schemaMaker) records(s *structured.Spec, path []string) (*jsoncol.Schema, error) {
	out := &jsoncol.Schema{Kind: jsoncol.Struct, Missing: m.missing}
	for _, f := range s.Fields() {
		x, err := m.of(f.Spec, s.Rank(), append(slices.Clone(path), f.Name))
		if err != nil {
			return nil, err
		}
		out.Fields = append(out.Fields, jsoncol.SchemaField{Name: f.Name, Schema: x})
	}
	return out, nil
}

// typed is a Spec with a shape.
type typed interface {
	tenon.Spec
	DType() dtype.DType
	Shape() shape.Shape
}

// of returns the schema of one entry of a Spec, below its first rows dimensions.
func (m *schemaMaker) of(s tenon.Spec, rows int, path []string) (*jsoncol.Schema, error) {
	t, ok := s.(typed)
	if !ok || !t.Shape().HasRank() || t.Shape().Rank() < rows {
		return nil, m.unfit(s, path)
	}
	dims := t.Shape().Dims()[rows:]
	switch x := s.(type) {
	case *masked.Spec:
		out, err := m.of(x.Values(), rows, path)
		if err != nil {
			return nil, err
		}
		at := out
		for range x.Mask().(typed).Shape().Rank() - rows {
			at = at.Elem
		}
		at.Missing = jsoncol.MissingMasked
		return out, nil
	case *structured.Spec:
		row, err := m.records(x, path)
		return m.divided(row, x.RowPartitions(), rows), err
	case *structured.MapSpec:
		one, ok := x.Value().(tenon.Batcher)
		if !ok {
			return nil, m.unfit(s, path)
		}
		many, err := one.Batched(shape.Unknown)
		if err != nil {
			return nil, err
		}
		value, err := m.of(many, 1, path)
		if err != nil {
			return nil, err
		}
		out := jsoncol.NewMap(value)
		out.Missing = m.missing
		entries := x.Entries().RowPartitions()
		return m.divided(out, entries[:len(entries)-1], rows), nil
	case *structured.UnionSpec:
		out := &jsoncol.Schema{Kind: jsoncol.Union, Missing: m.missing}
		for _, v := range x.Variants() {
			y, err := m.of(v.Spec, t.Shape().Rank(), path)
			if err != nil {
				return nil, err
			}
			out.Fields = append(out.Fields, jsoncol.SchemaField{Name: v.Name, Schema: y})
		}
		return m.axes(out, dims, false), nil
	case *ragged.Spec:
		inner, err := m.of(x.Flat(), 1, path)
		return m.divided(inner, x.Partitions(), rows), err
	case *tensor.Spec, *structured.DictionarySpec:
		leaf := jsoncol.NewLeaf(t.DType())
		if m.widen && (leaf.Kind == jsoncol.Int64 && t.DType() == dtype.Int64 || leaf.Kind == jsoncol.Float64 && t.DType() == dtype.Float64 || leaf.Kind == jsoncol.Bool || leaf.Kind == jsoncol.String) {
			leaf.DType = dtype.None // and so not asked for
		}
		if leaf.Kind == jsoncol.Null {
			return nil, m.unfit(s, path)
		}
		leaf.Missing = m.missing
		if _, ok := x.(*structured.DictionarySpec); ok {
			m.forms[leaf] = form{dictionary: true}
		}
		return m.axes(leaf, dims, true), nil
	}
	return nil, m.unfit(s, path)
}

// divided returns the schema of lists around s, one for each partition below the first
// rows dimensions.
func (m *schemaMaker) divided(s *jsoncol.Schema, parts []*ragged.PartitionSpec, rows int) *jsoncol.Schema {
	for i := len(parts) - 1; i >= max(rows-1, 0); i-- {
		s = &jsoncol.Schema{Kind: jsoncol.List, Missing: m.missing, Elem: s}
		m.forms[s] = form{uniform: parts[i].IsUniform(), length: parts[i].UniformRowLength()}
	}
	if rows == 0 {
		s = &jsoncol.Schema{Kind: jsoncol.List, Missing: m.missing, Elem: s}
	}
	return s
}

// axes returns the schema of lists around s, one for each axis.
func (m *schemaMaker) axes(s *jsoncol.Schema, dims []int, dense bool) *jsoncol.Schema {
	for _, n := range slices.Backward(dims) {
		s = &jsoncol.Schema{Kind: jsoncol.List, Missing: m.missing, Elem: s}
		m.forms[s] = form{dense: dense, uniform: dense || n >= 0, length: n}
	}
	return s
}

func (m *schemaMaker) unfit(s tenon.Spec, path []string) error {
	return invalid("jsonl.Options.Schema", structured.PathString(path), "JSON has no form for %s", tenon.String(s))
}
