package jsonl

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/internal/anatomy"
	"github.com/tenonml/tenon/internal/jsoncol"
	"github.com/tenonml/tenon/internal/rows"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// columnOf returns a value with an entry for each row as a column. They share memory where
// possible.
func columnOf(v tenon.Value, path []string) *jsoncol.Column {
	switch a := anatomy.Of(v); a.Kind {
	case anatomy.Records:
		return within(a.Partitions, recordsColumn(a, path), path)
	case anatomy.Optional:
		return maskedColumn(a, path)
	case anatomy.Lists:
		return within(a.Partitions, columnOf(a.Inner, path), path)
	case anatomy.Union:
		rec := anatomy.Of(a.Inner)
		return within(rec.Partitions, unionColumn(rec, path), path)
	case anatomy.Map:
		rec := anatomy.Of(a.Inner)
		entries := columnOf(rec.Fields[0].Value, path)
		if m, ok := v.Spec().(*structured.MapSpec); !ok || m.HasTextKeys() {
			entries = mapColumn(entries)
		}
		return within(rec.Partitions, entries, path)
	case anatomy.Held, anatomy.Named:
		return columnOf(a.Inner, path)
	case anatomy.Element:
		return columnOf(tenon.Must(element.Texts(v.(tensor.Tensor))), path)
	case anatomy.Parts:
		if c, ok := partsColumn(v, a, path); ok {
			return c
		}
	}
	k, ok := op.Known(v)
	if c, is := v.(tensor.Concreter); !ok && is {
		k, ok = tenon.Must(c.Concrete()), true
	}
	if !ok {
		tenon.Throw(noForm(v.Spec(), path))
	}
	return denseColumn(k, path)
}

func noForm(s tenon.Spec, path []string) *tenon.Error {
	return &tenon.Error{Kind: tenon.ErrUnsupported, Op: "jsonl.Write", Where: structured.PathString(path), Msg: fmt.Sprintf("JSON cannot represent %s", tenon.String(s))}
}

// partsColumn returns the components of a type defined elsewhere as the fields of objects. It
// returns false for a type whose rows are not those of its components.
func partsColumn(v tenon.Value, a anatomy.Value, path []string) (*jsoncol.Column, bool) {
	shared, ok := rows.Components(v.Spec())
	if !ok {
		return nil, false
	}
	c := &jsoncol.Column{Kind: jsoncol.Struct, Len: tenon.Must(rows.Count(v))}
	for i, f := range a.Fields {
		at := append(path[:len(path):len(path)], f.Name)
		if shared[i] {
			e := noForm(v.Spec(), at)
			e.Msg += ": all rows share this field"
			tenon.Throw(e)
		}
		c.Fields = append(c.Fields, jsoncol.Field{Name: f.Name, Column: columnOf(f.Value, at)})
	}
	return c, true
}

// denseColumn returns a dense tensor as a column: its axes below the first are lists.
func denseColumn(v tensor.Tensor, path []string) *jsoncol.Column {
	dims := v.Shape().Dims()
	size := v.Shape().Size()
	c := &jsoncol.Column{DType: v.DType(), Len: size}
	switch x := v.(type) {
	case *tensor.Strings:
		c.Kind, c.Offsets, c.Bytes = jsoncol.String, x.Offsets(), x.Buffer()
	case *tensor.Dense:
		c.Kind, c.Values = jsoncol.NewLeaf(x.DType()).Kind, elements(tensor.Contiguous(x))
		if c.Values == nil {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrDType, Op: "jsonl.Write", Where: structured.PathString(path), Msg: fmt.Sprintf("JSON cannot represent %v", x.DType())})
		}
	}
	for a := len(dims) - 1; a > 0; a-- {
		n := 1
		for _, d := range dims[:a] {
			n *= d
		}
		offsets := make([]int64, n+1)
		for i := range offsets {
			offsets[i] = int64(i * dims[a])
		}
		c = &jsoncol.Column{Kind: jsoncol.List, Len: n, Offsets: offsets, Elem: c}
	}
	return c
}

