package arrowio

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// decode returns an array as a Value of a Spec, which may have another number of rows. Its
// type checks what arrives.
func (r *reading) decode(at string, f arrow.Field, d arrow.ArrayData, s tenon.Spec) tenon.Value {
	v := r.unchecked(at, f, d, s)
	tenon.Throw(tenon.Check(v))
	return v
}

func (r *reading) unchecked(at string, f arrow.Field, d arrow.ArrayData, s tenon.Spec) tenon.Value {
	form, _ := f.Metadata.GetValue(keyForm)
	if form == formRows || form == "" && inRows(s) {
		return r.rows(at, f, d, s)
	}
	if d.Len() != 1 {
		tenon.Throw(fail(tenon.ErrInvalid, r.fn, at, "there are %d elements, want one: each holds all of a Value %s", d.Len(), tenon.String(s)))
	}
	return r.whole(at, f, d, s)
}

// rows reads what [rows] has written.
func (r *reading) rows(at string, f arrow.Field, d arrow.ArrayData, s tenon.Spec) tenon.Value {
	name, meta, d := storage(f, d)
	switch s := s.(type) {
	case *tensor.Spec:
		return r.tensor(at, name, meta, f, d, s)
	case *ragged.Spec:
		return r.ragged(at, name, meta, f, d, s)
	case *masked.Spec:
		return r.masked(at, f, d, s)
	case *structured.Spec:
		return r.records(at, d, s, func(d arrow.ArrayData) []tenon.Value { return r.columns(at, d, columns(s)) })
	case *structured.DictionarySpec:
		return r.coded(at, d, s)
	case *structured.UnionSpec:
		rec, ok := s.Components()[0].Spec.(*structured.Spec)
		if !ok {
			break
		}
		return assembleUnion(r.records(at, d, rec, func(d arrow.ArrayData) []tenon.Value { return r.variants(at, d, columns(rec)) }))
	case *structured.HeldSpec:
		return tenon.Must(structured.HoldRows(r.rows(at, f, d, s.Value())))
	case *named.Spec:
		inner := r.rows(at, f, d, s.Inner())
		return tenon.Must(tenon.Must(named.NewSpec(inner.Spec(), s.Dims().Names()...)).Assemble([]tenon.Value{inner}))
	}
	return r.components(at, d, s)
}

// tensor reads the rows of a dense tensor.
func (r *reading) tensor(at, name, meta string, f arrow.Field, d arrow.ArrayData, s *tensor.Spec) tenon.Value {
	n := d.Len()
	dims := []int{n}
	want := s.Shape().Dims()
	if name == fixedShape {
		var v tenon.Value = r.fixedShape(at, meta, d)
		if x, ok := v.(*named.Tensor); ok {
			v = parts(x)[0]
		}
		if v, ok := v.(*tensor.Dense); ok && v.DType() == s.DType() && (len(want) == 0 || len(want) == v.Rank()) {
			return v
		}
	}
	for {
		l, ok := r.level(d)
		if !ok {
			break
		}
		d, dims = l.child, append(dims, l.k)
	}
	v := r.vector(at, d, s.DType())
	if len(want) > 0 {
		dims = append([]int{n}, want[1:]...)
	}
	if product(dims) != v.Shape().Size() {
		tenon.Throw(r.mismatch(at, f.Type, tenon.String(s)))
	}
	return reshaped(v, dims...)
}

