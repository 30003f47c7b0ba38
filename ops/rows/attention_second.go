package rows

import (
	"math"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Labels of the axes of padded rows: rows, queries, heads, features of queries and keys,
// keys, features of values.
var (
	queryLabels  = []int{0, 1, 2, 3}
	keyLabels    = []int{0, 4, 2, 3}
	valueLabels  = []int{0, 4, 2, 5}
	resultLabels = []int{0, 1, 2, 5}
	scoreLabels  = []int{0, 2, 1, 4}
)

// vjpAttentionGrad is the gradient of the gradients of attention: of query, key, value and
// cotangent. It fills the rows up to one length and consists of operations that have
// gradients themselves, so that derivatives of any order exist; memory is needed for the
// scores of all rows, filled up. With s = scale·q·k, p its softmax, dp = ct·v and
// ds = p·(dp - Σ p·dp), the gradients are scale·ds·k, scale·ds·q and p·ct.
func vjpAttentionGrad(c *op.Call, u []tensor.Tensor) []tensor.Tensor {
	qs, ks, heads, scale := c.Value(4), c.Value(5), c.Int(6), c.Float(7)
	lq, lk := Lengths(qs), Lengths(ks)
	most := func(lengths tensor.Tensor) tensor.Tensor { return ops.Max(ops.Concat([]any{lengths, []int64{1}}, 0)) }
	n, m := most(lq), most(lk)
	one := func(x tensor.Tensor) tensor.Tensor { return ops.Reshape(x, []int{1}) }
	columns := func(x tensor.Tensor) tensor.Tensor { return ops.Slice(ops.Shape(x), []int{1}, []int{1}) }
	filled := func(x tensor.Tensor, splits any, width tensor.Tensor) tensor.Tensor {
		return ops.Reshape(ToDense(x, splits, width, nil), ops.Concat([]any{ops.Shape(lq), one(width), []int{heads}, ops.FloorDiv(columns(x), heads)}, 0))
	}
	d := c.Tensor(0).DType()
	var factor tensor.Tensor
	if scale != 0 {
		factor = ops.Cast(scale, d)
	} else {
		depth := ops.Cast(ops.FloorDiv(columns(c.Tensor(0)), heads), d)
		factor = ops.Rsqrt(ops.Maximum(depth, ops.Cast(1, d)))
	}
	q, k, v, g := filled(c.Tensor(0), qs, n), filled(c.Tensor(1), ks, m), filled(c.Tensor(2), ks, m), filled(c.Tensor(3), qs, n)
	cotangent := func(i int) tensor.Tensor { // of a gradient that is not used, nil
		if u[i] == nil {
			return ops.ZerosLike(c.Tensor(i))
		}
		return u[i]
	}
	uq, uk, uv := filled(cotangent(0), qs, n), filled(cotangent(1), ks, m), filled(cotangent(2), ks, m)

	seen := attentionSeen(lq, lk, n, m, c.Bool(8))
	zero := ops.Cast(0, d)
	lowest := -math.MaxFloat32
	if d == dtype.Float64 {
		lowest = -math.MaxFloat64
	}
	q, uq = ops.Mul(q, factor), ops.Mul(uq, factor)
	s := ops.Contract(q, k, queryLabels, keyLabels, scoreLabels)
	p := ops.Where(seen, ops.Softmax(ops.Where(seen, s, ops.Cast(lowest, d)), -1), zero)
	through := func(x tensor.Tensor) tensor.Tensor { return ops.Mul(p, ops.Sub(x, ops.SumKeep(ops.Mul(p, x), -1))) }
	dp := ops.Contract(g, v, resultLabels, valueLabels, scoreLabels)
	ds := through(dp)
	w := ops.Add(ops.Contract(uq, k, queryLabels, keyLabels, scoreLabels), ops.Contract(q, uk, queryLabels, keyLabels, scoreLabels)) // the cotangent of ds
	gp := ops.Add(ops.Contract(g, uv, resultLabels, valueLabels, scoreLabels),
		ops.Sub(ops.Mul(w, ops.Sub(dp, ops.SumKeep(ops.Mul(p, dp), -1))), ops.Mul(dp, ops.SumKeep(ops.Mul(p, w), -1))))
	gs, gdp := through(gp), through(w)

	back := func(x tensor.Tensor, splits any, like tensor.Tensor) tensor.Tensor {
		flat := ops.Reshape(x, ops.Concat([]any{ops.Slice(ops.Shape(x), []int{0}, []int{2}), columns(like)}, 0))
		y := FromDense(flat, splits)
		if !y.Shape().SubtypeOf(like.Shape()) {
			y = ops.EnsureShape(y, like.Shape())
		}
		return y
	}
	gq := ops.Add(ops.Contract(ds, uk, scoreLabels, keyLabels, queryLabels), ops.Contract(gs, k, scoreLabels, keyLabels, queryLabels))
	gk := ops.Add(ops.Contract(ds, uq, scoreLabels, queryLabels, keyLabels), ops.Contract(gs, q, scoreLabels, queryLabels, keyLabels))
	gv := ops.Contract(gdp, g, scoreLabels, resultLabels, valueLabels)
	gg := ops.Add(ops.Contract(p, uv, scoreLabels, valueLabels, resultLabels), ops.Contract(gdp, v, scoreLabels, valueLabels, resultLabels))
	return []tensor.Tensor{
		back(ops.Mul(gq, factor), qs, c.Tensor(0)), back(gk, ks, c.Tensor(1)), back(gv, ks, c.Tensor(2)), back(gg, qs, c.Tensor(3)), nil, nil,
	}
}

// attentionSeen says which keys a query sees: [rows, 1, n, m].
func attentionSeen(lq, lk, n, m tensor.Tensor, causal bool) tensor.Tensor {
	queries, keys := ops.ExpandDims(ops.SequenceMask(lq, n), -1), ops.ExpandDims(ops.SequenceMask(lk, m), -2)
	seen := ops.LogicalAnd(queries, keys)
	if causal {
		last := ops.Add(ops.ExpandDims(ops.Range(0, n, 1), 0), ops.ExpandDims(ops.Sub(lk, lq), -1)) // of each query
		seen = ops.LogicalAnd(seen, ops.LessEqual(ops.Range(0, m, 1), ops.ExpandDims(last, -1)))
	}
	return ops.ExpandDims(seen, 1)
}
