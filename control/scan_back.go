package control

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// wayBack is the gradient of a scan, which consists of two scans: a forward one, which keeps for
// every iteration the carry and those products in it that the backward pass needs, and a backward
// one through the body's VJP, which recomputes everything else. Both are ordinary scans, so the
// gradient is differentiable again.
type wayBack struct {
	forward *graph.Graph // the body, with what is kept of an iteration as further outputs
	back    *graph.Graph // cotangents of the carry, sums for captures | kept, xs, cotangents of ys | captures
	outputs int          // of the body
	given   []bool       // which outputs have a cotangent
	err     error
}

type (
	wayBackKey struct { // for a body
		nc, nx, sums int
		ofRows       bool
	}
	keptKey struct{} // for the forward scan
)

// keepScan returns a scan that keeps what its gradient needs.
func keepScan(c *op.Call) (kept *op.Call, results int) {
	k := wayBackKey{c.Int(1), c.Int(2), c.Int(7), c.Args[6] != nil}
	body := c.Args[3].(*graph.Graph)
	w := body.Memo(k, func() any { return newWayBack(body, k) }).(*wayBack)
	tenon.Throw(w.err)
	kept = c.WithValues(c.Values())
	kept.Args[3] = w.forward
	return kept, w.outputs
}

func scanVJP(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	nc, nx, sums := c.Int(1), c.Int(2), c.Int(7)
	w := c.Args[3].(*graph.Graph).Memo(keptKey{}, nil).(*wayBack)
	inputs := c.List(0)
	var carry, xs []tenon.Value
	added := 0
	add := func(t tenon.Value) {
		carry = append(carry, t)
		added++
	}
	for i := range nc {
		if !w.given[i] {
			continue
		}
		if v := orZeros(ct[i], out[i]); i < nc-sums {
			carry = append(carry, v)
		} else {
			add(v)
		}
	}
	captured := inputs[nc+nx:]
	for _, v := range captured {
		if t := v.(tensor.Tensor); t.DType().IsDifferentiable() {
			add(ops.ZerosLike(t))
		}
	}
	xs = append(xs, values(out[w.outputs:])...)
	xs = append(xs, inputs[nc:nc+nx]...)
	for i := nc; i < w.outputs; i++ {
		if w.given[i] {
			xs = append(xs, orZeros(ct[i], out[i]))
		}
	}
	args := append(append(slices.Clone(carry), xs...), captured...)
	if c.Args[6] == nil {
		added = 0
	}
	res := op.EvalN(scanOp, args, len(carry), len(xs), w.back, !c.Bool(4), c.Args[5], c.Args[6], added)

	// The results are those for the carry, for captures, and for xs.
	ins := make([]tensor.Tensor, len(inputs))
	k := 0
	take := func(from, to int) {
		for i := from; i < to; i++ {
			if inputs[i].(tensor.Tensor).DType().IsDifferentiable() {
				ins[i] = res[k]
				k++
			}
		}
	}
	take(0, nc)
	take(nc+nx, len(inputs))
	take(nc, nc+nx)
	for _, a := range c.Args[5:7] {
		if a != nil {
			ins = append(ins, nil)
		}
	}
	return ins
}

func orZeros(ct, like tensor.Tensor) tenon.Value {
	if ct == nil {
		return ops.ZerosLike(like)
	}
	return ct
}

func newWayBack(body *graph.Graph, k wayBackKey) *wayBack {
	w := &wayBack{outputs: len(body.Outputs), given: make([]bool, len(body.Outputs))}
	for i, o := range body.Outputs {
		w.given[i] = o.DType().IsDifferentiable()
	}
	var joint *graph.Graph
	if joint, w.err = newBackward(body, w.given).get(); w.err != nil {
		return w
	}
	each, over, n := k.nc-k.sums, k.nc+k.nx, len(body.Params)
	if k.ofRows {
		if joint, w.err = oneSize(joint, each, k.nc, over, n, w.given); w.err != nil {
			return w
		}
	}
	params, cts := joint.Params[:n], joint.Params[n:]
	products := productsOf(joint, n, over)
	// The operands of the products are computed as in the body; a function computes them only once.
	w.forward, w.err = graph.Trace(body.Name+".keep", specsOf(params), func(p []tensor.Tensor) ([]tensor.Tensor, error) {
		out, err := body.Inline(p)
		if err != nil {
			return nil, err
		}
		kept, err := joint.Between(params, products, p)
		return slices.Concat(out, p[:each], kept), err
	})
	if w.err != nil {
		return w
	}
	w.forward.Memo(keptKey{}, func() any { return w })

	carried := 0 // number of carried values that have a cotangent
	for i := range k.nc {
		if w.given[i] {
			carried++
		}
	}
	groups := [][]*graph.Value{cts[:carried], nil, params[:each], products, params[k.nc:over], cts[carried:], params[over:]}
	for _, v := range params[over:] {
		if v.DType().IsDifferentiable() {
			groups[1] = append(groups[1], v)
		}
	}
	w.back, w.err = graph.Trace(body.Name+".back", specsOf(slices.Concat(groups...)), func(p []tensor.Tensor) ([]tensor.Tensor, error) {
		var g [][]tensor.Tensor
		for _, vs := range groups {
			g, p = append(g, p[:len(vs)]), p[len(vs):]
		}
		sums := g[1]
		carry := slices.Clone(g[2])
		for i := each; i < k.nc; i++ { // the value of a sum does not matter
			carry = append(carry, ops.ZerosLike(g[0][len(g[0])-k.nc+i]))
		}
		from := slices.Concat(params[:k.nc], products, params[k.nc:over], cts[carried:], params[over:], cts[:carried])
		res, err := joint.Between(from, joint.Outputs, slices.Concat(carry, g[3], g[4], g[5], g[6], g[0]))
		if err != nil {
			return nil, err
		}
		var back, xs, added []tensor.Tensor
		for i, v := range params {
			if !v.DType().IsDifferentiable() {
				continue
			}
			switch ct := res[0]; {
			case i < k.nc:
				back = append(back, ct)
			case i < over:
				xs = append(xs, ct)
			default:
				added = append(added, ops.Add(sums[len(added)], ct))
			}
			res = res[1:]
		}
		return slices.Concat(back, added, xs), nil
	})
	return w
}

