package named

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// HandleOp answers for the operations of package ops whose meaning for named tensors
// does not depend on the order in which dimensions are stored: elementwise ones, which
// match dimensions by name; reductions of all dimensions; and what is done with a value
// as a whole. Operations along an axis by its number are refused, with the function of
// this package that takes a name in the error; along [Rows], which is always the first axis,
// and the only axis of a vector they have a meaning.
func (t *Tensor) HandleOp(c *op.Call) ([]tenon.Value, error) {
	if strangers(c) {
		return nil, op.NotHandled
	}
	if f, ok := handlers[c.Op.Name]; ok {
		return f(c)
	}
	switch c.Op.Class {
	case op.UnaryElementwise, op.BinaryElementwise, op.TernaryElementwise:
		return handleElementwise(c)
	case op.Reduction:
		return handleReduction(c)
	case op.Cumulative:
		return handleAlong(c)
	case op.Assert:
		return handleWhole(c)
	}
	if _, ok := instead[c.Op.Name]; !ok && c.Op.Name != "" && len(c.Values()) == 1 && c.Op.Param("axis") >= 0 {
		return handleAlong(c)
	}
	return nil, refusal(c)
}

// strangers reports whether a value takes part that answers for itself and is neither
// named nor plain: a type that is made of others asks them in turn.
func strangers(c *op.Call) bool {
	return slices.ContainsFunc(c.Values(), func(v tenon.Value) bool {
		if _, ok := asNamed(v); ok {
			return false
		}
		_, ok := v.(op.Handler)
		return ok
	})
}

// handlers are the operations with a rule of their own.
var handlers = map[string]func(c *op.Call) ([]tenon.Value, error){
	"cast": handleWhole, "identity": handleWhole, "stop_gradient": handleWhole, "zeros_like": handleWhole, "ones_like": handleWhole,
	"check_numerics": handleWhole, "bitcast": handleWhole, "ensure_shape": nil,
	"size": handlePlain, "rank": handlePlain,
	"stack": handleStack, "concat": handleConcat, "gather": handleGather,
	"softmax": handleAlong, "log_softmax": handleAlong,
}

func init() { delete(handlers, "ensure_shape") }

// instead names the functions to use in place of operations that go by axis numbers.
var instead = map[string]string{
	"matmul": "named.Dot or named.Contract", "matvec": "named.Dot", "dot": "named.Dot", "outer": "named.Outer", "einsum": "named.Einsum",
	"transpose": "nothing, or named.Order at the edge", "reshape": "named.Reshape, named.Merge or named.Split", "expand_dims": "named.ExpandDims",
	"squeeze": "named.Squeeze", "broadcast_to": "named.BroadcastTo", "shape": "named.Tensor.Size", "slice": "named.Index", "index": "named.Index",
	"layer_norm": "named.LayerNorm", "rms_norm": "named.RMSNorm", "one_hot": "named.OneHot", "pad": "named.Pad", "split": "named.Pieces",
	"unstack": "named.Unstack", "top_k": "named.TopK", "attention": "named.Attention", "softmax_cross_entropy": "named.CrossEntropy",
	"softmax_cross_entropy_dense": "named.CrossEntropy", "tile": "named.BroadcastTo", "roll": "named.Roll", "reverse": "named.Reverse",
	"reduce_sum": "named.Sum", "reduce_mean": "named.Mean", "reduce_max": "named.Max", "reduce_min": "named.Min", "sort": "named.Sort",
	"argsort": "named.ArgSort", "argmax": "named.ArgMax", "argmin": "named.ArgMin", "cumsum": "named.CumSum", "cumprod": "named.CumProd",
	"gather": "named.Take", "gather_nd": "named.Take", "stack": "named.Stack", "concat": "named.Concat", "softmax": "named.Softmax",
	"log_softmax": "named.LogSoftmax", "logsumexp": "named.LogSumExp", "contract": "named.Contract",
}

// refusal is the error about an operation that would depend on the order in which
// dimensions are stored.
func refusal(c *op.Call) error {
	e := c.Errorf(tenon.ErrUnsupported, "the operation goes by the order of dimensions, which named tensors do not have")
	if f, ok := instead[c.Op.Name]; ok {
		e.Hint = "use " + f
	} else {
		e.Hint = "take the names away with named.Unnamed, or use named.MapUnnamed"
	}
	return e
}

// handleElementwise matches dimensions by name.
func handleElementwise(c *op.Call) ([]tenon.Value, error) {
	values := c.Values()
	var ts []*Tensor
	for _, v := range values {
		if t, ok := asNamed(v); ok {
			ts = append(ts, t)
			continue
		}
		if x, ok := v.(tensor.Tensor); !ok || !x.Shape().IsScalar() {
			e := c.Errorf(tenon.ErrDType, "%s has no names, and is no single element", tenon.String(v.Spec()))
			e.Hint = "name its dimensions with named.Of"
			return nil, e
		}
	}
	fn := c.Op.Func()
	if len(values) == 1 {
		return op.One(newTensor(op.Apply(c, ts[0].data), ts[0].spec.names, ts[0].own()))
	}
	out := widest(fn, ts)
	checkSizes(fn, ts)
	side := sideOf(fn, ts...)
	call := func(xs []tensor.Tensor) tensor.Tensor {
		args := slices.Clone(values)
		k := 0
		for i, v := range values {
			if _, ok := asNamed(v); ok {
				args[i] = xs[k]
				k++
			}
		}
		return op.Apply(c, args...)
	}
	if slices.ContainsFunc(ts, func(t *Tensor) bool { return isRagged(t.data) }) {
		return op.One(raggedElementwise(fn, ts, out, side, call))
	}
	xs := make([]tensor.Tensor, len(ts))
	for i, t := range ts {
		a := alignmentTo(t.spec.names, out)
		xs[i] = a.apply(t.data)
	}
	return op.One(newTensor(call(xs), out, side))
}

