package serve

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/internal/anatomy"
	"github.com/tenonml/tenon/internal/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// A layout describes how clients see a Value of a Spec: a tree of axes, records, optional parts
// and elements, each with the column that holds it. Columns are flat tensors with derived
// names, for protocols of flat tensors:
//
//	x                 a dense tensor
//	x.flat_values     the elements of a ragged one, and
//	x.row_splits.0    its row splits, from the outermost axis
//	x.f               a field of records; a list of records has its splits once,
//	                  as x.row_splits.0, and its fields beside them
//	x.mask, x.values  what is there of optional parts, and all of them; those of lists
//	                  have the lists' splits beside them, as x.row_splits.0
//	x.tag, x.v        of a union the numbers of variants, and each variant with filler
//	                  where others are
//	x.entries.key, x.entries.value, x.entries.row_splits.0
//	                  the entries of maps, which are lists of records
//	x                 texts: the strings of a dictionary, and elements that mean something,
//	                  such as times and decimals
//	x.part            a component of any other type
type layout struct {
	name    string
	spec    tenon.Spec
	root    *node
	nodes   []*node   // all of them
	columns []*column // in the order of the Spec
}

// A column is a flat tensor.
type column struct {
	at     int // among the columns of the layout
	name   string
	dt     dtype.DType
	rank   int
	splits bool // row splits
}

// The kinds of nodes.
type kind uint8

const (
	axisNode     kind = iota // a list
	optionalNode             // a value that may be missing
	recordNode               // a value for each field
	leafNode                 // an element
)

// The forms of records in JSON.
type form uint8

const (
	objectForm  form = iota // a member for each field
	variantForm             // for unions: a member for the variant
	mapForm                 // a member for each entry
)

// A node is a place in a layout.
type node struct {
	at     int // among the nodes of the layout
	kind   kind
	form   form    // for records
	name   string  // of the value that it belongs to, for messages
	column *column // of the splits of a ragged axis, of a mask, or of elements
	size   int     // of an axis that is not ragged; negative: any
	child  *node
	fields []*node
	names  []string // of the fields
	axes   []*node  // the axes above a leaf or an optional part, since the last splits or records
	rows   bool     // its column begins with an axis for everything above these axes

	means *element.Type // the type that the texts of a leaf express; nil: they are just texts
}

// within returns the record of a node inside of its axes.
func (n *node) within() *node {
	for n.kind == axisNode {
		n = n.child
	}
	return n
}

// layoutOf returns the layout of a Spec.
func layoutOf(name string, s tenon.Spec) (*layout, error) {
	l := &layout{name: name, spec: s}
	var err error
	if l.root, err = l.value(name, s, 0, nil, false); err != nil {
		return nil, err
	}
	l.number(l.root)
	return l, nil
}

// number numbers a node and those below it.
func (l *layout) number(n *node) {
	n.at = len(l.nodes)
	l.nodes = append(l.nodes, n)
	if n.child != nil {
		l.number(n.child)
	}
	for _, f := range n.fields {
		l.number(f)
	}
}

func (l *layout) add(name string, dt dtype.DType, rank int, splits bool) *column {
	c := &column{len(l.columns), name, dt, rank, splits}
	l.columns = append(l.columns, c)
	return c
}

// value returns the node of a Spec. Its first skip axes are those of the records around it.
// axes are those above it since the last splits or records.
func (l *layout) value(name string, s tenon.Spec, skip int, axes []*node, rows bool) (*node, error) {
	a := anatomy.OfSpec(s)
	switch a.Kind {
	case anatomy.Leaf:
		t, ok := s.(*tensor.Spec)
		if !ok {
			break
		}
		if t.Shape().Rank() < skip {
			return nil, fmt.Errorf("%s: %v has fewer axes than its records", name, s)
		}
		return l.dense(name, name, t, skip, axes, rows), nil
	case anatomy.Lists:
		return l.lists(name, s, a, skip, axes, rows)
	case anatomy.Records:
		if rec, ok := s.(*structured.Spec); ok {
			return l.records(name, rec, skip, axes, rows)
		}
	case anatomy.Optional:
		return l.optional(name, s, a, skip, axes, rows)
	case anatomy.Named:
		return l.value(name, a.Inner, skip, axes, rows)
	case anatomy.Union, anatomy.Map:
		n, err := l.value(name, a.Inner, skip, axes, rows)
		if err != nil {
			return nil, err
		}
		switch m, ok := s.(*structured.MapSpec); {
		case !ok:
			n.within().form = variantForm
		case m.HasTextKeys(): // others are objects with the list of entries
			n.within().form = mapForm
		}
		return n, nil
	case anatomy.Words:
		return l.texts(name, a.Inner, nil, skip, axes, rows)
	case anatomy.Element:
		t := s.(element.Spec).Type()
		return l.texts(name, a.Fields[0].Spec, &t, skip, axes, rows)
	case anatomy.Held:
		return l.value(name, a.Inner, skip, axes, rows)
	case anatomy.Parts:
		return l.parts(name, s, a, skip, axes, rows)
	}
	return nil, fmt.Errorf("%s: %s is not supported by these protocols", name, tenon.String(s))
}

