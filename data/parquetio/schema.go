package parquetio

import (
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/colname"
	"github.com/tenonml/tenon/structured"
)

// A node is a value of the schema: a leaf, a record or a list. In the levels of a column, it
// is there where the definition level is at least def.
type node struct {
	name     string
	nullable bool
	def      uint8
	typ      arrow.DataType
	extended string // the name of the extension type of Arrow that it is, if any

	leaf   int     // the column, -1 for records and lists
	fields []*node // of a record

	elem    *node // of a list
	isMap   bool
	rep     uint8 // what repeats within it
	elemDef uint8 // where an element is
}

// maxLevels is how deep a schema nests at most, as in structured tensors.
const maxLevels = 100

// tree turns a schema into nodes.
type tree struct {
	set *schema.Schema
	fn  string
}

// root returns the columns.
func (t *tree) root() []*node {
	return t.children(t.set.Root(), 0, 0, 0)
}

func (t *tree) children(g *schema.GroupNode, def, rep uint8, depth int) []*node {
	names := make([]string, g.NumFields())
	for i := range names {
		names[i] = g.Field(i).Name()
	}
	out := make([]*node, len(names))
	for i, name := range colname.Unique(names) {
		out[i] = t.of(g.Field(i), def, rep, depth+1)
		out[i].name = name
	}
	return out
}

// of returns a field at a definition level and a repetition level.
func (t *tree) of(n schema.Node, def, rep uint8, depth int) *node {
	if depth > maxLevels {
		tenon.Throw(fail(tenon.ErrInvalid, t.fn, n.Path(), "the schema nests deeper than %d levels", maxLevels))
	}
	switch n.RepetitionType() {
	case parquet.Repetitions.Repeated: // a list without an annotation
		out := &node{leaf: -1, def: def, rep: rep + 1, elemDef: def + 1}
		out.elem = t.value(n, def+1, rep+1, depth)
		return out.list(false)
	case parquet.Repetitions.Optional:
		out := t.value(n, def+1, rep, depth)
		out.nullable = true
		return out
	}
	return t.value(n, def, rep, depth)
}

// list sets the type of a list.
func (n *node) list(isMap bool) *node {
	n.elem.name = "item"
	n.isMap = isMap && len(n.elem.fields) == 2 && !n.elem.fields[0].nullable
	item := n.elem.field()
	if n.isMap {
		n.typ = arrow.MapOfFields(n.elem.fields[0].field(), n.elem.fields[1].field())
	} else {
		n.typ = arrow.LargeListOfField(item)
	}
	return n
}

// field returns a node as a field of Arrow.
func (n *node) field() arrow.Field {
	f := arrow.Field{Name: n.name, Type: n.typ, Nullable: n.nullable}
	if n.extended != "" {
		f.Metadata = arrow.MetadataFrom(map[string]string{"ARROW:extension:name": n.extended})
	}
	return f
}

// value returns what a field holds that is there at a definition level.
func (t *tree) value(n schema.Node, def, rep uint8, depth int) *node {
	out := &node{name: n.Name(), def: def, leaf: -1}
	g, ok := n.(*schema.GroupNode)
	if !ok {
		p := n.(*schema.PrimitiveNode)
		out.leaf = t.set.ColumnIndexByNode(p)
		out.typ = leafType(t.fn, p)
		if is[schema.UUIDLogicalType](n) {
			out.extended = "arrow.uuid"
		}
		return out
	}
	isList := is[schema.ListLogicalType](n) || n.ConvertedType() == schema.ConvertedTypes.List
	isMap := is[schema.MapLogicalType](n) || n.ConvertedType() == schema.ConvertedTypes.Map || n.ConvertedType() == schema.ConvertedTypes.MapKeyValue
	if (isList || isMap) && g.NumFields() == 1 && g.Field(0).RepetitionType() == parquet.Repetitions.Repeated {
		c := g.Field(0)
		out.rep, out.elemDef = rep+1, def+1
		if isMap || isElement(c, g.Name()) {
			out.elem = t.value(c, def+1, rep+1, depth+1)
		} else {
			out.elem = t.of(c.(*schema.GroupNode).Field(0), def+1, rep+1, depth+1)
		}
		return out.list(isMap)
	}
	if g.NumFields() == 0 {
		tenon.Throw(fail(tenon.ErrInvalid, t.fn, n.Path(), "the group has no fields"))
	}
	out.fields = t.children(g, def, rep, depth)
	out.record()
	return out
}

