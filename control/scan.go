package control

import (
	"context"
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/backend"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// scanOp runs body over the rows of xs with a carry. Inputs are the carry, xs
// (each with a leading axis of the same size), and captures. The body takes the
// carry, a row of each x, and the captures; it returns the next carry and a row
// of each y. Results are the last carry and the stacked ys.
var scanOp = op.Register(&op.Op{
	Name: "control.scan", Statement: op.Statement{Axes: op.Opaque, Missing: op.Refuse, Why: "runs functions of the program"},
	Doc: "Runs the body over rows with a carry.",
	Params: []op.Param{
		{Name: "inputs", Kind: op.Tensors},
		{Name: "carry", Kind: op.Attr, Type: op.IntType},
		{Name: "xs", Kind: op.Attr, Type: op.IntType},
		{Name: "body", Kind: op.Attr},
		{Name: "reverse", Kind: op.Attr, Type: op.BoolType, Default: false},
		{Name: "length", Kind: op.Tensor, Optional: true},
	},
	Results: -1,
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		nc, nx, body, err := checkScan(c)
		if err != nil {
			return nil, err
		}
		n := shape.Unknown
		for i, v := range c.List(0)[nc : nc+nx] {
			s := v.(tensor.Tensor).Shape()
			if s.HasRank() && s.Rank() == 0 {
				return nil, c.Errorf(tenon.ErrShape, "input %d to scan over is a scalar", i)
			}
			d := s.Dim(0)
			if s.HasRank() && d >= 0 {
				if n >= 0 && d != n {
					return nil, c.Errorf(tenon.ErrShape, "inputs to scan over have %d and %d rows", n, d)
				}
				n = d
			}
		}
		if l, ok := c.ConstInts(5); ok && nx == 0 {
			n = l[0]
		}
		specs := make([]tenon.Spec, len(body.Outputs))
		for i, o := range body.Outputs {
			if i < nc {
				specs[i] = body.Params[i].Spec()
			} else {
				specs[i] = tensor.NewSpec(o.DType(), o.Shape().Insert(0, n))
			}
		}
		return specs, nil
	},
	Kernel: scanKernel,
})

func scanKernel(c *op.Call) ([]tensor.Tensor, error) {
	nc, nx, body := c.Int(1), c.Int(2), c.Args[3].(*graph.Graph)
	inputs := c.List(0)
	xs, captured := inputs[nc:nc+nx], inputs[nc+nx:]
	n := 0
	if nx > 0 {
		n = xs[0].(tensor.Tensor).Shape().Dim(0)
	} else if k, ok := c.ConstInts(5); ok {
		n = k[0]
	}
	program, err := backend.Region(c.Context(), body)
	if err != nil {
		return nil, err
	}
	carry := slices.Clone(inputs[:nc])
	rows := make([][]tensor.Tensor, len(body.Outputs)-nc)
	for i := range rows {
		rows[i] = make([]tensor.Tensor, n)
	}
	for k := range n {
		at := k
		if c.Bool(4) {
			at = n - 1 - k
		}
		args := slices.Clone(carry)
		for _, x := range xs {
			args = append(args, row(x, at))
		}
		out, err := run(c.Context(), program, append(args, captured...))
		if err != nil {
			e := *tenon.AsError(err)
			e.Where = fmt.Sprintf("row %d", at)
			return nil, &e
		}
		for i := range nc {
			carry[i] = out[i]
		}
		for i := range rows {
			rows[i][at] = out[nc+i]
		}
	}
	var out []tensor.Tensor
	for _, v := range carry {
		out = append(out, v.(tensor.Tensor))
	}
	var none []tensor.Tensor
	for i, r := range rows {
		if n == 0 {
			if none == nil {
				if none, err = noRows(c.Context(), program, body, inputs, nc, nx); err != nil {
					return nil, err
				}
			}
			out = append(out, none[nc+i])
			continue
		}
		out = append(out, ops.Stack(r, 0))
	}
	return out, nil
}

// noRows is what results of no round are. Sizes that the body does not know are those of a round with
// zeros, unless that does more than compute.
func noRows(ctx context.Context, program backend.Program, body *graph.Graph, inputs []tenon.Value, nc, nx int) ([]tensor.Tensor, error) {
	known := true
	for _, o := range body.Outputs {
		known = known && o.Shape().IsFull()
	}
	out := make([]tensor.Tensor, len(body.Outputs))
	if !known && !slices.ContainsFunc(body.Nodes, func(n *graph.Node) bool { return n.Op.Stateful || len(n.Regions()) > 0 }) {
		args := slices.Clone(inputs)
		for i, x := range inputs[nc : nc+nx] {
			x := x.(tensor.Tensor)
			args[nc+i] = ops.Zeros(x.DType(), x.Shape().Remove(0))
		}
		var err error
		if out, err = run(ctx, program, args); err != nil {
			return nil, err
		}
	}
	for i, o := range body.Outputs {
		dims := []int{0}
		for a := range max(0, o.Shape().Rank()) {
			d := max(0, o.Shape().Dim(a))
			if out[i] != nil {
				d = out[i].Shape().Dim(a)
			}
			dims = append(dims, d)
		}
		out[i] = ops.Zeros(o.DType(), shape.Of(dims...))
	}
	return out, nil
}

