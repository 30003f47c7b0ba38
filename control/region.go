package control

import (
	"context"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/backend"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// Operations on regions take flat lists of tensors; the functions of this package
// take nests apart for them.

// The gradient rules refer to the operations themselves, so they are set here.
func init() {
	condOp.VJP = switchVJP
	whileOp.VJP = whileVJP
	scanOp.Keep, scanOp.VJP = keepScan, scanVJP
}

func regions(c *op.Call, i int) []*graph.Graph {
	gs, _ := c.Args[i].([]*graph.Graph)
	return gs
}

func specsOf(vs []*graph.Value) []*tensor.Spec {
	out := make([]*tensor.Spec, len(vs))
	for i, v := range vs {
		out[i] = v.Spec().(*tensor.Spec)
	}
	return out
}

// run runs the program of a region on concrete tensors.
func run(ctx context.Context, p backend.Program, inputs []tenon.Value) ([]tensor.Tensor, error) {
	ts := make([]tensor.Tensor, len(inputs))
	for i, v := range inputs {
		ts[i] = v.(tensor.Tensor)
	}
	return p.Run(ctx, ts)
}
