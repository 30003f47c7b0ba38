package protoio

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// Records and their shapes are TensorFlow extension types.
const (
	recordsClass = "tf.StructuredTensor"
	shapeClass   = "tf.DynamicRaggedShape"
)

// recordsState returns the fields, sorted by name as in TensorFlow, and the shape.
func recordsState(s *structured.Spec) tenon.Encoding {
	fields := map[string]tenon.SpecOf{}
	for _, f := range s.Fields() {
		fields[f.Name] = tenon.SpecOf{Spec: f.Spec}
	}
	return tenon.Tuple{
		tenon.Tuple{tenon.Str("_fields"), tenon.NewDict(fields)},
		tenon.Tuple{tenon.Str("_ragged_shape"), tenon.SpecOf{Spec: recordsShape(s)}},
	}
}

// recordsShape returns the Spec of the shape of records: their partitions, and the
// number of innermost ones.
func recordsShape(s *structured.Spec) tenon.Spec {
	parts, d, inner := tenon.List{}, dtype.Int64, s.Shape()
	for _, p := range s.RowPartitions() {
		parts, d, inner = append(parts, tenon.SpecOf{Spec: p}), p.DType(), shape.Of(p.NVals())
	}
	return tenon.Must(shapeSpec(d, inner, parts))
}

func shapeSpec(d dtype.DType, inner shape.Shape, parts tenon.List) (tenon.Spec, error) {
	return tenon.Decode(ragged.ShapeTypeName, tenon.Tuple{tenon.DType{DType: d}, tenon.Shape{Shape: inner}, parts})
}

// shapeState returns the partitions, the Spec of the sizes of the flat values, and the known sizes.
func shapeState(s *ragged.ShapeSpec) tenon.Encoding {
	parts := tenon.Tuple{}
	for _, p := range s.Partitions() {
		parts = append(parts, tenon.SpecOf{Spec: p})
	}
	sizes := tensor.NewSpec(s.DType(), shape.Of(s.Inner().Rank()))
	return tenon.Tuple{
		tenon.Tuple{tenon.Str("_row_partitions"), parts},
		tenon.Tuple{tenon.Str("_inner_shape"), tenon.SpecOf{Spec: sizes}},
		tenon.Tuple{tenon.Str("_static_inner_shape"), tenon.Shape{Shape: s.Inner()}},
	}
}

// recordsOf is the inverse of recordsState.
func recordsOf(fields tenon.NamedTuple) (tenon.Spec, error) {
	e, _ := fields.Get("_fields")
	dict, err := tenon.As[tenon.Dict](e)
	if err != nil {
		return nil, err
	}
	e, _ = fields.Get("_ragged_shape")
	of, err := tenon.As[tenon.SpecOf](e)
	if err != nil {
		return nil, err
	}
	s, ok := of.Spec.(*ragged.ShapeSpec)
	if !ok {
		return nil, fail(tenon.ErrInvalid, "<"+recordsClass+">", "%s is not the shape of records", tenon.String(of.Spec))
	}
	bare, err := structured.SpecFromShape(s)
	if err != nil || len(dict) == 0 {
		return bare, err
	}
	var list []tenon.Field
	for _, f := range dict {
		of, err := tenon.As[tenon.SpecOf](f.Value)
		if err != nil {
			return nil, within(err, "."+f.Name)
		}
		list = append(list, tenon.Field{Name: f.Name, Spec: of.Spec})
	}
	return structured.NewSpec(bare.Shape(), list)
}

// unionState returns the records of tags and variants, and the names of the variants in the order
// of the tags, which records do not preserve.
func unionState(s *structured.UnionSpec) tenon.Encoding {
	var names tenon.List
	for _, f := range s.Components()[0].Spec.(*structured.Spec).Fields() {
		names = append(names, tenon.Str(f.Name))
	}
	return tenon.Tuple{tenon.SpecOf{Spec: s.Components()[0].Spec}, names}
}

// unionOf is the inverse of unionState.
func unionOf(state tenon.Encoding) (tenon.Spec, error) {
	bad := func() (tenon.Spec, error) {
		return nil, fail(tenon.ErrInvalid, "<"+structured.UnionTypeName+">", "a union must be records and the names of their fields in order")
	}
	t, err := tenon.Elems(state, 2)
	if err != nil {
		return nil, err
	}
	of, err := tenon.As[tenon.SpecOf](t[0])
	if err != nil {
		return nil, err
	}
	names, err := tenon.As[tenon.List](t[1])
	if err != nil {
		return nil, err
	}
	records, ok := of.Spec.(*structured.Spec)
	if !ok || len(names) != len(records.Fields()) {
		return bad()
	}
	list := make([]tenon.Field, len(names))
	for i, e := range names {
		name, err := tenon.As[tenon.Str](e)
		if err != nil {
			return nil, err
		}
		at := slices.Index(records.FieldNames(), string(name))
		if at < 0 {
			return bad()
		}
		list[i] = records.Fields()[at]
	}
	ordered, err := structured.NewSpec(records.Shape(), list)
	if err != nil {
		return nil, err
	}
	return tenon.Decode(structured.UnionTypeName, tenon.SpecOf{Spec: ordered})
}

// shapeOf is the inverse of shapeState.
func shapeOf(fields tenon.NamedTuple) (tenon.Spec, error) {
	e, _ := fields.Get("_row_partitions")
	parts, err := tenon.Elems(e, -1)
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		if of, err := tenon.As[tenon.SpecOf](p); err != nil {
			return nil, err
		} else if _, ok := of.Spec.(*ragged.PartitionSpec); !ok {
			return nil, fail(tenon.ErrInvalid, "<"+shapeClass+">", "%s is not a row partition", tenon.String(of.Spec))
		}
	}
	e, _ = fields.Get("_inner_shape")
	of, err := tenon.As[tenon.SpecOf](e)
	if err != nil {
		return nil, err
	}
	sizes, ok := of.Spec.(*tensor.Spec)
	if !ok {
		return nil, fail(tenon.ErrInvalid, "<"+shapeClass+">", "%s is not a vector of sizes", tenon.String(of.Spec))
	}
	e, _ = fields.Get("_static_inner_shape")
	inner, err := tenon.As[tenon.Shape](e)
	if err != nil {
		return nil, err
	}
	return shapeSpec(sizes.DType(), inner.Shape, parts)
}
