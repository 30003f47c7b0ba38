package named

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/named/internal/stated"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// HandleOp answers the operations of package ops whose meaning for named tensors does not depend on
// the order in which dimensions are stored: elementwise operations, which match dimensions by name;
// reductions of all dimensions; and operations on the value as a whole. Operations along an axis
// given by number are rejected with an error that suggests the function of this package that takes
// a name. Such operations are allowed along [Rows], which is always the first axis, and along the
// only axis of a vector. The kind of an operation follows from its statement.
func (t *Tensor) HandleOp(c *op.Call) ([]tenon.Value, error) {
	if strangers(c) {
		return nil, op.NotHandled
	}
	if h := overrides[c.Op.Name]; h != nil {
		return h(c)
	}
	switch stated.Of(c.Op) {
	case stated.Elementwise:
		if len(c.Values()) > 1 {
			return handleElementwise(c)
		}
		return handleWhole(c)
	case stated.Whole:
		return handleWhole(c)
	case stated.Number:
		return handleNumber(c)
	case stated.Reduced:
		return handleReduction(c)
	case stated.Kept:
		return handleAlong(c)
	case stated.Stacked:
		return handleStack(c)
	case stated.Joined:
		return handleConcat(c)
	}
	return nil, refusal(c)
}

// overrides has the operations for which the statement does not say enough: others that select
// along an axis specify the entries in other ways.
var overrides = map[string]op.HandlerFunc{"gather": handleGather}

// Overrides reports whether the operation is one for which the statement does not
// say enough.
func (*Tensor) Overrides(o *op.Op) bool { return overrides[o.Name] != nil }

// strangers reports whether the call contains a value that answers for itself and is neither named
// nor plain: a type built from others asks these in turn.
func strangers(c *op.Call) bool {
	return slices.ContainsFunc(c.Values(), func(v tenon.Value) bool {
		if _, ok := asNamed(v); ok {
			return false
		}
		_, ok := v.(op.Handler)
		return ok
	})
}

// instead says, by what operations do to axes, what to use in place of operations that take axis
// numbers and have no counterpart here.
var instead = map[op.Axes]string{
	op.Contract: "named.Dot or named.Contract", op.Reduce: "named.CrossEntropy", op.Select: "named.Take, named.Index or named.Pieces",
	op.Permute: "nothing, or named.Order at a boundary", op.Regroup: "named.Reshape, named.Merge or named.Split", op.Insert: "named.ExpandDims",
	op.Remove: "named.Squeeze or named.Unstack", op.Broadcast: "named.BroadcastTo", op.Scatter: "named.ScatterAdd and its like", op.Window: "named.Conv",
	op.Create: "named.Tensor.Size",
}

// refusal returns the error for an operation whose result would depend on the
// order in which dimensions are stored.
func refusal(c *op.Call) error {
	e := c.Errorf(tenon.ErrUnsupported, "the operation depends on the order of dimensions, which named tensors do not have")
	fn := strings.TrimPrefix(c.Op.Func(), "ops.")
	switch f, ok := instead[c.Op.Axes]; {
	case strings.Contains(twins, " "+fn+" "):
		e.Hint = "use named." + fn
	case ok:
		e.Hint = "use " + f
	default:
		e.Hint = "remove the names with named.Unnamed, or use named.MapUnnamed"
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
			return nil, c.Errorf(tenon.ErrDType, "%s has no names, and is not a single element", tenon.String(v.Spec())).WithHint("name its dimensions with named.Of")
		}
	}
	return op.One(matched(c.Op.Func(), ts, func(xs []tensor.Tensor) tensor.Tensor {
		args := slices.Clone(values)
		k := 0
		for i, v := range values {
			if _, ok := asNamed(v); ok {
				args[i] = xs[k]
				k++
			}
		}
		return op.Apply(c, args...)
	}))
}

