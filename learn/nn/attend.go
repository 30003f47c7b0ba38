package nn

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// A Sight says which positions a query attends to, and how. Positions are counted from the end,
// separately for queries and keys. The zero value attends to all positions equally.
type Sight struct {
	Causal bool    // itself and what came before
	Window int     // positions at a smaller distance than this; 0: at any distance
	ALiBi  bool    // subtract slope·distance from the scores, with a slope for each head (O. Press et al., ICLR 2022)
	Scale  float64 // factor of the scores; 0 means 1/√d
}

// slants reports whether an additional feature can express the distances: a query attends to
// one side of its position only, and the element type tells large positions apart.
func (s Sight) slants(d dtype.DType) bool { return s.ALiBi && s.Causal && d.Size() >= 4 }

// scores reports whether attention has to compute the scores explicitly.
func (s Sight) scores(d dtype.DType) bool { return s.ALiBi && !s.slants(d) }

// near reports whether the positions that are attended to depend on distances.
func (s Sight) near() bool { return s.Causal || s.Window != 0 || s.ALiBi }

// AttendOptions are the options of [Attend]. The zero value is the default.
type AttendOptions struct {
	Sight
	Mask tensor.Tensor // bool[..., n, m], or a tensor that broadcasts to it: which positions are attended to
}

// Attend returns, for each query of each head, the mean of the values, weighted by the softmax of the scaled
// scores query·key. If there are fewer heads of keys and values than of queries, each of them serves the same
// number of query heads. A query that attends to nothing gets zeros.
//
//	query: [..., n, heads, d], key: [..., m, key heads, d], value: [..., m, key heads, e] → [..., n, heads, e]
func Attend(query, key, value tensor.Tensor, options ...AttendOptions) tensor.Tensor {
	const fn = "nn.Attend"
	o := option(options)
	h, g := query.Shape().Dim(-2), key.Shape().Dim(-2)
	if n := value.Shape().Dim(-2); n != g {
		tenon.Throw(tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("there are %d heads of keys and %d of values", g, n)))
	}
	return attend(fn, query, key, value, h, g, o.Mask, o.Sight, nil)
}

// served rejects a number of query heads that is no multiple of that of key heads, and negative
// windows.
func served(fn string, h, g int, s Sight) {
	if g < 1 || h < 1 || h%g != 0 {
		tenon.Throw(tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("%d query heads are not a multiple of %d key and value heads", h, g)))
	}
	if s.Window < 0 {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, fn, fmt.Sprintf("the window is %d, want at least 0", s.Window)))
	}
}

// scaled returns queries and the factor of their scores. If the number of features is unknown,
// the queries are multiplied by the factor.
func scaled(q tensor.Tensor, s Sight) (tensor.Tensor, float64) {
	d := q.Shape().Dim(-1)
	switch {
	case s.Scale != 0:
		return q, s.Scale
	case d < 0:
		return ops.Mul(q, ops.Rsqrt(ops.Cast(size(q, -1), q.DType()))), 1
	}
	return q, 1 / math.Sqrt(float64(d))
}

// A divided has the row splits of queries and of keys; nil if they are not divided into rows.
type divided struct{ queries, keys tensor.Tensor }

// attend is [Attend] for h heads of queries and g of keys and values. Within rows, queries, keys and
// values have no axes before their positions.
func attend(fn string, q, k, v tensor.Tensor, h, g int, mask tensor.Tensor, s Sight, in *divided) tensor.Tensor {
	served(fn, h, g, s)
	if !q.Shape().HasRank() || !k.Shape().HasRank() || !v.Shape().HasRank() {
		tenon.Throw(tenon.NewError(tenon.ErrUnsupported, fn, "the number of axes is not known"))
	}
	q, scale := scaled(q, s)
	if s.slants(q.DType()) {
		at := ops.Range(int64(0), size(k, -3), int64(1))
		if in != nil {
			at = rows.Offsets(in.keys, -1)
		}
		q, k = slanted(q, k, h, at, scale)
	}
	if s.scores(q.DType()) {
		if in != nil {
			return slopedRows(q, k, v, h, g, in, scale, s)
		}
		return sloped(q, k, v, h, g, mask, scale, s)
	}
	const queries, keys, features, values, served, each, front = 0, 1, 2, 3, 4, 5, 6
	inFront := func(n int, last ...int) (list []int) {
		for i := n; i > 0; i-- {
			list = append(list, front+i)
		}
		return append(list, last...)
	}
	most := 0 // leading axes
	labels := func(x tensor.Tensor, last ...int) []int {
		n := x.Shape().Rank() - len(last)
		most = max(most, n)
		return inFront(n, last[max(0, -n):]...)
	}
	o := ops.AttentionOptions{Causal: s.Causal, Scale: scale}
	l := ops.AttentionLabels{Key: labels(k, keys, served, features), Value: labels(v, keys, served, values)}
	if in != nil {
		o.QuerySplits, o.KeySplits = in.queries, in.keys
	}
	switch {
	case s.Window > 0 && in != nil:
		o.Mask, l.Mask = s.seen(nil, in.offsets()), []int{queries}
	case s.Window > 0:
		mask = s.seen(mask, offsets(size(q, -3), size(k, -3)))
		fallthrough
	case mask != nil:
		o.Mask, l.Mask = mask, labels(mask, queries, keys)
	}
	q = withLast(q, 2, g, h/g, known(q))
	l.Query = labels(q, queries, served, each, features)
	l.Result = inFront(most, queries, served, each, values)
	return withLast(ops.Attend(q, k, v, l, o), 3, h, known(v))
}

