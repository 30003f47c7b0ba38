package graph

import (
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// String returns the graph as text that [Parse] reads:
//
//	graph step(%0: float32[2, ?], %1: float32[?]) {
//	  %2 = const float32[] "zczMPQ=="
//	  %3 = mul(x: %0, y: %2) : float32[2, ?] @ "search/model.go:41"
//	  return %3
//	}
//
// Values are numbered in the order of their definition. Arguments carry the names
// of their parameters; those that equal their default are omitted.
func (g *Graph) String() string {
	p := &printer{}
	p.graph(g)
	p.b.WriteByte('\n')
	return p.b.String()
}

// Outline formats the graph for people and for comparison with another graph. It is like String,
// but shows the elements of small constants next to their bytes, a digest instead of large ones,
// and each parameter on a line of its own. Source lines follow a tab, also on the lines of
// constants.
func (g *Graph) Outline() string {
	p := &printer{outline: true}
	p.graph(g)
	return p.b.String()
}

type printer struct {
	b       strings.Builder
	indent  int
	outline bool
}

// numbering assigns values their numbers in the text.
type numbering map[*Value]int

func (p *printer) line() {
	p.b.WriteByte('\n')
	for range p.indent {
		p.b.WriteString("  ")
	}
}

func (p *printer) graph(g *Graph) {
	num := numbering{}
	fmt.Fprintf(&p.b, "graph %s(", quoteName(g.Name))
	p.indent++
	for i, v := range g.Params {
		switch {
		case p.outline:
			p.line()
		case i > 0:
			p.b.WriteString(", ")
		}
		num[v] = len(num)
		fmt.Fprintf(&p.b, "%%%d: %s", num[v], v.text())
	}
	p.b.WriteString(") {")
	define := func(v *Value, line string) {
		if _, ok := num[v]; ok || v.konst == nil {
			return
		}
		num[v] = len(num)
		p.line()
		text := constText(v.konst)
		if p.outline {
			text = constOutline(v.konst, text)
		}
		fmt.Fprintf(&p.b, "%%%d = const %s %s", num[v], specText(v.spec), text)
		if p.outline {
			p.source(line)
		}
	}
	for _, n := range g.Nodes {
		for _, v := range n.Inputs() {
			define(v, n.Line)
		}
		p.line()
		p.node(n, num)
	}
	for _, v := range g.Outputs {
		define(v, "")
	}
	p.line()
	p.b.WriteString("return")
	for i, v := range g.Outputs {
		if i > 0 {
			p.b.WriteByte(',')
		}
		fmt.Fprintf(&p.b, " %%%d", num[v])
	}
	p.indent--
	p.line()
	p.b.WriteByte('}')
}

func (p *printer) node(n *Node, num numbering) {
	for i, o := range n.Outs {
		if i > 0 {
			p.b.WriteString(", ")
		}
		num[o] = len(num)
		fmt.Fprintf(&p.b, "%%%d", num[o])
	}
	if len(n.Outs) > 0 {
		p.b.WriteString(" = ")
	}
	p.b.WriteString(n.Op.Name)
	p.b.WriteByte('(')
	first := true
	for i, a := range n.Args {
		prm := &n.Op.Params[i]
		if a == nil || prm.Kind == op.Attr && isDefault(prm, a) {
			continue
		}
		if !first {
			p.b.WriteString(", ")
		}
		first = false
		p.b.WriteString(prm.Name)
		p.b.WriteString(": ")
		p.argument(a, num)
	}
	p.b.WriteByte(')')
	for i, o := range n.Outs {
		if i == 0 {
			p.b.WriteString(" : ")
		} else {
			p.b.WriteString(", ")
		}
		p.b.WriteString(o.text())
	}
	p.source(n.Line)
}

// source writes the source line at the end of a node.
func (p *printer) source(line string) {
	switch {
	case line == "":
	case p.outline:
		p.b.WriteString("\tat " + line)
	default:
		p.b.WriteString(" @ " + strconv.Quote(line))
	}
}

// nilable reports whether nil, which is omitted, is a valid attribute of the
// type.
func nilable(t op.Type) bool {
	return t == op.AnyType || t == op.IntsType || t == op.FloatsType || t == op.StringsType
}

func isDefault(p *op.Param, a any) bool {
	x, ok := op.EncodeAttr(a)
	if ok && p.Default == nil && (p.Optional || nilable(p.Type)) && tenon.EqualEncoding(x, tenon.Nil{}) {
		return true
	}
	y, ok2 := op.EncodeAttr(p.Default)
	return ok && ok2 && p.Default != nil && tenon.EqualEncoding(x, y)
}

func (p *printer) argument(a any, num numbering) {
	switch a := a.(type) {
	case *Value:
		fmt.Fprintf(&p.b, "%%%d", num[a])
	case []tenon.Value:
		p.b.WriteByte('[')
		for i, x := range a {
			if i > 0 {
				p.b.WriteString(", ")
			}
			fmt.Fprintf(&p.b, "%%%d", num[x.(*Value)])
		}
		p.b.WriteByte(']')
	case *Graph:
		p.graph(a)
	case []*Graph:
		p.b.WriteByte('[')
		for i, g := range a {
			if i > 0 {
				p.b.WriteString(", ")
			}
			p.graph(g)
		}
		p.b.WriteByte(']')
	default:
		if e, ok := op.EncodeAttr(a); ok {
			p.b.WriteByte('#')
			p.b.WriteString(tenon.EncodingText(e))
			return
		}
		fmt.Fprintf(&p.b, "<%T>", a) // a Go value without a text form; Parse rejects it
	}
}

func quoteName(s string) string {
	for _, r := range s {
		if r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return strconv.Quote(s)
		}
	}
	if s == "" {
		return `""`
	}
	return s
}

// specText formats a tensor's Spec without ambiguity: float32[2, ?].
func specText(s *tensor.Spec) string {
	t := s.DType().String() + s.Shape().String()
	if s.Name() != "" {
		t += " as " + strconv.Quote(s.Name())
	}
	return t
}

func constText(t tensor.Tensor) string {
	switch t := t.(type) {
	case *tensor.Dense:
		return strconv.Quote(base64.StdEncoding.EncodeToString(tensor.Contiguous(t).Bytes()))
	case *tensor.Strings:
		var b strings.Builder
		b.WriteByte('[')
		for i := range t.Len() {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(strconv.Quote(t.At(i)))
		}
		b.WriteByte(']')
		return b.String()
	}
	return dtype.None.String()
}

// constOutline returns what an outline shows for a constant whose text is its
// bytes.
func constOutline(t tensor.Tensor, text string) string {
	if t.Shape().Size() <= 8 {
		return text + " " + strings.ReplaceAll(fmt.Sprint(t), "\n", " ")
	}
	h := fnv.New128a()
	h.Write([]byte(text))
	return fmt.Sprintf("of digest %x", h.Sum(nil))
}