// handleReduction reduces all dimensions, or an unambiguous one.
func handleReduction(c *op.Call) ([]tenon.Value, error) {
	t, ok := only(c)
	if !ok {
		return nil, refusal(c)
	}
	keep, _ := c.Attr("keepdims").(bool)
	axes, err := c.Axes(len(t.spec.names.ids))
	ordered := c.Op.Places != 0 || c.Op.Monoid != nil && c.Op.Monoid.Ordered // the result over several dimensions depends on their order
	if err != nil || keep || !clearAxis(t, axes) && (ordered || len(axes) != len(t.spec.names.ids)) {
		return nil, refusal(c)
	}
	rest := layoutOf(slices.DeleteFunc(slices.Clone(t.spec.names.ids), func(n id) bool { return slices.Contains(axes, t.spec.names.index(n)) }))
	return op.One(newTensor(op.Apply(c, t.data), rest, t.own()))
}

// only returns the operand of an operation on one named tensor.
func only(c *op.Call) (*Tensor, bool) {
	if len(c.Values()) != 1 {
		return nil, false
	}
	return asNamed(c.Values()[0])
}

// clearAxis reports whether axis numbers are unambiguous however the tensor is stored: it has only
// one axis, or the axis is that of Rows. No axes are unambiguous too.
func clearAxis(t *Tensor, axes []int) bool {
	n := len(t.spec.names.ids)
	return len(axes) == 0 || len(axes) == 1 && axes[0] == 0 && (n == 1 || n > 0 && t.spec.names.ids[0] == rowsID)
}

// along reports whether a call is along an unambiguous axis.
func along(c *op.Call, t *Tensor) bool {
	axes, err := c.Axes(len(t.spec.names.ids))
	return err == nil && clearAxis(t, axes)
}

// handleAlong applies an operation that keeps all dimensions along an unambiguous axis.
func handleAlong(c *op.Call) ([]tenon.Value, error) {
	t, ok := only(c)
	if !ok || !along(c, t) {
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

// handleWhole applies an operation that keeps shapes to the contents of the
// tensor.
func handleWhole(c *op.Call) ([]tenon.Value, error) {
	t, ok := only(c)
	if !ok {
		return nil, refusal(c)
	}
	res := op.ApplyN(c, t.data)
	out := make([]tenon.Value, len(res))
	for i, x := range res {
		if !x.Shape().CompatibleWith(t.data.Shape()) {
			return nil, refusal(c)
		}
		out[i] = newTensor(x, t.spec.names, t.own())
	}
	return out, nil
}

// handleNumber applies an operation whose result is a number that describes the
// tensor.
func handleNumber(c *op.Call) ([]tenon.Value, error) {
	t, ok := only(c)
	if !ok {
		return nil, refusal(c)
	}
	x := op.Apply(c, t.data)
	if !x.Shape().IsScalar() {
		return nil, refusal(c)
	}
	return op.One(x)
}

// handleStack stacks along a new dimension, named Rows as in generic code.
func handleStack(c *op.Call) ([]tenon.Value, error) {
	if c.Attr("axis") != 0 {
		return nil, refusal(c)
	}
	ts, values := alike(c.Op.Func(), c.Values(), nil)
	l := layoutOf(append([]id{rowsID}, shiftRows(ts[0].spec.names.ids, 1)...))
	return op.One(newTensor(ops.Stack(values, 0), l, sideOf(c.Op.Func(), ts...)))
}

// handleConcat concatenates along Rows or the only dimension.
func handleConcat(c *op.Call) ([]tenon.Value, error) {
	values := c.Values()
	t, ok := asNamed(values[0])
	if !ok || !along(c, t) {
		return nil, refusal(c)
	}
	return op.One(Dims{layoutOf(t.spec.names.ids[:1])}.Concat(values...))
}

// handleGather gathers rows along Rows or the only dimension, by positions without names. A single
// position removes the dimension.
func handleGather(c *op.Call) ([]tenon.Value, error) {
	t, ok := asNamed(c.Value(0))
	i, plain := c.Value(1).(tensor.Tensor)
	if _, both := asNamed(i); !ok || !plain || both || !along(c, t) || c.Attr("batch_dims") != 0 {
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
