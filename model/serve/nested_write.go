package serve

import (
	"fmt"

	"github.com/tenonml/tenon"
)

// An encoding writes a Value as nested JSON, by a layout.
type encoding struct {
	style   style
	readers []reader // by column
	sizes   []int    // by node, of axes that are not ragged; negative if unknown

	few struct { // room for most results
		readers [4]reader
		sizes   [8]int
	}
}

// encodingOf prepares to write a Value by a layout of such Values, if it is known.
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
	e := &encoding{style: st}
	e.readers, e.sizes = room(e.few.readers[:], len(l.columns)), room(e.few.sizes[:], len(l.nodes))
	for i := range e.sizes {
		e.sizes[i] = -1
	}
	for i, col := range l.columns {
		t, ok := c[col.name]
		if !ok {
			return nil, nil, fmt.Errorf("the column %s is missing", col.name)
		}
		e.readers[i] = readerOf(t)
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

// measure finds the sizes of axes from the shapes of columns.
func (e *encoding) measure(n *node, c columns) {
	switch n.kind {
	case axisNode:
		if n.column == nil && n.size >= 0 {
			e.sizes[n.at] = n.size
		}
		e.measure(n.child, c)
		if e.sizes[n.at] < 0 && n.column == nil {
			e.sizes[n.at] = n.child.entries(c)
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

// entries returns the number of entries with which the columns at or below a node begin.
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
		e.sizes[a.at] = dims[i]
	}
}

// append writes entry i of a node.
func (e *encoding) append(b []byte, n *node, i int) ([]byte, error) {
	var err error
	switch n.kind {
	case axisNode:
		from, to := i*e.sizes[n.at], (i+1)*e.sizes[n.at]
		if n.column != nil {
			r := &e.readers[n.column.at]
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
		if e.readers[n.column.at].bits(i) == 0 {
			return append(b, "null"...), nil
		}
		return e.append(b, n.child, i)
	case recordNode:
		switch n.form {
		case variantForm:
			k := 1 + int(e.readers[n.fields[0].column.at].bits(i))
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
	return e.readers[n.column.at].append(b, i, n.name, e.style)
}

// entries writes map i as an object.
func (e *encoding) entries(b []byte, list *node, i int) ([]byte, error) {
	var err error
	r, fields := &e.readers[list.column.at], list.child.fields
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