// sloped is attend for scores that depend on the distance on both sides.
func sloped(q, k, v tensor.Tensor, h, g int, mask tensor.Tensor, scale float64, s Sight) tensor.Tensor {
	// [..., key heads, heads of each, n, d]
	q = ops.MoveAxis(withLast(q, 2, g, h/g, known(q)), -4, -2)
	k, v = ops.ExpandDims(ops.SwapAxes(k, -3, -2), -3), ops.ExpandDims(ops.SwapAxes(v, -3, -2), -3)
	if mask != nil && mask.Shape().Rank() > 2 {
		mask = ops.ExpandDims(ops.ExpandDims(mask, -3), -3)
	}
	off := offsets(size(q, -2), size(k, -2))
	slopes := ops.Reshape(ops.Cast(tensor.Of(alibi(h)), q.DType()), []int{g, h / g, 1, 1})
	scores := ops.Sub(ops.Mul(ops.MatMulT(q, k, false, true), scale), ops.Mul(ops.Cast(ops.Abs(off), q.DType()), slopes))
	y := ops.MatMul(weights(scores, s.seen(mask, off)), v)
	return withLast(ops.MoveAxis(y, -2, -4), 3, h, known(v))
}

// slopedRows is sloped within rows. Its scores are rows of rows: one for each query.
func slopedRows(q, k, v tensor.Tensor, h, g int, in *divided, scale float64, s Sight) tensor.Tensor {
	head := func(x tensor.Tensor, splits tensor.Tensor, i int) tensor.Tensor {
		return tenon.Must(ragged.FromRowSplits(ops.Index(x, key.All, i), splits))
	}
	off := in.offsets()
	slopes := alibi(h)
	heads := make([]any, h)
	for i := range heads {
		scores := ops.MatMulT(head(q, in.queries, i), head(k, in.keys, i*g/h), false, true).(*ragged.Tensor)
		w := ops.Mul(scores.FlatValues(), scale)
		w = ops.Sub(w, ops.Mul(ops.Cast(ops.Abs(off), w.DType()), slopes[i]))
		mask := s.seen(nil, off)
		if mask != nil {
			mask = tenon.Must(scores.WithFlatValues(mask))
		}
		share := weights(tenon.Must(scores.WithFlatValues(w)), mask)
		heads[i] = flatOf(ops.MatMul(share, head(v, in.keys, i*g/h)))
	}
	return ops.Stack(heads, -2)
}

// known returns the number of features of x, or -1 if it is unknown.
func known(x tensor.Tensor) int { return max(-1, x.Shape().Dim(-1)) }

// size returns the size of an axis as an int64.
func size(x tensor.Tensor, axis int) tensor.Tensor {
	return ops.Index(ops.Cast(ops.Shape(x), dtype.Int64), axis)
}

// offsets returns by how many positions each of n queries is after each of m keys, counting both
// from the end: [n, m].
func offsets(n, m tensor.Tensor) tensor.Tensor {
	query := ops.Add(ops.Range(int64(0), n, int64(1)), ops.Sub(m, n))
	return ops.Sub(ops.ExpandDims(query, -1), ops.Range(int64(0), m, int64(1)))
}

// offsets returns by how many positions each query is after each key of its row, counting both
// from the end: [pairs].
func (in *divided) offsets() tensor.Tensor {
	n, m := rows.Lengths(in.queries), rows.Lengths(in.keys)
	query := ops.Add(rows.Offsets(in.queries, -1), rows.Repeat(ops.Sub(m, n), in.queries, -1))
	keys := rows.FromLengths(rows.Repeat(m, in.queries, -1)) // one row for each query
	return ops.Sub(rows.Repeat(query, keys, -1), rows.Offsets(keys, -1))
}

// seen returns a mask that is true where mask is and where off is within sight; nil is true
// everywhere.
func (s Sight) seen(mask, off tensor.Tensor) tensor.Tensor {
	if s.Window > 0 {
		mask = and(mask, ops.Less(ops.Abs(off), int64(s.Window)))
	}
	if s.Causal {
		mask = and(mask, ops.GreaterEqual(off, int64(0)))
	}
	return mask
}

// and returns where both masks are true; nil is true everywhere.
func and(x, y tensor.Tensor) tensor.Tensor {
	if x == nil {
		return y
	}
	return ops.LogicalAnd(x, y)
}