// oneSize returns a VJP for a batch of items whose number is unknown but the same for all.
// Computing it per item needs no sums to undo broadcasting.
func oneSize(joint *graph.Graph, each, nc, over, n int, given []bool) (*graph.Graph, error) {
	items := slices.Concat(joint.Params[:each], joint.Params[nc:over])
	cts := joint.Params[n:]
	for i, has := range given {
		if !has {
			continue
		}
		if i < each || i >= nc {
			items = append(items, cts[0])
		}
		cts = cts[1:]
	}
	sizes := joint.SizesOf(items)
	return graph.Rebuild(joint, func(x *graph.Node, c *op.Call) ([]tensor.Tensor, error) {
		if x.Op.Name == "sum_to" {
			if to, ok := c.ConstInts(1); ok && slices.Equal(to, c.Tensor(0).Shape().Dims()) {
				return []tensor.Tensor{c.Tensor(0)}, nil
			}
			if of := x.Args[1].(*graph.Value).Node(); of != nil && of.Op.Name == "shape" && sizes.SameShape(x.Args[0].(*graph.Value), of.Args[0].(*graph.Value)) {
				return []tensor.Tensor{c.Tensor(0)}, nil
			}
		}
		return c.DoTensors()
	})
}

// productsOf returns the products that do not depend on cotangents (the parameters from n on),
// depend on one of the first parameters, and are used elsewhere: keeping them takes less time than
// recomputing them. If only an elementwise operation reads a product, its result is kept instead. If the
// number of items is not known, it is the size of their first axis.
func productsOf(joint *graph.Graph, n, over int) (products []*graph.Value) {
	const first, late = 1, 2
	depends := make([]int, joint.NumValues())
	for i, p := range joint.Params {
		switch {
		case i < over:
			depends[p.ID()] = first
		case i >= n:
			depends[p.ID()] = late
		}
	}
	for _, x := range joint.Nodes {
		x.EachInput(func(v *graph.Value) {
			for _, o := range x.Outs {
				depends[o.ID()] |= depends[v.ID()]
			}
		})
	}
	needed, readers := make([]bool, joint.NumValues()), make([][]*graph.Node, joint.NumValues())
	for _, o := range joint.Outputs {
		needed[o.ID()] = true
		readers[o.ID()] = append(readers[o.ID()], nil)
	}
	for _, x := range slices.Backward(joint.Nodes) { // except those that nothing reads in turn
		if slices.ContainsFunc(x.Outs, func(o *graph.Value) bool { return len(readers[o.ID()]) > 0 }) {
			x.EachInput(func(v *graph.Value) { readers[v.ID()] = append(readers[v.ID()], x) })
		}
	}
	for _, x := range slices.Backward(joint.Nodes) {
		o := x.Outs[0]
		if !slices.ContainsFunc(x.Outs, func(o *graph.Value) bool { return needed[o.ID()] }) {
			continue
		}
		if x.Op.Axes == op.Contract && len(x.Outs) == 1 && depends[o.ID()] == first && o.Shape().HasRank() && o.Shape().Rank() > 0 && o.Shape().Remove(0).IsFull() {
			for r := readers[o.ID()]; len(r) == 1 && r[0] != nil && r[0].Op.IsElementwise() && depends[r[0].Outs[0].ID()] == first && tenon.Equal(r[0].Outs[0].Spec(), o.Spec()); r = readers[o.ID()] {
				o = r[0].Outs[0]
			}
			if !slices.Contains(products, o) {
				products = append(products, o)
			}
			continue
		}
		x.EachInput(func(v *graph.Value) { needed[v.ID()] = true })
	}
	return products
}
