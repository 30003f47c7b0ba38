package graph

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// Difference describes the first difference between two graphs that were traced from the same
// function, with its source line in b. It returns "" if they are equal.
func Difference(a, b *Graph) (what, line string) {
	d := &differ{same: map[*Value]*Value{}}
	return d.graphs(a, b)
}

// differ keeps track of which values of two graphs correspond to each other.
type differ struct {
	same map[*Value]*Value
}

func (d *differ) graphs(a, b *Graph) (what, line string) {
	if len(a.Params)-len(a.Captures) != len(b.Params)-len(b.Captures) {
		return fmt.Sprintf("%s had %d parameters, now it has %d", a.Name, len(a.Params)-len(a.Captures), len(b.Params)-len(b.Captures)), ""
	}
	own := len(a.Params) - len(a.Captures)
	for i := range own {
		d.same[a.Params[i]] = b.Params[i]
	}
	for i := range min(len(a.Captures), len(b.Captures)) {
		x, y := a.Captures[i], b.Captures[i]
		if v, ok := x.(*Value); ok && d.same[v] != nil {
			x = d.same[v]
		}
		if x == y {
			d.same[a.Params[own+i]] = b.Params[own+i]
		}
	}
	for i := range max(len(a.Nodes), len(b.Nodes)) {
		switch {
		case i >= len(b.Nodes):
			return fmt.Sprintf("operation %d of %s was %s, now it is missing", i, a.Name, nodeText(a.Nodes[i])), a.Nodes[i].Line
		case i >= len(a.Nodes):
			return fmt.Sprintf("operation %d of %s, %s, is new", i, a.Name, nodeText(b.Nodes[i])), b.Nodes[i].Line
		}
		m, n := a.Nodes[i], b.Nodes[i]
		if inner, at := d.regions(m, n); inner != "" {
			return inner, at
		}
		if !d.nodes(m, n) {
			was, is := nodeText(m), nodeText(n)
			if was == is {
				return fmt.Sprintf("operation %d of %s, %s, has other operands now", i, a.Name, is), n.Line
			}
			return fmt.Sprintf("operation %d of %s was %s, now it is %s", i, a.Name, was, is), n.Line
		}
		for k, o := range m.Outs {
			d.same[o] = n.Outs[k]
		}
	}
	if len(a.Outputs) != len(b.Outputs) {
		return fmt.Sprintf("%s had %d results, now it has %d", a.Name, len(a.Outputs), len(b.Outputs)), ""
	}
	for i, o := range a.Outputs {
		if !d.equal(o, b.Outputs[i]) {
			return fmt.Sprintf("result %d of %s was %s, now it is %s", i, a.Name, valueText(o), valueText(b.Outputs[i])), lineOf(b.Outputs[i])
		}
	}
	return "", ""
}

func lineOf(v *Value) string {
	if v.node != nil {
		return v.node.Line
	}
	return ""
}

// regions compares the regions of two nodes of the same operation.
func (d *differ) regions(m, n *Node) (what, line string) {
	rs, ss := m.Regions(), n.Regions()
	if m.Op != n.Op || len(rs) != len(ss) {
		return "", ""
	}
	for i := range rs {
		if what, line = d.graphs(rs[i], ss[i]); what != "" {
			return what, line
		}
	}
	return "", ""
}

// nodes reports whether two nodes apply the same operation to corresponding values. Their regions
// have been compared already.
func (d *differ) nodes(m, n *Node) bool {
	if m.Op != n.Op || len(m.Args) != len(n.Args) || len(m.Outs) != len(n.Outs) {
		return false
	}
	for i, a := range m.Args {
		b := n.Args[i]
		switch a := a.(type) {
		case *Value:
			v, ok := b.(*Value)
			if !ok || !d.equal(a, v) {
				return false
			}
		case []tenon.Value:
			l, ok := b.([]tenon.Value)
			if !ok || !slices.EqualFunc(a, l, func(x, y tenon.Value) bool { return d.equal(x.(*Value), y.(*Value)) }) {
				return false
			}
		case *Graph, []*Graph:
			if reflect.TypeOf(b) != reflect.TypeOf(a) {
				return false
			}
		default:
			if !sameAttr(a, b) {
				return false
			}
		}
	}
	for k, o := range m.Outs {
		if !tenon.Equal(o.spec, n.Outs[k].spec) {
			return false
		}
	}
	return true
}

// sameAttr compares attributes. Go values without a text form, mostly functions, are compared by
// type.
func sameAttr(a, b any) bool {
	x, ok := op.EncodeAttr(a)
	y, okToo := op.EncodeAttr(b)
	if ok && okToo {
		return tenon.EqualEncoding(x, y)
	}
	return ok == okToo && reflect.TypeOf(a) == reflect.TypeOf(b)
}

// equal reports whether a value of one graph corresponds to a value of the other.
func (d *differ) equal(a, b *Value) bool {
	if a.konst == nil || b.konst == nil {
		return a.konst == nil && b.konst == nil && d.same[a] == b
	}
	return sameElements(a.konst, b.konst)
}

// sameElements compares constants bit by bit.
func sameElements(a, b tensor.Tensor) bool {
	if a == b {
		return true
	}
	if a.DType() != b.DType() || !a.Shape().Equal(b.Shape()) {
		return false
	}
	if x, ok := a.(*tensor.Strings); ok {
		y, ok := b.(*tensor.Strings)
		return ok && slices.Equal(x.Slice(), y.Slice())
	}
	x, ok := a.(*tensor.Dense)
	y, okToo := b.(*tensor.Dense)
	return ok && okToo && bytes.Equal(tensor.Contiguous(x).Bytes(), tensor.Contiguous(y).Bytes())
}

// nodeText formats a node with its small constants, as in mul(float32[3], 0.5).
func nodeText(n *Node) string {
	var parts []string
	for i, a := range n.Args {
		switch a := a.(type) {
		case *Value:
			parts = append(parts, valueText(a))
		case []tenon.Value:
			l := make([]string, len(a))
			for k, x := range a {
				l[k] = valueText(x.(*Value))
			}
			parts = append(parts, "["+strings.Join(l, ", ")+"]")
		default:
			p := &n.Op.Params[i]
			if e, ok := op.EncodeAttr(a); ok && a != nil && !isDefault(p, a) {
				parts = append(parts, p.Name+": "+tenon.EncodingText(e))
			}
		}
	}
	text := n.Op.Name + "(" + strings.Join(parts, ", ") + ")"
	if n.Line != "" {
		text += " at " + n.Line
	}
	return text
}

// valueText formats a small constant, or the Spec of any other value.
func valueText(v *Value) string {
	if v.konst != nil && v.konst.Shape().Size() <= 8 {
		return fmt.Sprint(v.konst)
	}
	return specText(v.spec)
}