// texts returns the node of values that are stored as numbers and presented as text.
func (l *layout) texts(name string, kept tenon.Spec, means *element.Type, skip int, axes []*node, rows bool) (*node, error) {
	t, ok := kept.(*tensor.Spec)
	if !ok || t.Shape().Rank() < skip {
		return nil, fmt.Errorf("%s: %s is not supported by these protocols", name, tenon.String(kept))
	}
	leaf := &node{kind: leafNode, name: name, means: means}
	n := chained(l.held(leaf, name, t, skip, axes, rows), leaf)
	leaf.column.dt = dtype.String
	return n, nil
}

// parts returns the node of a type of which only the components are known: an object of them.
// Inside of records, the components have the rows of these.
func (l *layout) parts(name string, s tenon.Spec, a anatomy.Spec, skip int, axes []*node, rows bool) (*node, error) {
	if skip > 1 || skip == 1 && !byRows(s) || len(axes) > 0 {
		return nil, fmt.Errorf("%s: the components of %s do not have the rows of the records around it", name, tenon.String(s))
	}
	rec := &node{kind: recordNode, name: name}
	for _, f := range a.Fields {
		n, err := l.value(name+"."+f.Name, f.Spec, skip, nil, rows)
		if err != nil {
			return nil, err
		}
		rec.fields, rec.names = append(rec.fields, n), append(rec.names, f.Name)
	}
	return rec, nil
}

// byRows reports whether values of a Spec are rows, with an entry for each row in every
// component.
func byRows(s tenon.Spec) bool {
	shared, ok := rows.Components(s)
	if !ok || slices.Contains(shared, true) {
		return false
	}
	_, err := rows.RowSpec(s)
	return err == nil
}

// outermost returns the size of the first axis.
func outermost(s tenon.Spec) int {
	if t, ok := s.(interface{ Shape() shape.Shape }); ok && t.Shape().Rank() > 0 {
		return t.Shape().Dim(0)
	}
	return shape.Unknown
}

// dense returns the axes and elements of a tensor. Its first skip axes are above.
func (l *layout) dense(name, column string, s *tensor.Spec, skip int, axes []*node, rows bool) *node {
	leaf := &node{kind: leafNode, name: name}
	return chained(l.held(leaf, column, s, skip, axes, rows), leaf)
}

// held gives a node the column of a tensor, and returns the tensor's axes after the first skip
// ones.
func (l *layout) held(n *node, column string, s *tensor.Spec, skip int, axes []*node, rows bool) (chain []*node) {
	for k := skip; k < s.Shape().Rank(); k++ {
		chain = append(chain, &node{kind: axisNode, name: n.name, size: s.Shape().Dim(k)})
	}
	n.axes, n.rows = slices.Concat(axes, chain), rows
	rank := len(n.axes)
	if rows {
		rank++
	}
	n.column = l.add(column, s.DType(), rank, false)
	return chain
}

// chained puts axes around a node.
func chained(chain []*node, n *node) *node {
	for i := len(chain) - 1; i >= 0; i-- {
		chain[i].child = n
		n = chain[i]
	}
	return n
}

