package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// The JSON that Netron opens (its source/message.js); the signature must come first.
type (
	netronFile struct {
		Signature string         `json:"signature"`
		Format    string         `json:"format"`
		Producer  string         `json:"producer"`
		Modules   []netronModule `json:"modules"`
	}
	netronModule struct {
		Name    string           `json:"name"`
		Values  []netronValue    `json:"values"`
		Inputs  []netronArgument `json:"inputs"`
		Outputs []netronArgument `json:"outputs"`
		Nodes   []netronNode     `json:"nodes"`
	}
	netronValue struct {
		Name string     `json:"name"`
		Type netronType `json:"type"`
	}
	netronType struct {
		DataType string      `json:"dataType"`
		Shape    netronShape `json:"shape"`
	}
	netronShape struct {
		Dimensions []any `json:"dimensions"`
	}
	netronArgument struct {
		Name  string `json:"name"`
		Value []int  `json:"value"`
	}
	netronNode struct {
		Name       string            `json:"name"`
		Type       netronKind        `json:"type"`
		Inputs     []netronArgument  `json:"inputs"`
		Outputs    []netronArgument  `json:"outputs"`
		Attributes []netronAttribute `json:"attributes"`
	}
	netronKind struct {
		Name     string `json:"name"`
		Category string `json:"category,omitempty"`
	}
	netronAttribute struct {
		Name  string `json:"name"`
		Value string `json:"value"`
		Type  string `json:"type"`
	}
)

// netron returns a graph, and those of its branches and loops, in the form that Netron opens.
func netron(name string, g *graph.Graph) (string, error) {
	f := netronFile{Signature: "netron:tenon", Format: "Tenon", Producer: "tenon"}
	f.add(name, g)
	b, err := json.MarshalIndent(f, "", " ")
	return string(b) + "\n", err
}

func (f *netronFile) add(name string, g *graph.Graph) {
	m := netronModule{Name: name, Values: []netronValue{}, Inputs: []netronArgument{}, Outputs: []netronArgument{}, Nodes: []netronNode{}}
	numbers := map[*graph.Value]int{}
	number := func(v *graph.Value) int {
		i, ok := numbers[v]
		if !ok {
			i = len(m.Values)
			numbers[v] = i
			m.Values = append(m.Values, netronValue{fmt.Sprintf("%%%d", v.ID()), netronTypeOf(v)})
		}
		return i
	}
	for i, v := range g.Params {
		m.Inputs = append(m.Inputs, netronArgument{fmt.Sprintf("%%%d", i), []int{number(v)}})
	}
	at := len(f.Modules)
	f.Modules = append(f.Modules, m)
	for i, n := range g.Nodes {
		x := netronNode{Name: fmt.Sprintf("%s_%d", n.Op.Name, i), Type: netronKind{Name: n.Op.Name}, Inputs: []netronArgument{}, Outputs: []netronArgument{}, Attributes: []netronAttribute{}}
		for k, a := range n.Args {
			param := n.Op.Params[k].Name
			if values := valuesOf(a); len(values) > 0 {
				in := netronArgument{Name: param}
				for _, v := range values {
					in.Value = append(in.Value, number(v))
				}
				x.Inputs = append(x.Inputs, in)
			} else if a != nil {
				text := fmt.Sprint(a)
				if e, ok := op.EncodeAttr(a); ok {
					text = fmt.Sprint(e)
				}
				x.Attributes = append(x.Attributes, netronAttribute{param, text, "string"})
			}
		}
		for k, v := range n.Outs {
			x.Outputs = append(x.Outputs, netronArgument{fmt.Sprintf("out%d", k), []int{number(v)}})
		}
		if n.Line != "" {
			x.Attributes = append(x.Attributes, netronAttribute{"line", n.Line, "string"})
		}
		m.Nodes = append(m.Nodes, x)
		for k, r := range n.Regions() {
			f.add(fmt.Sprintf("%s/%s.%d", name, x.Name, k), r)
		}
	}
	for i, v := range g.Outputs {
		m.Outputs = append(m.Outputs, netronArgument{fmt.Sprintf("result%d", i), []int{number(v)}})
	}
	f.Modules[at] = m
}

// valuesOf returns the values of a graph in an argument.
func valuesOf(a any) (out []*graph.Value) {
	switch a := a.(type) {
	case *graph.Value:
		out = append(out, a)
	default:
		for _, v := range listOf(a) {
			if x, ok := v.(*graph.Value); ok {
				out = append(out, x)
			}
		}
	}
	return out
}

func netronTypeOf(v *graph.Value) netronType {
	t := netronType{DataType: v.DType().String(), Shape: netronShape{Dimensions: []any{}}}
	if s, ok := v.Spec().(*tensor.Spec); ok {
		for i := range max(0, s.Shape().Rank()) {
			if n := s.Shape().Dim(i); n >= 0 {
				t.Shape.Dimensions = append(t.Shape.Dimensions, n)
			} else {
				t.Shape.Dimensions = append(t.Shape.Dimensions, "?")
			}
		}
	}
	return t
}

// listOf returns an argument that is a list of Values.
func listOf(a any) []tenon.Value {
	list, _ := a.([]tenon.Value)
	return list
}
