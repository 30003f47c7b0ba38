package arrowio

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/internal/anatomy"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// decode returns an array as a Value of a Spec; its number of rows may differ from that of the
// Spec. The type of the Value checks its components.
func (r *reading) decode(at string, f arrow.Field, d arrow.ArrayData, s tenon.Spec) tenon.Value {
	v := r.unchecked(at, f, d, s)
	tenon.Throw(tenon.Check(v))
	return v
}

func (r *reading) unchecked(at string, f arrow.Field, d arrow.ArrayData, s tenon.Spec) tenon.Value {
	form, _ := f.Metadata.GetValue(keyForm)
	if form == formRows || form == "" && inRows(s) {
		r.complete(at, f, d, s)
		return r.rows(at, f, d, s)
	}
	if d.Len() != 1 {
		tenon.Throw(fail(tenon.ErrInvalid, r.fn, at, "there are %d elements, want one, which holds a whole Value %s", d.Len(), tenon.String(s)))
	}
	return r.whole(at, f, d, s)
}

// rows reads the output of the function [rows].
func (r *reading) rows(at string, f arrow.Field, d arrow.ArrayData, s tenon.Spec) tenon.Value {
	name, meta, d := storage(f, d)
	a := anatomy.OfSpec(s)
	switch a.Kind {
	case anatomy.Leaf:
		return r.tensor(at, name, meta, f, d, s)
	case anatomy.Element:
		return r.elementsOf(at, name, meta, f, d, s.(element.Spec))
	case anatomy.Lists:
		return r.lists(at, name, meta, f, d, s, a)
	case anatomy.Optional:
		return r.optional(at, f, d, s, a)
	case anatomy.Records:
		return r.records(at, d, a, func(d arrow.ArrayData) []tenon.Value { return r.columns(at, d, a.Fields) })
	case anatomy.Words:
		return r.coded(at, d, a)
	case anatomy.Union:
		tagged := anatomy.OfSpec(a.Inner)
		rec := r.records(at, d, tagged, func(d arrow.ArrayData) []tenon.Value { return r.variants(at, d, tagged.Fields) })
		return tenon.Must(a.Make(rec, nil, nil))
	case anatomy.Map:
		rec := anatomy.OfSpec(a.Inner)
		list, item, d := r.partitions(at, f, d, rec.Partitions)
		entries := r.rows(at, arrow.Field{Name: item.Name, Type: d.DataType()}, d, rec.Fields[0].Spec)
		return tenon.Must(a.Make(tenon.Must(rec.MakeRecords(list, d.Len(), []tenon.Value{entries})), nil, nil))
	case anatomy.Held, anatomy.Named:
		return tenon.Must(a.Make(r.rows(at, f, d, a.Inner), nil, nil))
	}
	return tenon.Must(a.MakeParts(r.columns(at, d, a.Fields)))
}

// tensor reads the rows of a dense tensor.
func (r *reading) tensor(at, name, meta string, f arrow.Field, d arrow.ArrayData, s tenon.Spec) tenon.Value {
	n := d.Len()
	dims := []int{n}
	want, elem := shapeOf(s).Dims(), dtypeOf(s)
	if name == fixedShape {
		if v, ok := unnamed(r.fixedShape(at, meta, d)).(*tensor.Dense); ok && v.DType() == elem && (len(want) == 0 || len(want) == v.Rank()) {
			return v
		}
	}
	for {
		l, ok := r.level(d)
		if !ok {
			break
		}
		k, same := l.size()
		if !same || len(want) == 1 && !elem.IsComplex() {
			tenon.Throw(r.mismatch(at, f.Type, tenon.String(s)))
		}
		d, dims = l.child, append(dims, k)
	}
	v := r.vector(at, d, elem)
	if len(want) > 0 {
		dims = append([]int{n}, want[1:]...)
	}
	if product(dims) != v.Shape().Size() {
		tenon.Throw(r.mismatch(at, f.Type, tenon.String(s)))
	}
	return reshaped(v, dims...)
}

// dtypeOf returns the element type of a Spec.
func dtypeOf(s tenon.Spec) dtype.DType {
	if t, ok := s.(interface{ DType() dtype.DType }); ok {
		return t.DType()
	}
	return dtype.None
}

