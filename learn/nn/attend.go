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
	return attend(fn, query, key, value, h, g, o.Mask, o.Sight)
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

// attend is [Attend] for h heads of queries and g of keys and values.
func attend(fn string, q, k, v tensor.Tensor, h, g int, mask tensor.Tensor, s Sight) tensor.Tensor {
	served(fn, h, g, s)
	q, scale := scaled(q, s)
	if s.slants(q.DType()) {
		q, k = slanted(q, k, h, ops.Range(int64(0), size(k, -3), int64(1)), scale)
	}
	// [..., key heads, heads of each, n, d]
	q = ops.MoveAxis(withLast(q, 2, g, h/g, known(q)), -4, -2)
	k, v = ops.ExpandDims(ops.SwapAxes(k, -3, -2), -3), ops.ExpandDims(ops.SwapAxes(v, -3, -2), -3)
	if mask != nil && mask.Shape().Rank() > 2 {
		mask = ops.ExpandDims(ops.ExpandDims(mask, -3), -3)
	}
	var far tensor.Tensor // |i - j|
	if s.Window > 0 || s.scores(q.DType()) {
		off := offsets(size(q, -2), size(k, -2))
		mask, far = s.seen(mask, off), ops.Abs(off)
	}
	var y tensor.Tensor
	if s.scores(q.DType()) {
		slopes := ops.Reshape(ops.Cast(tensor.Of(alibi(h)), q.DType()), []int{g, h / g, 1, 1})
		scores := ops.Sub(ops.Mul(ops.MatMulT(q, k, false, true), scale), ops.Mul(ops.Cast(far, q.DType()), slopes))
		y = ops.MatMul(weights(scores, mask), v)
	} else {
		o := ops.AttentionOptions{Causal: s.Causal, Scale: scale}
		if mask != nil {
			o.Mask = mask
		}
		y = ops.Attention(q, k, v, o)
	}
	return withLast(ops.MoveAxis(y, -2, -4), 3, h, known(v))
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

// attendRows is attend within rows: [n, heads, d], [m, key heads, d], [m, key heads, e] → [n, heads, e].
func attendRows(fn string, q, k, v tensor.Tensor, h, g int, splits, ends tensor.Tensor, s Sight) tensor.Tensor {
	served(fn, h, g, s)
	q, scale := scaled(q, s)
	if s.Window == 0 && !s.scores(q.DType()) {
		if s.ALiBi {
			q, k = slanted(q, k, h, rows.Offsets(ends, -1), scale)
		}
		if g < h {
			k, v = ops.Repeat(k, h/g, -2), ops.Repeat(v, h/g, -2)
		}
		flat := func(x tensor.Tensor) tensor.Tensor {
			if d := known(x); d >= 0 {
				return withLast(x, 2, h*d)
			}
			return withLast(x, 2, -1)
		}
		y := rows.Attention(flat(q), flat(k), flat(v), splits, ends, rows.AttentionOptions{Heads: h, Causal: s.Causal, Scale: scale})
		return withLast(y, 1, h, known(v))
	}
	// Scores are rows of rows: those of each query.
	in := func(x tensor.Tensor, splits tensor.Tensor, head int) tensor.Tensor {
		return tenon.Must(ragged.FromRowSplits(ops.Index(x, key.All, head), splits))
	}
	slopes := alibi(h)
	heads := make([]any, h)
	for i := range heads {
		scores := ops.MatMulT(in(q, splits, i), in(k, ends, i*g/h), false, true).(*ragged.Tensor)
		p := scores.Partitions()
		shift := ops.Sub(rows.Lengths(ends), rows.Lengths(splits))
		query := ops.Add(p[0].OffsetsInRows(), rows.Repeat(shift, splits, -1))
		off := ops.Sub(ops.Gather(query, p[1].ValueRowIDs(), 0), p[1].OffsetsInRows())
		w := ops.Mul(scores.FlatValues(), scale)
		if s.ALiBi {
			w = ops.Sub(w, ops.Mul(ops.Cast(ops.Abs(off), w.DType()), slopes[i]))
		}
		mask := s.seen(nil, off)
		if mask != nil {
			mask = tenon.Must(scores.WithFlatValues(mask))
		}
		share := weights(tenon.Must(scores.WithFlatValues(w)), mask)
		heads[i] = flatOf(ops.MatMul(share, in(v, ends, i*g/h)))
	}
	return ops.Stack(heads, -2)
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
