package ragged

import (
	"math"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A reducer is a reduction that may be done one axis after the other.
type reducer struct {
	rows     func(values, splits any) tensor.Tensor // within rows
	segments func(data, ids, n any) tensor.Tensor   // by position: entries of one segment together
	dense    func(x any, axes ...int) tensor.Tensor // uniform axes and everything
	prepare  func(x tensor.Tensor) tensor.Tensor    // nil: nothing
	prepared *reducer                               // what it is once that is done
	known    func(d *down) *tensor.Dense            // by position, for what is in memory; nil: in no own way
}

// Those that others are made of.
var (
	adder    = &reducer{rows: rows.Sum, segments: ops.SegmentSum, dense: ops.Sum, known: downBy(segment.FoldSum)}
	greatest = &reducer{rows: rows.Max, segments: ops.SegmentMax, dense: ops.Max, known: downBy(segment.FoldMax)}
)

var reducers = map[string]*reducer{
	"reduce_sum":  adder,
	"reduce_prod": {rows: rows.Prod, segments: ops.SegmentProd, dense: ops.Prod, known: downBy(segment.FoldProd)},
	"reduce_max":  greatest,
	"reduce_min":  {rows: rows.Min, segments: ops.SegmentMin, dense: ops.Min, known: downBy(segment.FoldMin)},
	"reduce_any":  preparing(&reducer{rows: rows.Any, segments: anySegments, dense: ops.Any, known: anyDown}, truth),
	"reduce_all":  preparing(&reducer{rows: rows.All, segments: allSegments, dense: ops.All, known: allDown}, truth),
}

// nonzeros counts elements by adding up ones.
var nonzeros = preparing(adder, func(x tensor.Tensor) tensor.Tensor { return ops.Cast(ops.Cast(x, dtype.Bool), dtype.Int64) })

// preparing returns a reducer of what prepare makes of its argument.
func preparing(r *reducer, prepare func(x tensor.Tensor) tensor.Tensor) *reducer {
	out := *r
	out.prepare, out.prepared = prepare, r
	return &out
}

func truth(x tensor.Tensor) tensor.Tensor {
	if x.DType() == dtype.Bool {
		return x
	}
	return ops.Cast(x, dtype.Bool)
}

func anySegments(data, ids, n any) tensor.Tensor {
	sum := ops.SegmentSum(ops.Cast(data, dtype.Int64), ids, n)
	return ops.Greater(sum, int64(0))
}

func allSegments(data, ids, n any) tensor.Tensor {
	return ops.LogicalNot(anySegments(ops.LogicalNot(data), ids, n))
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
	handle(func(c *op.Call) ([]tenon.Value, error) { return extremal(c, rows.ArgMax, ops.SegmentMax, true) }, "argmax")
	handle(func(c *op.Call) ([]tenon.Value, error) { return extremal(c, rows.ArgMin, ops.SegmentMin, false) }, "argmin")
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

// reduce reduces axes, the last ones first. Neighbouring partitioned axes that
// all go, and all axes together, are reduced in one pass.
func (r *reducer) reduce(x tensor.Tensor, axes []int) tensor.Tensor {
	t, ok := x.(*Tensor)
	if r.prepare != nil {
		if ok {
			x = t.with(r.prepare(t.flat))
		} else {
			x = r.prepare(x)
		}
		return r.prepared.reduce(x, axes)
	}
	if len(axes) == 0 {
		return x
	}
	if !ok {
		return r.dense(x, axes...)
	}
	k := len(t.parts)
	if len(axes) == t.rank() {
		return r.dense(t.flat)
	}
	var inner []int // axes of the flat values behind their first
	outer := axes
	for len(outer) > 0 && outer[len(outer)-1] > k {
		inner = append(inner, outer[len(outer)-1]-k)
		outer = outer[:len(outer)-1]
	}
	if len(inner) > 0 {
		return r.reduce(build(r.dense(t.flat, inner...), t.parts), outer)
	}
	// The axes from lo to hi are neighbours, and all between partitions.
	hi := outer[len(outer)-1]
	lo := hi
	n := len(outer) - 1
	for n > 0 && outer[n-1] == lo-1 && lo-1 > 0 {
		lo--
		n--
	}
	rest := outer[:n]
	if hi == k && hi >= 1 {
		// The innermost partitions go: their values are reduced row by row.
		splits := t.parts[k-1].RowSplits()
		for a := k - 1; a >= lo; a-- {
			splits = composed(t.parts[a-1].RowSplits(), splits)
		}
		return r.reduce(build(r.rows(t.flat, splits), t.parts[:lo-1]), rest)
	}
	return r.reduce(r.byPosition(t, hi), outer[:len(outer)-1])
}

// composed returns the splits of outer rows into the values of inner ones.
func composed(outer, inner tensor.Tensor) tensor.Tensor { return ops.Gather(inner, outer, 0) }

// byPosition reduces an axis with partitioned axes below it: the entries at the
// same position in the sublists of one list are reduced together.
func (r *reducer) byPosition(t *Tensor, axis int) tensor.Tensor {
	if out := r.byPositionKnown(t, axis); out != nil {
		return out
	}
	if axis == 0 {
		n := t.parts[0].NRows()
		ids := oneSegment(n)
		out := bySegments(t, ids, scalar(1, n.DType()), r.segments).(*Tensor)
		return out.Values()
	}
	outer := t.parts[:axis-1]
	p := t.parts[axis-1]
	below := build(t.flat, t.parts[axis:])
	red := bySegments(below, p.ValueRowIDs(), p.NRows(), r.segments)
	flat, parts := split(red)
	return build(flat, append(slices.Clone(outer), parts...))
}

// oneSegment returns a segment id for each of n rows: the same for all.
func oneSegment(n tensor.Tensor) tensor.Tensor {
	if k := known(n); k >= 0 && n.DType() == dtype.Int64 {
		return tensor.Vector(ints(k))
	}
	return filled(n, scalar(0, n.DType()))
}

// bySegments combines the rows of data that have the same segment id, position
// by position: row s of the result is as long as the longest row of segment s.
func bySegments(data tensor.Tensor, ids, n tensor.Tensor, f func(data, ids, n any) tensor.Tensor) tensor.Tensor {
	t, ok := data.(*Tensor)
	if !ok {
		return f(data, ids, n)
	}
	p, at := positions(t.parts[0], ids, n)
	below := bySegments(t.Values(), at, p.NVals(), f)
	flat, parts := split(below)
	return build(flat, append([]*RowPartition{p}, parts...))
}

// positions returns the partition of what the segments of rows are combined to,
// and for each value its place there.
func positions(p *RowPartition, ids, n tensor.Tensor) (out *RowPartition, at tensor.Tensor) {
	if p.IsUniform() { // the results are as long as what they combine, even where that is nothing
		out := newUniform(n, p.uniform)
		starts := ops.Mul(ops.Cast(ids, p.DType()), p.uniform)
		return out, ops.Add(rows.Repeat(starts, p.RowSplits(), p.StaticNVals()), p.OffsetsInRows())
	}
	if out, at, ok := knownSegments(p, ids, n); ok {
		return out, at
	}
	d := p.DType()
	lengths := p.RowLengths()
	longest := ops.Maximum(ops.SegmentMax(lengths, ids, n), scalar(0, d))
	splits := ops.Cast(rows.FromLengths(longest), d)
	starts := ops.Gather(part(splits, 0, 1), ops.Cast(ids, dtype.Int64), 0)
	at = ops.Add(rows.Repeat(starts, p.RowSplits(), p.StaticNVals()), p.OffsetsInRows())
	return newPartition(splits, -1), at
}

// knownSegments is positions for what is in memory.
func knownSegments(p *RowPartition, ids, n tensor.Tensor) (out *RowPartition, at tensor.Tensor, ok bool) {
	from, ok := p.Splits64()
	of, isDense := ids.(*tensor.Dense)
	count := known(n)
	if !ok || !isDense || p.DType() != dtype.Int64 || of.DType() != dtype.Int64 || !of.IsContiguous() || of.Len() != len(from)-1 || count < 0 || count > of.Len()+1 {
		return nil, nil, false
	}
	segments := tensor.Data[int64](of)
	splits, ends := tensor.Make[int64](shape.Of(count + 1))
	clear(ends)
	for r, s := range segments {
		if s < 0 || s >= int64(count) {
			return nil, nil, false
		}
		ends[s+1] = max(ends[s+1], from[r+1]-from[r])
	}
	for s := range count {
		ends[s+1] += ends[s]
	}
	places, numbers := tensor.Make[int64](shape.Of(int(from[len(from)-1])))
	for r, s := range segments {
		for i := from[r]; i < from[r+1]; i++ {
			numbers[i] = ends[s] + i - from[r]
		}
	}
	return newPartition(rows.Trusted(splits, ends), int(ends[count])), places, true
}

// countOf counts the elements that are not zero.
func countOf(x tensor.Tensor, axes []int) tensor.Tensor {
	if t, ok := innermost(x, axes); ok {
		return build(rows.CountNonzero(t.flat, t.parts[len(t.parts)-1].RowSplits()), t.parts[:len(t.parts)-1])
	}
	if t, ok := x.(*Tensor); ok && len(axes) == t.rank() {
		return ops.CountNonzero(t.flat)
	}
	if out := oneLine(x, axes, func(v, s tensor.Tensor) tensor.Tensor { return rows.CountNonzero(v, s) }); out != nil {
		return out
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

// innermost reports whether axes are just the innermost partitioned one.
func innermost(x tensor.Tensor, axes []int) (*Tensor, bool) {
	t, ok := x.(*Tensor)
	return t, ok && len(axes) == 1 && axes[0] == len(t.parts)
}

func meanOf(x tensor.Tensor, axes []int) tensor.Tensor {
	if t, ok := innermost(x, axes); ok && x.DType().IsReal() { // means of rows are of real numbers
		return build(rows.Mean(t.flat, t.parts[len(t.parts)-1].RowSplits()), t.parts[:len(t.parts)-1])
	}
	x = floating(x)
	real := x.DType().IsFloat()
	if t, ok := x.(*Tensor); ok && len(axes) == t.rank() {
		return ops.Mean(t.flat)
	}
	if real {
		if t, ok := x.(*Tensor); ok && len(axes) == 1 {
			if out := meanDown(t, axes[0]); out != nil {
				return out
			}
		}
		if out := oneLine(x, axes, func(v, s tensor.Tensor) tensor.Tensor { return rows.Mean(v, s) }); out != nil {
			return out
		}
	}
	w := widened(x)
	sum := adder.reduce(w, axes)
	return narrowed(ops.Div(sum, counts(w, axes, sum.DType())), x.DType())
}

// oneLine reduces one axis that has partitioned axes below it by a reduction of rows; nil
// where the axes are others, or the row splits not in memory.
func oneLine(x tensor.Tensor, axes []int, f lines) tensor.Tensor {
	if t, ok := x.(*Tensor); ok && len(axes) == 1 {
		return reducedLines(t, axes[0], f)
	}
	return nil
}

// keeping returns a reduction's result with its axes in place, to be broadcast
// against what was reduced.
func keeping(x tensor.Tensor, axes []int) tensor.Tensor {
	for _, a := range axes {
		x = ops.ExpandDims(x, a)
	}
	return x
}

// spread repeats the result of a reduction of x over what was reduced.
func spread(x *Tensor, red tensor.Tensor, axes []int) tensor.Tensor {
	if len(axes) == 1 && axes[0] == 0 || needsPositions(x, axes) {
		return byPositionBack(x, red, axes)
	}
	return keeping(red, axes)
}

// needsPositions reports whether some reduced axis has partitioned axes below it
// that are not reduced.
func needsPositions(x *Tensor, axes []int) bool {
	for _, a := range axes {
		for b := a + 1; b <= len(x.parts); b++ {
			if !slices.Contains(axes, b) {
				return true
			}
		}
	}
	return false
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

// byPositionBack gives each element of x the entry of red that it was reduced to.
func byPositionBack(x *Tensor, red tensor.Tensor, axes []int) tensor.Tensor {
	if len(axes) == 1 {
		flat, _ := split(red)
		return x.with(ops.Gather(flat, lineOf(x, axes[0]), 0))
	}
	// One axis after the other, in the shapes that there were on the way.
	last := len(axes) - 1
	y := greatest.reduce(ops.ZerosLike(x), axes[last:])
	below := spread1(y, red, axes[:last])
	return spread1(x, below, axes[last:]).(*Tensor)
}

// spread1 is spread with a result of the shape of x.
func spread1(x, red tensor.Tensor, axes []int) tensor.Tensor {
	t, ok := x.(*Tensor)
	if ok && (len(axes) == 1 && axes[0] == 0 || needsPositions(t, axes)) {
		return byPositionBack(t, red, axes)
	}
	return tenon.Must(BroadcastTo(keeping(red, axes), ShapeOf(x)))
}

func varianceOf(x tensor.Tensor, axes []int, ddof int) tensor.Tensor {
	if t, ok := innermost(x, axes); ok && !x.DType().IsBool() {
		return build(rows.Var(t.flat, t.parts[len(t.parts)-1].RowSplits(), ddof), t.parts[:len(t.parts)-1])
	}
	x = floating(x)
	t, ok := x.(*Tensor)
	if !ok || len(axes) == t.rank() {
		flat, _ := split(x)
		return ops.VarianceDDOF(flat, ddof)
	}
	if out := oneLine(x, axes, func(v, s tensor.Tensor) tensor.Tensor { return rows.Var(v, s, ddof) }); out != nil {
		return out
	}
	w := widened(t).(*Tensor)
	far, _ := split(ops.Sub(w, spread(w, meanOf(w, axes), axes)))
	d := w.with(far) // in the partitions of w, which know what is uniform
	sum := adder.reduce(ops.Square(d), axes)
	return narrowed(ops.Div(sum, ops.Maximum(ops.Sub(counts(w, axes, sum.DType()), float64(ddof)), 0)), t.DType())
}

func logSumExpOf(x tensor.Tensor, axes []int) tensor.Tensor {
	x = floating(x)
	if t, ok := innermost(x, axes); ok {
		return build(rows.LogSumExp(t.flat, t.parts[len(t.parts)-1].RowSplits()), t.parts[:len(t.parts)-1])
	}
	t, ok := x.(*Tensor)
	if !ok || len(axes) == t.rank() {
		flat, _ := split(x)
		return ops.LogSumExp(flat)
	}
	if out := oneLine(x, axes, func(v, s tensor.Tensor) tensor.Tensor { return rows.LogSumExp(v, s) }); out != nil {
		return out
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
func extremal(c *op.Call, inRows func(values, splits any) tensor.Tensor, segments func(data, ids, n any) tensor.Tensor, largest bool) ([]tenon.Value, error) {
	x, ok := raggedArg(c, 0)
	if !ok {
		return nil, op.NotHandled
	}
	axis := axisOf(c, x)
	keep, _ := c.Attr("keepdims").(bool)
	k := len(x.parts)
	var out tensor.Tensor
	switch {
	case axis > k:
		out = x.with(op.Apply(c.WithArg(c.Op.Param("axis"), []int{axis - k}).WithArg(c.Op.Param("keepdims"), false), x.flat))
	case axis == k:
		p := x.parts[k-1]
		at, there := positionsFound(inRows(x.flat, p.RowSplits()))
		outer := x.parts[:k-1]
		out = withMask(build(at, outer), build(there, outer))
	default:
		if out = extremeDown(x, axis, largest); out != nil {
			break
		}
		if out = extremeOfLines(x, axis, inRows); out == nil {
			out = extremeByPosition(x, axis, segments)
		}
	}
	if keep {
		out = ops.ExpandDims(out, axis)
	}
	return c.One(out)
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

// extremeOfLines finds the extreme of an axis with partitioned axes below it; nil where
// the row splits are not in memory.
func extremeOfLines(x *Tensor, axis int, inRows func(values, splits any) tensor.Tensor) tensor.Tensor {
	if x.flat.Shape().Rank() != 1 {
		return nil
	}
	room := lineRooms.Get().(*lineRoom)
	mem := scratch{room.numbers[:]}
	o, ok := inLines(x, axis, room, &mem)
	if !ok {
		return nil
	}
	at, ok := inRows(o.values, o.splits).(*tensor.Dense)
	if !ok || at.DType() != dtype.Int64 || !at.IsContiguous() {
		return nil
	}
	number, ok := entryNumbers(x, axis, &mem)
	if !ok {
		return nil
	}
	out, place := tensor.Make[int64](at.Shape())
	mask, there := tensor.Make[bool](at.Shape())
	for l, k := range tensor.Data[int64](at) {
		if k >= 0 {
			place[l], there[l] = number[o.from[o.ends[l]+k]], true
		}
	}
	room.forget(x, at)
	return withMask(o.build(x, axis, out), o.build(x, axis, mask))
}

// extremeByPosition finds the extreme of an axis with partitioned axes below it.
func extremeByPosition(x *Tensor, axis int, segments func(data, ids, n any) tensor.Tensor) tensor.Tensor {
	r := &reducer{segments: segments}
	top := r.byPosition(x, axis)
	hit := ops.Equal(x, byPositionBack(x, top, []int{axis}))
	number := listNumbers(x, axis)
	far := int64(1) << 62
	first := ops.Where(hit, x.with(inner(number, x.flat)), far)
	at := (&reducer{segments: ops.SegmentMin}).byPosition(first.(*Tensor), axis)
	flat, parts := split(at)
	return withMask(build(flat, parts), build(ops.Less(flat, far), parts))
}

// inner repeats a number for each row of flat over its inner dimensions.
func inner(number, flat tensor.Tensor) tensor.Tensor {
	for number.Shape().Rank() < flat.Shape().Rank() {
		number = ops.ExpandDims(number, -1)
	}
	return ops.Add(number, ops.Cast(ops.ZerosLike(flat), number.DType()))
}
