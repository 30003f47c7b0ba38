package graph

import (
	"runtime"
	"strconv"
	"weak"
)

// Leaks finds the values of a trace that are still referenced. For that, the caller must drop its
// own references to them and to the graph.
type Leaks struct {
	values []held
}

// held is a value that may still be reachable.
type held struct {
	value weak.Pointer[Value]
	what  string
	line  string
}

// TakeApart dismantles a graph that is no longer needed: its values no longer refer to each other,
// so that a reference to one of them does not keep the others reachable.
func (g *Graph) TakeApart() *Leaks {
	l := &Leaks{}
	l.add(g)
	return l
}

func (l *Leaks) add(g *Graph) {
	gone := New(g.Name)
	gone.Seal()
	note := func(v *Value, what, line string) {
		l.values = append(l.values, held{weak.Make(v), what + ": " + specText(v.spec), line})
		v.graph, v.node = gone, nil
	}
	for i, p := range g.Params {
		note(p, "parameter "+strconv.Itoa(i), "")
	}
	for _, n := range g.Nodes {
		for _, o := range n.Outs {
			note(o, "the result of "+n.Op.Name, n.Line)
		}
		for _, r := range n.Regions() {
			l.add(r)
		}
		n.Args, n.Outs = nil, nil
	}
	g.Seal()
	g.Params, g.Nodes, g.Outputs, g.Captures, g.effects = nil, nil, nil, nil, nil
	g.captured, g.consts, g.cells = nil, nil, nil
	g.memo.Clear()
}

// First describes the first value that is still referenced, and the line that computed it. ok is
// false if there is none. It runs the garbage collector.
func (l *Leaks) First() (what, line string, ok bool) {
	runtime.GC()
	runtime.GC() // the second collection empties pools
	for _, h := range l.values {
		if h.value.Value() != nil {
			return h.what, h.line, true
		}
	}
	return "", "", false
}
