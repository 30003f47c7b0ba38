package graph

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// The binary form is this word followed by the binary form of an encoding (see
// [tenon.AppendEncoding]). Its tags are stable. Operations are identified by name and version and
// parameters by name, and arguments that equal their default are omitted, so that later versions
// can read a stored graph ([op.RegisterUpgrade]).
const magic = "tenon graph 1\n"

// A Storable is an attribute's value that is part of the program but can be represented by a graph,
// from which the attribute's Convert function makes it again. A nil graph stands for the default.
type Storable interface {
	Stored() (*Graph, error)
}

// MarshalBinary returns the graph's binary form. It returns an error that names the node if a node
// holds a Go value that has no encoding, such as a function of the program.
func (g *Graph) MarshalBinary() ([]byte, error) {
	b, _, err := g.MarshalWithout(nil)
	return b, err
}

// MarshalWithout returns the binary form of the graph without some of its constants. The constants
// for which apart returns true become parameters of the stored graph, after the existing ones, and
// are returned in that order. If any constants may be omitted, so are source lines. Constants of
// branches and loops are always kept.
func (g *Graph) MarshalWithout(apart func(t tensor.Tensor) bool) ([]byte, []tensor.Tensor, error) {
	x := &encoder{lines: apart == nil}
	var left []*Value
	if apart != nil {
		left = g.constants(apart)
	}
	e, err := x.graph(g, left)
	if err != nil {
		return nil, nil, err
	}
	out := make([]tensor.Tensor, len(left))
	for i, v := range left {
		out[i] = v.konst
	}
	return tenon.AppendEncoding([]byte(magic), e), out, nil
}

// constants returns the constants of a graph that pick accepts, in order of use.
func (g *Graph) constants(pick func(t tensor.Tensor) bool) (out []*Value) {
	seen := map[*Value]bool{}
	see := func(v *Value) {
		if v.konst != nil && !seen[v] && pick(v.konst) {
			out = append(out, v)
		}
		seen[v] = true
	}
	for _, n := range g.Nodes {
		n.EachInput(see)
	}
	for _, v := range g.Outputs {
		see(v)
	}
	return out
}

// An encoder encodes graphs.
type encoder struct {
	lines bool // nodes include their source lines
}

// ReadBinary reads the output of [Graph.MarshalBinary]. The operations must be registered.
func ReadBinary(b []byte) (g *Graph, err error) {
	defer tenon.Catch(&err)
	rest, ok := bytes.CutPrefix(b, []byte(magic))
	if !ok {
		return nil, tenon.NewError(tenon.ErrInvalid, "graph.ReadBinary", "the bytes are not a graph of a known version")
	}
	e, rest, err := tenon.DecodeEncoding(rest)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, tenon.NewError(tenon.ErrInvalid, "graph.ReadBinary", fmt.Sprintf("%d bytes follow the graph", len(rest)))
	}
	g, err = decode(e, 0)
	if err != nil {
		return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: "graph.ReadBinary", Msg: err.Error(), Args: []string{}}
	}
	return g, nil
}

// graph encodes a graph as (name, Specs of the parameters, body, outputs). Values are numbered from
// 0: parameters, then constants and results in the order of the body. The constants left become
// parameters too.
func (x *encoder) graph(g *Graph, left []*Value) (tenon.Encoding, error) {
	num := numbering{}
	var params, body tenon.List
	for _, v := range slices.Concat(g.Params, left) {
		num[v] = len(num)
		params = append(params, tenon.SpecOf{Spec: v.spec})
	}
	define := func(v *Value) {
		if _, ok := num[v]; ok || v.konst == nil {
			return
		}
		num[v] = len(num)
		body = append(body, tenon.Tuple{tenon.Str("const"), encodeConst(v.konst)})
	}
	for i, n := range g.Nodes {
		n.EachInput(define)
		e, err := x.node(n, num)
		if err != nil {
			return nil, placed(fmt.Sprintf("node %d, %s", i, n.Op.Name), err)
		}
		body = append(body, e)
		for _, o := range n.Outs {
			num[o] = len(num)
		}
	}
	var outs tenon.List
	for _, v := range g.Outputs {
		define(v)
		outs = append(outs, tenon.Int(num[v]))
	}
	return tenon.Tuple{tenon.Str(g.Name), params, body, outs}, nil
}

// encodeConst encodes a constant's elements as an array, or as a shape and
// strings.
func encodeConst(t tensor.Tensor) tenon.Encoding {
	if d, ok := t.(*tensor.Dense); ok {
		return tenon.Array{DType: d.DType(), Shape: d.Shape(), Data: string(tensor.Contiguous(d).Bytes())}
	}
	s := t.(*tensor.Strings)
	elems := make(tenon.List, s.Len())
	for i := range elems {
		elems[i] = tenon.Str(s.At(i))
	}
	return tenon.Tuple{tenon.Shape{Shape: s.Shape()}, elems}
}

