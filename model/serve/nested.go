package serve

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
)

// A decoding converts nested JSON to columns, by a layout.
type decoding struct {
	style  style
	limit  int        // maximum number of elements of an argument
	filled []elements // by column
	counts []int      // by node: entries of a list of any size that is not ragged, negative if no list was read; number of records, and of all ragged lists
	left   int
	path   []step // the path to the current value

	few struct { // room for most arguments
		filled [4]elements
		counts [8]int
		path   [4]step
	}
}

// room returns n empty entries, in few if they fit.
func room[T any](few []T, n int) []T {
	if n <= len(few) {
		return few[:n]
	}
	return make([]T, n)
}

// A step leads into a field, or an entry of a list.
type step struct {
	field string
	entry int
}

// String returns the path, for messages.
func (d *decoding) String() string {
	var b strings.Builder
	for i, s := range d.path {
		switch {
		case i == 0:
			b.WriteString(s.field)
		case s.field != "":
			b.WriteString("." + s.field)
		default:
			b.WriteString("[" + strconv.Itoa(s.entry) + "]")
		}
	}
	return b.String()
}

// nestedValue returns the Value of a layout that JSON describes.
func nestedValue(l *layout, x any, st style, limit int) (tenon.Value, error) {
	d := &decoding{style: st, limit: limit, left: limit}
	d.filled, d.counts, d.path = room(d.few.filled[:], len(l.columns)), room(d.few.counts[:], len(l.nodes)), d.few.path[:1]
	d.path[0].field = l.name
	for i, c := range l.columns {
		d.filled[i].dt = c.dt
		if c.splits {
			d.filled[i].count(0)
		}
	}
	for i, n := range l.nodes {
		if n.kind == axisNode && n.column == nil {
			d.counts[i] = -1
		}
	}
	if err := d.node(l.root, x); err != nil {
		return nil, l.told(err)
	}
	c := columns{}
	if err := d.finish(l.root, 1, c); err != nil {
		return nil, l.told(err)
	}
	return c.built(l)
}

// told adds the Spec of an argument to an error.
func (l *layout) told(err error) error {
	const most = 400 // bytes of a Spec, which may have any number of fields
	spec := tenon.String(l.spec)
	var f *fault
	if !errors.As(err, &f) || f.status != http.StatusBadRequest || strings.Contains(f.text, spec) {
		return err
	}
	if len(spec) > most {
		spec = strings.ToValidUTF8(spec[:most], "") + "…"
	}
	return badInput("%s; %s is %s", f.text, l.name, spec)
}

// count adds an integer to a column of row splits.
func (e *elements) count(n int) {
	e.n++
	for range e.dt.Size() {
		e.bytes = append(e.bytes, byte(n))
		n >>= 8
	}
}

// node decodes the value at a node.
func (d *decoding) node(n *node, x any) error {
	switch n.kind {
	case axisNode:
		return d.axis(n, x)
	case optionalNode:
		mask := &d.filled[n.column.at]
		if x == nil {
			mask.count(0)
			return d.nothing(n.child)
		}
		mask.count(1)
		return d.node(n.child, x)
	case recordNode:
		return d.record(n, x)
	}
	if err := d.take(1); err != nil {
		return err
	}
	if text, ok := x.(string); ok && n.means != nil && !n.means.Fits(text) {
		return badInput("%s is %s, which is not a %v", d, shown(x), n.means)
	}
	return d.filled[n.column.at].add(x, d, d.style)
}

// take counts elements of the argument.
func (d *decoding) take(n int) error {
	if d.left -= n; d.left < 0 {
		return faulty(http.StatusRequestEntityTooLarge, "%s has more than %d elements", d, d.limit)
	}
	return nil
}

func (d *decoding) axis(n *node, x any) error {
	list, ok := x.(*list)
	if !ok {
		return badInput("%s is %s, want a list", d, shown(x))
	}
	size := list.n
	if n.column == nil {
		had := d.counts[n.at]
		if n.size >= 0 {
			had = n.size
		}
		if had >= 0 && had != size {
			return badInput("%s has %d entries, but other lists or the function have %d", d, size, had)
		}
		d.counts[n.at] = size
	}
	if err := d.entries(n.child, list); err != nil {
		return err
	}
	if n.column != nil {
		d.counts[n.at] += size
		d.filled[n.column.at].count(d.counts[n.at])
	}
	return nil
}

// entries decodes the entries of a list.
func (d *decoding) entries(child *node, list *list) error {
	last := len(d.path)
	d.path = append(d.path, step{})
	var leaf *elements
	if child.kind == leafNode {
		if leaf = &d.filled[child.column.at]; list.n > d.left {
			return d.take(list.n)
		}
	}
	if child.kind == axisNode && child.column != nil {
		d.filled[child.column.at].grow(list.n)
	}
	c := list.cursor()
	if leaf != nil && c.isElement() {
		leaf.grow(list.n)
	}
	for c.more() {
		if leaf != nil {
			if d.left -= c.numbers(leaf); !c.more() {
				break
			}
		}
		d.path[last].entry = c.at
		var err error
		if leaf != nil && c.isNumber() {
			d.left--
			err = leaf.number(c.number(), d, d.style)
		} else {
			err = d.node(child, c.value())
		}
		if err != nil {
			return err
		}
	}
	d.path = d.path[:last]
	return nil
}

