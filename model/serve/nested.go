package serve

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/tensor"
)

// decoding makes columns of nested JSON, by a layout.
type decoding struct {
	style  style
	limit  int // elements of an argument
	filled map[*column]*elements
	counts map[*node]int // entries of a list of any size that is not ragged; of records
	left   int
}

// nestedValue returns the Value of a Spec that JSON describes.
func nestedValue(name string, s tenon.Spec, x any, st style, limit int) (tenon.Value, error) {
	l, err := layoutOf(name, s)
	if err != nil {
		return nil, err
	}
	d := &decoding{style: st, limit: limit, filled: map[*column]*elements{}, counts: map[*node]int{}, left: limit}
	for _, c := range l.columns {
		d.filled[c] = &elements{dt: c.dt}
		if c.splits {
			d.filled[c].count(0)
		}
	}
	if err := d.node(l.root, x, name); err != nil {
		return nil, err
	}
	c := columns{}
	if err := d.finish(l.root, 1, c); err != nil {
		return nil, err
	}
	return c.built(name, s)
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
func (d *decoding) node(n *node, x any, where string) error {
	switch n.kind {
	case axisNode:
		return d.axis(n, x, where)
	case optionalNode:
		mask := d.filled[n.column]
		if x == nil {
			mask.count(0)
			return d.nothing(n.child)
		}
		mask.count(1)
		return d.node(n.child, x, where)
	case recordNode:
		return d.record(n, x, where)
	}
	if d.left--; d.left < 0 {
		return faulty(413, "%s has more than %d elements", where, d.limit)
	}
	return d.filled[n.column].add(x, where, d.style)
}

func (d *decoding) axis(n *node, x any, where string) error {
	list, ok := x.([]any)
	if !ok {
		return badInput("%s is %s, want a list", where, shown(x))
	}
	if n.column == nil {
		had, known := d.counts[n]
		if n.size >= 0 {
			had, known = n.size, true
		}
		if known && had != len(list) {
			return badInput("%s has %d entries where others, or the function, have %d", where, len(list), had)
		}
		d.counts[n] = len(list)
	}
	for i, e := range list {
		if err := d.node(n.child, e, fmt.Sprintf("%s[%d]", where, i)); err != nil {
			return err
		}
	}
	if n.column != nil {
		d.counts[n] += len(list)
		d.filled[n.column].count(d.counts[n])
	}
	return nil
}

func (d *decoding) record(n *node, x any, where string) error {
	o, ok := x.(*object)
	if !ok {
		return badInput("%s is %s, want an object", where, shown(x))
	}
	d.counts[n]++
	found := 0
	for i, f := range n.fields {
		v, ok := o.get(n.names[i])
		if ok {
			found++
		} else if f.kind != optionalNode {
			return badInput("%s lacks the field %s", where, n.names[i])
		}
		if err := d.node(f, v, where+"."+n.names[i]); err != nil {
			return err
		}
	}
	if found < len(o.names) {
		for _, name := range o.names {
			known := false
			for _, k := range n.names {
				known = known || k == name
			}
			if !known {
				return badInput("%s has the field %s, which nobody knows", where, name)
			}
		}
	}
	return nil
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
		e := d.filled[n.column]
		dims := []int{e.n}
		if n.column.rank == 0 {
			dims = nil
		}
		if c[n.column.name], err = e.tensor(dims); err != nil {
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
	c[n.column.name], err = d.filled[n.column].tensor(dims)
	return err
}

// encoding writes a Value as nested JSON, by a layout.
type encoding struct {
	style   style
	readers map[*column]*reader
	sizes   map[*node]int // of axes that are not ragged
}

// encodingOf prepares a Value to be written.
func encodingOf(name string, v tenon.Value, st style) (*encoding, *layout, error) {
	l, err := layoutOf(name, v.Spec())
	if err != nil {
		return nil, nil, err
	}
	c, err := taken(name, v)
	if err != nil {
		return nil, nil, err
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
	if l.root.kind == axisNode && l.root.column == nil {
		e.sizes[l.root] = rowsOf(v)
	}
	return e, l, nil
}

// measure finds the sizes of axes by the shapes of columns.
func (e *encoding) measure(n *node, c columns) {
	switch n.kind {
	case axisNode:
		if n.column == nil && n.size >= 0 {
			e.sizes[n] = n.size
		}
		e.measure(n.child, c)
	case optionalNode:
		e.measure(n.child, c)
	case recordNode:
		for _, f := range n.fields {
			e.measure(f, c)
		}
	default:
		dims := c[n.column.name].Shape().Dims()
		if n.rows {
			dims = dims[1:]
		}
		for i, a := range n.axes {
			e.sizes[a] = dims[i]
		}
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

// appendValue writes a Value as nested JSON.
func appendValue(b []byte, name string, v tenon.Value, st style) ([]byte, error) {
	if c, ok := v.(tensor.Concreter); ok {
		if t, err := c.Concrete(); err == nil {
			v = t
		}
	}
	e, l, err := encodingOf(name, v, st)
	if err != nil {
		return b, err
	}
	return e.append(b, l.root, 0)
}
