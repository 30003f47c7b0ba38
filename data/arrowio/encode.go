package arrowio

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/internal/anatomy"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

const encodeName = "arrowio.ToArray"

// encode returns a Value in the form that corresponds to its Spec.
func encode(v tenon.Value) part {
	v = known(v)
	if inRows(v.Spec()) {
		return rows(v, 0).with(keyForm, formRows)
	}
	p := whole(v)
	if p.meta[keyForm] != "" { // the form of the held Value
		return p
	}
	return p.with(keyForm, formWhole)
}

// known returns the concrete tensor of a tensor that records operations. It throws if there is
// none.
func known(v tenon.Value) tenon.Value {
	return tenon.Must(tensor.Settled(v))
}

// parts returns the components of a Value.
func parts(v tenon.Value) []tenon.Value {
	list := tenon.Must(v.Spec().Disassemble(v))
	for i, c := range list {
		list[i] = known(c)
	}
	return list
}

// rows returns an array with an element for each row of a Value. The number of dimensions below the
// rows given by lists become lists, even where a tensor type would do.
func rows(v tenon.Value, lists int) part {
	v = known(v)
	switch a := anatomy.Of(v); a.Kind {
	case anatomy.Leaf:
		if x, ok := v.(*tensor.Strings); ok {
			return shaped(texts(x), x.Shape().Dims(), lists, nil)
		}
		return denseRows(v.(*tensor.Dense), lists, nil)
	case anatomy.Element:
		return elementRows(v.(element.Tensor), lists)
	case anatomy.Lists:
		return within(a.Partitions, rows(a.Inner, lists-len(a.Partitions)))
	case anatomy.Optional:
		depth := a.Mask.Shape().Rank() - 1
		return missing(rows(a.Inner, depth), depth, flatMask(a.Mask))
	case anatomy.Records:
		return recordRows(a, func(names []string, cols []part, n int) part { return record(n, names, cols) })
	case anatomy.Words:
		return dictionaryRows(a)
	case anatomy.Union:
		return recordRows(anatomy.Of(a.Inner), union)
	case anatomy.Map:
		rec := anatomy.Of(a.Inner)
		return within(rec.Partitions, mapRows(rows(rec.Fields[0].Value, 0)))
	case anatomy.Held:
		return rows(a.Inner, lists)
	case anatomy.Named:
		return namedRows(a, lists)
	}
	return componentRows(v)
}

// within returns data nested in the lists of partitions, the outermost first.
func within(partitions []*ragged.RowPartition, p part) part {
	for _, r := range slices.Backward(partitions) {
		p = list(r, p)
	}
	return p
}

// denseRows returns the rows of a tensor; the axes below may have names.
func denseRows(d *tensor.Dense, lists int, names []string) part {
	dims := d.Shape().Dims()
	if d.DType().IsComplex() {
		dims = append(slices.Clone(dims), 2)
	}
	return shaped(numbers(tensor.Contiguous(d)), dims, lists, names)
}

// flatMask returns the elements of a mask in row-major order.
func flatMask(mask tensor.Tensor) []bool {
	var flat tenon.Value = mask
	if a := anatomy.Of(mask); a.Kind == anatomy.Lists {
		flat = a.Inner
	}
	d, ok := known(flat).(*tensor.Dense)
	if !ok {
		tenon.Throw(fail(tenon.ErrUnsupported, encodeName, "mask", "Arrow cannot represent a mask %s", tenon.String(mask.Spec())))
	}
	return tensor.Elems[bool](tensor.Contiguous(d))
}

// missing adds validity to the data at the given depth of lists.
func missing(p part, depth int, valid []bool) part {
	d := p.data.(*array.Data)
	if depth > 0 {
		child := part{data: d.Children()[0]}
		item := d.DataType().(arrow.NestedType).Fields()[0]
		child.meta = metaOf(item.Metadata)
		child.nullable = item.Nullable
		child = missing(child, depth-1, valid)
		return part{data: array.NewData(retyped(d.DataType(), child.field(item.Name)), d.Len(), d.Buffers(), []arrow.ArrayData{child.data}, d.NullN(), 0), meta: p.meta, nullable: p.nullable}
	}
	if d.DataType().ID() == arrow.SPARSE_UNION { // unions have no validity of their own
		p = record(d.Len(), []string{columnName}, []part{p})
		d = p.data.(*array.Data)
	}
	nulls := 0
	for _, ok := range valid {
		if !ok {
			nulls++
		}
	}
	buffers := slices.Clone(d.Buffers())
	buffers[0] = buffer(pack(valid))
	out := array.NewData(d.DataType(), d.Len(), buffers, d.Children(), nulls, 0)
	out.SetDictionary(dictionaryOf(d))
	return part{data: out, meta: p.meta, nullable: true}
}

// dictionaryOf returns the dictionary of a dictionary array, or nil for other arrays.
func dictionaryOf(d arrow.ArrayData) arrow.ArrayData {
	if d.DataType().ID() != arrow.DICTIONARY {
		return nil
	}
	return d.Dictionary()
}

// retyped returns a list type with a different element type.
func retyped(t arrow.DataType, item arrow.Field) arrow.DataType {
	switch t := t.(type) {
	case *arrow.FixedSizeListType:
		return arrow.FixedSizeListOfField(t.Len(), item)
	case *arrow.ListType:
		return arrow.ListOfField(item)
	}
	return arrow.LargeListOfField(item)
}

func metaOf(m arrow.Metadata) map[string]string {
	out := map[string]string{}
	for i, k := range m.Keys() {
		out[k] = m.Values()[i]
	}
	return out
}