func (d *decoding) record(n *node, x any) error {
	o, ok := x.(*object)
	if !ok {
		return badInput("%s is %s, want an object", d, shown(x))
	}
	d.counts[n.at]++
	switch n.form {
	case variantForm:
		return d.variant(n, o)
	case mapForm:
		return d.entriesOf(n, o)
	}
	found := 0
	last := len(d.path)
	d.path = append(d.path, step{})
	for i, f := range n.fields {
		v, ok := o.get(n.names[i])
		if ok {
			found++
		} else if f.kind != optionalNode {
			d.path = d.path[:last]
			return badInput("%s lacks the field %s", d, n.names[i])
		}
		d.path[last].field = n.names[i]
		if err := d.node(f, v); err != nil {
			return err
		}
	}
	d.path = d.path[:last]
	if found < len(o.names) {
		for _, name := range o.names {
			if !slices.Contains(n.names, name) {
				return badInput("%s has the unknown field %s", d, name)
			}
		}
	}
	return nil
}

// variant decodes an element of a union: an object with one member, whose name is that of the
// variant.
func (d *decoding) variant(n *node, o *object) error {
	k := -1
	if len(o.names) == 1 {
		k = slices.Index(n.names[1:], o.names[0])
	}
	if k < 0 {
		return badInput("%s is an object with the members %s, want one of %s", d, shortened(strings.Join(o.names, ", ")), strings.Join(n.names[1:], ", "))
	}
	d.filled[n.fields[0].column.at].count(k)
	last := len(d.path)
	d.path = append(d.path, step{field: o.names[0]})
	for i, f := range n.fields[1:] {
		err := error(nil)
		if i == k {
			err = d.node(f, o.values[0])
		} else {
			err = d.nothing(f)
		}
		if err != nil {
			return err
		}
	}
	d.path = d.path[:last]
	return nil
}

// entriesOf decodes a map: an object whose members are its entries.
func (d *decoding) entriesOf(n *node, o *object) error {
	list := make([]any, len(o.names))
	entry := n.fields[0].within()
	for i, name := range o.names {
		list[i] = &object{names: entry.names, values: []any{name, o.values[i]}}
	}
	return d.axis(n.fields[0], listOf(list))
}

// nothing adds filler in place of a missing value.
func (d *decoding) nothing(n *node) error {
	switch n.kind {
	case axisNode:
		if n.column != nil {
			d.filled[n.column.at].count(d.counts[n.at])
			return nil
		}
		size := max(n.size, d.counts[n.at], 0)
		for range size {
			if err := d.nothing(n.child); err != nil {
				return err
			}
		}
	case optionalNode:
		d.filled[n.column.at].count(0)
		return d.nothing(n.child)
	case recordNode:
		d.counts[n.at]++
		for _, f := range n.fields {
			if err := d.nothing(f); err != nil {
				return err
			}
		}
	default:
		e := &d.filled[n.column.at]
		e.n++
		if e.dt == dtype.String {
			e.texts = append(e.texts, "")
		} else {
			e.bytes = append(e.bytes, make([]byte, e.dt.Size())...)
		}
	}
	return nil
}

// finish makes tensors of the collected elements. entries is the number of entries at a node,
// counted from the last splits or records.
func (d *decoding) finish(n *node, entries int, c columns) error {
	var err error
	switch n.kind {
	case axisNode:
		if n.column != nil {
			e := &d.filled[n.column.at]
			if c[n.column.name], err = e.tensor([]int{e.n}); err != nil {
				return err
			}
			return d.finish(n.child, d.counts[n.at], c)
		}
		return d.finish(n.child, entries, c)
	case optionalNode:
		if c[n.column.name], err = d.filled[n.column.at].tensor(d.dims(n, entries)); err != nil {
			return err
		}
		return d.finish(n.child, entries, c)
	case recordNode:
		for _, f := range n.fields {
			if err := d.finish(f, d.counts[n.at], c); err != nil {
				return err
			}
		}
		return nil
	}
	c[n.column.name], err = d.filled[n.column.at].tensor(d.dims(n, entries))
	return err
}

// dims returns the shape of a node's column.
func (d *decoding) dims(n *node, entries int) []int {
	dims := make([]int, 0, 1+len(n.axes))
	if n.rows {
		dims = append(dims, entries)
	}
	for _, a := range n.axes {
		size := max(d.counts[a.at], 0)
		if a.size >= 0 {
			size = a.size
		}
		dims = append(dims, size)
	}
	return dims
}
