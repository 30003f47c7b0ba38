package serve

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
)

// decoding makes columns of nested JSON, by a layout.
type decoding struct {
	style  style
	limit  int // elements of an argument
	filled map[*column]*elements
	counts map[*node]int // entries of a list of any size that is not ragged; of records
	left   int
	path   []step // to what is read
}

// A step goes into a field, or an entry of a list.
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
	d := &decoding{style: st, limit: limit, filled: map[*column]*elements{}, counts: map[*node]int{}, left: limit, path: []step{{field: l.name}}}
	for _, c := range l.columns {
		d.filled[c] = &elements{dt: c.dt}
		if c.splits {
			d.filled[c].count(0)
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

// told returns an error of an argument with the Spec that it has.
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

// node reads what stands at a node.
func (d *decoding) node(n *node, x any) error {
	switch n.kind {
	case axisNode:
		return d.axis(n, x)
	case optionalNode:
		mask := d.filled[n.column]
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
		return badInput("%s is %s, which is no %v", d, shown(x), n.means)
	}
	return d.filled[n.column].add(x, d, d.style)
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
		had, known := d.counts[n]
		if n.size >= 0 {
			had, known = n.size, true
		}
		if known && had != size {
			return badInput("%s has %d entries where others, or the function, have %d", d, size, had)
		}
		d.counts[n] = size
	}
	if err := d.entries(n.child, list); err != nil {
		return err
	}
	if n.column != nil {
		d.counts[n] += size
		d.filled[n.column].count(d.counts[n])
	}
	return nil
}

// entries reads the entries of a list.
func (d *decoding) entries(child *node, list *list) error {
	last := len(d.path)
	d.path = append(d.path, step{})
	var leaf *elements
	if child.kind == leafNode {
		if leaf = d.filled[child.column]; list.n > d.left {
			return d.take(list.n)
		}
	}
	if child.kind == axisNode && child.column != nil {
		d.filled[child.column].grow(list.n)
	}
	c := list.cursor()
	if leaf != nil && c.isElement() {
		leaf.grow(list.n)
	}
	for c.more() {
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
	d.counts[n]++
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
				return badInput("%s has the field %s, which nobody knows", d, name)
			}
		}
	}
	return nil
}

