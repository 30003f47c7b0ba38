package onnx

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
)

// names are the names of the values of a graph. Graphs inside of nodes see those of the graphs
// around them.
type names struct {
	outer *names
	here  map[string]bool
}

func (s *names) have(name string) bool {
	for at := s; at != nil; at = at.outer {
		if at.here[name] {
			return true
		}
	}
	return false
}

// checkNames sorts the nodes of the model, of its functions and of graphs inside of nodes into
// an order in which they can run. It reports values that nothing defines, that are defined
// twice or that depend on themselves, and operations whose version the model does not state.
func (m *Model) checkNames() error {
	if err := m.checkGraph(m.graph, nil, m.Opsets); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(m.functions)) {
		if err := m.checkFunction(m.functions[key]); err != nil {
			return within("function "+m.functions[key].name, err)
		}
	}
	return nil
}

func (m *Model) checkFunction(f *protoFunction) error {
	s := &names{here: map[string]bool{}}
	for _, name := range f.inputs {
		if s.here[name] {
			return twice("input", name)
		}
		s.here[name] = true
	}
	var err error
	if f.nodes, err = m.checkNodes(f.nodes, s, f.opsets); err != nil {
		return err
	}
	return s.checkOutputs(f.outputs)
}

func (m *Model) checkGraph(g *protoGraph, outer *names, opsets map[string]int) error {
	s := &names{outer, map[string]bool{}}
	for _, name := range g.weights() {
		if s.here[name] {
			return twice("weight", name)
		}
		s.here[name] = true
	}
	inputs := map[string]bool{}
	for _, v := range g.inputs { // a weight may be the default value of an input
		if inputs[v.name] {
			return twice("input", v.name)
		}
		inputs[v.name], s.here[v.name] = true, true
	}
	var err error
	if g.nodes, err = m.checkNodes(g.nodes, s, opsets); err != nil {
		return err
	}
	outputs := make([]string, len(g.outputs))
	for i, v := range g.outputs {
		outputs[i] = v.name
	}
	return s.checkOutputs(outputs)
}

func twice(what, name string) error {
	return &tenon.Error{Kind: tenon.ErrInvalid, Msg: fmt.Sprintf("the %s %q is defined twice", what, name)}
}

func (s *names) checkOutputs(outputs []string) error {
	for _, name := range outputs {
		if !s.have(name) {
			return &tenon.Error{Kind: tenon.ErrInvalid, Msg: fmt.Sprintf("no node defines the output %q", name)}
		}
	}
	return nil
}

// checkNodes returns nodes in an order in which they can run, and adds the values that they
// define to names.
func (m *Model) checkNodes(nodes []*protoNode, s *names, opsets map[string]int) ([]*protoNode, error) {
	makers := map[string]int{}
	for i, n := range nodes {
		for _, name := range n.outputs {
			if name == "" {
				continue
			}
			other := ""
			if j, ok := makers[name]; ok {
				other = "of " + nodes[j].String()
			} else if s.here[name] {
				other = "an input or a weight"
			}
			if other != "" {
				return nil, nodeError(n, "defines %q, which is already %s", name, other)
			}
			makers[name] = i
		}
	}
	for _, n := range nodes {
		if m.functions[n.key()] == nil && opsets[n.domain] < 1 {
			e := nodeError(n, "the model does not import the domain %q, so the version of its operations is unknown", cmp.Or(n.domain, "ai.onnx"))
			e.Hint = "pass opset_imports to onnx.helper.make_model"
			return nil, e
		}
		for _, name := range n.inputs {
			if _, ok := makers[name]; name != "" && !ok && !s.have(name) {
				return nil, nodeError(n, "takes %q, which nothing defines", name)
			}
		}
	}
	nodes, err := inOrder(nodes, makers)
	if err != nil {
		return nil, err
	}
	for name := range makers {
		s.here[name] = true
	}
	for _, n := range nodes {
		for _, g := range n.graphs() {
			if err := m.checkGraph(g, s, opsets); err != nil {
				return nil, within(n.String(), err)
			}
		}
	}
	return nodes, nil
}

