package control

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// The gradient of a loop keeps the variables of each iteration in memory, so that they may change
// size; it is not a graph. The gradient of that gradient is the one of a scan with as many
// iterations as the loop had. It is a graph throughout, and variables must keep their sizes.
func init() {
	whileGradOp.VJP = func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
		res := tenon.Must(grad.VJPTensors(c.Tensors(0), ct, func(in []tensor.Tensor) ([]tensor.Tensor, error) { return gradByScan(c, in), nil }))
		return spread(c.List(0), res)
	}
}

// gradByScan computes the result of a call of whileGradOp on the inputs in, using
// a scan.
func gradByScan(c *op.Call, in []tensor.Tensor) []tensor.Tensor {
	n, body := c.Int(1), c.Args[3].(*graph.Graph)
	inputs, seeds := in[:len(in)-n], in[len(in)-n:]
	count := tenon.Must(body.Memo(countKey{}, func() any { return newCounter(n, c.Args[2].(*graph.Graph), body) }).(*counter).get())
	var args []tenon.Value
	for i, t := range inputs {
		if i == n {
			args = append(args, tensor.Scalar(int64(0)))
		}
		args = append(args, ops.StopGradient(t))
	}
	if len(inputs) == n {
		args = append(args, tensor.Scalar(int64(0)))
	}
	turns := op.EvalN(whileOp, args, n+1, count.cond, count.body, c.Args[4])[n]
	scan, _ := keepScan(tenon.Must(op.NewCall(scanOp, values(inputs), n, 0, body, false, turns)))
	kept := tenon.Must(scan.DoTensors())
	var out []tensor.Tensor
	for i, ct := range scanVJP(scan, kept, seeds)[:len(inputs)] {
		if inputs[i].DType().IsDifferentiable() {
			out = append(out, orZeros(ct, inputs[i]).(tensor.Tensor))
		}
	}
	return out
}

type countKey struct{}

// counter is a loop with an additional variable that counts the iterations.
type counter struct {
	cond, body *graph.Graph
	err        error
}

func (c *counter) get() (*counter, error) { return c, c.err }

func newCounter(n int, cond, body *graph.Graph) *counter {
	specs := slices.Insert(specsOf(body.Params), n, tensor.NewSpec(dtype.Int64, shape.Of()))
	without := func(p []tensor.Tensor) []tensor.Tensor { return slices.Delete(slices.Clone(p), n, n+1) }
	c := &counter{}
	c.cond, c.err = graph.TraceRegion(cond.Name, specs, func(p []tensor.Tensor) ([]tensor.Tensor, error) { return cond.Inline(without(p)) })
	if c.err != nil {
		return c
	}
	c.body, c.err = graph.TraceRegion(body.Name, specs, func(p []tensor.Tensor) ([]tensor.Tensor, error) {
		out, err := body.Inline(without(p))
		return append(out, ops.Add(p[n], int64(1))), err
	})
	return c
}
