package control

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/tensor"
)

type backKey struct{ given string }

// backward is the VJP of a region. Its parameters are those of the region,
// followed by the cotangents of those outputs that have one; its outputs are the
// cotangents of the region's floating-point parameters.
type backward struct {
	g   *graph.Graph
	err error
}

func (b *backward) get() (*graph.Graph, error) { return b.g, b.err }

func newBackward(g *graph.Graph, given []bool) *backward {
	specs := specsOf(g.Params)
	for i, o := range g.Outputs {
		if given[i] {
			specs = append(specs, o.Spec().(*tensor.Spec))
		}
	}
	b, err := graph.Trace(g.Name+".vjp", specs, func(p []tensor.Tensor) ([]tensor.Tensor, error) {
		n := len(g.Params)
		cts := make([]tensor.Tensor, len(g.Outputs))
		k := n
		for i := range cts {
			if given[i] {
				cts[i] = p[k]
				k++
			}
		}
		return grad.VJPTensors(p[:n], cts, g.Inline)
	})
	return &backward{g: b, err: err}
}

// present splits cotangents into those that are not nil and a mask that says
// which.
func present(ct []tensor.Tensor) (seeds []tenon.Value, given []bool) {
	given = make([]bool, len(ct))
	for i, t := range ct {
		if t != nil {
			given[i] = true
			seeds = append(seeds, t)
		}
	}
	return seeds, given
}

// spread puts the cotangents of the floating-point inputs at the positions of
// these inputs.
func spread(inputs []tenon.Value, floats []tensor.Tensor) []tensor.Tensor {
	out := make([]tensor.Tensor, len(inputs))
	k := 0
	for i, v := range inputs {
		if v.(tensor.Tensor).DType().IsDifferentiable() {
			out[i] = floats[k]
			k++
		}
	}
	return out
}
