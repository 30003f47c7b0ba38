package ragged

import (
	"math"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/half"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// reductions answers the operations that reduce axes, using the segmentation of the axes and what
// the statement says.
func reductions(o *op.Op) handlerFunc {
	switch {
	case o.By == op.ByIDs:
		return onTwo(segmented)
	case o.Core == 1:
		return onTaken(crossEntropy)
	case o.AxisParam() < 0:
		return nil
	case o.Monoid == op.Norms:
		return onFirst(norm)
	}
	r := &reducer{axis: o.AxisParam(), keep: o.Param("keepdims"), monoid: o.Monoid, rows: rows.Of(o), places: o.Places != 0, counts: o.Counts != 0}
	if r.rows == nil {
		return nil
	}
	r.fold = foldings[r.monoid]
	if r.places {
		r.fold = map[*op.Monoid]rows.Folding{op.Maxima: rows.FirstMax, op.Minima: rows.FirstMin}[r.monoid]
	}
	return r.answer
}

// foldings are the monoids with which fibers can be folded. A reduction without one is applied to
// the values of each fiber in turn.
var foldings = map[*op.Monoid]rows.Folding{
	op.Sums: rows.FoldSum, op.Products: rows.FoldProd, op.Means: rows.FoldSum,
	op.Maxima: rows.FoldMax, op.Minima: rows.FoldMin, op.Anys: rows.FoldAny, op.Alls: rows.FoldAll,
}

// A reducer is a reduction of axes.
type reducer struct {
	axis, keep     int // parameters
	monoid         *op.Monoid
	rows           *rows.Form   // for rows
	fold           rows.Folding // for fibers; "": there is none
	places, counts bool         // kind of results
}

func (r *reducer) answer(c *op.Call) ([]tenon.Value, error) {
	x, ok := op.Arg[*Tensor](c, 0)
	if !ok {
		return nil, op.NotHandled
	}
	axes := axesOf(c, x)
	if r.places {
		axes = one(axisOf(c, x))
	} else if axes == nil {
		axes = all(x.rank())
	}
	out := r.reduce(c, x, axes)
	if keep, _ := c.Args[r.keep].(bool); keep {
		out = keeping(out, axes)
	}
	return op.One(out)
}

// reduce reduces axes: only axes of the flat values, all axes, or the segments that they form. Axes
// of a dense tensor that occur together with others are converted to uniform partitions.
func (r *reducer) reduce(c *op.Call, x *Tensor, axes []int) tensor.Tensor {
	dense := func(axes []int) tensor.Tensor {
		return op.Apply(c.WithArg(r.axis, axes).WithArg(r.keep, false), x.flat)
	}
	outer, inner := x.divided(axes)
	switch {
	case len(axes) == x.rank():
		return dense(nil)
	case len(outer) == 0:
		return x.with(dense(append([]int{}, inner...))) // without axes, each element by itself
	case len(outer) == len(x.parts)+1:
		return dense(append([]int{0}, inner...))
	}
	x, axes = inFront(x, outer, inner)
	x = atLeast(x, axes[len(axes)-1]).(*Tensor)
	s := x.segments(axes...)
	if r.places {
		return r.first(c, x, s, axes[0])
	}
	return s.build(r.segments(c, x.flat, s))
}

// inFront returns a tensor whose flat values have the given inner axes directly after their first
// dimension, and the axes in their new positions. The remaining axes stay axes of a dense tensor.
func inFront(x *Tensor, outer, inner []int) (*Tensor, []int) {
	if len(inner) == 0 || inner[len(inner)-1] == len(inner) {
		return x, slices.Concat(outer, behind(inner, len(x.parts)))
	}
	perm := append([]int{0}, inner...)
	for a := 1; a < rankOf(x.flat); a++ {
		if !slices.Contains(inner, a) {
			perm = append(perm, a)
		}
	}
	return x.with(ops.Transpose(x.flat, perm...)), slices.Concat(outer, behind(rising(1, len(inner)+1), len(x.parts)))
}

// behind returns axes shifted by a number of positions.
func behind(axes []int, by int) []int {
	out := make([]int, len(axes))
	for i, a := range axes {
		out[i] = a + by
	}
	return out
}

// segments reduces each segment of values.
func (r *reducer) segments(c *op.Call, flat tensor.Tensor, s *segmentation) tensor.Tensor {
	d := flat.DType()
	switch r.monoid {
	case op.Anys, op.Alls:
		flat = truth(flat)
	case op.Sums:
		if s.from != nil && (r.counts || d.IsBool()) {
			flat = ops.Cast(truth(flat), dtype.Int64)
		}
	case op.Means:
		if s.from != nil || !d.IsReal() {
			return mean(floating(flat), s)
		}
	case op.LogSums:
		flat = floating(flat)
	case nil:
		if !d.IsReal() {
			flat = floating(flat)
		}
	}
	return s.reduce(flat, func(v, splits tensor.Tensor) tensor.Tensor { return r.rows.Apply(c, v, splits) }, r.fold)
}

// mean divides the sums of segments by their numbers of values. 16-bit floats are summed as
// float32, since neither the sum nor the number need fit.
func mean(flat tensor.Tensor, s *segmentation) tensor.Tensor {
	sum := s.reduce(half.Wide(flat), func(v, splits tensor.Tensor) tensor.Tensor { return rows.Sum(v, splits) }, rows.FoldSum)
	return half.Narrow(ops.Div(sum, below(ops.Cast(s.counts(), sum.DType()), sum)), flat.DType())
}

// first finds the position along an axis of the first extreme element. It is missing for a segment
// without elements.
func (r *reducer) first(c *op.Call, x *Tensor, s *segmentation, axis int) tensor.Tensor {
	at, there := positionsFound(s.reduce(x.flat, func(v, splits tensor.Tensor) tensor.Tensor { return r.rows.Apply(c, v, splits) }, r.fold))
	if k := len(x.parts); s.from != nil && (axis > 0 || k > 1) { // the number of the entry instead of that of the row
		numbers := entryNumbers(x, axis)
		if x.parts[k-1].StaticNRows() <= 0 { // the value for a fiber without values
			numbers = ops.Concat([]any{numbers, []int64{0}}, 0)
		}
		at = ops.Gather(numbers, at, 0)
	}
	return withMask(s.build(at), s.build(there))
}

// positionsFound returns positions as int64, with negative ones replaced by 0, and which ones are
// not negative.
func positionsFound(at tensor.Tensor) (found, there tensor.Tensor) {
	at = ops.Cast(at, dtype.Int64)
	return ops.Maximum(at, int64(0)), ops.GreaterEqual(at, int64(0))
}

func truth(x tensor.Tensor) tensor.Tensor {
	if x.DType() == dtype.Bool {
		return x
	}
	return ops.Cast(x, dtype.Bool)
}

// floating converts numbers to floating point. Other types define the meaning of their numbers
// themselves.
func floating(x tensor.Tensor) tensor.Tensor {
	_, formed := x.(op.Formed)
	if d := x.DType(); formed || d.IsFloat() || d.IsComplex() {
		return x
	}
	return ops.Cast(x, dtype.Float64)
}

// keeping returns a reduction's result with its axes restored, so that it
// broadcasts against what was reduced.
func keeping(x tensor.Tensor, axes []int) tensor.Tensor {
	for _, a := range axes {
		x = ops.ExpandDims(x, a)
	}
	return x
}

// spread gives each element of x the entry of reduced that it contributed to. reduced is a
// reduction over axes, which it lacks; x broadcasts against the result.
func spread(x *Tensor, reduced tensor.Tensor, axes []int) tensor.Tensor {
	if len(axes) == x.rank() {
		return reduced
	}
	outer, inner := x.divided(axes)
	if len(outer) == len(x.parts)+1 {
		for _, a := range inner {
			reduced = ops.ExpandDims(reduced, a-1)
		}
		return reduced
	}
	var s *segmentation
	left := x.parts
	if len(outer) > 0 {
		s = x.segments(outer...)
		left = s.outer
	}
	flat, _ := split(atLeast(reduced, len(left)))
	for _, a := range inner {
		flat = ops.ExpandDims(flat, a)
	}
	if s != nil {
		flat = s.spread(flat)
	}
	return x.with(flat)
}

// SpreadReduced gives each element of t the entry of reduced that it contributed to. reduced is a
// reduction over axes, which it lacks. This is what broadcasting does along uniform axes; it also
// works along axes that have ragged ones below them.
func (t *Tensor) SpreadReduced(reduced tensor.Tensor, axes []int) tensor.Tensor {
	at := slices.Clone(axes)
	for i, a := range at {
		if a < 0 {
			at[i] = a + t.rank()
		}
	}
	slices.Sort(at)
	return spread(t, reduced, at)
}

// norm returns roots of sums of powers.
func norm(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	p := c.Float(c.Op.Param("ord"))
	if !(p > 0) {
		return nil, c.Errorf(tenon.ErrInvalid, "ord is %v, want a number above 0", p)
	}
	axes := axesOf(c, x)
	if axes != nil && len(axes) == 0 {
		return op.One(x.with(op.Apply(c, x.flat)))
	}
	out := normOf(x.with(floating(x.flat)), axes, p)
	if keep, _ := c.Attr("keepdims").(bool); keep {
		if axes == nil {
			axes = all(x.rank())
		}
		out = keeping(out, axes)
	}
	return op.One(out)
}

func normOf(x *Tensor, axes []int, p float64) tensor.Tensor {
	d := x.DType()
	flat := half.Wide(x.flat)
	if p != 2 || !d.IsFloat() { // a square has no sign
		flat = ops.Abs(flat)
	}
	var out tensor.Tensor
	switch {
	case p == 2:
		out = rooted(ops.Sum(x.with(ops.Square(flat)), axes...), ops.Sqrt)
	case p == 1:
		out = ops.Sum(x.with(flat), axes...)
	case math.IsInf(p, 1): // 0 without elements, while the largest one is -Inf
		out = ops.Maximum(ops.Max(x.with(flat), axes...), 0)
	default:
		out = rooted(ops.Sum(x.with(ops.Pow(flat, p)), axes...), func(x any) tensor.Tensor { return ops.Pow(x, 1/p) })
	}
	return half.Narrow(out, d)
}

// rooted returns a root of nonnegative numbers whose gradient is 0 at 0: the gradient of the
// squares below is also 0 there, while that of the root is infinite.
func rooted(x tensor.Tensor, root func(x any) tensor.Tensor) tensor.Tensor {
	if flat, _ := split(x); isDense(flat) {
		return root(x) // nobody needs the gradient
	}
	zero := ops.Equal(x, 0)
	return ops.Where(zero, ops.ZerosLike(x), root(ops.Where(zero, ops.OnesLike(x), x)))
}

func isDense(x tensor.Tensor) bool { _, ok := x.(*tensor.Dense); return ok }

// inner repeats the number for each row of flat over its inner dimensions.
func inner(number, flat tensor.Tensor) tensor.Tensor {
	return ops.Add(below(number, flat), ops.Cast(ops.ZerosLike(flat), number.DType()))
}