// variant reads an element of a union: an object with one member, named as the variant is.
func (d *decoding) variant(n *node, o *object) error {
	k := -1
	if len(o.names) == 1 {
		k = slices.Index(n.names[1:], o.names[0])
	}
	if k < 0 {
		return badInput("%s is an object with the members %s, want one of %s", d, shortened(strings.Join(o.names, ", ")), strings.Join(n.names[1:], ", "))
	}
	d.filled[n.fields[0].column].count(k)
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

// entriesOf reads a map: an object whose members are its entries.
func (d *decoding) entriesOf(n *node, o *object) error {
	list := make([]any, len(o.names))
	entry := n.fields[0].within()
	for i, name := range o.names {
		list[i] = &object{names: entry.names, values: []any{name, o.values[i]}}
	}
	return d.axis(n.fields[0], listOf(list))
}

// nothing adds what stands under a value that is missing.
func (d *decoding) nothing(n *node) error {
	switch n.kind {
	case axisNode:
		if n.column != nil {
			d.filled[n.column].count(d.counts[n])
			return nil
		}
		size := max(n.size, 0)
		if had, ok := d.counts[n]; ok {
			size = had
		}
		for range size {
			if err := d.nothing(n.child); err != nil {
				return err
			}
		}
	case optionalNode:
		d.filled[n.column].count(0)
		return d.nothing(n.child)
	case recordNode:
		d.counts[n]++
		for _, f := range n.fields {
			if err := d.nothing(f); err != nil {
				return err
			}
		}
	default:
		e := d.filled[n.column]
		e.n++
		if e.dt == dtype.String {
			e.texts = append(e.texts, "")
		} else {
			e.bytes = append(e.bytes, make([]byte, e.dt.Size())...)
		}
	}
	return nil
}

// finish makes tensors of what was collected. entries is how many entries there are at a
// node, counted from the last splits or records.
func (d *decoding) finish(n *node, entries int, c columns) error {
	var err error
	switch n.kind {
	case axisNode:
		if n.column != nil {
			e := d.filled[n.column]
			if c[n.column.name], err = e.tensor([]int{e.n}); err != nil {
				return err
			}
			return d.finish(n.child, d.counts[n], c)
		}
		return d.finish(n.child, entries, c)
	case optionalNode:
		if c[n.column.name], err = d.filled[n.column].tensor(d.dims(n, entries)); err != nil {
			return err
		}
		return d.finish(n.child, entries, c)
	case recordNode:
		for _, f := range n.fields {
			if err := d.finish(f, d.counts[n], c); err != nil {
				return err
			}
		}
		return nil
	}
	c[n.column.name], err = d.filled[n.column].tensor(d.dims(n, entries))
	return err
}

// dims returns the shape of a node's column.
func (d *decoding) dims(n *node, entries int) []int {
	var dims []int
	if n.rows {
		dims = append(dims, entries)
	}
	for _, a := range n.axes {
		size := d.counts[a]
		if a.size >= 0 {
			size = a.size
		}
		dims = append(dims, size)
	}
	return dims
}

// encoding writes a Value as nested JSON, by a layout.
type encoding struct {
	style   style
	readers map[*column]*reader
	sizes   map[*node]int // of axes that are not ragged
}

// encodingOf prepares a Value to be written, by a layout of Values such as it, if it is known.
func encodingOf(name string, known *layout, v tenon.Value, st style) (*encoding, *layout, error) {
	c, err := taken(name, v)
	if err != nil {
		return nil, nil, err
	}
	l := known
	if l == nil || !l.describes(c) {
		if l, err = layoutOf(name, v.Spec()); err != nil {
			return nil, nil, err
		}
	}
	e := &encoding{style: st, readers: map[*column]*reader{}, sizes: map[*node]int{}}
	for _, col := range l.columns {
		t, ok := c[col.name]
		if !ok {
			return nil, nil, fmt.Errorf("the column %s is missing", col.name)
		}
		e.readers[col] = readerOf(t)
	}
	e.measure(l.root, c)
	return e, l, nil
}

// describes reports whether columns are those of a layout.
func (l *layout) describes(c columns) bool {
	for _, col := range l.columns {
		if t, ok := c[col.name]; !ok || t.DType() != col.dt || t.Shape().Rank() != col.rank {
			return false
		}
	}
	return len(c) == len(l.columns)
}

// measure finds the sizes of axes by the shapes of columns.
func (e *encoding) measure(n *node, c columns) {
	switch n.kind {
	case axisNode:
		if n.column == nil && n.size >= 0 {
			e.sizes[n] = n.size
		}
		e.measure(n.child, c)
		if _, ok := e.sizes[n]; !ok && n.column == nil {
			e.sizes[n] = n.child.entries(c)
		}
	case optionalNode:
		e.measureAxes(n, c)
		e.measure(n.child, c)
	case recordNode:
		for _, f := range n.fields {
			e.measure(f, c)
		}
	default:
		e.measureAxes(n, c)
	}
}

// entries returns how many entries the columns at a node, or below it, begin with.
func (n *node) entries(c columns) int {
	switch {
	case n.column != nil && n.column.splits:
		return c[n.column.name].Shape().Dim(0) - 1
	case n.column != nil:
		return c[n.column.name].Shape().Dim(0)
	case n.kind == axisNode:
		return n.child.entries(c) / max(n.size, 1)
	}
	for _, f := range n.fields {
		return f.entries(c)
	}
	return 0
}

func (e *encoding) measureAxes(n *node, c columns) {
	dims := c[n.column.name].Shape().Dims()
	if n.rows {
		dims = dims[1:]
	}
	for i, a := range n.axes {
		e.sizes[a] = dims[i]
	}
}

// append writes entry i of a node.
func (e *encoding) append(b []byte, n *node, i int) ([]byte, error) {
	var err error
	switch n.kind {
	case axisNode:
		from, to := i*e.sizes[n], (i+1)*e.sizes[n]
		if n.column != nil {
			r := e.readers[n.column]
			from, to = r.integer(i), r.integer(i+1)
		}
		b = append(b, '[')
		for k := from; k < to; k++ {
			if k > from {
				b = append(b, ',')
			}
			if b, err = e.append(b, n.child, k); err != nil {
				return b, err
			}
		}
		return append(b, ']'), nil
	case optionalNode:
		if e.readers[n.column].bits(i) == 0 {
			return append(b, "null"...), nil
		}
		return e.append(b, n.child, i)
	case recordNode:
		switch n.form {
		case variantForm:
			k := 1 + int(e.readers[n.fields[0].column].bits(i))
			b, err = e.append(append(appendText(append(b, '{'), n.names[k]), ':'), n.fields[k], i)
			return append(b, '}'), err
		case mapForm:
			return e.entries(b, n.fields[0], i)
		}
		b = append(b, '{')
		for k, f := range n.fields {
			if k > 0 {
				b = append(b, ',')
			}
			b = append(appendText(b, n.names[k]), ':')
			if b, err = e.append(b, f, i); err != nil {
				return b, err
			}
		}
		return append(b, '}'), nil
	}
	return e.readers[n.column].append(b, i, n.name, e.style)
}

// entries writes map i as an object.
func (e *encoding) entries(b []byte, list *node, i int) ([]byte, error) {
	var err error
	r, fields := e.readers[list.column], list.child.fields
	b = append(b, '{')
	for k := r.integer(i); k < r.integer(i+1); k++ {
		if k > r.integer(i) {
			b = append(b, ',')
		}
		for j, f := range fields {
			if j > 0 {
				b = append(b, ':')
			}
			if b, err = e.append(b, f, k); err != nil {
				return b, err
			}
		}
	}
	return append(b, '}'), nil
}

// appendValue writes a Value as nested JSON.
func appendValue(b []byte, name string, known *layout, v tenon.Value, st style) ([]byte, error) {
	e, l, err := encodingOf(name, known, v, st)
	if err != nil {
		return b, err
	}
	return e.append(b, l.root, 0)
}
