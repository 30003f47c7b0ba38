package jsonl

import (
	"maps"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/internal/anatomy"
	"github.com/tenonml/tenon/internal/jsoncol"
	"github.com/tenonml/tenon/internal/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
)

func rowsOf(n int) shape.Shape { return shape.Of(n) }

// rowsUnknown returns the Spec of records with an unknown number of rows.
func rowsUnknown(t *structured.Tensor) (*structured.Spec, error) {
	row, err := rows.RowSpec(t.Spec())
	if err != nil {
		return nil, err
	}
	s, err := rows.BatchSpec(row, shape.Unknown)
	if err != nil {
		return nil, err
	}
	return s.(*structured.Spec), nil
}

// schema returns the schema of the columns to read: that of the Spec, or one that infers all types.
func (o *Options) schema(b *builder) (*jsoncol.Schema, error) {
	var s *jsoncol.Schema
	if o.Schema != nil {
		if o.Schema.Rank() > 1 {
			return nil, invalid("jsonl.Options.Schema", "", "has rank %d, a source has records of rank 1", o.Schema.Rank())
		}
		m := schemaMaker{missing: missing(o.Missing), forms: map[*jsoncol.Schema]form{}, widen: o.Widen}
		if o.Widen || m.missing == jsoncol.MissingMasked {
			m.missing = jsoncol.MissingInherit // optional fields of the schema stay optional
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

// setDefault sets the default of the field at a path.
func setDefault(s *jsoncol.Schema, names []string, path string, value any) error {
	for s.Kind == jsoncol.List {
		s = s.Elem
	}
	if s.Kind != jsoncol.Struct {
		return invalid("jsonl.Options.Defaults", path, "leads through a field that is not a record")
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
		return invalid("jsonl.Options.Defaults", path, "is a %T, but the field is %s", value, f)
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

// A form describes aspects of a schema node that columns cannot represent.
type form struct {
	dense      bool // a list that is an axis of a dense tensor
	uniform    bool // a list of a declared length
	length     int  // that length; shape.Unknown means that of the first list
	dictionary bool // strings read as a structured.Dictionary

	element *element.Type // meaning of strings and numbers

	parts  *anatomy.Spec  // an object that is a Value of a type defined elsewhere
	around []anatomy.Spec // wrappers around the value: names, or a held value
}

// schemaMaker converts Specs to schemas.
type schemaMaker struct {
	missing jsoncol.Missing // policy of what is not optional
	forms   map[*jsoncol.Schema]form
	widen   bool
}

// recordsSpec is the Spec of records.
type recordsSpec interface {
	Rank() int
	Fields() []tenon.Field
}

// records returns the schema of one record.
func (m *schemaMaker) records(s recordsSpec, path []string) (*jsoncol.Schema, error) {
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
	a := anatomy.OfSpec(s)
	switch a.Kind {
	case anatomy.Parts:
		return m.parts(s, a, rows, path)
	case anatomy.Held, anatomy.Named:
		out, err := m.of(a.Inner, rows, path)
		return m.around(out, a), err
	case anatomy.Lists:
		inner, err := m.of(a.Inner, 1, path)
		return m.around(m.divided(inner, a.Partitions, rows), a), err
	}
	t, ok := s.(typed)
	if !ok || !t.Shape().HasRank() || t.Shape().Rank() < rows {
		return nil, m.unfit(s, path)
	}
	dims := t.Shape().Dims()[rows:]
	switch a.Kind {
	case anatomy.Optional:
		out, err := m.of(a.Inner, rows, path)
		if err != nil {
			return nil, err
		}
		at := out
		for range a.Mask.(typed).Shape().Rank() - rows {
			at = at.Elem
		}
		at.Missing = jsoncol.MissingMasked
		return m.around(out, a), nil
	case anatomy.Records:
		row, err := m.records(s.(recordsSpec), path)
		return m.divided(row, a.Partitions, rows), err
	case anatomy.Map:
		x := s.(*structured.MapSpec)
		if !x.HasTextKeys() { // objects need text keys: use lists of entries
			out, err := m.of(x.Entries(), rows, path)
			if err != nil {
				return nil, err
			}
			at := out
			for range x.Shape().Rank() - rows {
				at = at.Elem
			}
			at.Missing = m.missing
			f := m.forms[out]
			f.around = append(f.around, a)
			m.forms[out] = f
			return out, nil
		}
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
	case anatomy.Union:
		out := &jsoncol.Schema{Kind: jsoncol.Union, Missing: m.missing}
		for _, v := range s.(*structured.UnionSpec).Variants() {
			y, err := m.of(v.Spec, t.Shape().Rank(), path)
			if err != nil {
				return nil, err
			}
			out.Fields = append(out.Fields, jsoncol.SchemaField{Name: v.Name, Schema: y})
		}
		return m.axes(out, dims, false), nil
	}
	if e, ok := s.(element.Spec); ok {
		typ := e.Type()
		leaf := &jsoncol.Schema{Kind: jsoncol.String, DType: dtype.String, Text: true, Missing: m.missing}
		m.forms[leaf] = form{element: &typ}
		return m.axes(leaf, dims, true), nil
	}
	leaf := jsoncol.NewLeaf(t.DType())
	if m.widen && (leaf.Kind == jsoncol.Int64 && t.DType() == dtype.Int64 || leaf.Kind == jsoncol.Float64 && t.DType() == dtype.Float64 || leaf.Kind == jsoncol.Bool || leaf.Kind == jsoncol.String) {
		leaf.DType = dtype.None // the type is not requested
	}
	if leaf.Kind == jsoncol.Null {
		return nil, m.unfit(s, path)
	}
	leaf.Missing = m.missing
	if a.Kind == anatomy.Words {
		m.forms[leaf] = form{dictionary: true}
	}
	return m.axes(leaf, dims, true), nil
}

// around records the wrappers of a value, which the node itself does not represent.
func (m *schemaMaker) around(s *jsoncol.Schema, a anatomy.Spec) *jsoncol.Schema {
	if s != nil && (a.Kind == anatomy.Held || a.Kind == anatomy.Named || a.Outside()) {
		f := m.forms[s]
		f.around = append(f.around, a)
		m.forms[s] = f
	}
	return s
}

// parts returns the schema of a type defined elsewhere: an object of its components.
func (m *schemaMaker) parts(s tenon.Spec, a anatomy.Spec, dims int, path []string) (*jsoncol.Schema, error) {
	if dims == 0 { // as one row
		many, err := rows.BatchSpec(s, shape.Unknown)
		if err != nil {
			return nil, err
		}
		return m.parts(many, anatomy.OfSpec(many), 1, path)
	}
	shared, ok := rows.Components(s)
	if !ok || dims > 1 {
		return nil, m.unfit(s, path)
	}
	out := &jsoncol.Schema{Kind: jsoncol.Struct, Missing: m.missing}
	for i, f := range a.Fields {
		at := append(slices.Clone(path), f.Name)
		if shared[i] {
			return nil, m.unfit(s, at)
		}
		x, err := m.of(f.Spec, 1, at)
		if err != nil {
			return nil, err
		}
		out.Fields = append(out.Fields, jsoncol.SchemaField{Name: f.Name, Schema: x})
	}
	m.forms[out] = form{parts: &a}
	return out, nil
}

// divided returns the schema of lists around s, one for each partition below the first rows
// dimensions.
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
	return invalid("jsonl.Options.Schema", structured.PathString(path), "JSON cannot represent %s", tenon.String(s))
}