// placed returns an error whose place is prefixed with where.
func placed(where string, err error) error {
	e := *tenon.AsError(err)
	if e.Where != "" {
		where += ": " + e.Where
	}
	e.Where = where
	return &e
}

// node encodes a node as (operation, arguments by name, Specs of the results, line). An argument is
// a value's number, a list of numbers, a tuple with a graph or graphs, or an attribute's encoding
// in a list of its own.
func (x *encoder) node(n *Node, num numbering) (tenon.Encoding, error) {
	args := map[string]tenon.Encoding{}
	for i, a := range n.Args {
		prm := &n.Op.Params[i]
		if s, ok := a.(Storable); ok {
			g, err := s.Stored()
			if err != nil {
				return nil, placed(prm.Name, err)
			}
			if a = g; g == nil {
				continue
			}
		}
		switch a := a.(type) {
		case nil:
			continue
		case *Value:
			args[prm.Name] = tenon.Int(num[a])
		case []tenon.Value:
			l := make(tenon.List, len(a))
			for k, v := range a {
				l[k] = tenon.Int(num[v.(*Value)])
			}
			args[prm.Name] = l
		case *Graph:
			e, err := x.graph(a, nil)
			if err != nil {
				return nil, placed(prm.Name, err)
			}
			args[prm.Name] = tenon.Tuple{tenon.Str("graph"), e}
		case []*Graph:
			l := make(tenon.List, len(a))
			for k, g := range a {
				var err error
				if l[k], err = x.graph(g, nil); err != nil {
					return nil, placed(fmt.Sprintf("%s[%d]", prm.Name, k), err)
				}
			}
			args[prm.Name] = tenon.Tuple{tenon.Str("graphs"), l}
		default:
			if isDefault(prm, a) {
				continue
			}
			e, ok := op.EncodeAttr(a)
			if !ok {
				return nil, &tenon.Error{Kind: tenon.ErrUnsupported, Op: "graph.MarshalBinary", Args: []string{}, Line: n.Line,
					Msg:  fmt.Sprintf("%s holds a %T, which is part of the program and cannot be stored", n.Op.Name, a),
					Hint: "store only functions without control.GoFunc, control.FoldSeq and dataset.Reduce, which run Go code: store the step, and let the program that loads it run the loop"}
			}
			args[prm.Name] = tenon.Tuple{tenon.Str("attr"), e}
		}
	}
	specs := make(tenon.List, len(n.Outs))
	for i, o := range n.Outs {
		specs[i] = tenon.SpecOf{Spec: o.spec}
	}
	line := ""
	if x.lines {
		line = n.Line
	}
	return tenon.Tuple{tenon.Str(n.Op.StoredName()), tenon.NewDict(args), specs, tenon.Str(line)}, nil
}

// decoder reads one graph.
type decoder struct {
	g      *Graph
	values []*Value
	depth  int

	specs []*tensor.Spec // of the node being read
	given []bool         // by its arguments
	call  op.Call
}

func decode(e tenon.Encoding, depth int) (*Graph, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("graphs are nested more than %d deep", maxNesting)
	}
	parts, err := tenon.Elems(e, 4)
	if err != nil {
		return nil, err
	}
	name, err := tenon.As[tenon.Str](parts[0])
	if err != nil {
		return nil, err
	}
	d := &decoder{g: New(string(name)), depth: depth}
	d.g.room = new(room)
	defer func() {
		d.g.room = nil
		d.g.Seal()
	}()
	if err := d.readSpecs(parts[1]); err != nil {
		return nil, err
	}
	for _, s := range d.specs {
		d.values = append(d.values, d.g.Param(s))
	}
	body, err := tenon.Elems(parts[2], -1)
	if err != nil {
		return nil, err
	}
	d.g.Nodes = make([]*Node, 0, len(body))
	d.values = slices.Grow(d.values, len(body))
	for _, e := range body {
		if err := d.item(e); err != nil {
			return nil, err
		}
	}
	d.g.Outputs, err = d.list(parts[3])
	return d.g, err
}

// readSpecs reads a list of Specs.
func (d *decoder) readSpecs(e tenon.Encoding) error {
	l, err := tenon.Elems(e, -1)
	if err != nil {
		return err
	}
	d.specs = d.specs[:0]
	for _, x := range l {
		s, err := tenon.As[tenon.SpecOf](x)
		if err != nil {
			return err
		}
		ts, ok := s.Spec.(*tensor.Spec)
		if !ok {
			return fmt.Errorf("a value of a graph is a dense tensor")
		}
		d.specs = append(d.specs, ts)
	}
	return nil
}