// lists returns the axes of partitions, and what is below them.
func (l *layout) lists(name string, s tenon.Spec, a anatomy.Spec, skip int, axes []*node, rows bool) (*node, error) {
	return l.divided(name, s, a, skip, axes, rows, func(axes []*node, rows bool) (*node, error) {
		column := name
		if splitsBelow(a, skip) {
			column += ".flat_values"
		}
		if flat, ok := a.Inner.(*tensor.Spec); ok {
			return l.dense(name, column, flat, 1, axes, rows), nil
		}
		return l.value(column, a.Inner, 1, axes, rows)
	})
}

// splitsBelow reports whether rows have splits below the first skip axes, which are those of
// records around them.
func splitsBelow(a anatomy.Spec, skip int) bool {
	return slices.ContainsFunc(a.Partitions[max(0, skip-1):], func(p *ragged.PartitionSpec) bool { return !p.IsUniform() })
}

// divided returns the axes of partitions around the result of inner.
func (l *layout) divided(name string, s tenon.Spec, a anatomy.Spec, skip int, axes []*node, rows bool, inner func(axes []*node, rows bool) (*node, error)) (*node, error) {
	var chain []*node
	if skip == 0 {
		n := &node{kind: axisNode, name: name, size: outermost(s)}
		chain, axes = append(chain, n), append(slices.Clone(axes), n)
	}
	splits := 0
	var late []func()
	for k, p := range a.Partitions {
		if k+1 < skip {
			continue
		}
		n := &node{kind: axisNode, name: name, size: p.UniformRowLength()}
		if p.IsUniform() {
			axes = append(slices.Clone(axes), n)
		} else {
			splitsName := fmt.Sprintf("%s.row_splits.%d", name, splits)
			late = append(late, func() { n.column = l.add(splitsName, p.DType(), 1, true) })
			splits, axes, rows = splits+1, nil, true
		}
		chain = append(chain, n)
	}
	below, err := inner(axes, rows)
	if err != nil {
		return nil, err
	}
	for _, f := range late {
		f()
	}
	return chained(chain, below), nil
}

// records returns the axes and fields of records.
func (l *layout) records(name string, s *structured.Spec, skip int, axes []*node, rows bool) (*node, error) {
	var chain []*node
	if skip == 0 && s.Rank() > 0 {
		chain = append(chain, &node{kind: axisNode, name: name, size: s.NRows()})
	}
	splits := 0
	for k, p := range s.RowPartitions() {
		if k+1 < skip {
			continue
		}
		n := &node{kind: axisNode, name: name, size: p.UniformRowLength()}
		if !p.IsUniform() {
			n.column = l.add(fmt.Sprintf("%s.row_splits.%d", name, splits), p.DType(), 1, true)
			splits++
		}
		chain = append(chain, n)
	}
	rec := &node{kind: recordNode, name: name}
	for _, f := range s.Fields() {
		n, err := l.value(name+"."+f.Name, f.Spec, s.Rank(), nil, s.Rank() > 0)
		if err != nil {
			return nil, err
		}
		rec.fields, rec.names = append(rec.fields, n), append(rec.names, f.Name)
	}
	return chained(chain, rec), nil
}

// optional returns a node for a value that may be missing, below the axes of its mask.
func (l *layout) optional(name string, s tenon.Spec, a anatomy.Spec, skip int, axes []*node, rows bool) (*node, error) {
	opt := &node{kind: optionalNode, name: name}
	if m, ok := a.Mask.(*tensor.Spec); ok && m.Shape().Rank() >= skip {
		chain := l.held(opt, name+".mask", m, skip, axes, rows)
		var err error
		opt.child, err = l.value(name+".values", a.Inner, m.Shape().Rank(), opt.axes, rows)
		return chained(chain, opt), err
	}
	m, v := anatomy.OfSpec(a.Mask), anatomy.OfSpec(a.Inner)
	mask, ok := m.Inner.(*tensor.Spec)
	if !ok || v.Kind != anatomy.Lists || len(v.Partitions) != len(m.Partitions) || a.Outside() {
		return nil, fmt.Errorf("%s: %s is not supported by these protocols: lists with missing elements need a mask with the same lists", name, tenon.String(s))
	}
	return l.divided(name, a.Inner, m, skip, axes, rows, func(axes []*node, rows bool) (*node, error) {
		chain := l.held(opt, name+".mask", mask, 1, axes, rows)
		var err error
		opt.child, err = l.value(name+".values", v.Inner, mask.Shape().Rank(), opt.axes, rows)
		return chained(chain, opt), err
	})
}