// lists reads rows as lists.
func (r *reading) lists(at, name, meta string, f arrow.Field, d arrow.ArrayData, s tenon.Spec, a anatomy.Spec) tenon.Value {
	if name == variableShape {
		t, ok := ragged.As(unnamed(r.variableShape(at, meta, d)))
		if !ok || t.RaggedRank() != len(a.Partitions) || !tenon.Compatible(t.FlatValues().Spec(), unsized(a.Inner)) {
			tenon.Throw(r.mismatch(at, f.Type, tenon.String(s)))
		}
		t = tenon.Must(t.WithSplitsDType(a.Partitions[0].DType()))
		return tenon.Must(a.Make(t.FlatValues(), t.Partitions(), nil))
	}
	list, item, d := r.partitions(at, f, d, a.Partitions)
	return tenon.Must(a.Make(r.rows(at+"[]", item, d, a.Inner), list, nil))
}

// unsized returns a Spec of a tensor with any number of rows.
func unsized(s tenon.Spec) tenon.Spec {
	if t, ok := s.(*tensor.Spec); ok && t.Shape().Rank() > 0 {
		return tensor.NewSpec(t.DType(), t.Shape().With(0, shape.Unknown))
	}
	return s
}

// partitions takes lists apart, one level for each Spec.
func (r *reading) partitions(at string, f arrow.Field, d arrow.ArrayData, specs []*ragged.PartitionSpec) ([]*ragged.RowPartition, arrow.Field, arrow.ArrayData) {
	var out []*ragged.RowPartition
	for _, s := range specs {
		l, ok := r.level(d)
		if !ok {
			tenon.Throw(r.mismatch(at, d.DataType(), "lists"))
		}
		out = append(out, r.partition(at, l, d.Len(), s))
		f, d = l.item, l.child
	}
	return out, f, d
}

// optional reads elements some of which are missing.
func (r *reading) optional(at string, f arrow.Field, d arrow.ArrayData, s tenon.Spec, a anatomy.Spec) tenon.Value {
	at2 := d
	for range shapeOf(a.Mask).Rank() - 1 {
		l, ok := r.level(at2)
		if !ok {
			tenon.Throw(r.mismatch(at, at2.DataType(), tenon.String(s)))
		}
		at2 = l.child
	}
	bits := r.divided(at, f, d, tensor.Vector(r.validOrAll(at, at2)), a.Mask)
	return tenon.Must(a.Make(r.rows(at, f, d, a.Inner), nil, bits))
}

// divided arranges a vector as the lists of an array, in the form that a Spec requires: as
// partitions, or as axes of a tensor.
func (r *reading) divided(at string, f arrow.Field, d arrow.ArrayData, v tensor.Tensor, s tenon.Spec) tensor.Tensor {
	a := anatomy.OfSpec(s)
	if a.Kind != anatomy.Lists {
		return reshaped(v, append([]int{d.Len()}, shapeOf(s).Dims()[1:]...)...)
	}
	list, _, inner := r.partitions(at, f, d, a.Partitions)
	dims := append([]int{inner.Len()}, shapeOf(a.Inner).Dims()[1:]...)
	if k := product(dims[1:]); k > 0 {
		dims[0] = v.Shape().Size() / k
	}
	return tenon.Must(ragged.FromPartitions(reshaped(v, dims...), list...))
}

// records reads lists of records; read reads their columns.
func (r *reading) records(at string, d arrow.ArrayData, a anatomy.Spec, read func(d arrow.ArrayData) []tenon.Value) tenon.Value {
	list, _, d := r.partitions(at, arrow.Field{}, d, a.Partitions)
	return tenon.Must(a.MakeRecords(list, d.Len(), read(d)))
}

// columns reads the fields of a struct.
func (r *reading) columns(at string, d arrow.ArrayData, want []tenon.Field) []tenon.Value {
	t, ok := d.DataType().(*arrow.StructType)
	if !ok || t.NumFields() != len(want) {
		tenon.Throw(r.mismatch(at, d.DataType(), fmt.Sprintf("a struct of %d fields", len(want))))
	}
	out := make([]tenon.Value, len(want))
	for i, c := range want {
		k, ok := t.FieldIdx(c.Name)
		if !ok {
			tenon.Throw(r.mismatch(at, d.DataType(), "a struct with the field "+below("", c.Name)))
		}
		out[i] = r.rows(below(at, c.Name), t.Field(k), slice(d.Children()[k], d.Offset(), d.Offset()+d.Len()), c.Spec)
	}
	return out
}

