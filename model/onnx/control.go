package onnx

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// condition returns a boolean scalar. In a model it may have an axis of size 1.
func condition(x any) T {
	t, ok := x.(T)
	if !ok {
		refuse(tenon.ErrDType, "the condition is not a tensor")
	}
	return ops.Reshape(t, []int{})
}

func branch(c *call) []any {
	then, otherwise := c.graph("then_branch"), c.graph("else_branch")
	c.mayBeNil = true
	return control.Cond(condition(c.value(0)), func() []any { return c.s.graph(then) }, func() []any { return c.s.graph(otherwise) })
}

// loop repeats a graph up to a number of times, while its condition holds. The results of each
// iteration are stacked.
func loop(c *call) []any {
	body := c.graph("body")
	c.mayBeNil = true
	states := append([]any(nil), c.in[min(2, len(c.in)):]...)
	n := len(states)
	scans := len(body.outputs) - 1 - n
	if scans < 0 {
		refuse(tenon.ErrInvalid, "the body returns %d states, but the loop has %d", len(body.outputs)-1, n)
	}
	limit, going := T(nil), T(tensor.Scalar(true))
	if c.has(0) && c.in[0] != nil {
		limit = ops.Cast(condition(c.value(0)), dtype.Int64)
	}
	if c.has(1) && c.in[1] != nil {
		going = condition(c.value(1))
	}
	if unrolls(states, limit, going) {
		return c.turns(body, states, limit, going)
	}
	// Loop variables: the iteration, whether to continue, the states and the stacks so far.
	vars := []any{T(tensor.Scalar(int64(0))), going, states, c.empties(body, states, going)}
	end := control.While(func(v []any) T {
		more := v[1].(T)
		if limit != nil {
			more = ops.LogicalAnd(more, ops.Less(v[0], limit))
		}
		return more
	}, func(v []any) []any {
		in := append([]any{v[0], v[1]}, v[2].([]any)...)
		out := c.s.graph(body, in...)
		stacks := v[3].([]any)
		next := make([]any, scans)
		for i := range next {
			next[i] = appended(stacks[i].(T), out[1+n+i])
		}
		return []any{ops.Add(v[0], int64(1)), condition(out[0]), out[1 : 1+n : 1+n], next}
	}, vars)
	return append(append([]any(nil), end[2].([]any)...), end[3].([]any)...)
}

// unrolls reports whether a loop runs iteration by iteration: if nothing is traced, or if a
// state is a sequence, whose length may change, and the number of iterations is known.
func unrolls(states []any, limit, going T) bool {
	if graph.Current() == nil {
		return true
	}
	lists := false
	for _, s := range states {
		if _, ok := s.(T); !ok {
			lists = true
		}
	}
	_, known := op.Known(going)
	if limit != nil {
		_, ok := op.Known(limit)
		known = known && ok
	}
	return lists && known
}

// turns runs a loop iteration by iteration.
func (c *call) turns(body *protoGraph, states []any, limit, going T) []any {
	n := len(states)
	rows := make([][]any, len(body.outputs)-1-n)
	for i := int64(0); (limit == nil || i < tensor.Item[int64](limit)) && tensor.Item[bool](going); i++ {
		out := c.s.graph(body, append([]any{T(tensor.Scalar(i)), going}, states...)...)
		going = condition(out[0])
		if _, ok := op.Known(going); !ok {
			refuse(tenon.ErrUnsupported, "a loop over sequences whose end depends on data cannot be traced")
		}
		states = out[1 : 1+n : 1+n]
		for k := range rows {
			rows[k] = append(rows[k], out[1+n+k])
		}
	}
	out := append([]any(nil), states...)
	for _, r := range rows {
		if len(r) == 0 {
			return append(out, c.empties(body, states, going)...)
		}
		out = append(out, ops.Stack(tensors(r), 0))
	}
	return out
}

// empties returns empty stacks for the results of each iteration. If the body does not declare
// their types, an iteration is traced to find them, and discarded.
func (c *call) empties(body *protoGraph, states []any, going T) []any {
	var turn []any
	out := make([]any, len(body.outputs)-1-len(states))
	for i := range out {
		v := body.outputs[1+len(states)+i]
		var spec *tensor.Spec
		switch {
		case v.typ == nil:
			if turn == nil {
				turn = c.s.graph(body, append([]any{T(tensor.Scalar(int64(0))), going}, states...)...)
			}
			x := tensors(turn[1+len(states)+i:][:1])[0]
			spec = tensor.NewSpec(x.DType(), x.Shape())
		case v.typ.kind != kindTensor:
			refuse(tenon.ErrUnsupported, "each iteration returns %s, which is not a tensor", v.name)
		default:
			var err error
			if spec, err = v.typ.spec(); err != nil {
				refuse(tenon.ErrUnsupported, "%s: %v", v.name, err)
			}
		}
		s := []int{0}
		for _, n := range spec.Shape().Dims() {
			s = append(s, max(n, 0))
		}
		if spec.DType() == dtype.String {
			out[i] = tensor.WrapStrings([]int64{0}, nil, shape.Of(s...))
		} else {
			out[i] = T(tensor.NewDense(spec.DType(), shape.Of(s...)))
		}
	}
	return out
}

// appended adds a row to a stack. The sizes of an empty stack may differ from the row's.
func appended(stack T, row any) T {
	x, ok := row.(T)
	if !ok {
		refuse(tenon.ErrUnsupported, "a result of an iteration is not a tensor")
	}
	x = ops.ExpandDims(x, 0)
	if _, ok := op.Known(stack); ok && stack.Shape().Dim(0) == 0 {
		return ops.Identity(x)
	}
	return ops.Concat([]any{stack, x}, 0)
}

// scan runs a graph over slices along axes.
func scan(c *call) []any {
	body := c.graph("body")
	xs := c.int("num_scan_inputs", 0)
	all := c.in
	if c.opset < 9 {
		refuse(tenon.ErrUnsupported, "version 8 of Scan, which has a batch axis, is not supported")
	}
	n := len(all) - xs
	if xs <= 0 || n < 0 {
		refuse(tenon.ErrInvalid, "%d of %d inputs cannot be scanned", xs, len(all))
	}
	pick := func(name string, i int) int {
		if list := c.ints(name); i < len(list) {
			return list[i]
		}
		return 0
	}
	states, rows := make([]T, n), make([]T, xs)
	for i := range states {
		states[i] = c.x(i)
	}
	for i := range rows {
		x := c.x(n + i)
		x = ops.MoveAxis(x, axis(pick("scan_input_axes", i), rank(x)), 0)
		if pick("scan_input_directions", i) == 1 {
			x = ops.Reverse(x, 0)
		}
		rows[i] = x
	}
	end, ys := control.Scan(func(at, row []T) ([]T, []T) {
		in := append(anys(at), anys(row)...)
		out := tensors(c.s.graph(body, in...))
		return out[:n:n], out[n:]
	}, states, rows)
	for i, y := range ys {
		if pick("scan_output_directions", i) == 1 {
			y = ops.Reverse(y, 0)
		}
		k := pick("scan_output_axes", i)
		ys[i] = ops.MoveAxis(y, 0, axis(k, rank(y)))
	}
	return append(anys(end), anys(ys)...)
}

func tensors(list []any) []T {
	out := make([]T, len(list))
	for i, x := range list {
		t, ok := x.(T)
		if !ok {
			refuse(tenon.ErrDType, "value %d is not a tensor", i)
		}
		out[i] = t
	}
	return out
}
