package masked

import (
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// HandleOp answers for the operations on masked tensors.
func (t *Tensor) HandleOp(c *op.Call) ([]tenon.Value, error) {
	if h, ok := byName[c.Op.Name]; ok {
		return h(c)
	}
	switch c.Op.Class {
	case op.UnaryElementwise:
		x := c.Value(0).(*Tensor)
		return op.One(wrap(op.Apply(c, x.values), x.mask))
	case op.BinaryElementwise, op.TernaryElementwise:
		return elementwise(c)
	case op.Structural:
		return structural(c)
	case op.Assert:
		return c.Values(), nil
	}
	return nil, op.NotHandled
}

// byName has the operations with a rule of their own.
var byName map[string]op.HandlerFunc

func init() {
	byName = map[string]op.HandlerFunc{
		"reduce_sum":      skipping(0),
		"reduce_prod":     skipping(1),
		"reduce_any":      skipping(false),
		"reduce_all":      skipping(true),
		"count_nonzero":   skipping(0),
		"logsumexp":       skipping(lowest),
		"reduce_max":      orMissing(lowest),
		"reduce_min":      orMissing(highest),
		"argmax":          orMissing(lowest),
		"argmin":          orMissing(highest),
		"reduce_mean":     mean,
		"reduce_variance": variance,
		"reduce_std":      std,
		"cumsum":          running(0),
		"cumprod":         running(1),
		"cummax":          running(lowest),
		"cummin":          running(highest),
		"logcumsumexp":    running(lowest),
		"softmax":         running(finite),
		"log_softmax":     running(finite),
		"matmul":          zeroFilled,
		"matvec":          zeroFilled,
		"dot":             zeroFilled,
		"outer":           zeroFilled,
		"einsum":          zeroFilled,
		"contract":        zeroFilled,
		"norm":            skipping(0),
		"layer_norm":      layerNorm,
		"rms_norm":        rmsNorm,
		"where":           where,
		"gather":          gather,
		"concat":          joined,
		"stack":           joined,
		"pad":             pad,
		"expand_dims":     expandDims,
		"shape":           ofValues,
		"size":            ofValues,
		"rank":            ofValues,
		"zeros_like":      ofValues,
		"ones_like":       ofValues,
		"sort":            sorted,
		"argsort":         argsorted,
		"boolean_mask":    selected,
		"top_k":           topK,
		"searchsorted":    searchSorted,
		"bincount":        binCount,
		"unique":          unique,
		"nonzero":         zeroFilled,
		"one_hot":         oneHot,
		"segment_sum":     segmentFilled(0),
		"segment_prod":    segmentFilled(1),
		"segment_max":     segmentExtreme(lowest),
		"segment_min":     segmentExtreme(highest),
		"segment_mean":    segmentMean(false),
		"segment_sqrt_n":  segmentMean(true),
		"diag":            zerosAdded,
		"band_part":       zerosAdded,
		"shift":           zerosAdded,
		"scatter_nd":      scattered,
		"index_update":    updated,
		"put_along_axis":  updated,
		"stop_gradient":   unary,
		"identity":        unary,
		"check_numerics":  unary,
		"bitcast":         bitcast,
		"strings.join":    joinedTexts,
	}
	for _, name := range []string{"update", "add", "max", "min"} {
		byName["tensor_scatter_"+name] = updated
	}
}

func unary(c *op.Call) ([]tenon.Value, error) {
	x := c.Value(0).(*Tensor)
	return op.One(wrap(op.Apply(c, x.values), x.mask))
}

// bitcast is about values: an element that becomes several is there or missing as a
// whole, and one that is made of several is there if all of them are.
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

// joinedTexts joins strings of a list element by element: what is missing in one of
// them is missing.
func joinedTexts(c *op.Call) ([]tenon.Value, error) {
	if bare, lists := lists(c.Values()); bare != nil {
		return onElements(c, bare, lists)
	}
	values, masks := parts(c)
	out := op.Apply(c, values...)
	mask := allTrue(out)
	for _, m := range masks {
		mask = ops.LogicalAnd(mask, m.Full())
	}
	return op.One(wrap(out, mask))
}

// parts returns the values of the tensor arguments, and the masked ones among them.
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

// ofRows reports whether all masks are of the rows that a result with ragged dimensions has
// too: a row that is missing stays missing, though it has no element that could be.
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

// scalars reports whether all operands but the masked one are scalars, which do not
// stretch it, whatever its shape.
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

// An identity is what takes the place of missing elements: a number, a truth
// value, or an extreme of the element type.
type extreme int

const (
	lowest extreme = iota
	highest
	finite // the least number that is not infinite
)

// filled returns x with an identity in place of what is missing.
func filled(x *Tensor, identity any) tensor.Tensor {
	switch id := identity.(type) {
	case extreme:
		return ops.Where(x.Full(), x.values, limit(x.DType(), id))
	case bool:
		if x.DType() != dtype.Bool {
			return ops.Where(x.Full(), ops.Cast(x.values, dtype.Bool), id)
		}
	case int:
		if x.DType() == dtype.Bool {
			return ops.Where(x.Full(), x.values, id != 0)
		}
	}
	return ops.Where(x.Full(), x.values, identity)
}

// limit returns the least or greatest element of a type: an empty maximum or minimum.
func limit(d dtype.DType, e extreme) tensor.Tensor {
	empty := ops.Zeros(d, []int{0})
	switch e {
	case lowest:
		return ops.Max(empty, 0)
	case finite: // so that a row without anything is no row of NaNs, which gradients would spread
		return ops.NaNToNum(ops.Max(empty, 0))
	}
	return ops.Min(empty, 0)
}

// inRows reports whether a reduction of axes stays inside rows that the mask
// has or lacks as a whole: then the mask has nothing to do with it.
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

func axesOf(c *op.Call) []int {
	switch a := c.Attr("axis").(type) {
	case []int:
		return a
	case int:
		return []int{a}
	}
	return nil
}

// skipping reduces what is there, with the operation's identity for the rest.
func skipping(identity any) op.HandlerFunc {
	return func(c *op.Call) ([]tenon.Value, error) {
		x := c.Value(0).(*Tensor)
		if inRows(x, axesOf(c)) {
			return op.One(wrap(op.Apply(c, x.values), x.mask))
		}
		return op.One(op.Apply(c, filled(x.single(), identity)))
	}
}

// orMissing is skipping for reductions without a result where nothing is there.
func orMissing(identity extreme) op.HandlerFunc {
	return func(c *op.Call) ([]tenon.Value, error) {
		x := c.Value(0).(*Tensor)
		axes := axesOf(c)
		if inRows(x, axes) {
			return op.One(wrap(op.Apply(c, x.values), x.mask))
		}
		x = x.single()
		keep, _ := c.Attr("keepdims").(bool)
		there := ops.Any
		if keep {
			there = ops.AnyKeep
		}
		mask := there(x.Full(), axes...)
		if strings.HasPrefix(c.Op.Name, "arg") && lacksEntries(x, axes) { // there is no position to give
			return op.One(wrap(ops.Cast(mask, dtype.Int64), mask))
		}
		return op.One(wrap(op.Apply(c, filled(x, identity)), mask))
	}
}

// lacksEntries reports whether one of the axes is known to have no entries.
func lacksEntries(x *Tensor, axes []int) bool {
	s := x.Shape()
	return s.HasRank() && slices.ContainsFunc(axes, func(a int) bool {
		if a < 0 {
			a += s.Rank()
		}
		return a >= 0 && a < s.Rank() && s.Dim(a) == 0
	})
}

// moments returns the sum of f of the elements that are there and their number,
// both with the reduced axes kept.
func moments(x *Tensor, axes []int, v tensor.Tensor) (sum, count tensor.Tensor) {
	full := x.Full()
	sum = ops.SumKeep(ops.Where(full, v, ops.ZerosLike(v)), axes...)
	return sum, ops.Cast(ops.SumKeep(ops.Cast(full, dtype.Int64), axes...), sum.DType())
}

func floating(x tensor.Tensor) tensor.Tensor {
	if d := x.DType(); d.IsFloat() || d.IsComplex() {
		return x
	}
	return ops.Cast(x, dtype.Float64)
}

func mean(c *op.Call) ([]tenon.Value, error) {
	x := c.Value(0).(*Tensor)
	axes := axesOf(c)
	if inRows(x, axes) {
		return op.One(wrap(op.Apply(c, x.values), x.mask))
	}
	x = x.single()
	sum, count := moments(x, axes, floating(x.values))
	return op.One(dropped(c, ops.Div(sum, count), axes))
}

func variance(c *op.Call) ([]tenon.Value, error) {
	x := c.Value(0).(*Tensor)
	axes := axesOf(c)
	if inRows(x, axes) {
		return op.One(wrap(op.Apply(c, x.values), x.mask))
	}
	return op.One(dropped(c, spreadOf(c, x, axes), axes))
}

func std(c *op.Call) ([]tenon.Value, error) {
	x := c.Value(0).(*Tensor)
	axes := axesOf(c)
	if inRows(x, axes) {
		return op.One(wrap(op.Apply(c, x.values), x.mask))
	}
	return op.One(ops.Sqrt(dropped(c, spreadOf(c, x, axes), axes)))
}

func spreadOf(c *op.Call, x *Tensor, axes []int) tensor.Tensor {
	x = x.single()
	v := floating(x.values)
	sum, count := moments(x, axes, v)
	square, _ := moments(x, axes, ops.Square(ops.Sub(v, spread(v, ops.Div(sum, count), axes))))
	if ddof, _ := c.Attr("ddof").(int); ddof != 0 {
		count = ops.Maximum(ops.Sub(count, float64(ddof)), 0)
	}
	return ops.Div(square, count)
}

// A spreader gives each of its elements the result of a reduction over axes, which the
// result lacks, that it went into.
type spreader interface {
	SpreadReduced(reduced tensor.Tensor, axes []int) tensor.Tensor
}

// spread brings the result of a reduction of v over axes, which it has with size 1, to
// where it broadcasts against v.
func spread(v, reduced tensor.Tensor, axes []int) tensor.Tensor {
	if s, ok := v.(spreader); ok && axes != nil {
		return s.SpreadReduced(ops.Squeeze(reduced, axes...), axes)
	}
	return reduced
}

// dropped removes the reduced axes, unless the call keeps them.
func dropped(c *op.Call, x tensor.Tensor, axes []int) tensor.Tensor {
	if keep, _ := c.Attr("keepdims").(bool); keep {
		return x
	}
	if axes == nil {
		return ops.Reshape(x, []int{})
	}
	return ops.Squeeze(x, axes...)
}

// running runs over what is there and leaves the gaps.
func running(identity any) op.HandlerFunc {
	return func(c *op.Call) ([]tenon.Value, error) {
		x := c.Value(0).(*Tensor)
		if inRows(x, axesOf(c)) {
			return op.One(wrap(op.Apply(c, x.values), x.mask))
		}
		x = x.single()
		out := op.Apply(c, filled(x, identity))
		return op.One(wrap(out, x.Full()))
	}
}

// zeroFilled takes missing elements as zeros.
func zeroFilled(c *op.Call) ([]tenon.Value, error) {
	values := c.Values()
	for i, v := range values {
		if t, ok := v.(*Tensor); ok {
			values[i] = filled(t.single(), 0)
		}
	}
	return op.One(op.Apply(c, values...))
}

// ofValues depends on the shape of the values only.
func ofValues(c *op.Call) ([]tenon.Value, error) {
	values, _ := parts(c)
	return op.One(op.Apply(c, values...))
}

func where(c *op.Call) ([]tenon.Value, error) {
	if bare, lists := lists(c.Values()); bare != nil {
		return onElements(c, bare, lists)
	}
	values, _ := parts(c)
	out := op.Apply(c, values...)
	masks := c.Values()
	for i, v := range masks {
		if t, ok := v.(*Tensor); ok {
			masks[i] = t.Full()
		} else {
			masks[i] = allTrue(v.(tensor.Tensor))
		}
	}
	mask := ops.LogicalAnd(ops.Where(values[0], masks[1], masks[2]), ops.LogicalAnd(masks[0], allTrue(out)))
	return op.One(wrap(out, mask))
}

// structural moves the mask as it moves the values: the first tensor argument,
// or all that are masked, hold elements, and the others say where they go.
func structural(c *op.Call) ([]tenon.Value, error) {
	if out := wholeRows(c); out != nil {
		return out, nil
	}
	values, masks := parts(c)
	if len(masks) == 0 {
		return nil, op.NotHandled
	}
	moved := c.Values()
	for i, v := range moved {
		if t, ok := v.(*Tensor); ok {
			moved[i] = t.Full()
		}
	}
	vs, ms := op.ApplyN(c, values...), op.ApplyN(c, moved...)
	out := make([]tenon.Value, len(vs))
	for i := range vs {
		out[i] = wrap(vs[i], ms[i])
	}
	return out, nil
}

// joined is structural for operations on lists, whose plain members lack nothing.
func joined(c *op.Call) ([]tenon.Value, error) {
	if out := stackedRows(c); out != nil {
		return op.One(out)
	}
	values, _ := parts(c)
	moved := c.Values()
	for i, v := range moved {
		if t, ok := v.(*Tensor); ok {
			moved[i] = t.Full()
		} else {
			moved[i] = allTrue(v.(tensor.Tensor))
		}
	}
	return op.One(wrap(op.Apply(c, values...), op.Apply(c, moved...)))
}

// pad adds elements that are there.
func pad(c *op.Call) ([]tenon.Value, error) {
	x, ok := c.Value(0).(*Tensor)
	if !ok {
		return nil, op.NotHandled
	}
	values, _ := parts(c)
	rest := c.WithArg(0, x.Full())
	if i := c.Op.Param("value"); i >= 0 && rest.Args[i] != nil {
		rest.Args[i] = tensor.Scalar(true)
	}
	mask, err := rest.Do()
	if err != nil {
		return nil, err
	}
	return op.One(wrap(op.Apply(c, values...), mask[0].(tensor.Tensor)))
}

// expandDims adds axes: inside of rows that are there or missing as a whole they have
// nothing to do with the mask.
func expandDims(c *op.Call) ([]tenon.Value, error) {
	x := c.Value(0).(*Tensor)
	axes := axesOf(c)
	k, r := x.mask.Shape().Rank(), x.values.Shape().Rank()
	for _, a := range axes {
		if a < 0 {
			a += r + len(axes)
		}
		if k == r || a < k {
			return structural(c)
		}
	}
	return op.One(wrap(op.Apply(c, x.values), x.mask))
}

// gather picks elements; a missing index picks a missing element.
func gather(c *op.Call) ([]tenon.Value, error) {
	values := c.Values()
	x, xMasked := values[0].(*Tensor)
	i, iMasked := values[1].(*Tensor)
	if xMasked {
		values[0] = x.values
	}
	if iMasked {
		values[1] = filled(i, 0)
	}
	out := op.Apply(c, values...)
	var mask tensor.Tensor
	if xMasked {
		axis, _ := c.Attr("axis").(int)
		switch k, r := x.mask.Shape().Rank(), x.values.Shape().Rank(); {
		case k == r || axis >= 0 && axis < k:
			mask = op.Apply(c, x.mask, values[1])
		case !iMasked && inRows(x, []int{axis}): // elements of rows that are there or not
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

// sorted puts missing elements last, in whichever order the rest is.
func sorted(c *op.Call) ([]tenon.Value, error) {
	x := c.Value(0).(*Tensor)
	if inRows(x, axesOf(c)) {
		return op.One(wrap(op.Apply(c, x.values), x.mask))
	}
	if overRows(x, axesOf(c)) {
		return op.One(rowsLast(c, x))
	}
	x = x.single()
	order, err := positions(c, x)
	if err != nil {
		return nil, err
	}
	axis, _ := c.Attr("axis").(int)
	return op.One(wrap(ops.TakeAlongAxis(x.values, order, axis), ops.TakeAlongAxis(x.Full(), order, axis)))
}

// overRows reports whether the only axis is the outermost, of rows that the mask has or
// lacks as a whole.
func overRows(x *Tensor, axes []int) bool {
	r := x.values.Shape().Rank()
	return len(axes) == 1 && (axes[0] == 0 || axes[0] == -r) && x.mask.Shape().Rank() == 1 && r > 1
}

// rowsLast sorts among the rows that are there, and puts the missing ones behind.
func rowsLast(c *op.Call, x *Tensor) tensor.Tensor {
	missing := ops.LogicalNot(x.mask)
	behind := ops.BooleanMask(x.values, missing, 0)
	there := op.Apply(c, ops.BooleanMask(x.values, x.mask, 0))
	if there.DType() != behind.DType() { // positions
		behind = ops.Cast(ops.ZerosLike(behind), there.DType())
	}
	mask := []tensor.Tensor{ops.BooleanMask(x.mask, x.mask, 0), ops.BooleanMask(x.mask, missing, 0)}
	return wrap(ops.Concat([]tensor.Tensor{there, behind}, 0), ops.Concat(mask, 0))
}

func argsorted(c *op.Call) ([]tenon.Value, error) {
	x := c.Value(0).(*Tensor)
	if inRows(x, axesOf(c)) {
		return op.One(wrap(op.Apply(c, x.values), x.mask))
	}
	if overRows(x, axesOf(c)) {
		return op.One(rowsLast(c, x))
	}
	order, err := positions(c, x.single())
	if err != nil {
		return nil, err
	}
	return op.One(order)
}

// positions returns the order of the elements along the axis of a call.
func positions(c *op.Call, x *Tensor) (tensor.Tensor, error) {
	axis, _ := c.Attr("axis").(int)
	descending, _ := c.Attr("descending").(bool)
	return missingLast(x, axis, descending), nil
}

// missingLast returns the stable order of the elements with missing ones last: sorted
// by value first, then by being there.
func missingLast(x *Tensor, axis int, descending bool) tensor.Tensor {
	byValue := ops.ArgSort(x.values, axis, ops.SortOptions{Descending: descending})
	gone := ops.Cast(ops.LogicalNot(ops.TakeAlongAxis(x.Full(), byValue, axis)), dtype.Int8)
	last := ops.ArgSort(gone, axis, ops.SortOptions{})
	return ops.TakeAlongAxis(byValue, last, axis)
}

// selected is boolean_mask: a missing truth value selects a missing element.
func selected(c *op.Call) ([]tenon.Value, error) {
	if m, ok := c.Value(1).(*Tensor); ok {
		// What is selected is where the mask is true or missing.
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

// maskOfRows reduces a mask to its outer dimensions: a row is there if it is not
// wholly missing.
func maskOfRows(m tensor.Tensor) tensor.Tensor { return ops.Any(m, -1) }
