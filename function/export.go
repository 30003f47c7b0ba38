package function

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/tensor"
)

// An Exported is one trace of a function as it was recorded, before any optimization. It is what a
// program needs to run it without the Go function.
type Exported struct {
	// Graph has a parameter for each tensor that the Values among the arguments consist of,
	// followed by one for each of its Captures. Its outputs are the tensors of the results,
	// followed by the values of the effects.
	Graph   *graph.Graph
	Args    []Leaf
	Results []Leaf
	Effects []graph.Effect
}

// A Leaf is a Value or plain data, with its place among the arguments or results. The first step of
// the path is the index of the argument or result.
type Leaf struct {
	Path  nest.Path
	Spec  tenon.Spec // nil for plain data
	Plain any
}

// Export records the function again for the given arguments, in which Specs may stand for Values,
// and returns the recording.
func (f *Function[F]) Export(args ...any) (*Exported, error) {
	c := f.core
	args, err := c.taken(args)
	if err != nil {
		return nil, err
	}
	s, err := signatureOf(args)
	if err != nil {
		return nil, c.fail(err)
	}
	if c.opts.Signature != nil {
		if s, _, err = c.declared(s); err != nil {
			return nil, err
		}
	}
	t, err := c.record(s, args)
	if err != nil {
		return nil, err
	}
	e := &Exported{Graph: t.graph, Effects: t.effects}
	if e.Args, err = leavesOf(s.args); err != nil {
		return nil, c.fail(err)
	}
	for i, l := range s.leaves {
		if l.spec != nil {
			e.Args[i].Spec, e.Args[i].Plain = l.spec, nil
		} else {
			e.Args[i].Spec, e.Args[i].Plain = nil, l.plain
		}
	}
	if e.Results, err = leavesOf(t.like); err != nil {
		return nil, c.fail(err)
	}
	return e, nil
}

// leavesOf returns the leaves of a list along with their paths.
func leavesOf(list []any) ([]Leaf, error) {
	paths, leaves, err := nest.FlattenWithPaths(list, nest.Options{})
	if err != nil {
		return nil, err
	}
	out := make([]Leaf, len(leaves))
	for i, x := range leaves {
		out[i].Path = paths[i]
		switch x := x.(type) {
		case tensor.Tensor:
			out[i].Spec = x.Spec()
		case tenon.Value:
			out[i].Spec = x.Spec()
		case tenon.Spec:
			out[i].Spec = x
		default:
			out[i].Plain = x
		}
	}
	return out, nil
}
