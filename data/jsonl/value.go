package jsonl

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/internal/anatomy"
	"github.com/tenonml/tenon/internal/jsoncol"
	"github.com/tenonml/tenon/internal/rows"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// builder makes values from columns and shares their memory.
type builder struct {
	dictionaries bool
	loose        bool             // the result may be wider than requested
	spec         *structured.Spec // requested Spec, or nil
	guide        *jsoncol.Schema  // schema made from spec
	forms        map[*jsoncol.Schema]form
}

// records returns a table as records.
func (b *builder) records(t *jsoncol.Table) (*structured.Tensor, error) {
	c := t.Column
	if c.Len == 0 && c.Kind == jsoncol.Null {
		c = &jsoncol.Column{Kind: jsoncol.Struct} // there is no evidence that they are not objects
	}
	if c.Kind != jsoncol.Struct {
		e := invalid("jsonl.Read", "", "the records are %s, not objects", t.Schema).(*tenon.Error)
		e.Hint = "ReadValues reads values of any type"
		return nil, e
	}
	if c.Valid != nil {
		whole := *c
		whole.Valid = nil // their fields are missing too
		c = &whole
	}
	v, err := b.value(c)
	if err != nil {
		return nil, err
	}
	out, ok := v.(*structured.Tensor)
	if !ok {
		return nil, invalid("jsonl.Read", "", "the records are %s", tenon.String(v.Spec()))
	}
	if b.spec == nil || b.loose || fits(out, b.spec) {
		return out, nil
	}
	if short, err := out.WithShapeDType(dtype.Int32); err == nil && fits(short, b.spec) {
		return short, nil
	}
	return nil, invalid("jsonl.Read", "", "the records are %s, but the schema is %s", tenon.String(out.Spec()), tenon.String(b.spec))
}

// fits reports whether records have a Spec, ignoring the number of rows.
func fits(t *structured.Tensor, s *structured.Spec) bool {
	own, err := rows.RowSpec(t.Spec())
	if err != nil { // the column has rows of a different type
		return tenon.Compatible(t.Spec(), s)
	}
	var row tenon.Spec = s
	if s.Rank() == 1 {
		if row, err = s.Unbatched(); err != nil {
			return false
		}
	}
	return tenon.Compatible(own, row)
}

// value returns a column as a value with an entry for each row.
func (b *builder) value(c *jsoncol.Column) (v tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return b.of(c, b.guide, nil, nil), nil
}

// of returns a column as a value. g is the node of the guide, or nil; above is the validity of the
// record that contains the column.
func (b *builder) of(c *jsoncol.Column, g *jsoncol.Schema, above []bool, path []string) tensor.Tensor {
	if g != nil && g.Kind != c.Kind && b.loose {
		g = nil // the type has changed
	}
	if b.forms[g].element != nil && c.Kind == jsoncol.String {
		c = nulls(c, g, path)
	}
	v := b.whole(c, g, path)
	around := b.forms[g].around
	for _, a := range around {
		if a.Kind != anatomy.Optional {
			v = tenon.Must(a.Like(v)).(tensor.Tensor)
		}
	}
	there := validity(c)
	if g != nil && g.Missing == jsoncol.MissingMasked {
		if there == nil {
			there = slices.Repeat([]bool{true}, c.Len)
		}
	} else if there == nil || c.Kind == jsoncol.Null && c.Len == 0 || slices.Equal(there, above) {
		return v // nothing is missing except where the record itself is
	}
	v = tenon.Must(masked.New(v, tensor.Vector(there)))
	for _, a := range around {
		if a.Kind == anatomy.Optional {
			v = tenon.Must(a.Like(v)).(tensor.Tensor)
		}
	}
	return v
}

// validity returns which rows of a column are present; nil means all.
func validity(c *jsoncol.Column) []bool {
	switch {
	case c.Kind == jsoncol.Null:
		return make([]bool, c.Len)
	case c.Kind == jsoncol.Union && c.Valid == nil && slices.Contains(c.Tags, -1):
		there := make([]bool, c.Len)
		for i, tag := range c.Tags {
			there[i] = tag >= 0
		}
		return there
	}
	return c.Valid
}