// recordRows returns lists of the result of join for the columns.
func recordRows(a anatomy.Value, join func(names []string, cols []part, n int) part) part {
	names, cols := make([]string, len(a.Fields)), make([]part, len(a.Fields))
	for i, f := range a.Fields {
		names[i], cols[i] = f.Name, rows(f.Value, 0)
	}
	n := a.Rows
	if len(cols) > 0 {
		n = cols[0].len()
	}
	return within(a.Partitions, join(names, cols, n))
}

// union returns a union of tags and variants.
func union(names []string, cols []part, n int) part {
	fields := make([]arrow.Field, len(cols)-1)
	codes := make([]arrow.UnionTypeCode, len(fields))
	children := make([]arrow.ArrayData, len(fields))
	for i, c := range cols[1:] {
		fields[i], codes[i], children[i] = c.field(names[i+1]), arrow.UnionTypeCode(i), c.data
	}
	tags := cols[0].data.Buffers()[1]
	return part{data: array.NewData(arrow.SparseUnionOf(fields, codes), n, []*memory.Buffer{nil, tags}, children, 0, 0)}
}

// dictionaryRows returns a dictionary array.
func dictionaryRows(a anatomy.Value) part {
	words := rows(a.Words, 0)
	codes := known(a.Inner)
	around := []*ragged.RowPartition(nil)
	if r := anatomy.Of(codes); r.Kind == anatomy.Lists {
		around, codes = r.Partitions, known(r.Inner)
	}
	d := tensor.Contiguous(codes.(*tensor.Dense))
	typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: words.data.DataType()}
	data := array.NewDataWithDictionary(typ, d.Len(), []*memory.Buffer{nil, buffer(d.Bytes())}, 0, 0, words.data.(*array.Data))
	return within(around, shaped(part{data: data}, d.Shape().Dims(), 0, nil))
}

// namedRows returns the rows of the inner tensor, with the names of dimensions where Arrow can
// represent them.
func namedRows(a anatomy.Value, lists int) part {
	inner := known(a.Inner)
	var names []string
	for _, n := range a.Names {
		names = append(names, n.String())
	}
	if t, ok := inner.(*tensor.Dense); ok && !t.DType().IsComplex() {
		return denseRows(t, lists, names[1:])
	}
	if r := anatomy.Of(inner); r.Kind == anatomy.Lists && len(r.Partitions) == 1 && lists == 0 {
		if flat, ok := known(r.Inner).(*tensor.Dense); ok && !flat.DType().IsComplex() {
			if p, ok := variable(r.Partitions[0], tensor.Contiguous(flat), names[1:]); ok {
				return p
			}
		}
	}
	return rows(inner, lists)
}

// variable returns rows of different lengths as tensors of different sizes. It returns false if
// sizes do not fit into 32 bits, as the type requires.
func variable(p *ragged.RowPartition, flat *tensor.Dense, names []string) (part, bool) {
	splits, _ := p.Splits64()
	dims := flat.Shape().Dims()
	size := 1
	for _, k := range dims[1:] {
		size *= k
	}
	if splits[len(splits)-1] > math.MaxInt32 || flat.Len() > math.MaxInt32 {
		return part{}, false
	}
	offsets := make([]int32, len(splits))
	sizes := make([]int32, 0, (len(splits)-1)*len(dims))
	for i, s := range splits {
		offsets[i] = int32(s) * int32(size)
		if i > 0 {
			sizes = append(sizes, int32(s-splits[i-1]))
			for _, k := range dims[1:] {
				sizes = append(sizes, int32(k))
			}
		}
	}
	child := numbers(flat)
	data := part{data: array.NewData(arrow.ListOfField(child.field("item")), len(splits)-1, []*memory.Buffer{nil, buffer(asBytes(offsets))}, []arrow.ArrayData{child.data}, 0, 0)}
	shape := fixed(part{data: array.NewData(arrow.PrimitiveTypes.Int32, len(sizes), []*memory.Buffer{nil, buffer(asBytes(sizes))}, nil, 0, 0)}, len(dims))
	m := shapeMeta{DimNames: names, Uniform: []*int{nil}}
	for _, k := range dims[1:] {
		m.Uniform = append(m.Uniform, &k)
	}
	text, _ := json.Marshal(m) // integers and strings can always be encoded
	return record(len(splits)-1, []string{"data", "shape"}, []part{data, shape}).with(keyExtName, variableShape).with(keyExtMeta, string(text)), true
}

// componentRows returns a struct of the rows of the components.
func componentRows(v tenon.Value) part {
	fields := v.Spec().Components()
	var names []string
	var children []part
	for i, c := range parts(v) {
		names = append(names, fields[i].Name)
		children = append(children, rows(c, 0).with(keyForm, formRows))
	}
	return record(children[0].len(), names, children)
}

// whole returns a single element that holds a whole Value.
func whole(v tenon.Value) part {
	v = known(v)
	if inRows(v.Spec()) {
		return single(rows(v, 0)).with(keyForm, formList)
	}
	switch a := anatomy.Of(v); a.Kind {
	case anatomy.Leaf:
		if x, ok := v.(*tensor.Strings); ok {
			return texts(x)
		}
		x := v.(*tensor.Dense)
		p := numbers(tensor.Contiguous(x))
		if x.DType().IsComplex() {
			p = fixed(p, 2)
		}
		return p
	case anatomy.Optional:
		if a.Mask.Shape().IsScalar() {
			return missing(whole(a.Inner), 0, flatMask(a.Mask))
		}
	case anatomy.Held:
		if shapeOf(v.Spec()).IsScalar() {
			return whole(a.Inner)
		}
	case anatomy.Named:
		return whole(a.Inner)
	}
	fields := v.Spec().Components()
	var names []string
	var children []part
	for i, c := range parts(v) {
		names = append(names, fields[i].Name)
		children = append(children, whole(c))
	}
	return record(1, names, children)
}
