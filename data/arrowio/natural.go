package arrowio

import (
	"encoding/json"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/internal/anatomy"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// natural returns an array according to its Arrow type.
func (r *reading) natural(at string, f arrow.Field, d arrow.ArrayData) tensor.Tensor {
	name, meta, d := storage(f, d)
	if d.DataType().ID() == arrow.NULL { // nulls take no memory, but results computed with them take a byte each
		r.take(at, int64(d.Len()))
		none := tensor.NewDense(dtype.Bool, shape.Of(1)).View(0, shape.Of(d.Len()), []int{0})
		return tenon.Must(masked.New(none, none))
	}
	v := r.present(at, name, meta, d)
	if m := valid(d); m != nil {
		v = tenon.Must(masked.New(v, m))
	}
	return v
}

// present is natural, ignoring missing elements of the array itself.
func (r *reading) present(at, name, meta string, d arrow.ArrayData) tensor.Tensor {
	switch name {
	case fixedShape:
		return r.fixedShape(at, meta, d)
	case variableShape:
		return r.variableShape(at, meta, d)
	case bool8:
		if d.DataType().ID() == arrow.INT8 {
			return ops.NotEqual(r.vector(at, d, dtype.None), int8(0))
		}
	}
	if l, ok := r.level(d); ok {
		if m, ok := d.DataType().(*arrow.MapType); ok {
			return r.maps(at, m, d.Len(), l)
		}
		return r.listsOf(at, d.Len(), l)
	}
	if v, ok := r.elements(at, name, d); ok {
		return v
	}
	if v := r.other(at, d); v != nil {
		return v
	}
	switch t := d.DataType().(type) {
	case *arrow.StructType:
		return r.record(at, t, d)
	case *arrow.DictionaryType:
		return r.dictionary(at, t, d)
	case arrow.UnionType:
		return r.union(at, t, d)
	}
	return r.vector(at, d, dtype.None)
}

// listsOf returns elements divided into rows.
func (r *reading) listsOf(at string, n int, l level) tensor.Tensor {
	v := r.natural(at+"[]", l.item, l.child)
	if l.k >= 0 {
		switch t := v.(type) {
		case *tensor.Dense, *tensor.Strings, element.Tensor:
			return reshaped(t, append([]int{n, l.k}, t.Shape().Dims()[1:]...)...)
		}
	}
	return tenon.Must(structured.Divide(unnamed(v), r.partition(at, l, n, nil)))
}

// unnamed returns a tensor without the names of its dimensions.
func unnamed(v tensor.Tensor) tensor.Tensor {
	switch a := anatomy.Of(v); a.Kind {
	case anatomy.Named:
		return known(a.Inner).(tensor.Tensor)
	case anatomy.Optional:
		return tenon.Must(masked.New(unnamed(a.Inner.(tensor.Tensor)), a.Mask))
	}
	return v
}

// record returns a struct array as records.
func (r *reading) record(at string, t *arrow.StructType, d arrow.ArrayData) tensor.Tensor {
	var fields []structured.Field
	names := fieldNames(t.Fields())
	for i, f := range t.Fields() {
		child := slice(d.Children()[i], d.Offset(), d.Offset()+d.Len())
		fields = append(fields, structured.Field{Name: names[i], Value: r.natural(below(at, names[i]), f, child)})
	}
	return tenon.Must(structured.FromFields(fields, shape.Of(d.Len()), structured.Options{NRows: d.Len()}))
}

func below(at, name string) string {
	if at == "" {
		return structured.PathString([]string{name})
	}
	return at + "." + structured.PathString([]string{name})
}

// dictionary returns strings in dictionary form, and for other types the elements themselves.
func (r *reading) dictionary(at string, t *arrow.DictionaryType, d arrow.ArrayData) tensor.Tensor {
	value := arrow.Field{Type: t.ValueType, Nullable: true}
	if d.Dictionary().Len() == 0 { // all elements are missing
		return r.nulls(at, value, d.Len())
	}
	words := r.natural(at, value, d.Dictionary())
	codes := r.codes(at, t, d)
	if _, ok := words.(*tensor.Strings); ok {
		return tenon.Must(structured.NewDictionary(codes, words))
	}
	return ops.Gather(words, codes, 0)
}

// codes returns the indices of a dictionary array as int32. An invalid index of a missing element
// becomes 0.
func (r *reading) codes(at string, t *arrow.DictionaryType, d arrow.ArrayData) tensor.Tensor {
	v := r.vector(at, retype(d, t.IndexType), dtype.None)
	m, n := valid(d), d.Dictionary().Len()
	if m == nil && v.DType() == dtype.Int32 {
		return v
	}
	if m != nil && n == 0 {
		tenon.Throw(fail(tenon.ErrInvalid, r.fn, at, "the dictionary is empty"))
	}
	wide := tensor.Data[int64](ops.Cast(v, dtype.Int64))
	codes := make([]int32, len(wide))
	for i, c := range wide {
		if c >= 0 && c < int64(n) {
			codes[i] = int32(c)
		}
	}
	return tensor.Vector(codes)
}

// union returns elements of several types.
func (r *reading) union(at string, t arrow.UnionType, d arrow.ArrayData) tensor.Tensor {
	ids := d.Buffers()[1].Bytes()[d.Offset() : d.Offset()+d.Len()]
	child := t.ChildIDs()
	tags := make([]int8, len(ids))
	for i, id := range ids {
		tags[i] = int8(child[id])
	}
	var variants []structured.Field
	names := fieldNames(t.Fields())
	for i, f := range t.Fields() {
		var v tensor.Tensor
		if t.Mode() == arrow.DenseMode {
			v = r.denseVariant(below(at, f.Name), f, d, tags, int8(i))
		} else {
			v = r.natural(below(at, f.Name), f, slice(d.Children()[i], d.Offset(), d.Offset()+d.Len()))
		}
		variants = append(variants, structured.Field{Name: names[i], Value: v})
	}
	return tenon.Must(structured.NewUnion(tags, variants))
}

// denseVariant returns a variant with an element for each of the union's: those of other variants
// repeat the first one.
func (r *reading) denseVariant(at string, f arrow.Field, d arrow.ArrayData, tags []int8, tag int8) tensor.Tensor {
	all := r.natural(at, f, d.Children()[tag])
	ends := offsetsOfUnion(d)
	index := make([]int64, len(tags))
	for i, k := range tags {
		if k == tag {
			index[i] = int64(ends[i])
		}
	}
	if d.Children()[tag].Len() == 0 { // there is no element to repeat
		return r.nulls(at, f, len(tags))
	}
	return ops.Gather(all, tensor.Vector(index), 0)
}

// fixedShape returns tensors of one shape; they are named if the type names their dimensions.
func (r *reading) fixedShape(at, meta string, d arrow.ArrayData) tensor.Tensor {
	var m shapeMeta
	l, ok := r.level(d)
	if !ok || l.k < 0 {
		tenon.Throw(r.mismatch(at, d.DataType(), "the storage of "+fixedShape))
	}
	if err := json.Unmarshal([]byte(meta), &m); err != nil || product(m.Shape) != l.k || !m.fits(len(m.Shape)) {
		tenon.Throw(fail(tenon.ErrInvalid, r.fn, at, "%q does not describe tensors of %d elements", meta, l.k))
	}
	v := r.listsOf(at, d.Len(), l)
	switch v.(type) {
	case *tensor.Dense, *tensor.Strings, element.Tensor:
	default: // elements are missing: the shape is lost with their tensors
		return v
	}
	v = reshaped(v, append([]int{d.Len()}, m.Shape...)...)
	if x, ok := withNames(v, m.DimNames); ok {
		return x // the names determine the order
	}
	if len(m.Permutation) > 0 {
		perm := []int{0}
		for _, p := range m.Permutation {
			perm = append(perm, p+1)
		}
		v = ops.Transpose(v, perm...)
	}
	return v
}

// fits reports whether names and permutation match a rank.
func (m *shapeMeta) fits(rank int) bool {
	if n := len(m.DimNames); n > 0 && n != rank {
		return false
	}
	if len(m.Permutation) == 0 {
		return true
	}
	p := slices.Sorted(slices.Values(m.Permutation))
	for i, k := range p {
		if i != k {
			return false
		}
	}
	return len(p) == rank && (m.Uniform == nil || len(m.Uniform) == rank)
}

// withNames names the dimensions below the rows. It returns false if names are missing, or are not
// valid in Tenon because they are empty or repeated.
func withNames(v tensor.Tensor, names []string) (tensor.Tensor, bool) {
	if len(names) == 0 {
		return nil, false
	}
	x, err := tenon.Try(func() tensor.Tensor {
		dims := []named.Name{named.Rows{}}
		for _, n := range names {
			dims = append(dims, named.Dynamic(n))
		}
		return named.Of(v, dims...)
	})
	return x, err == nil
}
