package rowwise

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/anatomy"
	"github.com/tenonml/tenon/internal/rows"
	"github.com/tenonml/tenon/ragged"
)

// A Finding is what the statements imply about a function.
type Finding struct {
	// Rows says that each row is computed independently.
	Rows bool

	// Mixes says that some rows depend on others. If neither Rows nor Mixes is true, it is unknown.
	Mixes bool

	// By is the operation by which rows depend on one another, or for which this is unknown.
	By string

	// Assigns says that variables are assigned.
	Assigns bool
}

// An Arg is an argument or result: Values of a Spec whose rows are along an axis, which is the first one except for
// tensors.
type Arg struct {
	Spec tenon.Spec
	Axis int
}

// Of determines whether a graph computes each row independently. The parameters of the graph are
// the components of the arguments, and its outputs those of the results; further outputs are
// assigned to variables.
func Of(g *graph.Graph, args, results []Arg) Finding {
	s := &study{levels: levels{}}
	f := &flow{study: s, parts: map[*graph.Value]part{}}
	first := &level{}
	var params []part
	for _, a := range args {
		params = s.given(a, first, params)
	}
	n := 0
	for _, r := range results {
		n += leavesOf(r.Spec)
	}
	if len(g.Outputs) > n {
		return Finding{Mixes: true, Assigns: true, By: "assignment to a variable"}
	}
	for len(params) < len(g.Params) { // captured values
		params = append(params, same())
	}
	f.run(g, params)
	if s.wrong != nil {
		return found(*s.wrong)
	}
	w := &wanted{study: s, outputs: g.Outputs, part: f.of}
	for _, r := range results {
		if p, ok := w.value(r, first); !ok {
			return found(p)
		}
	}
	return Finding{Rows: true}
}

func found(p part) Finding {
	if p.by == "" {
		p.by = "a result that is not made of rows"
	}
	return Finding{Mixes: p.kind == mixed, By: p.by}
}

// A study interprets graphs.
type study struct {
	levels levels
	wrong  *part // part of a check that may have a different outcome in a joined call
}

// given appends the parts of the components of an argument whose rows have level l.
func (s *study) given(a Arg, l *level, out []part) []part {
	out, _ = s.below(a, l, nil, out)
	return out
}

// below is given for lists whose levels may be known already from chain; it returns their levels.
func (s *study) below(x Arg, l *level, chain []*level, out []part) ([]part, []*level) {
	spec := x.Spec
	if tenon.IsLeaf(spec) {
		return append(out, along(x.Axis, l)), chain
	}
	a := anatomy.OfSpec(spec)
	shared := sharedOf(spec, a)
	levels := []*level{l}
	for i, p := range a.Partitions {
		switch {
		case i < len(chain):
			levels = append(levels, chain[i])
		case p.IsUniform() && p.UniformRowLength() >= 0:
			levels = append(levels, s.levels.times(levels[i], p.UniformRowLength()))
		default:
			levels = append(levels, &level{})
		}
	}
	at := 0
	for i, c := range spec.Components() {
		p, ok := c.Spec.(*ragged.PartitionSpec)
		switch {
		case ok && at+1 >= len(levels) || shared == nil || shared[i]:
			for range leavesOf(c.Spec) {
				out = append(out, part{})
			}
		case ok && p.IsUniform():
			out = append(out, counted(levels[at]), same())
			at++
		case ok:
			out = append(out, divided(levels[at], levels[at+1]))
			at++
		case a.Kind == anatomy.Records && i < len(a.Partitions)+1 && c.Name == "nrows":
			out = append(out, counted(l))
		default:
			out, chain = s.below(Arg{Spec: c.Spec}, levels[len(levels)-1], chain, out)
		}
	}
	if len(a.Partitions) > 0 {
		chain = levels[1:]
	}
	return out, chain
}

// sharedOf returns which components of a Spec are shared by all rows, or nil if rows are not made
// of the rows of components.
func sharedOf(spec tenon.Spec, a anatomy.Spec) []bool {
	switch a.Kind {
	case anatomy.Lists, anatomy.Records, anatomy.Optional, anatomy.Named, anatomy.Union, anatomy.Map, anatomy.Held, anatomy.Element:
		return make([]bool, len(spec.Components()))
	}
	shared, ok := rows.Components(spec)
	if !ok {
		return nil
	}
	return shared
}

// leavesOf returns the number of tensors that make up a Value of a Spec.
func leavesOf(s tenon.Spec) int {
	if tenon.IsLeaf(s) {
		return 1
	}
	n := 0
	for _, c := range s.Components() {
		n += leavesOf(c.Spec)
	}
	return n
}

// wanted compares outputs with the required components of results.
type wanted struct {
	study   *study
	outputs []*graph.Value
	part    func(tenon.Value) part
}

func (w *wanted) next() part {
	p := w.part(w.outputs[0])
	w.outputs = w.outputs[1:]
	return p
}

// value compares the components of a result whose rows have level l. It returns the first part that
// differs from the required one.
func (w *wanted) value(x Arg, l *level) (part, bool) {
	spec := x.Spec
	if len(w.outputs) < leavesOf(spec) {
		return part{}, false
	}
	if tenon.IsLeaf(spec) {
		p := w.next()
		return p, p.plain() && p.axis == x.Axis && p.level.is(l)
	}
	a := anatomy.OfSpec(spec)
	shared := sharedOf(spec, a)
	levels, ok := w.levels(spec, l)
	if !ok || shared == nil {
		return w.worst(spec)
	}
	at := 0
	for i, c := range spec.Components() {
		p, ok := c.Spec.(*ragged.PartitionSpec)
		switch {
		case shared[i]:
			for range leavesOf(c.Spec) {
				if p := w.next(); p.kind != alike {
					return p, false
				}
			}
		case ok && p.IsUniform():
			w.next()
			w.next()
			at++
		case ok:
			w.next()
			at++
		case a.Kind == anatomy.Records && i < len(a.Partitions)+1 && c.Name == "nrows":
			if p := w.next(); p.kind != count || !p.level.is(l) || p.plus != 0 {
				return p, false
			}
		default:
			if p, ok := w.value(Arg{Spec: c.Spec}, levels[len(levels)-1]); !ok {
				return p, false
			}
		}
	}
	return part{}, true
}

// levels follows the partitions of a result from its rows.
func (w *wanted) levels(spec tenon.Spec, l *level) ([]*level, bool) {
	out := []*level{l}
	k := 0
	for _, c := range spec.Components() {
		if p, ok := c.Spec.(*ragged.PartitionSpec); ok {
			x := w.part(w.outputs[k])
			if p.IsUniform() {
				if x.kind != count || !x.level.is(out[len(out)-1]) || p.UniformRowLength() < 0 {
					return nil, false
				}
				out = append(out, w.study.levels.times(x.level, p.UniformRowLength()))
			} else {
				if x.kind != splits || !x.level.is(out[len(out)-1]) {
					return nil, false
				}
				out = append(out, x.into)
			}
		}
		k += leavesOf(c.Spec)
	}
	return out, true
}

// worst returns the least determined part among the components of a result.
func (w *wanted) worst(spec tenon.Spec) (part, bool) {
	var out part
	for range leavesOf(spec) {
		p := w.next()
		if out.by == "" || p.kind == mixed {
			out = p
		}
	}
	return out, false
}