// weights returns the softmax of scores over the positions of the mask, and zeros where there
// are none.
func weights(scores, mask tensor.Tensor) tensor.Tensor {
	if mask == nil {
		return ops.Softmax(scores, -1)
	}
	w := ops.Softmax(ops.Where(mask, scores, negInf(scores)), -1)
	return ops.Where(mask, w, 0.0)
}

// slanted adds a feature to queries and keys [..., n, heads, d] such that their product grows
// by slope·j/scale. For a causal query i this differs from -slope·(i-j) by a constant for all
// keys j, so the softmax is the same.
func slanted(q, k tensor.Tensor, h int, at tensor.Tensor, scale float64) (tensor.Tensor, tensor.Tensor) {
	slopes := ops.ExpandDims(ops.Cast(tensor.Of(alibi(h)), q.DType()), -1)
	one := ops.OnesLike(ops.Index(k, key.Ellipsis, key.To(1)))
	place := ops.Mul(one, ops.Mul(ops.ExpandDims(ops.ExpandDims(ops.Cast(at, k.DType()), -1), -1), 1/scale))
	return ops.Concat([]any{q, ops.Mul(ops.OnesLike(ops.Index(q, key.Ellipsis, key.To(1))), slopes)}, -1), ops.Concat([]any{k, place}, -1)
}

// alibi returns the slopes of heads.
func alibi(heads int) []float64 {
	slopes := make([]float64, 0, heads)
	n := 1 << (bits.Len(uint(heads)) - 1)
	for i := range n {
		slopes = append(slopes, math.Exp2(-8*float64(i+1)/float64(n)))
	}
	for i := range heads - n {
		slopes = append(slopes, math.Exp2(-4*float64(2*i+1)/float64(n)))
	}
	return slopes
}

// RotaryOptions are the options of [Rotary]. The zero value is the default.
type RotaryOptions struct {
	Base        float64 // of the angles; 0 means 10,000
	Interleaved bool    // features 2i and 2i+1 form a pair, otherwise i and i+d/2
}

// Rotary rotates pairs of features by angles that grow with the position, so that scores depend
// on distances (J. Su et al., Neurocomputing 568, 2024): pair i by position·Base^(-2i/d).
//
//	x: [..., n, heads, d], positions: [n] integers → the same as x
func Rotary(x, positions tensor.Tensor, options ...RotaryOptions) tensor.Tensor {
	const fn = "nn.Rotary"
	o := option(options)
	if o.Base == 0 {
		o.Base = 10_000
	}
	positive(fn, "the base", o.Base)
	d := known(x)
	if r := x.Shape().Rank(); r >= 0 && r < 3 || d > 0 && d%2 != 0 {
		tenon.Throw(tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("%s is not [..., positions, heads, features] with an even number of features", tenon.String(x.Spec()))))
	}
	half := d
	if d >= 0 {
		half = d / 2
	}
	n := ops.Cast(size(x, -1), dtype.Float64)
	rates := ops.Pow(o.Base, ops.Div(ops.Range(0.0, ops.Neg(n), -2.0), n))
	angle := ops.ExpandDims(ops.Mul(ops.ExpandDims(ops.Cast(positions, dtype.Float64), -1), rates), -2) // [n, 1, d/2]
	cos, sin := ops.Cast(ops.Cos(angle), x.DType()), ops.Cast(ops.Sin(angle), x.DType())
	pairs, axis := withLast(x, 1, 2, half), -2
	if o.Interleaved {
		pairs, axis = withLast(x, 1, half, 2), -1
	}
	pairs = ops.MoveAxis(pairs, axis, 0)
	a, b := ops.Index(pairs, 0), ops.Index(pairs, 1)
	turned := ops.Stack([]any{ops.Sub(ops.Mul(a, cos), ops.Mul(b, sin)), ops.Add(ops.Mul(a, sin), ops.Mul(b, cos))}, axis)
	return withLast(turned, 2, d)
}

// Sinusoidal returns the positional encodings of A. Vaswani et al.: sine and cosine of
// p·10000^(-2i/width), alternating.
//
//	→ [positions, width]
func Sinusoidal(positions, width int, d dtype.DType) tensor.Tensor {
	if positions < 0 || width < 0 {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, "nn.Sinusoidal", fmt.Sprintf("%d positions of width %d", positions, width)))
	}
	rates, phases := sinusoids(width)
	x := make([]float64, positions*width)
	for i := range x {
		x[i] = math.Sin(float64(i/width)*rates[i%width] + phases[i%width])
	}
	return ops.Cast(tensor.Of(x, positions, width), d)
}

// sinusoids returns, for each feature, by how much the angle of its sine grows per position, and the angle
// at position 0: a cosine is a sine that is a quarter turn ahead.
func sinusoids(width int) (rates, phases []float64) {
	rates, phases = make([]float64, width), make([]float64, width)
	for j := range width {
		rates[j] = math.Pow(10_000, -float64(j-j%2)/float64(width))
		phases[j] = float64(j%2) * math.Pi / 2
	}
	return rates, phases
}