// inOrder sorts nodes so that each follows those whose results it takes. The format requires
// such an order, which is then kept, but not all programs write one.
func inOrder(nodes []*protoNode, makers map[string]int) ([]*protoNode, error) {
	before := make([]int, len(nodes)) // the number of results of other nodes that each node waits for
	users := make([][]int, len(nodes))
	sorted := true
	for i, n := range nodes {
		n.takes(func(name string) {
			if j, ok := makers[name]; ok {
				before[i]++
				users[j] = append(users[j], i)
				sorted = sorted && j < i
			}
		})
	}
	if sorted {
		return nodes, nil
	}
	var order []int
	for i, n := range before {
		if n == 0 {
			order = append(order, i)
		}
	}
	for k := 0; k < len(order); k++ {
		for _, i := range users[order[k]] {
			if before[i]--; before[i] == 0 {
				order = append(order, i)
			}
		}
	}
	if len(order) < len(nodes) {
		return nil, circle(nodes, makers, before)
	}
	out := make([]*protoNode, len(order))
	for k, i := range order {
		out[k] = nodes[i]
	}
	return out, nil
}

// circle returns the error for nodes that wait for one another.
func circle(nodes []*protoNode, makers map[string]int, before []int) error {
	seen := map[int]int{} // index in the walk
	var walk []int
	var taken []string
	at := slices.IndexFunc(before, func(n int) bool { return n > 0 })
	for {
		if start, ok := seen[at]; ok {
			walk, taken = walk[start:], taken[start:]
			break
		}
		seen[at] = len(walk)
		walk = append(walk, at)
		next, by := -1, ""
		nodes[at].takes(func(name string) {
			if j, ok := makers[name]; ok && next < 0 && before[j] > 0 {
				next, by = j, name
			}
		})
		at, taken = next, append(taken, by)
	}
	const most = 4
	parts := make([]string, 0, most)
	for k, i := range walk[:min(len(walk), most)] {
		parts = append(parts, fmt.Sprintf("%v takes %q", nodes[i], taken[k]))
	}
	if len(walk) > most {
		parts = append(parts, fmt.Sprintf("and so on for %d nodes", len(walk)))
	}
	return nodeError(nodes[walk[0]], "depends on its own result: %s", strings.Join(parts, ", "))
}

func nodeError(n *protoNode, format string, args ...any) *tenon.Error {
	return &tenon.Error{Kind: tenon.ErrInvalid, Where: n.String(), Msg: fmt.Sprintf(format, args...)}
}

// takes calls f with the names of the values that a node takes from its graph: its inputs, and
// those that graphs inside of it take from outside.
func (n *protoNode) takes(f func(name string)) {
	for _, name := range n.inputs {
		if name != "" {
			f(name)
		}
	}
	for _, g := range n.graphs() {
		own := map[string]bool{}
		for _, name := range g.weights() {
			own[name] = true
		}
		for _, v := range g.inputs {
			own[v.name] = true
		}
		for _, x := range g.nodes {
			for _, name := range x.outputs {
				own[name] = true
			}
		}
		outside := func(name string) {
			if !own[name] {
				f(name)
			}
		}
		for _, x := range g.nodes {
			x.takes(outside)
		}
		for _, v := range g.outputs {
			outside(v.name)
		}
	}
}

// graphs returns the graphs inside of a node.
func (n *protoNode) graphs() (out []*protoGraph) {
	for _, name := range slices.Sorted(maps.Keys(n.attrs)) {
		a := n.attrs[name]
		if a.g != nil {
			out = append(out, a.g)
		}
		out = append(out, a.graphs...)
	}
	return out
}

// weights returns the names of the initializers.
func (g *protoGraph) weights() (out []string) {
	for _, t := range g.initializers {
		out = append(out, t.name)
	}
	for _, s := range g.sparse {
		if s.values != nil {
			out = append(out, s.values.name)
		}
	}
	return out
}
