package grad

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/batching"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func init() { customOp.Batch = batchCustom }

// batchCustom handles a call for all rows at once: it runs both the region and the rule on rows.
func batchCustom(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
	const fn = "grad.Custom"
	n, region, inner := c.Int(1), c.Args[2].(*graph.Graph), backwardOf(c)
	in, err := take(c.Tensors(0))
	if err != nil {
		return nil, err
	}
	// onRows calls f with the rows of the batched tensors in all, and with the others as they are.
	onRows := func(all []tensor.Tensor, batched []bool, f func([]tensor.Tensor) ([]tensor.Tensor, error)) ([]tensor.Tensor, error) {
		var whole []tensor.Tensor
		for i, t := range all {
			if batched[i] {
				whole = append(whole, t)
			}
		}
		return batching.Run(fn, func(rows []tensor.Tensor) []tensor.Tensor {
			args := make([]tensor.Tensor, len(all))
			for i, t := range all {
				if args[i] = t; batched[i] {
					args[i], rows = rows[0], rows[1:]
				}
			}
			return tenon.Must(f(args))
		}, whole)
	}
	r, err := record(in, func(all []tensor.Tensor) []tensor.Tensor { return tenon.Must(onRows(all, batched, region.Inline)) })
	if err != nil {
		return nil, err
	}
	made := &rule{region: r.region, out: r.values}
	made.backward = func(ins, outs, cts []tensor.Tensor) ([]tensor.Tensor, error) {
		all, rows := append([]tensor.Tensor(nil), ins...), append([]bool(nil), batched...)
		for i, o := range outs {
			all, rows = append(all, o), append(rows, true)
			if cts[i] != nil {
				all, rows = append(all, cts[i]), append(rows, true)
			}
		}
		var there []bool
		back, err := onRows(all, rows, func(all []tensor.Tensor) ([]tensor.Tensor, error) {
			rest := all[len(ins):]
			o, ct := make([]tensor.Tensor, len(outs)), make([]tensor.Tensor, len(outs))
			for i := range outs {
				o[i], rest = rest[0], rest[1:]
				if cts[i] != nil {
					ct[i], rest = rest[0], rest[1:]
				}
			}
			res, err := inner(all[:len(ins)], o, ct)
			var some []tensor.Tensor
			there = make([]bool, len(res))
			for i, t := range res {
				if there[i] = t != nil; there[i] {
					some = append(some, t)
				}
			}
			return some, err
		})
		if err != nil {
			return nil, err
		}
		res := make([]tensor.Tensor, len(ins))
		for i := range res {
			if !there[i] {
				continue
			}
			if res[i], back = back[0], back[1:]; !batched[i] {
				res[i] = ops.Sum(res[i], 0) // one for all rows
			}
		}
		return res, nil
	}
	vs := append([]tenon.Value(nil), c.List(0)...)
	for _, t := range r.region.Captures {
		vs = append(vs, t)
	}
	return op.EvalN(customOp, vs, n, r.region, made, c.Bool(4)), nil
}
