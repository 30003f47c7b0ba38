package graph

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Parse parses the text that [Graph.String] returns. The operations must be
// registered. Results get the Specs in the text, which must be compatible with
// those that the operations infer.
func Parse(text string) (g *Graph, err error) {
	defer tenon.Catch(&err)
	p := &parser{text: text}
	g = p.graph(0)
	if p.space(); p.pos != len(p.text) {
		p.fail("there is text after the graph")
	}
	return g, nil
}

const maxNesting = 64

type parser struct {
	text string
	pos  int
}

func (p *parser) fail(format string, args ...any) {
	line := 1 + strings.Count(p.text[:min(p.pos, len(p.text))], "\n")
	tenon.Throw(&tenon.Error{Kind: tenon.ErrInvalid, Op: "graph.Parse", Where: fmt.Sprintf("line %d", line), Msg: fmt.Sprintf(format, args...)})
}

func (p *parser) check(err error) {
	if err != nil {
		p.fail("%v", err)
	}
}

func (p *parser) space() {
	for p.pos < len(p.text) && strings.IndexByte(" \n\t", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

func (p *parser) accept(s string) bool {
	p.space()
	if strings.HasPrefix(p.text[p.pos:], s) {
		p.pos += len(s)
		return true
	}
	return false
}

func (p *parser) expect(s string) {
	if !p.accept(s) {
		p.fail("expected %q", s)
	}
}

func (p *parser) name() string {
	p.space()
	if p.pos < len(p.text) && p.text[p.pos] == '"' {
		return p.quoted()
	}
	start := p.pos
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		if c != '_' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			break
		}
		p.pos++
	}
	if p.pos == start {
		p.fail("expected a name")
	}
	return p.text[start:p.pos]
}

func (p *parser) quoted() string {
	p.space()
	q, err := strconv.QuotedPrefix(p.text[p.pos:])
	if err != nil {
		p.fail("expected a quoted string")
	}
	s, err := strconv.Unquote(q)
	p.check(err)
	p.pos += len(q)
	return s
}

func (p *parser) number() int {
	p.expect("%")
	start := p.pos
	for p.pos < len(p.text) && p.text[p.pos] >= '0' && p.text[p.pos] <= '9' {
		p.pos++
	}
	n, err := strconv.Atoi(p.text[start:p.pos])
	if err != nil {
		p.fail("expected the number of a value")
	}
	return n
}

func (p *parser) spec() *tensor.Spec {
	d, err := dtype.Parse(p.name())
	p.check(err)
	p.space()
	end := strings.IndexByte(p.text[p.pos:], ']')
	if end < 0 {
		p.fail("expected a shape")
	}
	s, err := shape.Parse(p.text[p.pos : p.pos+end+1])
	p.check(err)
	p.pos += end + 1
	spec := tensor.NewSpec(d, s)
	if p.accept("as ") {
		spec = spec.Named(p.quoted())
	}
	return spec
}

func (p *parser) graph(depth int) *Graph {
	if depth > maxNesting {
		p.fail("graphs are nested more than %d deep", maxNesting)
	}
	p.expect("graph ")
	g := New(p.name())
	defer g.Seal()
	env := map[int]*Value{}
	define := func(n int, v *Value) {
		if _, ok := env[n]; ok {
			p.fail("%%%d is defined twice", n)
		}
		env[n] = v
	}
	p.expect("(")
	for !p.accept(")") {
		if len(g.Params) > 0 {
			p.expect(",")
		}
		n := p.number()
		p.expect(":")
		v := g.Param(p.spec())
		v.dims = p.dims()
		define(n, v)
	}
	p.expect("{")
	for !p.accept("return") {
		var outs []int
		if p.space(); p.pos < len(p.text) && p.text[p.pos] == '%' {
			outs = append(outs, p.number())
			for p.accept(",") {
				outs = append(outs, p.number())
			}
			p.expect("=")
		}
		if p.accept("const ") {
			if len(outs) != 1 {
				p.fail("a constant has one name")
			}
			define(outs[0], p.constant(g))
			continue
		}
		p.node(g, env, outs, define, depth)
	}
	for !p.accept("}") {
		if len(g.Outputs) > 0 {
			p.expect(",")
		}
		g.Outputs = append(g.Outputs, p.lookup(env))
	}
	return g
}

func (p *parser) lookup(env map[int]*Value) *Value {
	n := p.number()
	v, ok := env[n]
	if !ok {
		p.fail("%%%d is used before it is defined", n)
	}
	return v
}

