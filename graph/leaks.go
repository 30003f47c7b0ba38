package graph

import (
	"runtime"
	"strconv"
	"weak"
)

// Leaks tells which values of a trace somebody still holds: the caller too has to have
// let go of them, and of the graph.
type Leaks struct {
	values []held
}

// held is a value that may be reachable yet.
type held struct {
	value weak.Pointer[Value]
	what  string
	line  string
}

// TakeApart ends a graph that nobody needs any more: its values forget each other, so
// that what reaches one of them from outside does not reach the others.
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

// First returns what the first value is that is still held, and the line that computed it;
// ok is false where none is. It collects garbage.
func (l *Leaks) First() (what, line string, ok bool) {
	runtime.GC()
	runtime.GC() // what a pool holds goes with the second one
	for _, h := range l.values {
		if h.value.Value() != nil {
			return h.what, h.line, true
		}
	}
	return "", "", false
}
