package parquetio

import (
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/colname"
	"github.com/tenonml/tenon/structured"
)

// A node is a value of the schema: a leaf, a record or a list. In the levels of a column, it is
// present if the definition level is at least def.
type node struct {
	name     string
	nullable bool
	def      uint8
	typ      arrow.DataType
	extended string // name of its Arrow extension type, if any

	leaf   int     // column number, or -1 for records and lists
	fields []*node // fields of a record

	elem    *node // element of a list
	isMap   bool
	rep     uint8 // repetition level of what repeats within it
	elemDef uint8 // definition level at which an element exists
}

// maxLevels is the maximum nesting of a schema, as in structured tensors.
const maxLevels = 100

// tree converts a schema to nodes.
type tree struct {
	set []*schemaElement // the columns of the file
	fn  string
}

// children returns the fields of a group.
func (t *tree) children(g *schemaElement, def, rep uint8, depth int) []*node {
	names := make([]string, len(g.fields))
	for i, f := range g.fields {
		names[i] = f.name
	}
	out := make([]*node, len(names))
	for i, name := range colname.Unique(names) {
		out[i] = t.of(g.fields[i], def, rep, depth+1)
		out[i].name = name
	}
	return out
}

// of returns a field at the given definition and repetition levels.
func (t *tree) of(n *schemaElement, def, rep uint8, depth int) *node {
	if depth > maxLevels {
		tenon.Throw(fail(tenon.ErrInvalid, t.fn, n.path, "the schema nests deeper than %d levels", maxLevels))
	}
	switch n.repetition {
	case repRepeated: // a list without an annotation
		out := &node{leaf: -1, def: def, rep: rep + 1, elemDef: def + 1}
		out.elem = t.value(n, def+1, rep+1, depth)
		return out.list(false)
	case repOptional:
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

// value returns the content of a field, which is present at the given definition level.
func (t *tree) value(n *schemaElement, def, rep uint8, depth int) *node {
	out := &node{name: n.name, def: def, leaf: n.column}
	if n.column >= 0 {
		out.typ = leafType(t.fn, n)
		if n.logical.kind == logicalUUID {
			out.extended = "arrow.uuid"
		}
		return out
	}
	isMap := n.logical.kind == logicalMap
	if (isMap || n.logical.kind == logicalList) && len(n.fields) == 1 && n.fields[0].repetition == repRepeated {
		c := n.fields[0]
		out.rep, out.elemDef = rep+1, def+1
		if isMap || isElement(c, n.name) {
			out.elem = t.value(c, def+1, rep+1, depth+1)
		} else {
			out.elem = t.of(c.fields[0], def+1, rep+1, depth+1)
		}
		return out.list(isMap)
	}
	out.fields = t.children(n, def, rep, depth)
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

// isElement reports whether the repeated field of a list is the element itself rather than a group
// around it.
func isElement(c *schemaElement, list string) bool {
	return len(c.fields) != 1 || c.name == "array" || c.name == list+"_tuple"
}

// chosen returns the requested columns, in the requested order.
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

// pruned returns those fields that paths lead to.
func (t *tree) pruned(fields []*node, paths [][]string, at string) []*node {
	var out []*node
	for i, p := range paths {
		if slices.ContainsFunc(paths[:i], func(q []string) bool { return q[0] == p[0] }) {
			continue // already included with that one
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

// inside returns a node with only those fields that paths lead to.
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

// first returns the first leaf of a node, whose levels locate the node.
func (n *node) first() int {
	switch {
	case n.elem != nil:
		return n.elem.first()
	case n.leaf < 0:
		return n.fields[0].first()
	}
	return n.leaf
}

// places calls f with each leaf of a node, and with the levels that determine which entries are its
// slots.
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