// whole is of, ignoring missing values.
func (b *builder) whole(c *jsoncol.Column, g *jsoncol.Schema, path []string) tensor.Tensor {
	switch c.Kind {
	case jsoncol.Null:
		return tensor.NewDense(dtype.Float64, shape.Of(c.Len))
	case jsoncol.String:
		if t := b.forms[g].element; t != nil {
			return elementsOf(c, *t, path)
		}
		s := tensor.WrapStrings(c.Offsets, c.Bytes, shape.Of(c.Len))
		if b.dictionaries && (g == nil || b.spec == nil) || b.forms[g].dictionary {
			return tenon.Must(structured.EncodeStrings(s))
		}
		return s
	case jsoncol.List:
		var below *jsoncol.Schema
		if g != nil {
			below = g.Elem
		}
		return b.list(b.of(c.Elem, below, nil, path), c.Offsets, b.forms[g], path)
	case jsoncol.Map:
		return b.mapped(c, g, path)
	case jsoncol.Struct:
		fields := make([]structured.Field, len(c.Fields))
		for i, f := range c.Fields {
			var below *jsoncol.Schema
			if g != nil && i < len(g.Fields) { // the others were inferred later
				below = g.Fields[i].Schema
			}
			at := append(path[:len(path):len(path)], f.Name)
			fields[i] = structured.Field{Name: f.Name, Value: b.of(f.Column, below, c.Valid, at)}
		}
		if a := b.forms[g].parts; a != nil {
			return assembled(a, fields)
		}
		return tenon.Must(structured.FromFields(fields, shape.Of(c.Len), structured.Options{NRows: c.Len}))
	case jsoncol.Union:
		return b.union(c, g, path)
	}
	return leaf(c.Values)
}

// nulls returns a column of JSON texts with null as missing values.
func nulls(c *jsoncol.Column, g *jsoncol.Schema, path []string) *jsoncol.Column {
	own := *c
	own.Valid = slices.Clone(c.Valid)
	for i := range c.Len {
		if string(c.Bytes[c.Offsets[i]:c.Offsets[i+1]]) != "null" {
			continue
		}
		if g.Missing == jsoncol.MissingError {
			tenon.Throw(invalid("jsonl.Read", structured.PathString(path), "entry %d is null, but it is not optional in the schema", i))
		}
		if own.Valid == nil {
			own.Valid = slices.Repeat([]bool{true}, c.Len)
		}
		own.Valid[i] = false
	}
	return &own
}

// elementsOf parses the JSON texts of a column as elements.
func elementsOf(c *jsoncol.Column, t element.Type, path []string) tensor.Tensor {
	out := element.NewBuilder(t, c.Len)
	for i := range c.Len {
		text := string(c.Bytes[c.Offsets[i]:c.Offsets[i+1]])
		if c.Valid != nil && !c.Valid[i] || text == "" || text == "null" {
			out.Skip()
			continue
		}
		var err error
		if text[0] == '"' {
			err = json.Unmarshal([]byte(text), &text)
		}
		if err == nil {
			err = out.Append(text)
		}
		if err != nil {
			tenon.Throw(invalid("jsonl.Read", structured.PathString(path), "entry %d: %v", i, err))
		}
	}
	return out.Build(shape.Of(c.Len))
}

// assembled returns rows of a type defined elsewhere, which are held if they are not a tensor.
func assembled(a *anatomy.Spec, fields []structured.Field) tensor.Tensor {
	list := make([]tenon.Value, len(fields))
	for i, f := range fields {
		list[i] = f.Value
		if h := anatomy.Of(f.Value); h.Kind == anatomy.Held && anatomy.OfSpec(a.Fields[i].Spec).Kind != anatomy.Held {
			list[i] = h.Inner
		}
	}
	v := tenon.Must(a.MakeParts(list))
	if t, ok := v.(tensor.Tensor); ok {
		return t
	}
	return tenon.Must(structured.HoldRows(v))
}

// mapped returns a column of maps.
func (b *builder) mapped(c *jsoncol.Column, g *jsoncol.Schema, path []string) tensor.Tensor {
	var below *jsoncol.Schema
	if g != nil {
		below = g.Elem.Fields[1].Schema
	}
	keys, values := c.Elem.Fields[0].Column, c.Elem.Fields[1].Column
	p := tenon.Must(ragged.PartitionFromRowSplits(tensor.Vector(c.Offsets), ragged.PartitionOptions{}))
	return tenon.Must(structured.NewMap(p, b.whole(keys, nil, path), b.of(values, below, nil, append(path[:len(path):len(path)], "*"))))
}

// leaf returns the elements of a leaf as a tensor.
func leaf(values any) tensor.Tensor {
	switch x := values.(type) {
	case []bool:
		return tensor.Vector(x)
	case []int8:
		return tensor.Vector(x)
	case []int16:
		return tensor.Vector(x)
	case []int32:
		return tensor.Vector(x)
	case []int64:
		return tensor.Vector(x)
	case []uint8:
		return tensor.Vector(x)
	case []uint16:
		return tensor.Vector(x)
	case []uint32:
		return tensor.Vector(x)
	case []uint64:
		return tensor.Vector(x)
	case []dtype.F16:
		return tensor.Vector(x)
	case []dtype.BF16:
		return tensor.Vector(x)
	case []float32:
		return tensor.Vector(x)
	case []float64:
		return tensor.Vector(x)
	}
	tenon.Throw(fmt.Errorf("jsonl: unexpected column of %T", values))
	return nil
}