// handleReduction reduces all dimensions.
func handleReduction(c *op.Call) ([]tenon.Value, error) {
	t, ok := asNamed(c.Value(0))
	if !ok || len(c.Values()) != 1 {
		return nil, op.NotHandled
	}
	axes := c.Attr("axis")
	keep, _ := c.Attr("keepdims").(bool)
	list, isList := axes.([]int)
	if axes == nil || isList && list == nil {
		ordered := c.Op.Places != 0 || c.Op.Monoid != nil && c.Op.Monoid.Ordered // as dimensions are stored
		if keep || ordered && t.Shape().Rank() > 1 {
			return nil, refusal(c)
		}
		return op.One(newTensor(op.Apply(c, t.data), none, t.own()))
	}
	if !clearAxis(t, axes) || keep {
		return nil, refusal(c)
	}
	at := 0
	if isList && len(list) == 0 {
		return op.One(newTensor(op.Apply(c, t.data), t.spec.names, t.own()))
	}
	return op.One(newTensor(op.Apply(c, t.data), layoutOf(slices.Delete(slices.Clone(t.spec.names.ids), at, at+1)), t.own()))
}

// clearAxis reports whether an axis by its number means the same however the tensor is
// stored: it has only one, or the axis is that of Rows. An empty list of axes is clear too.
func clearAxis(t *Tensor, axes any) bool {
	var list []int
	switch a := axes.(type) {
	case int:
		list = []int{a}
	case []int:
		list = a
	default:
		return false
	}
	if len(list) == 0 {
		return true
	}
	if len(list) != 1 {
		return false
	}
	n := len(t.spec.names.ids)
	return n == 1 && (list[0] == 0 || list[0] == -1) || n > 0 && list[0] == 0 && t.spec.names.ids[0] == rowsID
}

// handleAlong applies an operation along an axis that is clear, and keeps dimensions.
func handleAlong(c *op.Call) ([]tenon.Value, error) {
	t, ok := asNamed(c.Value(0))
	if !ok || len(c.Values()) != 1 || !clearAxis(t, c.Attr("axis")) {
		return nil, refusal(c)
	}
	res := op.ApplyN(c, t.data)
	out := make([]tenon.Value, len(res))
	for i, x := range res {
		l := t.spec.names
		if r := x.Shape().Rank(); r == len(l.ids)-1 {
			l = layoutOf(l.ids[1:])
		} else if r != len(l.ids) {
			return nil, refusal(c)
		}
		out[i] = newTensor(x, l, t.own())
	}
	return out, nil
}

// handleWhole applies an operation that keeps shapes to what is inside.
func handleWhole(c *op.Call) ([]tenon.Value, error) {
	t, ok := asNamed(c.Value(0))
	if !ok || len(c.Values()) != 1 {
		return nil, refusal(c)
	}
	x := op.Apply(c, t.data)
	if !x.Shape().CompatibleWith(t.data.Shape()) {
		return nil, refusal(c)
	}
	return op.One(newTensor(x, t.spec.names, t.own()))
}

// handlePlain applies an operation whose result is a number about the tensor.
func handlePlain(c *op.Call) ([]tenon.Value, error) {
	t, _ := asNamed(c.Value(0))
	return op.One(op.Apply(c, t.data))
}

// handleStack stacks along a new dimension, which generic code calls Rows.
func handleStack(c *op.Call) ([]tenon.Value, error) {
	if c.Attr("axis") != 0 {
		return nil, refusal(c)
	}
	ts, values := alike(c.Op.Func(), c.Values(), nil)
	l := layoutOf(append([]id{rowsID}, shiftRows(ts[0].spec.names.ids, 1)...))
	return op.One(newTensor(ops.Stack(values, 0), l, sideOf(c.Op.Func(), ts...)))
}

// handleConcat joins along Rows, or the only dimension.
func handleConcat(c *op.Call) ([]tenon.Value, error) {
	values := c.Values()
	t, ok := asNamed(values[0])
	if !ok || !clearAxis(t, c.Attr("axis")) {
		return nil, refusal(c)
	}
	return op.One(Dims{layoutOf(t.spec.names.ids[:1])}.Concat(values...))
}

// handleGather picks rows along Rows, or the only dimension, by positions without names:
// one position takes the dimension away.
func handleGather(c *op.Call) ([]tenon.Value, error) {
	t, ok := asNamed(c.Value(0))
	i, plain := c.Value(1).(tensor.Tensor)
	if _, both := asNamed(i); !ok || !plain || both || !clearAxis(t, c.Attr("axis")) || c.Attr("batch_dims") != 0 {
		return nil, refusal(c)
	}
	l := t.spec.names
	switch s := i.Shape(); {
	case s.IsScalar():
		l = layoutOf(shiftRows(l.ids[1:], -1))
	case s.Rank() != 1:
		return nil, refusal(c)
	}
	x := op.Apply(c, t.data, i)
	if x.Shape().Rank() != len(l.ids) && x.Shape() != shape.UnknownRank {
		return nil, fmt.Errorf("named: %v does not have the dimensions {%v}", x.Shape(), l)
	}
	return op.One(newTensor(x, l, t.own()))
}
