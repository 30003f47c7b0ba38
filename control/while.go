package control

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/backend"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

var whileParams = []op.Param{
	{Name: "inputs", Kind: op.Tensors},
	{Name: "vars", Kind: op.Attr, Type: op.IntType},
	{Name: "cond", Kind: op.Attr},
	{Name: "body", Kind: op.Attr},
	{Name: "limit", Kind: op.Attr, Type: op.IntType, Default: 0},
}

// whileOp runs body on the first len(inputs)-captures inputs while cond returns
// true.
var whileOp = op.Register(&op.Op{
	Name: "control.while", Statement: op.Statement{Axes: op.Opaque, Missing: op.Refuse, Why: "runs functions of the program"},
	Doc:     "Repeats the body on the loop variables while the condition holds.",
	Params:  whileParams,
	Results: -1,
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		n, _, body, err := checkWhile(c, false)
		if err != nil {
			return nil, err
		}
		specs := make([]tenon.Spec, n)
		for i := range specs {
			specs[i] = body.Params[i].Spec()
		}
		return specs, nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		out, _, err := loop(c, false)
		return out, err
	},
})

func whileVJP(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	seeds := make([]tenon.Value, len(ct))
	for i := range ct {
		if seeds[i] = ct[i]; ct[i] == nil {
			seeds[i] = ops.ZerosLike(out[i])
		}
	}
	args := append(slices.Clone(c.List(0)), seeds...)
	res := op.EvalN(whileGradOp, args, c.Int(1), c.Args[2], c.Args[3], c.Args[4])
	return spread(c.List(0), res)
}

// whileGradOp runs the loop again, keeping the variables of every iteration, and
// then runs backwards through the body's VJP.
var whileGradOp = op.Register(&op.Op{
	Name: "control.while_grad", Statement: op.Statement{Axes: op.Opaque, Missing: op.Refuse, Why: "runs functions of the program"},
	Doc:     "Returns the cotangents of a loop's floating inputs.",
	Params:  whileParams,
	Results: -1,
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		var specs []tenon.Spec
		_, inputs, _, err := checkWhile(c, true)
		if err != nil {
			return nil, err
		}
		for _, v := range inputs {
			if t := v.(tensor.Tensor); t.DType().IsDifferentiable() {
				specs = append(specs, t.Spec())
			}
		}
		return specs, nil
	},
	Kernel: whileGrad,
})

func whileGrad(c *op.Call) ([]tensor.Tensor, error) {
	n := c.Int(1)
	all := c.List(0)
	inputs := all[:len(all)-n]
	cts := make([]tensor.Tensor, n)
	for i := range cts {
		cts[i] = all[len(inputs)+i].(tensor.Tensor)
	}
	forward := c.WithArg(0, inputs)
	_, saved, err := loop(forward, true)
	if err != nil {
		return nil, err
	}
	body := c.Args[3].(*graph.Graph)
	given := make([]bool, n)
	for i := range given {
		given[i] = body.Outputs[i].DType().IsDifferentiable()
	}
	back, err := body.Memo(backKey{fmt.Sprint(given)}, func() any { return newBackward(body, given) }).(*backward).get()
	if err != nil {
		return nil, err
	}
	program, err := backend.Region(c.Context(), back)
	if err != nil {
		return nil, err
	}
	captured := inputs[n:]
	sums := make([]tensor.Tensor, len(inputs)) // by input; the first n are the current cotangents
	copy(sums, cts)
	for k := len(saved) - 1; k >= 0; k-- {
		args := slices.Clone(saved[k])
		args = append(args, captured...)
		for i := range n {
			if given[i] {
				args = append(args, sums[i])
			}
		}
		res, err := run(c.Context(), program, args)
		if err != nil {
			return nil, err
		}
		j := 0
		for i, in := range inputs {
			if !in.(tensor.Tensor).DType().IsDifferentiable() {
				continue
			}
			if i < n || sums[i] == nil {
				sums[i] = res[j]
			} else {
				sums[i] = ops.Add(sums[i], res[j])
			}
			j++
		}
	}
	var out []tensor.Tensor
	for i, in := range inputs {
		t := in.(tensor.Tensor)
		if !t.DType().IsDifferentiable() {
			continue
		}
		if sums[i] == nil {
			sums[i] = ops.ZerosLike(t)
		}
		out = append(out, sums[i])
	}
	return out, nil
}

// loop runs a call of whileOp. If keep is set, saved holds the variables before
// each iteration.
func loop(c *op.Call, keep bool) (out []tensor.Tensor, saved [][]tenon.Value, err error) {
	n, limit := c.Int(1), c.Int(4)
	cond, err := backend.Region(c.Context(), c.Args[2].(*graph.Graph))
	if err != nil {
		return nil, nil, err
	}
	body, err := backend.Region(c.Context(), c.Args[3].(*graph.Graph))
	if err != nil {
		return nil, nil, err
	}
	inputs := slices.Clone(c.List(0))
	for turn := 0; ; turn++ {
		ok, err := run(c.Context(), cond, inputs)
		if err != nil {
			return nil, nil, err
		}
		if !tensor.Item[bool](ok[0]) {
			break
		}
		if limit > 0 && turn == limit {
			return nil, nil, c.Errorf(tenon.ErrInvalid, "the loop has not ended after %d iterations", limit)
		}
		if keep {
			saved = append(saved, slices.Clone(inputs[:n]))
		}
		next, err := run(c.Context(), body, inputs)
		if err != nil {
			return nil, nil, err
		}
		for i, v := range next {
			inputs[i] = v
		}
	}
	out = make([]tensor.Tensor, n)
	for i := range out {
		out[i] = inputs[i].(tensor.Tensor)
	}
	return out, saved, nil
}