// ragged reads rows in lists.
func (r *reading) ragged(at, name, meta string, f arrow.Field, d arrow.ArrayData, s *ragged.Spec) tenon.Value {
	if name == variableShape {
		var v tenon.Value = r.variableShape(at, meta, d)
		if x, ok := v.(*named.Tensor); ok {
			v = parts(x)[0]
		}
		t, ok := v.(*ragged.Tensor)
		if !ok || t.RaggedRank() != s.RaggedRank() || !tenon.Compatible(t.FlatValues().Spec(), unsized(s.Flat())) {
			tenon.Throw(r.mismatch(at, f.Type, tenon.String(s)))
		}
		return tenon.Must(t.WithSplitsDType(s.SplitsDType()))
	}
	list, item, d := r.partitions(at, f, d, s.Partitions())
	flat := r.rows(at+"[]", item, d, s.Flat())
	components := []tenon.Value{flat}
	for _, p := range list {
		components = append(components, p)
	}
	if v, err := s.Assemble(components); err == nil {
		return v
	}
	return tenon.Must(ragged.FromPartitions(flat.(tensor.Tensor), list...))
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

// masked reads elements of which some are missing.
func (r *reading) masked(at string, f arrow.Field, d arrow.ArrayData, s *masked.Spec) tenon.Value {
	inner, at2 := d, d
	depth := 0
	if m, ok := s.Mask().(interface{ Shape() shape.Shape }); ok {
		depth = m.Shape().Rank() - 1
	}
	for range depth {
		l, ok := r.level(at2)
		if !ok {
			tenon.Throw(r.mismatch(at, at2.DataType(), tenon.String(s)))
		}
		at2 = l.child
	}
	var bits tenon.Value = tensor.Vector(r.validOrAll(at, at2))
	switch m := s.Mask().(type) {
	case *ragged.Spec:
		list, _, _ := r.partitions(at, f, d, m.Partitions())
		dims := append([]int{at2.Len()}, m.Flat().(*tensor.Spec).Shape().Dims()[1:]...)
		if k := product(dims[1:]); k > 0 {
			dims[0] /= k
		}
		bits = tenon.Must(ragged.FromPartitions(reshaped(bits.(tensor.Tensor), dims...), list...))
	case *tensor.Spec:
		bits = reshaped(bits.(tensor.Tensor), append([]int{d.Len()}, m.Shape().Dims()[1:]...)...)
	}
	v := r.rows(at, f, inner, s.Values())
	return tenon.Must(masked.New(v, bits))
}

// records reads lists of records, whose columns are read by a function.
func (r *reading) records(at string, d arrow.ArrayData, s *structured.Spec, read func(d arrow.ArrayData) []tenon.Value) tenon.Value {
	list, _, d := r.partitions(at, arrow.Field{}, d, s.RowPartitions())
	return assembleRecords(s, list, d.Len(), read(d))
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
	if s, ok := d.DataType().(*arrow.StructType); ok && s.NumFields() == 1 { // some are missing
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
func (r *reading) coded(at string, d arrow.ArrayData, s *structured.DictionarySpec) tenon.Value {
	leaf, n := d, d.Len()
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
	} else { // strings that another program has written one by one
		x := tenon.Must(structured.EncodeStrings(r.vector(at, leaf, dtype.String)))
		words, codes = x.Words(), x.Codes()
	}
	switch c := s.Components()[0].Spec.(type) {
	case *tensor.Spec:
		codes = reshaped(codes, append([]int{n}, c.Shape().Dims()[1:]...)...)
	case *ragged.Spec:
		list, _, inner := r.partitions(at, arrow.Field{}, d, c.Partitions())
		flat := reshaped(codes, append([]int{inner.Len()}, c.Flat().(*tensor.Spec).Shape().Dims()[1:]...)...)
		codes = tenon.Must(ragged.FromPartitions(flat, list...))
	}
	return tenon.Must(structured.NewDictionary(codes, words))
}

// retype returns an array's data as of another type.
func retype(d arrow.ArrayData, t arrow.DataType) arrow.ArrayData {
	return array.NewData(t, d.Len(), d.Buffers(), nil, d.NullN(), d.Offset())
}

// components reads the rows of the components of a Value.
func (r *reading) components(at string, d arrow.ArrayData, s tenon.Spec) tenon.Value {
	list := r.columns(at, d, s.Components())
	if v, err := s.Assemble(list); err == nil {
		return v
	} else if b, ok := s.(tenon.Batcher); !ok {
		tenon.Throw(err)
	} else {
		row := tenon.Must(b.Unbatched())
		b, ok = row.(tenon.Batcher)
		if !ok {
			tenon.Throw(err)
		}
		s = tenon.Must(b.Batched(d.Len()))
	}
	return tenon.Must(s.Assemble(list))
}

// whole reads what [whole] has written.
func (r *reading) whole(at string, f arrow.Field, d arrow.ArrayData, s tenon.Spec) tenon.Value {
	if form, _ := f.Metadata.GetValue(keyForm); form == formList || form == "" && inRows(s) {
		l, ok := r.level(d)
		if !ok || d.Len() != 1 {
			tenon.Throw(r.mismatch(at, d.DataType(), "a list of rows"))
		}
		return r.rows(at+"[]", l.item, l.child, s)
	}
	switch s := s.(type) {
	case *tensor.Spec:
		if l, ok := r.level(d); ok && s.DType().IsComplex() {
			d = l.child
		}
		return reshaped(r.vector(at, d, s.DType()))
	case *masked.Spec:
		if m, ok := s.Mask().(*tensor.Spec); ok && m.Shape().IsScalar() {
			return tenon.Must(masked.New(r.whole(at, f, d, s.Values()), r.validOrAll(at, d)[0]))
		}
	case *structured.HeldSpec:
		if s.Shape().IsScalar() {
			return tenon.Must(structured.Hold(r.whole(at, f, d, s.Value())))
		}
	case *named.Spec:
		return tenon.Must(s.Assemble([]tenon.Value{r.whole(at, f, d, s.Inner())}))
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

// assembleRecords makes records of a Spec, or of one with other numbers of rows, of
// partitions and columns.
func assembleRecords(s *structured.Spec, list []*ragged.RowPartition, n int, cols []tenon.Value) tenon.Value {
	components := make([]tenon.Value, 0, len(list)+1+len(cols))
	for _, p := range list {
		components = append(components, p)
	}
	if len(list) == 0 && len(cols) == 0 {
		components = append(components, ops.Cast(tensor.Scalar(int64(n)), splitsOf(s)))
	}
	components = append(components, cols...)
	if len(list) == len(s.RowPartitions()) {
		if v, err := s.Assemble(components); err == nil {
			return v
		}
	}
	return tenon.Must(respecified(s, list, n, cols).Assemble(components))
}

// splitsOf returns the type of the splits of records.
func splitsOf(s *structured.Spec) dtype.DType {
	d, _ := s.Encode().(tenon.Tuple)[1].(tenon.DType)
	return d.DType
}

// respecified returns the Spec of records with the fields of another one.
func respecified(s *structured.Spec, list []*ragged.RowPartition, n int, cols []tenon.Value) tenon.Spec {
	e := slices.Clone(s.Encode().(tenon.Tuple))
	outer := n
	var partitions tenon.List
	for i, p := range list {
		if i == 0 {
			outer = p.StaticNRows()
		}
		partitions = append(partitions, tenon.SpecOf{Spec: p.Spec()})
	}
	fields := slices.Clone(e[3].(tenon.List))
	for i, c := range cols {
		f := slices.Clone(fields[i].(tenon.Tuple))
		f[1] = tenon.SpecOf{Spec: c.Spec()}
		fields[i] = f
	}
	e[0], e[2], e[3] = tenon.Shape{Shape: shape.Of(outer)}, partitions, fields
	return tenon.Must(tenon.Decode(structured.TypeName, e))
}

// assembleUnion makes a union of records of tags and variants.
func assembleUnion(rec tenon.Value) tenon.Value {
	s := tenon.Must(tenon.Decode(structured.UnionTypeName, tenon.SpecOf{Spec: rec.Spec()}))
	return tenon.Must(s.Assemble([]tenon.Value{rec}))
}
