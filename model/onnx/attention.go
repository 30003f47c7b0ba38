package onnx

import (
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
)

// heads reshapes [batch, positions, heads·size] to [batch, heads, positions, size].
func heads(x T, n int) T {
	if rank(x) == 4 {
		return x
	}
	if n <= 0 {
		refuse(tenon.ErrInvalid, "the number of heads is missing")
	}
	d := dims(x)
	return ops.Transpose(ops.Reshape(x, []int{d[0], d[1], n, d[2] / n}), 0, 2, 1, 3)
}

// together is the inverse of heads.
func together(x T) T {
	d := dims(x)
	return ops.Reshape(ops.Transpose(x, 0, 2, 1, 3), []int{d[0], d[2], d[1] * d[3]})
}

// attention is the operation since version 23: scaled products of queries and keys, a cap, a
// mask or bias, and a cache of earlier keys and values.
func attention(c *call) []any {
	flat := rank(c.x(0)) == 3
	q := heads(c.x(0), c.int("q_num_heads", 0))
	k := heads(c.x(1), c.int("kv_num_heads", 0))
	v := heads(c.x(2), c.int("kv_num_heads", 0))
	past := 0
	if c.has(4) {
		past = dims(c.x(4))[2]
		k = ops.Concat([]any{c.x(4), k}, 2)
	}
	if c.has(5) {
		v = ops.Concat([]any{c.x(5), v}, 2)
	}
	presentKey, presentValue := k, v
	scale := math.Sqrt(c.float("scale", 1/math.Sqrt(float64(dims(q)[3]))))
	if times := dims(q)[1] / dims(k)[1]; times > 1 {
		k, v = ops.Repeat(k, times, 1), ops.Repeat(v, times, 1)
	}
	scores := ops.MatMulT(ops.Mul(q, like(scale, q)), ops.Mul(k, like(scale, k)), false, true)
	mode := c.int("qk_matmul_output_mode", 0)
	shown := scores
	if limit := c.float("softcap", 0); limit > 0 {
		by := like(limit, scores)
		scores = ops.Mul(ops.Tanh(ops.Div(scores, by)), by)
		if mode == 1 {
			shown = scores
		}
	}
	scores = c.masked(scores, past, dims(q)[0])
	if mode == 2 || mode == 1 && c.float("softcap", 0) <= 0 && c.opset < 0 {
		shown = scores
	}
	wide := ops.Cast(scores, c.dtype("softmax_precision", scores.DType()))
	weights := ops.Softmax(wide, -1)
	if mode == 3 {
		shown = weights
	}
	out := ops.Cast(ops.MatMul(weights, ops.Cast(v, weights.DType())), q.DType())
	if flat {
		out = together(out)
	}
	return []any{out, presentKey, presentValue, ops.Cast(shown, q.DType())}
}

// masked adds -∞ to the scores of hidden keys.
func (c *call) masked(scores T, past, batch int) T {
	d := dims(scores)
	queries, keys := d[2], d[3]
	hidden := like(math.Inf(-1), scores)
	if c.has(3) {
		mask := c.x(3)
		if short := keys - dims(mask)[rank(mask)-1]; short > 0 {
			margins := make([][]int, rank(mask))
			for i := range margins {
				margins[i] = []int{0, 0}
			}
			margins[rank(mask)-1][1] = short
			value := any(false)
			if mask.DType() != dtype.Bool {
				value = like(math.Inf(-1), mask)
			}
			mask = ops.Pad(mask, margins, ops.PadOptions{Value: value})
		}
		if mask.DType() == dtype.Bool {
			scores = ops.Where(mask, scores, hidden)
		} else {
			scores = ops.Add(scores, ops.Cast(mask, scores.DType()))
		}
	}
	at := ops.Range(int64(0), int64(keys), int64(1))
	if c.flag("is_causal") {
		row := ops.Reshape(ops.Range(int64(past), int64(past+queries), int64(1)), []int{queries, 1})
		scores = ops.Where(ops.LessEqual(at, row), scores, hidden)
	}
	if c.has(6) {
		n := ops.Reshape(ops.Cast(c.x(6), dtype.Int64), []int{batch, 1, 1, 1})
		scores = ops.Where(ops.Less(at, n), scores, hidden)
	}
	return scores
}

// rotary rotates pairs of features by angles that grow with the position.
func rotary(c *call) []any {
	x := c.x(0)
	flat := rank(x) == 3
	y := heads(x, c.int("num_heads", 0)) // [batch, heads, positions, size]
	d := dims(y)
	n := c.int("rotary_embedding_dim", 0)
	if n == 0 {
		n = d[3]
	}
	cos, sin := c.x(1), c.x(2)
	if c.has(3) {
		at := forward(c.x(3), cos, 0)
		cos, sin = ops.Gather(cos, at, 0), ops.Gather(sin, at, 0) // [batch, positions, n/2]
	}
	cos, sin = ops.ExpandDims(cos, 1), ops.ExpandDims(sin, 1)
	turn, rest := ops.Index(y, key.Ellipsis, key.To(n)), ops.Index(y, key.Ellipsis, key.From(n))
	var a, b T
	interleaved := c.flag("interleaved")
	if interleaved {
		a, b = ops.Index(turn, key.Ellipsis, key.Range(0, nil, 2)), ops.Index(turn, key.Ellipsis, key.Range(1, nil, 2))
	} else {
		a, b = ops.Index(turn, key.Ellipsis, key.To(n/2)), ops.Index(turn, key.Ellipsis, key.From(n/2))
	}
	real := ops.Sub(ops.Mul(cos, a), ops.Mul(sin, b))
	imag := ops.Add(ops.Mul(sin, a), ops.Mul(cos, b))
	if interleaved {
		turn = ops.Reshape(ops.Stack([]any{real, imag}, -1), append(append([]int(nil), d[:3]...), n))
	} else {
		turn = ops.Concat([]any{real, imag}, -1)
	}
	y = ops.Concat([]any{turn, rest}, -1)
	if flat {
		y = together(y)
	}
	return one(y)
}
