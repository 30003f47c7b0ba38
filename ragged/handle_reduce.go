package ragged

import (
	"math"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// A reducer is a reduction that may be done one axis after the other.
type reducer struct {
	rows    func(values, splits any) tensor.Tensor
	fold    rows.Folding                           // the same for fibers
	dense   func(x any, axes ...int) tensor.Tensor // uniform axes, and everything
	prepare func(x tensor.Tensor) tensor.Tensor    // of the elements; nil: nothing
}

// Those that others are made of.
var (
	adder    = &reducer{rows: rows.Sum, fold: rows.FoldSum, dense: ops.Sum}
	greatest = &reducer{rows: rows.Max, fold: rows.FoldMax, dense: ops.Max}
	nonzeros = &reducer{rows: rows.Sum, fold: rows.FoldSum, dense: ops.Sum, prepare: func(x tensor.Tensor) tensor.Tensor {
		return ops.Cast(ops.Cast(x, dtype.Bool), dtype.Int64)
	}}
)

var reducers = map[string]*reducer{
	"reduce_sum":  adder,
	"reduce_prod": {rows: rows.Prod, fold: rows.FoldProd, dense: ops.Prod},
	"reduce_max":  greatest,
	"reduce_min":  {rows: rows.Min, fold: rows.FoldMin, dense: ops.Min},
	"reduce_any":  {rows: rows.Any, fold: rows.FoldAny, dense: ops.Any, prepare: truth},
	"reduce_all":  {rows: rows.All, fold: rows.FoldAll, dense: ops.All, prepare: truth},
}

func truth(x tensor.Tensor) tensor.Tensor {
	if x.DType() == dtype.Bool {
		return x
	}
	return ops.Cast(x, dtype.Bool)
}

func init() {
	for name, r := range reducers {
		handle(func(c *op.Call) ([]tenon.Value, error) {
			return reduced(c, func(x tensor.Tensor, axes []int) tensor.Tensor { return r.reduce(x, axes) })
		}, name)
	}
	handle(func(c *op.Call) ([]tenon.Value, error) { return reduced(c, countOf) }, "count_nonzero")
	handle(func(c *op.Call) ([]tenon.Value, error) { return reduced(c, meanOf) }, "reduce_mean")
	ddof := func(c *op.Call) int { n, _ := c.Attr("ddof").(int); return n }
	handle(func(c *op.Call) ([]tenon.Value, error) {
		return reduced(c, func(x tensor.Tensor, axes []int) tensor.Tensor { return varianceOf(x, axes, ddof(c)) })
	}, "reduce_variance")
	handle(func(c *op.Call) ([]tenon.Value, error) {
		return reduced(c, func(x tensor.Tensor, axes []int) tensor.Tensor { return rooted(varianceOf(x, axes, ddof(c)), ops.Sqrt) })
	}, "reduce_std")
	handle(func(c *op.Call) ([]tenon.Value, error) { return reduced(c, logSumExpOf) }, "logsumexp")
	handle(func(c *op.Call) ([]tenon.Value, error) { return reduced(c, normOf(c)) }, "norm")
	handle(func(c *op.Call) ([]tenon.Value, error) { return extremal(c, rows.ArgMax, rows.FirstMax) }, "argmax")
	handle(func(c *op.Call) ([]tenon.Value, error) { return extremal(c, rows.ArgMin, rows.FirstMin) }, "argmin")
}

// ragged returns argument i of a call if it is ragged.
func raggedArg(c *op.Call, i int) (*Tensor, bool) {
	t, ok := c.Value(i).(*Tensor)
	return t, ok
}

// rank returns the number of dimensions.
func (t *Tensor) rank() int { return len(t.parts) + t.flat.Shape().Rank() }

// axesOf returns the axes of a call on x, counted from the start, rising and
// each once, in a list that is not changed; nil where the call names none, which means all.
func axesOf(c *op.Call, x *Tensor) []int {
	given, _ := c.Attr("axis").([]int)
	if a, ok := c.Attr("axis").(int); ok {
		given = []int{a}
	}
	if given == nil {
		return nil
	}
	r := x.rank()
	if len(given) == 1 {
		a := checkedAxis(c, given[0], r)
		return rising(a, a+1)
	}
	axes := make([]int, len(given))
	for i, a := range given {
		axes[i] = checkedAxis(c, a, r)
	}
	slices.Sort(axes)
	for i := 1; i < len(axes); i++ {
		if axes[i] == axes[i-1] {
			tenon.Throw(c.Errorf(tenon.ErrAxis, "an axis is repeated in %v", given))
		}
	}
	return axes
}

// checkedAxis returns an axis counted from the start.
func checkedAxis(c *op.Call, a, rank int) int {
	if a < -rank || a >= rank {
		tenon.Throw(c.Errorf(tenon.ErrAxis, "axis %d is out of range for rank %d", a, rank))
	}
	if a < 0 {
		a += rank
	}
	return a
}

var firstNumbers = [...]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

// rising returns the numbers from lo up to hi in a list that is not changed.
func rising(lo, hi int) []int {
	if hi <= len(firstNumbers) {
		return firstNumbers[lo:hi:hi]
	}
	all := make([]int, hi-lo)
	for i := range all {
		all[i] = lo + i
	}
	return all
}

// axisOf returns the single axis of a call on x, counted from the start.
func axisOf(c *op.Call, x *Tensor) int {
	a, one := c.Attr("axis").(int)
	if l, ok := c.Attr("axis").([]int); ok && len(l) == 1 {
		a, one = l[0], true
	}
	if r := x.rank(); one && a >= -r && a < r {
		if a < 0 {
			a += r
		}
		return a
	}
	axes := axesOf(c, x)
	if len(axes) != 1 {
		tenon.Throw(c.Errorf(tenon.ErrAxis, "got the axes %v, want one", axes))
	}
	return axes[0]
}

// reduced answers a reduction of the first argument with f, which drops the axes.
func reduced(c *op.Call, f func(x tensor.Tensor, axes []int) tensor.Tensor) ([]tenon.Value, error) {
	x, ok := raggedArg(c, 0)
	if !ok {
		return nil, op.NotHandled
	}
	axes := axesOf(c, x)
	keep, _ := c.Attr("keepdims").(bool)
	if axes == nil {
		axes = all(x.rank())
	}
	out := f(x, axes)
	if keep {
		for _, a := range axes {
			out = ops.ExpandDims(out, a)
		}
	}
	return c.One(out)
}

// all returns all axes, in a list that is not changed.
func all(rank int) []int { return rising(0, rank) }

// prepared returns elements as the reduction takes them.
func (r *reducer) prepared(flat tensor.Tensor) tensor.Tensor {
	if r.prepare == nil {
		return flat
	}
	return r.prepare(flat)
}

// reduce reduces axes: those of a dense tensor first, then the others in one go.
func (r *reducer) reduce(x tensor.Tensor, axes []int) tensor.Tensor {
	t, ok := x.(*Tensor)
	if !ok {
		return r.dense(r.prepared(x), axes...)
	}
	flat := r.prepared(t.flat)
	if len(axes) == t.rank() {
		return r.dense(flat)
	}
	outer, inner := t.divided(axes)
	if len(inner) > 0 {
		flat = r.dense(flat, inner...)
	}
	switch len(outer) {
	case 0:
		return build(flat, t.parts)
	case len(t.parts) + 1:
		return r.dense(flat, 0)
	}
	s := t.segments(outer...)
	if s.from != nil && flat.DType() == dtype.Bool && r.fold == rows.FoldSum {
		flat = ops.Cast(flat, dtype.Int64)
	}
	return s.build(s.reduce(flat, func(v, s tensor.Tensor) tensor.Tensor { return r.rows(v, s) }, r.fold))
}

// divided returns axes that are partitioned or outside of all partitions, and the others as
// axes of the flat values.
func (t *Tensor) divided(axes []int) (outer, inner []int) {
	k := len(t.parts)
	n := 0
	for n < len(axes) && axes[n] <= k {
		n++
	}
	for _, a := range axes[n:] {
		inner = append(inner, a-k)
	}
	return axes[:n], inner
}

// segmentsOf returns the segmentation of axes of x; nil where some of them are axes of a
// dense tensor, or none is left.
func segmentsOf(x tensor.Tensor, axes []int) (*Tensor, *segmentation) {
	t, ok := x.(*Tensor)
	if !ok || len(axes) == 0 || len(axes) > len(t.parts) || axes[len(axes)-1] > len(t.parts) {
		return t, nil
	}
	return t, t.segments(axes...)
}

// countOf counts the elements that are not zero.
func countOf(x tensor.Tensor, axes []int) tensor.Tensor {
	if t, s := segmentsOf(x, axes); s != nil && s.from == nil {
		return s.build(rows.CountNonzero(t.flat, s.over.RowSplits()))
	}
	if t, ok := x.(*Tensor); ok && len(axes) == t.rank() {
		return ops.CountNonzero(t.flat)
	}
	return nonzeros.reduce(x, axes)
}

func floating(x tensor.Tensor) tensor.Tensor {
	if d := x.DType(); d.IsFloat() || d.IsComplex() {
		return x
	}
	return ops.Cast(x, dtype.Float64)
}

// counts returns how many elements each result of a sum over axes adds up.
func counts(x tensor.Tensor, axes []int, d dtype.DType) tensor.Tensor {
	return adder.reduce(ops.Cast(ops.OnesLike(x), d), axes)
}

func meanOf(x tensor.Tensor, axes []int) tensor.Tensor {
	t, s := segmentsOf(x, axes)
	if s != nil && s.from == nil && x.DType().IsReal() { // means of rows are of real numbers
		return s.build(rows.Mean(t.flat, s.over.RowSplits()))
	}
	x = floating(x)
	if t, ok := x.(*Tensor); ok && len(axes) == t.rank() {
		return ops.Mean(t.flat)
	}
	w := widened(x)
	sum := adder.reduce(w, axes)
	if s == nil {
		return narrowed(ops.Div(sum, counts(w, axes, sum.DType())), x.DType())
	}
	n := ops.Cast(s.counts(), sum.DType())
	flat, _ := split(sum)
	return narrowed(s.build(ops.Div(flat, inItems(n, flat))), x.DType())
}

// inItems gives a vector axes of size 1 for those of the items of x.
func inItems(v, x tensor.Tensor) tensor.Tensor {
	for v.Shape().Rank() < x.Shape().Rank() {
		v = ops.ExpandDims(v, -1)
	}
	return v
}

// keeping returns a reduction's result with its axes in place, to be broadcast
// against what was reduced.
func keeping(x tensor.Tensor, axes []int) tensor.Tensor {
	for _, a := range axes {
		x = ops.ExpandDims(x, a)
	}
	return x
}

// spread gives each element of x the entry of a reduction over axes, which lacks these axes,
// that it went into: x broadcasts against the result.
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

// SpreadReduced gives each element of t the entry of a reduction over axes, which the
// result lacks, that it went into: what broadcasting does along uniform axes, also along
// those that have ragged ones below them.
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

func varianceOf(x tensor.Tensor, axes []int, ddof int) tensor.Tensor {
	if t, s := segmentsOf(x, axes); s != nil && x.DType().IsReal() {
		return s.build(s.reduce(t.flat, func(v, s tensor.Tensor) tensor.Tensor { return rows.Var(v, s, ddof) }, ""))
	}
	x = floating(x)
	t, ok := x.(*Tensor)
	if !ok || len(axes) == t.rank() {
		flat, _ := split(x)
		return ops.VarianceDDOF(flat, ddof)
	}
	w := widened(t).(*Tensor)
	far, _ := split(ops.Sub(w, spread(w, meanOf(w, axes), axes)))
	d := w.with(far) // in the partitions of w, which know what is uniform
	sum := adder.reduce(ops.Square(d), axes)
	return narrowed(ops.Div(sum, ops.Maximum(ops.Sub(counts(w, axes, sum.DType()), float64(ddof)), 0)), t.DType())
}

func logSumExpOf(x tensor.Tensor, axes []int) tensor.Tensor {
	x = floating(x)
	t, s := segmentsOf(x, axes)
	if s != nil {
		return s.build(s.reduce(t.flat, func(v, s tensor.Tensor) tensor.Tensor { return rows.LogSumExp(v, s) }, ""))
	}
	if t == nil || len(axes) == t.rank() {
		flat, _ := split(x)
		return ops.LogSumExp(flat)
	}
	d := t.DType()
	t = widened(t).(*Tensor)
	top := ops.StopGradient(greatest.reduce(t, axes))
	top = ops.Where(ops.IsFinite(top), top, ops.ZerosLike(top))
	below, _ := split(ops.Sub(t, spread(t, top, axes)))
	sum := adder.reduce(t.with(ops.Exp(below)), axes)
	return narrowed(ops.Add(ops.Log(sum), top), d)
}

func normOf(c *op.Call) func(x tensor.Tensor, axes []int) tensor.Tensor {
	p := c.Float(c.Op.Param("ord"))
	if !(p > 0) {
		tenon.Throw(c.Errorf(tenon.ErrInvalid, "ord is %v, want a number above 0", p))
	}
	return func(x tensor.Tensor, axes []int) tensor.Tensor {
		x = floating(x)
		d := x.DType()
		flat, parts := split(widened(x))
		if p != 2 || !d.IsFloat() { // a square has no sign
			flat = ops.Abs(flat)
		}
		over := func(r *reducer, flat tensor.Tensor) tensor.Tensor { return r.reduce(build(flat, parts), axes) }
		var out tensor.Tensor
		switch {
		case p == 2:
			out = rooted(over(adder, ops.Square(flat)), ops.Sqrt)
		case p == 1:
			out = over(adder, flat)
		case math.IsInf(p, 1): // of no elements 0, where the greatest one is -Inf
			out = ops.Maximum(over(greatest, flat), 0)
		default:
			out = rooted(over(adder, ops.Pow(flat, p)), func(x any) tensor.Tensor { return ops.Pow(x, 1/p) })
		}
		return narrowed(out, d)
	}
}

// rooted returns a root of what is not negative, with gradient 0 where that is 0: those of
// the squares below it are 0 too, and the root's own is infinite.
func rooted(x tensor.Tensor, root func(x any) tensor.Tensor) tensor.Tensor {
	if flat, _ := split(x); isDense(flat) {
		return root(x) // nobody asks for gradients
	}
	zero := ops.Equal(x, 0)
	return ops.Where(zero, ops.ZerosLike(x), root(ops.Where(zero, ops.OnesLike(x), x)))
}

func isDense(x tensor.Tensor) bool { _, ok := x.(*tensor.Dense); return ok }

// widened returns floats of 16 bits as float32, for what adds up many of them: neither their
// number nor the sum need fit. Others stay.
func widened(x tensor.Tensor) tensor.Tensor {
	if d := x.DType(); d == dtype.Float16 || d == dtype.BFloat16 {
		return ops.Cast(x, dtype.Float32)
	}
	return x
}

// narrowed returns what was computed of wide elements as the type they had.
func narrowed(x tensor.Tensor, d dtype.DType) tensor.Tensor {
	if d == dtype.Float16 || d == dtype.BFloat16 {
		return ops.Cast(x, d)
	}
	return x
}

// extremal answers argmax and argmin: the position of the first extreme element,
// missing for an empty row.
func extremal(c *op.Call, inRows func(values, splits any) tensor.Tensor, first rows.Folding) ([]tenon.Value, error) {
	x, ok := raggedArg(c, 0)
	if !ok {
		return nil, op.NotHandled
	}
	axis := axisOf(c, x)
	keep, _ := c.Attr("keepdims").(bool)
	var out tensor.Tensor
	if k := len(x.parts); axis > k {
		out = x.with(op.Apply(c.WithArg(c.Op.Param("axis"), []int{axis - k}).WithArg(c.Op.Param("keepdims"), false), x.flat))
	} else {
		s := x.segments(axis)
		at, there := positionsFound(s.reduce(x.flat, func(v, s tensor.Tensor) tensor.Tensor { return inRows(v, s) }, first))
		if s.from != nil && (axis > 0 || k > 1) { // the number of the entry, in place of the row's
			at = ops.Gather(andZero(entryNumbers(x, axis), x.parts[k-1].StaticNRows()), at, 0)
		}
		out = withMask(s.build(at), s.build(there))
	}
	if keep {
		out = ops.ExpandDims(out, axis)
	}
	return c.One(out)
}

// andZero returns numbers of which there are n, followed by a 0 where there may be none: what
// is taken for a fiber without values.
func andZero(numbers tensor.Tensor, n int) tensor.Tensor {
	if n > 0 {
		return numbers
	}
	return ops.Concat([]any{numbers, []int64{0}}, 0)
}

// positionsFound returns positions, int64, with 0 for those that are negative, and which
// are not. They are nobody else's.
func positionsFound(at tensor.Tensor) (found, there tensor.Tensor) {
	d, ok := at.(*tensor.Dense)
	if !ok || d.DType() != dtype.Int64 || !d.IsContiguous() {
		at = ops.Cast(at, dtype.Int64)
		return ops.Maximum(at, int64(0)), ops.GreaterEqual(at, int64(0))
	}
	mask, bits := tensor.Make[bool](d.Shape())
	places := tensor.Data[int64](d)
	bits = bits[:len(places)]
	for i, k := range places {
		places[i], bits[i] = k&^(k>>63), k >= 0
	}
	return d, mask
}

// inner repeats a number for each row of flat over its inner dimensions.
func inner(number, flat tensor.Tensor) tensor.Tensor {
	for number.Shape().Rank() < flat.Shape().Rank() {
		number = ops.ExpandDims(number, -1)
	}
	return ops.Add(number, ops.Cast(ops.ZerosLike(flat), number.DType()))
}
