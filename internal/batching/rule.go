package batching

import (
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Rule performs a call on all rows at once. Batched operands have a leading axis of rows. It
// returns op.NotHandled for operations that have neither a rule nor a sufficient statement about
// their axes.
func Rule(c *op.Call, batched []bool) (out []tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	switch {
	case c.Op.Batch != nil:
		return c.Op.Batch(c, batched)
	case c.Op.IsElementwise():
		return elementwise(c, batched)
	}
	return stated(c, batched)
}

// stated performs an operation whose statement describes the axes it concerns: these are shifted by
// one, and the axis of rows is one of the others.
func stated(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
	o, param := c.Op, c.Op.AxisParam()
	if !tellsAxes(o) && !(o.Checks && o.Axes == op.Map && o.Control == 0 && len(batched) == 1) {
		return nil, op.NotHandled
	}
	values := c.Values()
	k, rank := -1, -1
	for i, v := range c.Operands() {
		k++
		x, control := v.(tensor.Tensor), o.Control.Has(i)
		switch {
		case control && batched[k]:
			return nil, op.NotHandled // positions or counts differ from row to row
		case control:
			continue
		case !batched[k]:
			x = ops.BroadcastTo(x, ops.Concat([]any{ops.ExpandDims(rowCount(c, batched), 0), ops.Shape(x)}, 0))
			values[k] = x
		}
		if rank < 0 {
			rank = x.Shape().Rank()
		}
	}
	c = c.WithValues(values)
	if param < 0 {
		return c.DoTensors()
	}
	switch a := c.Args[param].(type) {
	case int:
		return c.WithArg(param, behind(a)).DoTensors()
	case []int:
		if a != nil {
			a = slices.Clone(a)
			for i := range a {
				a[i] = behind(a[i])
			}
			return c.WithArg(param, a).DoTensors()
		}
	}
	if rank < 0 {
		return nil, c.Errorf(tenon.ErrShape, "the rank of a batched operand is not known")
	}
	all := make([]int, rank-1)
	for i := range all {
		all[i] = i + 1
	}
	return c.WithArg(param, all).DoTensors()
}

// tellsAxes reports whether every axis before those that an operation concerns, which a parameter
// names or which are the last ones, is a batch axis.
func tellsAxes(o *op.Op) bool {
	axes := 0
	for _, p := range o.Params {
		if p.Kind == op.Attr && strings.HasSuffix(p.Name, "axis") {
			axes++
		}
	}
	if o.By != op.ByAxis || o.Draws || o.Checks || axes > 1 {
		return false
	}
	switch o.Axes {
	case op.Reduce, op.Scan, op.Along, op.Insert, op.Remove, op.Regroup, op.Window:
		return o.AxisParam() >= 0 || o.Core > 0
	case op.Select, op.Join, op.Stack:
		return o.AxisParam() >= 0
	}
	return false
}

// behind returns the position of a row's axis in the batch.
func behind(axis int) int {
	if axis < 0 {
		return axis
	}
	return axis + 1
}

// rowCount returns the number of rows, as a scalar.
func rowCount(c *op.Call, batched []bool) tensor.Tensor {
	x := c.Values()[slices.Index(batched, true)].(tensor.Tensor)
	if s := x.Shape(); s.HasRank() && s.Dim(0) >= 0 {
		return tensor.Scalar(int64(s.Dim(0)))
	}
	return ops.Index(ops.Shape(x), 0)
}