// elements returns the elements of a tensor as a slice, or nil for types that JSON lacks.
func elements(d *tensor.Dense) any {
	switch d.DType() {
	case dtype.Bool:
		return tensor.Elems[bool](d)
	case dtype.Int8:
		return tensor.Elems[int8](d)
	case dtype.Int16:
		return tensor.Elems[int16](d)
	case dtype.Int32:
		return tensor.Elems[int32](d)
	case dtype.Int64:
		return tensor.Elems[int64](d)
	case dtype.Uint8:
		return tensor.Elems[uint8](d)
	case dtype.Uint16:
		return tensor.Elems[uint16](d)
	case dtype.Uint32:
		return tensor.Elems[uint32](d)
	case dtype.Uint64:
		return tensor.Elems[uint64](d)
	case dtype.Float16:
		return tensor.Elems[dtype.F16](d)
	case dtype.BFloat16:
		return tensor.Elems[dtype.BF16](d)
	case dtype.Float32:
		return tensor.Elems[float32](d)
	case dtype.Float64:
		return tensor.Elems[float64](d)
	}
	return nil
}

// within returns a column nested in the lists of partitions, the outermost first.
func within(partitions []*ragged.RowPartition, c *jsoncol.Column, path []string) *jsoncol.Column {
	for _, p := range slices.Backward(partitions) {
		splits, ok := p.Splits64()
		if !ok {
			tenon.Throw(symbolic(path))
		}
		c = &jsoncol.Column{Kind: jsoncol.List, Len: len(splits) - 1, Offsets: splits, Elem: c}
	}
	return c
}

func symbolic(path []string) error {
	return &tenon.Error{Kind: tenon.ErrUnsupported, Op: "jsonl.Write", Where: structured.PathString(path), Msg: "a symbolic tensor has no rows to write"}
}

// recordsColumn returns the innermost records as a column.
func recordsColumn(a anatomy.Value, path []string) *jsoncol.Column {
	if a.Rows < 0 {
		tenon.Throw(symbolic(path))
	}
	c := &jsoncol.Column{Kind: jsoncol.Struct, Len: a.Rows}
	for _, f := range a.Fields {
		at := append(path[:len(path):len(path)], f.Name)
		c.Fields = append(c.Fields, jsoncol.Field{Name: f.Name, Column: columnOf(f.Value, at)})
	}
	return c
}

// maskedColumn sets the validity of the list at the depth of the mask.
func maskedColumn(a anatomy.Value, path []string) *jsoncol.Column {
	c := columnOf(a.Inner, path)
	mask := columnOf(a.Mask, path)
	at := c
	copies := &c
	for mask.Kind == jsoncol.List {
		own := *at
		*copies = &own
		copies, at, mask = &own.Elem, at.Elem, mask.Elem
	}
	own := *at
	there := mask.Values.([]bool)
	if at.Valid != nil {
		both := make([]bool, len(there))
		for i, x := range there {
			both[i] = x && at.Valid[i]
		}
		there = both
	}
	own.Valid = there
	*copies = &own
	return c
}

// mapColumn turns the innermost lists of entries into maps.
func mapColumn(c *jsoncol.Column) *jsoncol.Column {
	own := *c
	if c.Elem.Kind == jsoncol.List {
		own.Elem = mapColumn(c.Elem)
	} else {
		own.Kind = jsoncol.Map
	}
	return &own
}

// unionColumn returns the records of a union, tags and variants, as a column.
func unionColumn(rec anatomy.Value, path []string) *jsoncol.Column {
	tags := columnOf(rec.Fields[0].Value, path)
	c := &jsoncol.Column{Kind: jsoncol.Union, Len: tags.Len, Tags: tags.Values.([]int8), Index: make([]int64, tags.Len)}
	for i := range c.Index {
		c.Index[i] = int64(i)
	}
	for _, f := range rec.Fields[1:] {
		c.Fields = append(c.Fields, jsoncol.Field{Name: f.Name, Column: columnOf(f.Value, path)})
	}
	return c
}

// rowsFirst returns the rows to write; a single value is one row.
func rowsFirst(v tenon.Value) tenon.Value {
	single := false
	if t, ok := v.(tensor.Tensor); ok {
		single = t.Shape().Rank() == 0
	} else {
		_, err := rows.Count(v)
		single = err != nil
	}
	if !single {
		return v
	}
	if x, err := rows.Stack([]tenon.Value{v}, nil); err == nil {
		return x
	}
	return v // columnOf reports the error
}
