package graph

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
)

// DOT returns the graph in the Graphviz language: parameters as ovals, operations as boxes with
// their attributes, constants as plain text, and values as arrows with their Specs. Graphs of
// branches and loops are clusters next to their operation.
func (g *Graph) DOT() string {
	d := &dot{}
	d.b.WriteString("digraph " + strconv.Quote(g.Name) + " {\n  rankdir=TB;\n  node [fontname=\"sans-serif\", fontsize=10];\n  edge [fontname=\"sans-serif\", fontsize=8];\n")
	d.graph(g, "  ")
	d.b.WriteString("}\n")
	return d.b.String()
}

type dot struct {
	b     strings.Builder
	nodes int
}

// node adds a node to the drawing and returns its name.
func (d *dot) node(indent, label, style string) string {
	name := "n" + strconv.Itoa(d.nodes)
	d.nodes++
	fmt.Fprintf(&d.b, "%s%s [label=%s, %s];\n", indent, name, strconv.Quote(label), style)
	return name
}

// graph draws a graph and returns the name of one of its nodes.
func (d *dot) graph(g *Graph, indent string) (some string) {
	names := map[*Value]string{}
	for i, p := range g.Params {
		label := "parameter " + strconv.Itoa(i)
		if p.spec.Name() != "" {
			label = p.spec.Name()
		}
		bare := *p
		bare.spec = p.spec.Named("")
		names[p] = d.node(indent, label+"\n"+bare.text(), "shape=oval")
		some = names[p]
	}
	edge := func(v *Value, to string) {
		from, ok := names[v]
		if !ok {
			text := "constant"
			if v.konst != nil && v.konst.Shape().Size() <= 4 {
				text = fmt.Sprint(v.konst)
			}
			from = d.node(indent, text, "shape=plaintext")
			names[v] = from
		}
		fmt.Fprintf(&d.b, "%s%s -> %s [label=%s];\n", indent, from, to, strconv.Quote(v.text()))
	}
	for _, n := range g.Nodes {
		label := n.Op.Name
		for i, a := range n.Args {
			if e, ok := op.EncodeAttr(a); ok && a != nil && n.Op.Params[i].Kind == op.Attr && !isDefault(&n.Op.Params[i], a) {
				label += "\n" + n.Op.Params[i].Name + ": " + tenon.EncodingText(e)
			}
		}
		style := "shape=box"
		if n.Line != "" {
			style += ", tooltip=" + strconv.Quote(n.Line)
		}
		name := d.node(indent, label, style)
		some = name
		for _, o := range n.Outs {
			names[o] = name
		}
		n.EachInput(func(v *Value) { edge(v, name) })
		for _, r := range n.Regions() {
			fmt.Fprintf(&d.b, "%ssubgraph cluster_%d {\n%s  label=%s;\n", indent, d.nodes, indent, strconv.Quote(r.Name))
			inner := d.graph(r, indent+"  ")
			fmt.Fprintf(&d.b, "%s}\n", indent)
			if inner != "" {
				fmt.Fprintf(&d.b, "%s%s -> %s [style=dashed];\n", indent, name, inner)
			}
		}
	}
	for i, o := range g.Outputs {
		edge(o, d.node(indent, "result "+strconv.Itoa(i), "shape=oval, style=bold"))
	}
	return some
}

// The JSON form of a graph.
type (
	jsonGraph struct {
		Name    string      `json:"name"`
		Params  []jsonValue `json:"params"`
		Consts  []jsonValue `json:"constants,omitempty"`
		Nodes   []jsonNode  `json:"nodes"`
		Outputs []int       `json:"outputs"`
	}
	jsonValue struct {
		ID   int      `json:"id"`
		Spec string   `json:"spec"`
		Dims []string `json:"dims,omitempty"`
	}
	jsonNode struct {
		Op      string            `json:"op"`
		Inputs  map[string]any    `json:"inputs"`
		Attrs   map[string]string `json:"attributes,omitempty"`
		Regions []jsonGraph       `json:"regions,omitempty"`
		Outs    []jsonValue       `json:"results"`
		Line    string            `json:"line,omitempty"`
	}
)

// JSON returns the graph for tools that display it: values by number with their Specs, operations
// with their arguments by name, attributes as text, and regions. The elements of constants are
// omitted; use [Graph.MarshalBinary] to store a graph.
func (g *Graph) JSON() ([]byte, error) { return json.MarshalIndent(g.forJSON(), "", " ") }

func (g *Graph) forJSON() jsonGraph {
	num := numbering{}
	out := jsonGraph{Name: g.Name, Params: []jsonValue{}, Nodes: []jsonNode{}, Outputs: []int{}}
	define := func(v *Value) jsonValue {
		num[v] = len(num)
		return jsonValue{num[v], specText(v.spec), v.dims}
	}
	use := func(v *Value) int {
		if _, ok := num[v]; !ok {
			out.Consts = append(out.Consts, define(v))
		}
		return num[v]
	}
	for _, p := range g.Params {
		out.Params = append(out.Params, define(p))
	}
	for _, n := range g.Nodes {
		j := jsonNode{Op: n.Op.Name, Inputs: map[string]any{}, Attrs: map[string]string{}, Line: n.Line, Outs: []jsonValue{}}
		for i, a := range n.Args {
			name := n.Op.Params[i].Name
			switch a := a.(type) {
			case nil:
			case *Value:
				j.Inputs[name] = use(a)
			case []tenon.Value:
				l := make([]int, len(a))
				for k, x := range a {
					l[k] = use(x.(*Value))
				}
				j.Inputs[name] = l
			case *Graph, []*Graph:
			default:
				if e, ok := op.EncodeAttr(a); ok {
					j.Attrs[name] = tenon.EncodingText(e)
				} else {
					j.Attrs[name] = fmt.Sprintf("<%T>", a)
				}
			}
		}
		for _, r := range n.Regions() {
			j.Regions = append(j.Regions, r.forJSON())
		}
		for _, o := range n.Outs {
			j.Outs = append(j.Outs, define(o))
		}
		out.Nodes = append(out.Nodes, j)
	}
	for _, o := range g.Outputs {
		out.Outputs = append(out.Outputs, use(o))
	}
	return out
}
