package jsonl

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/jsoncol"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// columnOf returns a value with an entry for each row as a column, which shares its
// memory where it can.
func columnOf(v tensor.Tensor, path []string) *jsoncol.Column {
	switch x := v.(type) {
	case *structured.Tensor:
		return recordsColumn(x, path)
	case *masked.Tensor:
		return maskedColumn(x, path)
	case *ragged.Tensor:
		return listColumn(x.Partition(), columnOf(x.Values(), path), path)
	case *structured.Union:
		return unionColumn(x, path)
	case *structured.Map:
		return mapColumn(columnOf(x.Entries(), path))
	case *structured.Dictionary:
		return columnOf(tenon.Must(x.Concrete()), path)
	}
	k, ok := op.Known(v)
	if c, is := v.(tensor.Concreter); !ok && is {
		k, ok = tenon.Must(c.Concrete()), true
	}
	if !ok {
		tenon.Throw(&tenon.Error{Kind: tenon.ErrUnsupported, Op: "jsonl.Write", Where: structured.PathString(path), Msg: fmt.Sprintf("JSON has no form for %s", tenon.String(v.Spec()))})
	}
	return denseColumn(k, path)
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
			tenon.Throw(&tenon.Error{Kind: tenon.ErrDType, Op: "jsonl.Write", Where: structured.PathString(path), Msg: fmt.Sprintf("JSON has no form for %v", x.DType())})
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

// elements returns the elements of a tensor as a slice, nil for types that JSON lacks.
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

func listColumn(p *ragged.RowPartition, elem *jsoncol.Column, path []string) *jsoncol.Column {
	splits, ok := p.Splits64()
	if !ok {
		tenon.Throw(&tenon.Error{Kind: tenon.ErrUnsupported, Op: "jsonl.Write", Where: structured.PathString(path), Msg: "a symbolic tensor has no rows to write"})
	}
	return &jsoncol.Column{Kind: jsoncol.List, Len: len(splits) - 1, Offsets: splits, Elem: elem}
}

// recordsColumn returns records as a column: their dimensions below the first are lists.
func recordsColumn(t *structured.Tensor, path []string) *jsoncol.Column {
	parts := t.RowPartitions()
	if len(parts) > 0 {
		flat := tenon.Must(t.MergeDims(0, -1))
		c := recordsColumn(flat, path)
		for i := len(parts) - 1; i >= 0; i-- {
			c = listColumn(parts[i], c, path)
		}
		return c
	}
	n, ok := op.Known(t.NRows())
	rows, ok2 := op.Ints(n)
	if !ok || !ok2 {
		tenon.Throw(&tenon.Error{Kind: tenon.ErrUnsupported, Op: "jsonl.Write", Where: structured.PathString(path), Msg: "a symbolic tensor has no rows to write"})
	}
	c := &jsoncol.Column{Kind: jsoncol.Struct, Len: rows[0]}
	for _, name := range t.FieldNames() {
		at := append(path[:len(path):len(path)], name)
		c.Fields = append(c.Fields, jsoncol.Field{Name: name, Column: columnOf(tenon.Must(t.Field(name)), at)})
	}
	return c
}

// maskedColumn gives the list at the depth of the mask a validity.
func maskedColumn(m *masked.Tensor, path []string) *jsoncol.Column {
	c := columnOf(m.Values(), path)
	mask := columnOf(m.Mask(), path)
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

// mapColumn makes maps of the innermost lists of entries.
func mapColumn(c *jsoncol.Column) *jsoncol.Column {
	own := *c
	if c.Elem.Kind == jsoncol.List {
		own.Elem = mapColumn(c.Elem)
	} else {
		own.Kind = jsoncol.Map
	}
	return &own
}

// unionColumn returns a union as a column; lists around its elements stay around them.
func unionColumn(u *structured.Union, path []string) *jsoncol.Column {
	lists := columnOf(u.Tags(), path)
	tags, depth := lists, 0
	for tags.Kind == jsoncol.List {
		tags, depth = tags.Elem, depth+1
	}
	c := &jsoncol.Column{Kind: jsoncol.Union, Len: tags.Len, Tags: tags.Values.([]int8), Index: make([]int64, tags.Len)}
	for i := range c.Index {
		c.Index[i] = int64(i)
	}
	for _, name := range u.Variants() {
		v := columnOf(tenon.Must(u.Variant(name)).Values(), path)
		for range depth {
			v = v.Elem
		}
		c.Fields = append(c.Fields, jsoncol.Field{Name: name, Column: v})
	}
	return within(lists, c)
}

// within returns c in the lists that are around the innermost column of lists.
func within(lists, c *jsoncol.Column) *jsoncol.Column {
	if lists.Kind != jsoncol.List {
		return c
	}
	return &jsoncol.Column{Kind: jsoncol.List, Len: lists.Len, Offsets: lists.Offsets, Elem: within(lists.Elem, c)}
}

// rowsFirst returns what is written as rows: a single record as one row.
func rowsFirst(v tensor.Tensor) tensor.Tensor {
	if v.Shape().Rank() == 0 {
		return ops.ExpandDims(v, 0)
	}
	return v
}
