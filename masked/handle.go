package masked

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// HandleOp answers operations on masked tensors. What an operation does to a missing element
// follows from its statement, except for the operations in overrides.
func (t *Tensor) HandleOp(c *op.Call) ([]tenon.Value, error) {
	if h, ok := overrides[c.Op.Name]; ok {
		return h(c)
	}
	if c.Op.Missing == op.Refuse || c.Op.By != op.ByIDs && places(c) {
		return nil, op.NotHandled
	}
	switch o := c.Op; {
	case o.Checks || o.Missing == op.Ignore:
		return ofValues(c)
	case o.Axes == op.Contract:
		return skippedInProducts(c)
	case o.Axes == op.Reduce && o.By == op.ByIDs:
		return ofSegments(c)
	case o.Axes == op.Reduce && o.Monoid != nil:
		return reduced(c)
	case o.Missing == op.Skip && o.Monoid != nil:
		return running(c)
	case o.Missing == op.Last && o.By == op.ByAxis:
		return ordered(c)
	case o.Axes == op.Map && o.Moves&^op.First != 0:
		return chosen(c)
	case o.Axes == op.Map:
		return elementwise(c)
	case o.Axes == op.Along && o.Moves == 0 && o.Missing == op.Propagate:
		return elementwise(c)
	case o.Axes == op.Scatter && o.Moves == 0:
		return scattered(c)
	case o.Axes == op.Insert && o.Moves == 0:
		return inserted(c)
	case o.Axes == op.Join || o.Axes == op.Stack:
		return joined(c)
	case o.Moves != 0:
		return structural(c)
	}
	return nil, op.NotHandled
}

// places reports whether an operand that says where or how many is masked: what is missing there
// has no position.
func places(c *op.Call) bool {
	for i, v := range c.Operands() {
		if _, ok := v.(*Tensor); ok && c.Op.Control.Has(i) {
			return true
		}
	}
	return false
}

// overrides has the operations for which the statement does not say enough.
var overrides map[string]op.HandlerFunc

func init() {
	overrides = map[string]op.HandlerFunc{
		"reduce_variance": moment(spreadOf), // no monoid: it needs the mean of the present elements first
		"reduce_std":      moment(deviation),
		"layer_norm":      norm(true), // no monoid, like the above
		"rms_norm":        norm(false),
		"gather":          gather,            // a missing index picks a missing element
		"boolean_mask":    selected,          // a missing boolean selects a missing element
		"tile":            tiled,             // the mask of rows is repeated by the first multiple
		"bincount":        binCount,          // opaque
		"unique":          unique,            // opaque
		"nonzero":         skippedInProducts, // opaque; missing elements are not listed
		"bitcast":         bitcast,           // elements become several, or several become one
	}
}

// Overrides reports whether the operation is one for which the statement does not
// say enough.
func (*Tensor) Overrides(o *op.Op) bool { return overrides[o.Name] != nil }

// first returns the result of a call with its first operand replaced by x.
func first(c *op.Call, x tenon.Value) tensor.Tensor {
	values := c.Values()
	values[0] = x
	return op.Apply(c, values...)
}

// bitcast applies to the values. An element that becomes several is present or missing as a whole;
// one that combines several is present if all of them are.
func bitcast(c *op.Call) ([]tenon.Value, error) {
	x := c.Value(0).(*Tensor)
	out, mask := op.Apply(c, x.values), x.mask
	switch had, has := x.values.Shape().Rank(), out.Shape().Rank(); {
	case has > had:
		mask = ops.LogicalAnd(ops.ExpandDims(x.Full(), -1), allTrue(out))
	case has < had && mask.Shape().Rank() == had:
		mask = ops.All(mask, -1)
	}
	return op.One(wrap(out, mask))
}

// parts returns the values of the tensor arguments, and the masked tensors among them.
func parts(c *op.Call) (values []tenon.Value, masks []*Tensor) {
	values = c.Values()
	for i, v := range values {
		if t, ok := v.(*Tensor); ok {
			values[i] = t.values
			masks = append(masks, t)
		}
	}
	return values, masks
}