// list divides elements into lists by offsets.
func (b *builder) list(v tensor.Tensor, offsets []int64, f form, path []string) tensor.Tensor {
	if r := v.Shape().Rank(); r >= shape.MaxRank {
		tenon.Throw(invalid("jsonl.Read", structured.PathString(path), "lists nest more than %d deep", shape.MaxRank-1))
	}
	if f.uniform {
		f.length = b.common(offsets, f.length, path)
	}
	if f.dense {
		return reshaped(v, len(offsets)-1, f.length)
	}
	var p *ragged.RowPartition
	if f.uniform {
		p = tenon.Must(ragged.PartitionFromUniformRowLength(f.length, ragged.PartitionOptions{NRows: len(offsets) - 1}))
	} else {
		p = tenon.Must(ragged.PartitionFromRowSplits(tensor.Vector(offsets), ragged.PartitionOptions{}))
	}
	return tenon.Must(structured.Divide(v, p))
}

// common returns the length that all lists have: length or, if that is unknown, the length of the
// first list.
func (b *builder) common(offsets []int64, length int, path []string) int {
	if length < 0 {
		length = 0
		if len(offsets) > 1 {
			length = int(offsets[1] - offsets[0])
		}
	}
	for i := range len(offsets) - 1 {
		if n := offsets[i+1] - offsets[i]; n != int64(length) {
			tenon.Throw(invalid("jsonl.Read", structured.PathString(path), "list %d has %d elements, but the schema requires %d", i, n, length))
		}
	}
	return length
}

// reshaped returns entries as rows of a given length.
func reshaped(v tensor.Tensor, n, length int) tensor.Tensor {
	dims := append([]int{n, length}, v.Shape().Dims()[1:]...)
	switch x := v.(type) {
	case *tensor.Dense:
		return x.Reshaped(shape.Of(dims...))
	case *tensor.Strings:
		return x.Reshaped(shape.Of(dims...))
	case masked.Optional:
		return tenon.Must(masked.New(reshaped(x.Values(), n, length), reshaped(x.Mask(), n, length)))
	}
	return ops.Reshape(v, dims)
}

// union returns a column of several types; each variant is padded where the others have values.
func (b *builder) union(c *jsoncol.Column, g *jsoncol.Schema, path []string) tensor.Tensor {
	tags := make([]int8, c.Len)
	places := make([][]int, len(c.Fields))
	for row, tag := range c.Tags {
		if tag >= 0 {
			tags[row] = tag
			places[tag] = append(places[tag], row)
		}
	}
	fields := make([]structured.Field, len(c.Fields))
	for i, f := range c.Fields {
		var below *jsoncol.Schema
		if g != nil {
			below = g.Fields[i].Schema
		}
		name := f.Name
		if u, ok := b.variantName(path, i); ok && below != nil {
			name = u
		}
		fields[i] = structured.Field{Name: name, Value: b.of(spread(f.Column, places[i], c.Len), below, nil, path)}
	}
	return tenon.Must(structured.NewUnion(tensor.Vector(tags), fields))
}

// variantName returns the schema's name for a variant of the union at a path.
func (b *builder) variantName(path []string, i int) (string, bool) {
	if b.spec == nil {
		return "", false
	}
	s, err := b.spec.Field(path...)
	for err == nil && s != nil {
		if x, ok := s.(*structured.UnionSpec); ok {
			return x.Variants()[i].Name, true
		}
		s = anatomy.OfSpec(s).Inner
	}
	return "", false
}

// spread returns a column of n rows that has the rows of c at the given ascending places; all other
// rows are zero, empty strings, empty lists and so on.
func spread(c *jsoncol.Column, places []int, n int) *jsoncol.Column {
	if c.Len == n {
		return c
	}
	out := &jsoncol.Column{Kind: c.Kind, DType: c.DType, Len: n, Bytes: c.Bytes, Elem: c.Elem}
	if c.Valid != nil {
		out.Valid = make([]bool, n)
		for i, row := range places {
			out.Valid[row] = c.Valid[i]
		}
	}
	switch c.Kind {
	case jsoncol.Bool, jsoncol.Int64, jsoncol.Float64:
		from, to := leaf(c.Values).(*tensor.Dense), tensor.NewDense(c.DType, shape.Of(n))
		size := c.DType.Size()
		for i, row := range places {
			copy(to.Bytes()[row*size:], from.Bytes()[i*size:(i+1)*size])
		}
		out.Values = elements(to)
	case jsoncol.String, jsoncol.List, jsoncol.Map:
		out.Offsets = make([]int64, n+1)
		i := 0
		for row := range n {
			if i < len(places) && places[i] == row {
				i++
			}
			out.Offsets[row+1] = c.Offsets[i]
		}
	case jsoncol.Struct:
		for _, f := range c.Fields {
			out.Fields = append(out.Fields, jsoncol.Field{Name: f.Name, Column: spread(f.Column, places, n)})
		}
	case jsoncol.Union:
		out.Fields = c.Fields
		out.Tags = slices.Repeat([]int8{filler}, n)
		for i, row := range places {
			out.Tags[row] = c.Tags[i]
		}
	}
	return out
}

// filler is the tag of a row that is neither in a variant nor missing.
const filler = -2