// record sets the type of a record.
func (n *node) record() {
	fields := make([]arrow.Field, len(n.fields))
	for i, f := range n.fields {
		fields[i] = f.field()
	}
	n.typ = arrow.StructOf(fields...)
}

// is reports whether a node has a logical type.
func is[T schema.LogicalType](n schema.Node) bool {
	switch any(n.LogicalType()).(type) {
	case T, *T:
		return true
	}
	return false
}

// isElement reports whether what repeats in a list is the element itself, and not a group
// around it.
func isElement(c schema.Node, list string) bool {
	g, ok := c.(*schema.GroupNode)
	return !ok || g.NumFields() != 1 || g.Name() == "array" || g.Name() == list+"_tuple"
}

// chosen returns the columns that are asked for, in that order.
func (t *tree) chosen(all []*node, columns []string) []*node {
	if columns == nil {
		return all
	}
	paths := make([][]string, len(columns))
	for i, text := range columns {
		paths[i] = []string{text}
		if !slices.ContainsFunc(all, func(n *node) bool { return n.name == text }) {
			if p, err := structured.ParsePath(text); err == nil {
				paths[i] = p
			}
		}
	}
	return t.pruned(all, paths, "")
}

// pruned returns those of some fields that paths lead to.
func (t *tree) pruned(fields []*node, paths [][]string, at string) []*node {
	var out []*node
	for i, p := range paths {
		if slices.ContainsFunc(paths[:i], func(q []string) bool { return q[0] == p[0] }) {
			continue // it came with that one
		}
		k := slices.IndexFunc(fields, func(n *node) bool { return n.name == p[0] })
		if k < 0 {
			names := make([]string, len(fields))
			for j, f := range fields {
				names[j] = f.name
			}
			e := fail(tenon.ErrNotFound, t.fn, at+structured.PathString(p), "there is no such column")
			e.Hint = "there are " + strings.Join(names, ", ")
			tenon.Throw(e)
		}
		var rest [][]string
		whole := false
		for _, q := range paths[i:] {
			if q[0] == p[0] {
				whole = whole || len(q) == 1
				rest = append(rest, q[1:])
			}
		}
		n := fields[k]
		if !whole {
			n = t.inside(n, rest, at+structured.PathString(p[:1])+".")
		}
		out = append(out, n)
	}
	return out
}

// inside returns a node with only the fields that paths lead to.
func (t *tree) inside(n *node, paths [][]string, at string) *node {
	c := *n
	switch {
	case n.elem != nil:
		c.elem = t.inside(n.elem, paths, at)
		return c.list(n.isMap)
	case n.leaf >= 0:
		tenon.Throw(fail(tenon.ErrNotFound, t.fn, at+structured.PathString(paths[0]), "the column has no fields"))
	}
	c.fields = t.pruned(n.fields, paths, at)
	c.record()
	return &c
}

// first returns the first leaf of a node, whose levels say where the node is.
func (n *node) first() int {
	switch {
	case n.elem != nil:
		return n.elem.first()
	case n.leaf < 0:
		return n.fields[0].first()
	}
	return n.leaf
}

// places calls f with each leaf of a node, and with the levels that say which entries are its slots.
func (n *node) places(rep, def uint8, f func(n *node, rep, def uint8)) {
	if n.elem != nil {
		n.elem.places(n.rep, n.elemDef, f)
	}
	if n.leaf >= 0 {
		f(n, rep, def)
	}
	for _, c := range n.fields {
		c.places(rep, def, f)
	}
}

// leaves calls f with each leaf of a node.
func (n *node) leaves(f func(n *node)) {
	n.places(0, 0, func(n *node, _, _ uint8) { f(n) })
}
