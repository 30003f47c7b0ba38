package control

import (
	"context"
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/backend"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// The operations of this file work on flat lists of tensors; the functions of
// the package take nests apart for them.

// condOp chooses one of several regions by a scalar index and runs it on inputs.
// All regions take the same inputs and return results of compatible Specs.
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

// whileOp runs body on the first len(inputs)-captures inputs while cond holds.
var whileOp = op.Register(&op.Op{
	Name: "control.while", Statement: op.Statement{Axes: op.Opaque, Missing: op.Refuse, Why: "runs functions of the program"},
	Doc: "Repeats the body on the loop variables while the condition holds.",
	Params: []op.Param{
		{Name: "inputs", Kind: op.Tensors},
		{Name: "vars", Kind: op.Attr, Type: op.IntType},
		{Name: "cond", Kind: op.Attr},
		{Name: "body", Kind: op.Attr},
		{Name: "limit", Kind: op.Attr, Type: op.IntType, Default: 0},
	},
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

// The gradient rules refer to the operations themselves, so they are set here.
func init() {
	condOp.VJP = switchVJP
	whileOp.VJP = whileVJP
	scanOp.VJP = scanVJP
}

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

// whileGradOp runs the loop again, keeps the variables of every turn, and goes
// back through the body's VJP.
var whileGradOp = op.Register(&op.Op{
	Name: "control.while_grad", Statement: op.Statement{Axes: op.Opaque, Missing: op.Refuse, Why: "runs functions of the program"},
	Doc: "Returns the cotangents of a loop's floating inputs.",
	Params: []op.Param{
		{Name: "inputs", Kind: op.Tensors},
		{Name: "vars", Kind: op.Attr, Type: op.IntType},
		{Name: "cond", Kind: op.Attr},
		{Name: "body", Kind: op.Attr},
		{Name: "limit", Kind: op.Attr, Type: op.IntType, Default: 0},
	},
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
	sums := make([]tensor.Tensor, len(inputs)) // by input; the first n are the running cotangents
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

// loop runs a while call; saved has the variables before each turn, if asked for.
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
			return nil, nil, c.Errorf(tenon.ErrInvalid, "the loop has not ended after %d turns", limit)
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

type backKey struct{ given string }

// backward is the VJP of a region: its parameters are the region's, then
// cotangents of those outputs that have one; its outputs are cotangents of the
// region's floating parameters.
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

// present splits cotangents into those that are there and a mask of them.
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

// spread puts the cotangents of the floating inputs at the inputs' positions.
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

// run runs the program of a region on concrete tensors.
func run(ctx context.Context, p backend.Program, inputs []tenon.Value) ([]tensor.Tensor, error) {
	ts := make([]tensor.Tensor, len(inputs))
	for i, v := range inputs {
		ts[i] = v.(tensor.Tensor)
	}
	return p.Run(ctx, ts)
}
