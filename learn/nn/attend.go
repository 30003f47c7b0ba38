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

// A Sight says which positions a position looks at, and how. Positions are counted from the
// last of queries and of keys. The zero value sees all alike.
type Sight struct {
	Causal bool    // itself and what came before
	Window int     // those less than so far away; 0: at any distance
	ALiBi  bool    // slope·distance is taken from the scores, with a slope for each head (O. Press et al., ICLR 2022)
	Scale  float64 // factor of the scores; 0 stands for 1/√d
}

// slants reports whether distances are told by a feature more: what a query sees is on one
// side of it, and the type tells large positions apart.
func (s Sight) slants(d dtype.DType) bool { return s.ALiBi && s.Causal && d.Size() >= 4 }

// scores reports whether attention has to look at the scores one by one.
func (s Sight) scores(d dtype.DType) bool { return s.ALiBi && !s.slants(d) }

// near reports whether what is seen depends on distances.
func (s Sight) near() bool { return s.Causal || s.Window != 0 || s.ALiBi }

// AttendOptions are those of [Attend]. The zero value is the default.
type AttendOptions struct {
	Sight
	Mask tensor.Tensor // bool[..., n, m], or what broadcasts to that: which positions are seen
}

// Attend returns, for each query of each head, the mean of the values weighted with the
// softmax of the scaled scores query·key. Each head of keys and values serves as many heads of
// queries as there are more of these. A query that sees nothing gets zeros.
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

// served refuses heads of queries that are no multiple of those of keys, and senseless windows.
func served(fn string, h, g int, s Sight) {
	if g < 1 || h < 1 || h%g != 0 {
		tenon.Throw(tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("%d heads of queries are not served by %d of keys and values", h, g)))
	}
	if s.Window < 0 {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, fn, fmt.Sprintf("the window is %d, want at least 0", s.Window)))
	}
}

// scaled returns queries and the factor of their scores. Where the number of features is not
// known, the factor is in the queries.
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

// A divided says how positions of queries and of keys are divided into rows; nil where they are not.
type divided struct{ queries, keys tensor.Tensor }

// attend is [Attend] for h heads of queries and g of keys and values. Within rows, queries, keys and
// values have no axes in front of their positions.
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
	most := 0 // axes in front
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

// sloped is attend where scores depend on the distance on both sides.
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

// slopedRows is sloped within rows, whose scores are rows of rows: those of each query.
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

// known returns the number of features of x, -1 where it is not known.
func known(x tensor.Tensor) int { return max(-1, x.Shape().Dim(-1)) }

// size returns the size of an axis, an int64.
func size(x tensor.Tensor, axis int) tensor.Tensor {
	return ops.Index(ops.Cast(ops.Shape(x), dtype.Int64), axis)
}

// offsets returns how far each of n queries is behind each of m keys, counted from the last:
// [n, m].
func offsets(n, m tensor.Tensor) tensor.Tensor {
	query := ops.Add(ops.Range(int64(0), n, int64(1)), ops.Sub(m, n))
	return ops.Sub(ops.ExpandDims(query, -1), ops.Range(int64(0), m, int64(1)))
}

// offsets returns how far each query is behind each key of its row, counted from the last: [pairs].
func (in *divided) offsets() tensor.Tensor {
	n, m := rows.Lengths(in.queries), rows.Lengths(in.keys)
	query := ops.Add(rows.Offsets(in.queries, -1), rows.Repeat(ops.Sub(m, n), in.queries, -1))
	keys := rows.FromLengths(rows.Repeat(m, in.queries, -1)) // those of each query
	return ops.Sub(rows.Repeat(query, keys, -1), rows.Offsets(keys, -1))
}

// seen returns where a mask is true and what is so far away is seen; nil is everywhere.
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

// weights returns the softmax of scores over what is seen, and zeros where that is nothing.
func weights(scores, mask tensor.Tensor) tensor.Tensor {
	if mask == nil {
		return ops.Softmax(scores, -1)
	}
	w := ops.Softmax(ops.Where(mask, scores, negInf(scores)), -1)
	return ops.Where(mask, w, 0.0)
}

// slanted adds a feature to queries and keys [..., n, heads, d] whose product is slope·j/scale.
// Beside what a causal query sees, that differs from -slope·(i-j) by what is the same for all
// its keys, so that the softmax is the same.
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

// RotaryOptions are those of [Rotary]. The zero value is the default.
type RotaryOptions struct {
	Base        float64 // of the angles; 0 stands for 10,000
	Interleaved bool    // features 2i and 2i+1 make a pair, otherwise i and i+d/2
}

// Rotary turns pairs of features by angles that grow with the position, so that products
// depend on distances (J. Su et al., Neurocomputing 568, 2024): pair i by
// position·Base^(-2i/d).
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
		tenon.Throw(tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("%s has no pairs of features of heads at positions", tenon.String(x.Spec()))))
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

// Sinusoidal returns the vectors of positions of A. Vaswani et al.: sine and cosine of
// p·10000^(-2i/width) in turn.
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

// sinusoids returns, for each feature, by how much the angle of its sine grows with a position, and where it
// starts: a cosine is a sine a quarter of a turn ahead.
func sinusoids(width int) (rates, phases []float64) {
	rates, phases = make([]float64, width), make([]float64, width)
	for j := range width {
		rates[j] = math.Pow(10_000, -float64(j-j%2)/float64(width))
		phases[j] = float64(j%2) * math.Pi / 2
	}
	return rates, phases
}
