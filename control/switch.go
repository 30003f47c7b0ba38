package control

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/backend"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// condOp selects one of several regions by a scalar index and runs it on inputs.
// All regions take the same inputs and return results with compatible Specs.
var condOp = op.Register(&op.Op{
	Name: "control.switch", Statement: op.Statement{Axes: op.Opaque, Missing: op.Refuse, Why: "runs functions of the program"},
	Doc: "Runs the region with the given index; an index out of range runs the last one.",
	Params: []op.Param{
		{Name: "index", Kind: op.Tensor},
		{Name: "inputs", Kind: op.Tensors},
		{Name: "regions", Kind: op.Attr},
	},
	Results: -1,
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		if t := c.Tensor(0); !t.Shape().CompatibleWith(shape.Shape{}) || !t.DType().IsInteger() {
			return nil, c.Errorf(tenon.ErrDType, "the index is %v, not an integer scalar", t.Spec())
		}
		gs := regions(c, 2)
		for _, g := range gs {
			if g == nil {
				return nil, c.Errorf(tenon.ErrInvalid, "a region is nil")
			}
			if err := takes(c, g, c.List(1)); err != nil {
				return nil, err
			}
		}
		return mergedOutputs(c, gs)
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		gs := regions(c, 2)
		k, _ := op.Ints(ops.Cast(c.Tensor(0), dtype.Int64))
		i := k[0]
		if i < 0 || i >= len(gs) {
			i = len(gs) - 1
		}
		p, err := backend.Region(c.Context(), gs[i])
		if err != nil {
			return nil, err
		}
		return run(c.Context(), p, c.List(1))
	},
})

func switchVJP(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	gs := regions(c, 2)
	seeds, given := present(ct)
	back := make([]*graph.Graph, len(gs))
	for i, g := range gs {
		back[i] = tenon.Must(g.Memo(backKey{fmt.Sprint(given)}, func() any { return newBackward(g, given) }).(*backward).get())
	}
	res := op.EvalN(condOp, c.Value(0), append(slices.Clone(c.List(1)), seeds...), back)
	return append([]tensor.Tensor{nil}, spread(c.List(1), res)...)
}

func mergedOutputs(c *op.Call, gs []*graph.Graph) ([]tenon.Spec, error) {
	if len(gs) == 0 {
		return nil, c.Errorf(tenon.ErrInvalid, "there is no region")
	}
	specs := make([]tenon.Spec, len(gs[0].Outputs))
	for i := range specs {
		specs[i] = gs[0].Outputs[i].Spec()
		for _, g := range gs[1:] {
			if len(g.Outputs) != len(specs) {
				return nil, c.Errorf(tenon.ErrInvalid, "regions return %d and %d tensors", len(specs), len(g.Outputs))
			}
			m, ok := tenon.Merge(specs[i], g.Outputs[i].Spec())
			if !ok {
				return nil, c.Errorf(tenon.ErrDType, "regions return %s and %s as result %d%s", tenon.String(specs[i]), tenon.String(g.Outputs[i].Spec()), i, tenon.HiddenDifference(specs[i], g.Outputs[i].Spec()))
			}
			specs[i] = m
		}
	}
	return specs, nil
}