func elementwise(c *op.Call) ([]tenon.Value, error) {
	if bare, lists := lists(c.Values()); bare != nil {
		return onElements(c, bare, lists)
	}
	values, masks := parts(c)
	out := op.Apply(c, values...)
	mask := masks[0].mask
	rows := len(masks) == len(values) // all masks cover the same outer dimensions
	for _, m := range masks {
		rows = rows && m.values.Shape().Equal(out.Shape()) && m.mask.Shape().Equal(mask.Shape())
	}
	rows = rows || ofRows(masks, out)
	if len(masks) == 1 && (rows || scalars(c) || masks[0].values.Shape().Equal(out.Shape()) && out.Shape().IsFull()) {
		return op.One(wrap(out, mask))
	}
	if !rows {
		mask = masks[0].Full()
	}
	for _, m := range masks[1:] {
		next := m.mask
		if !rows {
			next = m.Full()
		}
		mask = ops.LogicalAnd(mask, next)
	}
	if !rows && !(mask.Shape().IsFull() && mask.Shape().Equal(out.Shape())) {
		mask = ops.LogicalAnd(mask, allTrue(out))
	}
	return op.One(wrap(out, mask))
}

// ofRows reports whether all masks are masks of rows, which a result with ragged dimensions also
// has: a missing row stays missing, although it has no elements.
func ofRows(masks []*Tensor, out tensor.Tensor) bool {
	s := out.Shape()
	for _, m := range masks {
		v := m.values.Shape()
		if s.IsFull() || m.mask.Shape().Rank() != 1 || v.Rank() != s.Rank() || s.Rank() < 2 || s.Dim(0) < 0 || v.Dim(0) != s.Dim(0) || m.mask.Shape().Dim(0) != s.Dim(0) {
			return false
		}
	}
	return true
}

// scalars reports whether all operands but the masked one are scalars, which do not stretch it,
// whatever its shape.
func scalars(c *op.Call) bool {
	for _, v := range c.Values() {
		if _, ok := v.(*Tensor); ok {
			continue
		}
		if t, ok := v.(tensor.Tensor); !ok || !t.Shape().IsScalar() {
			return false
		}
	}
	return true
}

// filled returns x with missing elements replaced by a number.
func filled(x *Tensor, number tensor.Tensor) tensor.Tensor {
	return ops.Where(x.Full(), x.values, number)
}

// withNumber is filled for a number of any element type.
func withNumber(x *Tensor, n int) tensor.Tensor { return ops.Where(x.Full(), x.values, n) }

// inRows reports whether a reduction of axes stays inside rows that are present
// or missing as a whole. Then the mask does not affect it.
func inRows(x *Tensor, axes []int) bool {
	k, r := x.mask.Shape().Rank(), x.values.Shape().Rank()
	if axes == nil || k == r || k < 0 {
		return false
	}
	for _, a := range axes {
		if a < 0 {
			a += r
		}
		if a < k {
			return false
		}
	}
	return true
}

// skippedInProducts treats missing elements as zeros.
func skippedInProducts(c *op.Call) ([]tenon.Value, error) {
	values := c.Values()
	for i, v := range values {
		if t, ok := v.(*Tensor); ok {
			t = t.single()
			values[i] = filled(t, op.Sums.IdentityOf(t.DType()))
		}
	}
	return op.One(op.Apply(c, values...))
}

// ofValues handles operations that depend only on the shape of the values, and those that check
// their arguments, whose results keep the mask.
func ofValues(c *op.Call) ([]tenon.Value, error) {
	values, _ := parts(c)
	out := op.Apply(c, values...)
	if x, ok := c.Value(0).(*Tensor); ok && c.Op.Checks {
		out = wrap(out, x.mask)
	}
	return op.One(out)
}

// chosen is elementwise for operations that move some operands and look at others: an element is
// present if the moved one is present, and so are all that are looked at.
func chosen(c *op.Call) ([]tenon.Value, error) {
	if bare, lists := lists(c.Values()); bare != nil {
		return onElements(c, bare, lists)
	}
	values, _ := parts(c)
	out := op.Apply(c, values...)
	moved, looked := slices.Clone(values), allTrue(out)
	k := 0
	for i, v := range c.Operands() {
		switch t, ok := v.(*Tensor); {
		case c.Op.Moves.Has(i) && ok:
			moved[k] = t.Full()
		case c.Op.Moves.Has(i):
			moved[k] = allTrue(v.(tensor.Tensor))
		case ok:
			looked = ops.LogicalAnd(t.Full(), looked)
		}
		k++
	}
	return op.One(wrap(out, ops.LogicalAnd(op.Apply(c, moved...), looked)))
}