// variants reads a sparse union as its tags and variants.
func (r *reading) variants(at string, d arrow.ArrayData, want []tenon.Field) []tenon.Value {
	if s, ok := d.DataType().(*arrow.StructType); ok && s.NumFields() == 1 { // some entries are missing
		d = slice(d.Children()[0], d.Offset(), d.Offset()+d.Len())
	}
	t, ok := d.DataType().(*arrow.SparseUnionType)
	if !ok || t.NumFields() != len(want)-1 {
		tenon.Throw(r.mismatch(at, d.DataType(), fmt.Sprintf("a sparse union of %d variants", len(want)-1)))
	}
	tags := make([]int8, d.Len())
	for i, id := range d.Buffers()[1].Bytes()[d.Offset() : d.Offset()+d.Len()] {
		tags[i] = int8(t.ChildIDs()[id])
	}
	out := []tenon.Value{r.rows(at, arrow.Field{}, array.NewData(arrow.PrimitiveTypes.Int8, d.Len(), d.Buffers(), nil, 0, d.Offset()), want[0].Spec)}
	out[0] = reshaped(tensor.Vector(tags), out[0].(tensor.Tensor).Shape().Dims()...)
	for i, c := range want[1:] {
		out = append(out, r.rows(below(at, c.Name), t.Fields()[i], slice(d.Children()[i], d.Offset(), d.Offset()+d.Len()), c.Spec))
	}
	return out
}

// coded reads strings in dictionary form.
func (r *reading) coded(at string, d arrow.ArrayData, a anatomy.Spec) tenon.Value {
	leaf := d
	for {
		l, ok := r.level(leaf)
		if !ok {
			break
		}
		leaf = l.child
	}
	var words, codes tensor.Tensor
	if t, ok := leaf.DataType().(*arrow.DictionaryType); ok {
		words, codes = r.vector(at, leaf.Dictionary(), dtype.String), r.codes(at, t, leaf)
	} else { // plain strings, as written by other programs
		x := tenon.Must(structured.EncodeStrings(r.vector(at, leaf, dtype.String)))
		words, codes = x.Words(), x.Codes()
	}
	codes = r.divided(at, arrow.Field{}, d, codes, a.Inner)
	return tenon.Must(structured.NewDictionary(codes, words))
}

// retype returns an array's data with another type.
func retype(d arrow.ArrayData, t arrow.DataType) arrow.ArrayData {
	return array.NewData(t, d.Len(), d.Buffers(), nil, d.NullN(), d.Offset())
}

// whole reads the output of the function [whole].
func (r *reading) whole(at string, f arrow.Field, d arrow.ArrayData, s tenon.Spec) tenon.Value {
	a := anatomy.OfSpec(s)
	if a.Kind == anatomy.Held && shapeOf(s).IsScalar() {
		return tenon.Must(structured.Hold(r.whole(at, f, d, a.Inner)))
	}
	if form, _ := f.Metadata.GetValue(keyForm); form == formList || form == "" && inRows(s) {
		l, ok := r.level(d)
		if !ok || d.Len() != 1 {
			tenon.Throw(r.mismatch(at, d.DataType(), "a list of rows"))
		}
		return r.rows(at+"[]", l.item, l.child, s)
	}
	switch a.Kind {
	case anatomy.Leaf:
		if l, ok := r.level(d); ok && dtypeOf(s).IsComplex() {
			d = l.child
		}
		return reshaped(r.vector(at, d, dtypeOf(s)))
	case anatomy.Optional:
		if shapeOf(a.Mask).IsScalar() {
			return tenon.Must(a.Make(r.whole(at, f, d, a.Inner), nil, tensor.Scalar(r.validOrAll(at, d)[0])))
		}
	case anatomy.Named:
		return tenon.Must(s.Assemble([]tenon.Value{r.whole(at, f, d, a.Inner)}))
	}
	t, ok := d.DataType().(*arrow.StructType)
	fields := s.Components()
	if !ok || t.NumFields() != len(fields) {
		tenon.Throw(r.mismatch(at, d.DataType(), fmt.Sprintf("a struct of the components of %s", tenon.String(s))))
	}
	list := make([]tenon.Value, len(fields))
	for i, c := range fields {
		list[i] = r.whole(below(at, c.Name), t.Field(i), slice(d.Children()[i], d.Offset(), d.Offset()+d.Len()), c.Spec)
	}
	return tenon.Must(s.Assemble(list))
}