func (p *parser) constant(g *Graph) *Value {
	s := p.spec()
	if s.DType() == dtype.String {
		var elems []string
		p.expect("[")
		for !p.accept("]") {
			if len(elems) > 0 {
				p.expect(",")
			}
			elems = append(elems, p.quoted())
		}
		if s.Shape().Size() != len(elems) {
			p.fail("%d strings do not fill %v", len(elems), s)
		}
		return g.Const(tensor.Of(elems, s.Shape().Dims()...).(*tensor.Strings).Reshaped(s.Shape()))
	}
	data, err := base64.StdEncoding.DecodeString(p.quoted())
	p.check(err)
	d, err := constant(s.DType(), s.Shape(), data)
	p.check(err)
	return g.Const(d)
}

// constant returns elements from outside as a tensor.
func constant(d dtype.DType, s shape.Shape, data []byte) (tensor.Tensor, error) {
	if d == dtype.Bool {
		for _, b := range data {
			if b > 1 {
				return nil, fmt.Errorf("a boolean is %d", b)
			}
		}
	}
	return tensor.FromBytes(d, s, data)
}

func (p *parser) node(g *Graph, env map[int]*Value, outs []int, define func(int, *Value), depth int) {
	name := p.name()
	o, ok := op.Lookup(name)
	if !ok {
		p.fail("there is no operation %q", name)
	}
	c := &op.Call{Op: o, Args: make([]any, len(o.Params))}
	given := make([]bool, len(o.Params))
	p.expect("(")
	for first := true; !p.accept(")"); first = false {
		if !first {
			p.expect(",")
		}
		prm := p.name()
		i := o.Param(prm)
		if i < 0 || given[i] {
			p.fail("%s has no parameter %q, or it is given twice", name, prm)
		}
		given[i] = true
		p.expect(":")
		c.Args[i] = p.argument(&o.Params[i], env, depth)
	}
	specs, dims := make([]*tensor.Spec, len(outs)), make([][]string, len(outs))
	for i := range specs {
		if i == 0 {
			p.expect(":")
		} else {
			p.expect(",")
		}
		specs[i], dims[i] = p.spec(), p.dims()
	}
	line := ""
	if p.accept("@") {
		line = p.quoted()
	}
	n, err := g.read(c, given, specs, line)
	p.check(err)
	for i, num := range outs {
		n.Outs[i].dims = dims[i]
		define(num, n.Outs[i])
	}
}

// read appends a node from outside. Omitted arguments get their defaults, and the results get the
// Specs that the operation infers, which must be compatible with the stored ones.
func (g *Graph) read(c *op.Call, given []bool, specs []*tensor.Spec, line string) (*Node, error) {
	o := c.Op
	for i := range o.Params {
		prm := &o.Params[i]
		if given[i] {
			continue
		}
		if prm.Default == nil && !prm.Optional && !(prm.Kind == op.Attr && nilable(prm.Type)) {
			return nil, fmt.Errorf("%s lacks %q", o.Name, prm.Name)
		}
		c.Args[i] = prm.Default
	}
	inferred, err := c.Infer()
	if err != nil {
		return nil, err
	}
	if len(inferred) != len(specs) {
		return nil, fmt.Errorf("%s has %d results, %d are named", o.Name, len(inferred), len(specs))
	}
	for i := range inferred {
		if !tenon.Compatible(specs[i], inferred[i]) {
			return nil, fmt.Errorf("result %d of %s is %s, not %v", i, o.Name, tenon.String(inferred[i]), specs[i])
		}
		if tenon.Equal(specs[i], inferred[i]) { // otherwise the stored Spec may claim what is not true
			inferred[i] = specs[i]
		}
	}
	return g.Add(c, line, inferred)
}

func (p *parser) argument(prm *op.Param, env map[int]*Value, depth int) any {
	p.space()
	rest := p.text[p.pos:]
	if prm.Kind == op.Tensor {
		return p.lookup(env)
	}
	if prm.Kind == op.Tensors {
		p.expect("[")
		l := []tenon.Value{}
		for !p.accept("]") {
			if len(l) > 0 {
				p.expect(",")
			}
			l = append(l, p.lookup(env))
		}
		return l
	}
	switch {
	case strings.HasPrefix(rest, "graph "):
		return p.graph(depth + 1)
	case strings.HasPrefix(rest, "["):
		p.expect("[")
		gs := []*Graph{}
		for !p.accept("]") {
			if len(gs) > 0 {
				p.expect(",")
			}
			gs = append(gs, p.graph(depth+1))
		}
		return gs
	}
	p.expect("#")
	e, n, err := tenon.ParseEncodingPrefix(p.text[p.pos:])
	p.check(err)
	p.pos += n
	a, err := op.DecodeAttr(prm, e)
	p.check(err)
	return a
}