// structural moves the mask in the same way as the values. It moves what is missing rather than
// what is present, so that elements that come from no operand are present.
func structural(c *op.Call) ([]tenon.Value, error) {
	if out := wholeRows(c); out != nil {
		return out, nil
	}
	values, masks := parts(c)
	if len(masks) == 0 {
		return nil, op.NotHandled
	}
	gone := c.Values()
	k := 0
	for i, v := range c.Operands() {
		if c.Op.Moves.Has(i) {
			gone[k] = IsMissing(v.(tensor.Tensor))
		}
		k++
	}
	vs, ms := op.ApplyN(c, values...), op.ApplyN(c, gone...)
	out := make([]tenon.Value, len(vs))
	for i := range vs {
		if out[i] = vs[i]; c.Op.By == op.ByAxis || i == 0 { // the others describe rows
			out[i] = wrap(vs[i], ops.LogicalNot(ms[i]))
		}
	}
	return out, nil
}

// joined is structural for operations on lists, whose unmasked members have
// nothing missing.
func joined(c *op.Call) ([]tenon.Value, error) {
	if out := stackedRows(c); out != nil {
		return op.One(out)
	}
	return structural(c)
}

// inserted handles operations that derive an axis from an element: for a missing element,
// everything along the axis is missing.
func inserted(c *op.Call) ([]tenon.Value, error) {
	x, ok := c.Value(0).(*Tensor)
	if !ok {
		return nil, op.NotHandled
	}
	full, y := x.Full(), first(c, x.values)
	axis := -1
	if k := c.Op.AxisParam(); k >= 0 {
		axis = c.Int(k)
	}
	if inRows(x, []int{axis}) {
		return op.One(wrap(y, x.mask))
	}
	if axis != -1 && axis != full.Shape().Rank() {
		full = ops.LogicalAnd(ops.ExpandDims(full, axis), allTrue(y))
	}
	return op.One(wrap(y, full))
}

// gather gathers elements; a missing index gives a missing element.
func gather(c *op.Call) ([]tenon.Value, error) {
	values := c.Values()
	x, xMasked := values[0].(*Tensor)
	i, iMasked := values[1].(*Tensor)
	if xMasked {
		values[0] = x.values
	}
	if iMasked {
		values[1] = withNumber(i, 0)
	}
	out := op.Apply(c, values...)
	var mask tensor.Tensor
	if xMasked {
		axis, _ := c.Attr("axis").(int)
		switch k, r := x.mask.Shape().Rank(), x.values.Shape().Rank(); {
		case k == r || axis >= 0 && axis < k:
			mask = op.Apply(c, x.mask, values[1])
		case !iMasked && inRows(x, []int{axis}): // elements of rows that are present or missing as a whole
			return op.One(wrap(out, x.mask))
		default:
			mask = op.Apply(c, x.Full(), values[1])
		}
	}
	if iMasked {
		if mask == nil {
			return op.One(wrap(out, i.mask))
		}
		m := i.Full()
		for m.Shape().Rank() < mask.Shape().Rank() {
			m = ops.ExpandDims(m, -1)
		}
		mask = ops.LogicalAnd(mask, m)
	}
	return op.One(wrap(out, mask))
}

// selected handles boolean_mask: a missing boolean selects a missing element.
func selected(c *op.Call) ([]tenon.Value, error) {
	if m, ok := c.Value(1).(*Tensor); ok {
		// Select where the mask is true or missing.
		pick := ops.LogicalOr(m.values, ops.LogicalNot(m.Full()))
		axis, _ := c.Attr("axis").(int)
		x := c.Value(0).(tensor.Tensor)
		there := ops.BooleanMask(m.Full(), pick, 0)
		y := ops.BooleanMask(x, pick, axis)
		if t, ok := y.(*Tensor); ok {
			return op.One(wrap(t.values, ops.LogicalAnd(t.Full(), there)))
		}
		return op.One(wrap(y, there))
	}
	return structural(c)
}
