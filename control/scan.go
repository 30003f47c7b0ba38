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

// scanOp runs a body over the rows of xs with a carry. Its inputs are the carry, xs (all with a
// leading axis of the same size), and captures. The body takes the carry, a row of each x, and the
// captures; it returns the next carry and a row of each y. The results are the last carry and the
// stacked ys.
//
// With row splits, xs hold the items of rows. Each iteration takes the next item of each row that
// has one; the carry has an entry for each of these rows, and ys hold the items of the same rows.
// The body does to each row what it would do to that row alone. The last parts of the carry, sums,
// are exceptions: they do not belong to rows, and the body only adds to them, so that the order
// does not matter.
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
		{Name: "splits", Kind: op.Tensor, Optional: true},
		{Name: "sums", Kind: op.Attr, Type: op.IntType, Default: 0},
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
			switch {
			case i < nc-c.Int(7) && c.Args[6] != nil:
				rows := c.List(0)[i].(tensor.Tensor).Shape().Dim(0)
				specs[i] = tensor.NewSpec(o.DType(), body.Params[i].Shape().Remove(0).Insert(0, rows))
			case i < nc:
				specs[i] = body.Params[i].Spec()
			case c.Args[6] != nil:
				specs[i] = tensor.NewSpec(o.DType(), o.Shape().Remove(0).Insert(0, n))
			default:
				specs[i] = tensor.NewSpec(o.DType(), o.Shape().Insert(0, n))
			}
		}
		return specs, nil
	},
	Kernel: scanKernel,
})

func scanKernel(c *op.Call) ([]tensor.Tensor, error) {
	nc, nx, body := c.Int(1), c.Int(2), c.Args[3].(*graph.Graph)
	program, err := backend.Region(c.Context(), body)
	if err != nil {
		return nil, err
	}
	if c.Args[6] != nil {
		return scanRows(c, program)
	}
	inputs := c.List(0)
	xs, captured := inputs[nc:nc+nx], captures(c)
	n := 0
	if nx > 0 {
		n = xs[0].(tensor.Tensor).Shape().Dim(0)
	} else if k, ok := c.ConstInts(5); ok {
		n = k[0]
	}
	carry := slices.Clone(inputs[:nc])
	ys := collecting(len(body.Outputs)-nc, n)
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
		for i := range ys {
			ys[i].add(ops.ExpandDims(out[nc+i], 0), int64(at))
		}
	}
	var out []tensor.Tensor
	for _, v := range carry {
		out = append(out, v.(tensor.Tensor))
	}
	var none []tensor.Tensor
	for i := range ys {
		if n == 0 {
			if none == nil {
				if none, err = noRows(c.Context(), program, body, inputs, nc, nx); err != nil {
					return nil, err
				}
			}
			out = append(out, none[nc+i])
			continue
		}
		out = append(out, ys[i].rows())
	}
	return out, nil
}

// captures returns what the body captures, contiguous, since every iteration reads it.
func captures(c *op.Call) []tenon.Value {
	out := slices.Clone(c.List(0)[c.Int(1)+c.Int(2):])
	for i, v := range out {
		if d, ok := v.(*tensor.Dense); ok {
			out[i] = tensor.Contiguous(d)
		}
	}
	return out
}

// noRows returns the results of a scan without iterations. Sizes that the body does not know are
// taken from an iteration on zeros, unless the body does more than compute.
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