func row(x tenon.Value, k int) tensor.Tensor {
	switch x := x.(type) {
	case *tensor.Dense:
		if x.IsContiguous() {
			s := x.Shape().Remove(0)
			return x.View(k*s.Size(), s, tensor.RowMajor(s))
		}
	}
	return ops.Gather(x, int64(k), 0)
}

// scanVJP is two scans: one forward that keeps the carry of every row, and one
// backward through the body's VJP. Both are ordinary scans, so the gradient has
// gradients.
func scanVJP(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	nc, nx, body := c.Int(1), c.Int(2), c.Args[3].(*graph.Graph)
	inputs := c.List(0)
	ny := len(body.Outputs) - nc
	keep := body.Memo(keepKey{}, func() any { return keepCarry(body, nc) }).(*graph.Graph)
	kept := op.EvalN(scanOp, inputs, nc, nx, keep, c.Args[4], c.Args[5])
	carries := kept[nc+ny:]

	given := make([]bool, len(body.Outputs))
	for i, o := range body.Outputs {
		given[i] = o.DType().IsDifferentiable()
	}
	back := tenon.Must(body.Memo(scanBackKey{}, func() any { return newScanBackward(body, nc, nx, given) }).(*backward).get())

	// The backward scan's carry: cotangents of the floating carries, then sums
	// for the floating captures. Its rows: the kept carries, xs, cotangents of ys.
	var carry, xs []tenon.Value
	for i := range nc {
		if given[i] {
			carry = append(carry, orZeros(ct[i], out[i]))
		}
	}
	captured := inputs[nc+nx:]
	for _, v := range captured {
		if t := v.(tensor.Tensor); t.DType().IsDifferentiable() {
			carry = append(carry, ops.ZerosLike(t))
		}
	}
	for _, t := range carries {
		xs = append(xs, t)
	}
	xs = append(xs, inputs[nc:nc+nx]...)
	for i := nc; i < nc+ny; i++ {
		if given[i] {
			xs = append(xs, orZeros(ct[i], out[i]))
		}
	}
	args := append(append(slices.Clone(carry), xs...), captured...)
	res := op.EvalN(scanOp, args, len(carry), len(xs), back, !c.Bool(4), c.Args[5])

	ins := make([]tensor.Tensor, len(inputs))
	k := 0
	for i := range nc {
		if given[i] {
			ins[i] = res[k]
			k++
		}
	}
	for i := nc + nx; i < len(inputs); i++ {
		if inputs[i].(tensor.Tensor).DType().IsDifferentiable() {
			ins[i] = res[k]
			k++
		}
	}
	for i := nc; i < nc+nx; i++ {
		if inputs[i].(tensor.Tensor).DType().IsDifferentiable() {
			ins[i] = res[k]
			k++
		}
	}
	if c.Args[5] != nil {
		ins = append(ins, nil)
	}
	return ins
}

func orZeros(ct, like tensor.Tensor) tenon.Value {
	if ct == nil {
		return ops.ZerosLike(like)
	}
	return ct
}

type keepKey struct{}

// keepCarry returns the body with its incoming carry as further rows of output.
func keepCarry(body *graph.Graph, nc int) *graph.Graph {
	return tenon.Must(graph.Trace(body.Name+".keep", specsOf(body.Params), func(p []tensor.Tensor) ([]tensor.Tensor, error) {
		out, err := body.Inline(p)
		return append(out, p[:nc]...), err
	}))
}

type scanBackKey struct{}

func newScanBackward(body *graph.Graph, nc, nx int, given []bool) *backward {
	inner, err := newBackward(body, given).get()
	if err != nil {
		return &backward{err: err}
	}
	var specs []*tensor.Spec // carry cts, capture sums | carries, xs, y cts | captures
	params := specsOf(body.Params)
	captured := params[nc+nx:]
	floats := 0
	for i := range nc {
		if given[i] {
			specs = append(specs, params[i])
			floats++
		}
	}
	nsum := 0
	for _, s := range captured {
		if s.DType().IsDifferentiable() {
			specs = append(specs, s)
			nsum++
		}
	}
	carryLen := len(specs)
	specs = append(specs, params[:nc+nx]...)
	for i := nc; i < len(given); i++ {
		if given[i] {
			specs = append(specs, body.Outputs[i].Spec().(*tensor.Spec))
		}
	}
	xsEnd := len(specs)
	specs = append(specs, captured...)
	g, err := graph.Trace(body.Name+".back", specs, func(p []tensor.Tensor) ([]tensor.Tensor, error) {
		args := slices.Clone(p[carryLen : carryLen+nc+nx])
		args = append(args, p[xsEnd:]...)
		args = append(args, p[:floats]...)
		args = append(args, p[carryLen+nc+nx:xsEnd]...)
		res, err := inner.Inline(args)
		if err != nil {
			return nil, err
		}
		var carry, xs, sums []tensor.Tensor
		k := 0
		for i, s := range params {
			if !s.DType().IsDifferentiable() {
				continue
			}
			switch {
			case i < nc:
				carry = append(carry, res[k])
			case i < nc+nx:
				xs = append(xs, res[k])
			default:
				sums = append(sums, ops.Add(p[floats+len(sums)], res[k]))
			}
			k++
		}
		return append(append(carry, sums...), xs...), nil
	})
	return &backward{g: g, err: err}
}