// item reads a constant or a node.
func (d *decoder) item(e tenon.Encoding) error {
	parts, err := tenon.Elems(e, -1)
	if err != nil {
		return err
	}
	if len(parts) == 2 && parts[0] == tenon.Encoding(tenon.Str("const")) {
		t, err := decodeConst(parts[1])
		if err == nil {
			v := d.g.value(t.Spec().(*tensor.Spec))
			v.konst = t
			d.g.consts[t] = v
			d.values = append(d.values, v)
		}
		return err
	}
	if len(parts) != 4 {
		return fmt.Errorf("a node has %d parts, not 4", len(parts))
	}
	name, err := tenon.As[tenon.Str](parts[0])
	if err != nil {
		return err
	}
	args, err := tenon.As[tenon.Dict](parts[1])
	if err != nil {
		return err
	}
	o, args, err := op.Current(string(name), args)
	if err != nil {
		return err
	}
	d.call = op.Call{Op: o, Args: d.g.room.args.Take(len(o.Params))}
	d.given = append(d.given[:0], make([]bool, len(o.Params))...)
	c, given := &d.call, d.given
	for _, a := range args {
		i := o.Param(a.Name)
		if i < 0 || given[i] {
			return fmt.Errorf("%s has no parameter %q, or it is given twice", o.Name, a.Name)
		}
		given[i] = true
		if c.Args[i], err = d.argument(&o.Params[i], a.Value); err != nil {
			return fmt.Errorf("%s, %s: %w", o.Name, a.Name, err)
		}
	}
	if err := d.readSpecs(parts[2]); err != nil {
		return err
	}
	line, err := tenon.As[tenon.Str](parts[3])
	if err != nil {
		return err
	}
	n, err := d.g.read(c, given, d.specs, string(line))
	if err != nil {
		return err
	}
	d.values = append(d.values, n.Outs...)
	return nil
}

func decodeConst(e tenon.Encoding) (tensor.Tensor, error) {
	if a, ok := e.(tenon.Array); ok {
		return constant(a.DType, a.Shape, []byte(a.Data))
	}
	parts, err := tenon.Elems(e, 2)
	if err != nil {
		return nil, err
	}
	s, err := tenon.As[tenon.Shape](parts[0])
	if err != nil {
		return nil, err
	}
	l, err := tenon.Elems(parts[1], -1)
	if err != nil {
		return nil, err
	}
	elems := make([]string, len(l))
	for i, x := range l {
		t, err := tenon.As[tenon.Str](x)
		if err != nil {
			return nil, err
		}
		elems[i] = string(t)
	}
	if n, err := s.Shape.CheckedSize(1); err != nil || n != len(elems) {
		return nil, fmt.Errorf("%d strings do not fill %v", len(elems), s.Shape)
	}
	return tensor.Of(elems).(*tensor.Strings).Reshaped(s.Shape), nil
}

func (d *decoder) value(e tenon.Encoding) (*Value, error) {
	n, err := tenon.As[tenon.Int](e)
	if err != nil {
		return nil, err
	}
	if n < 0 || int64(n) >= int64(len(d.values)) {
		return nil, fmt.Errorf("value %d is used before it is defined", n)
	}
	return d.values[n], nil
}

func (d *decoder) list(e tenon.Encoding) ([]*Value, error) {
	l, err := tenon.Elems(e, -1)
	if err != nil {
		return nil, err
	}
	out := make([]*Value, len(l))
	for i, x := range l {
		if out[i], err = d.value(x); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (d *decoder) argument(prm *op.Param, e tenon.Encoding) (any, error) {
	switch prm.Kind {
	case op.Tensor:
		return d.value(e)
	case op.Tensors:
		l, err := d.list(e)
		out := make([]tenon.Value, len(l))
		for i, v := range l {
			out[i] = v
		}
		return out, err
	}
	parts, err := tenon.Elems(e, 2)
	if err != nil {
		return nil, err
	}
	kind, err := tenon.As[tenon.Str](parts[0])
	if err != nil {
		return nil, err
	}
	switch kind {
	case "graph":
		g, err := decode(parts[1], d.depth+1)
		if err != nil || prm.Convert == nil {
			return g, err
		}
		a, ok := prm.Convert(g)
		if !ok {
			return nil, fmt.Errorf("it is not a graph")
		}
		return a, nil
	case "graphs":
		l, err := tenon.Elems(parts[1], -1)
		if err != nil {
			return nil, err
		}
		gs := make([]*Graph, len(l))
		for i, x := range l {
			if gs[i], err = decode(x, d.depth+1); err != nil {
				return nil, err
			}
		}
		return gs, nil
	case "attr":
		return op.DecodeAttr(prm, parts[1])
	}
	return nil, fmt.Errorf("an argument is of the kind %q", string(kind))
}
