package rows

import (
	"math"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A headed side of attention: the items of each row, taken apart into one matrix for each row
// and head, head after head.
type headed struct {
	splits  tensor.Tensor // of the items of rows
	lengths tensor.Tensor // int64[rows·heads]: how many items a matrix has
	starts  tensor.Tensor // int64[rows·heads+1]: where its items lie
	heads   int
	there   tensor.Tensor // which of the items' heads is at each place; nil with one head
	back    tensor.Tensor // at which place each of the items' heads is
}

func headedRows(splits tensor.Tensor, heads int) headed {
	splits = ops.Cast(splits, dtype.Int64)
	h := headed{splits: splits, lengths: ops.Repeat(Lengths(splits), heads, 0), heads: heads}
	h.starts = FromLengths(h.lengths)
	if heads == 1 {
		return h
	}
	n := int64(heads)
	matrix := RowIDs(h.starts, -1)
	first := ops.Gather(splits, ops.FloorDiv(matrix, n), 0)
	h.there = ops.Add(ops.Mul(ops.Add(first, Offsets(h.starts, -1)), n), ops.Mod(matrix, n))
	row := ops.ExpandDims(ops.Mul(RowIDs(splits, -1), n), 1) // the first matrix of each item's row
	matrices := ops.Add(row, ops.Range(int64(0), n, int64(1)))
	h.back = ops.Add(ops.Gather(h.starts, matrices, 0), ops.ExpandDims(Offsets(splits, -1), 1))
	return h
}

// matrices returns the elements of x [items, heads·width], one matrix after the other, and the
// sizes of the matrices.
func (h headed) matrices(x tensor.Tensor) (elements, sizes tensor.Tensor) {
	width := ops.FloorDiv(widthOf(x), int64(h.heads))
	sizes = ops.Stack([]tensor.Tensor{h.lengths, ops.Add(ops.ZerosLike(h.lengths), width)}, 1)
	if h.heads > 1 {
		each := ops.Mul(ops.Slice(ops.Shape(x), []int{0}, []int{1}), int64(h.heads))
		x = ops.Gather(ops.Reshape(x, ops.Concat([]any{each, width}, 0)), h.there, 0)
	}
	return ops.Reshape(x, []int{-1}), sizes
}

// items is the inverse of matrices, for what has the shape of another tensor.
func (h headed) items(elements, like tensor.Tensor) tensor.Tensor {
	if h.heads > 1 {
		width := ops.FloorDiv(widthOf(like), int64(h.heads))
		each := ops.Mul(ops.Slice(ops.Shape(like), []int{0}, []int{1}), int64(h.heads))
		elements = ops.Gather(ops.Reshape(elements, ops.Concat([]any{each, width}, 0)), h.back, 0)
	}
	y := ops.Reshape(elements, ops.Shape(like))
	if !y.Shape().SubtypeOf(like.Shape()) {
		y = ops.EnsureShape(y, like.Shape())
	}
	return y
}

// widthOf returns the size of the last axis of a matrix: int64[1].
func widthOf(x tensor.Tensor) tensor.Tensor { return ops.Slice(ops.Shape(x), []int{1}, []int{1}) }

// vjpAttentionGrad is the gradient of the gradients of attention: of query, key, value and
// cotangent. It consists of products of the matrices of each row and head, which have
// gradients themselves, so that derivatives of any order exist; the scores of all rows are in
// memory, and nothing is filled up. With s = scale·q·k, p its softmax, dp = ct·v and
// ds = p·(dp - Σ p·dp), the gradients are scale·ds·k, scale·ds·q and p·ct.
func vjpAttentionGrad(c *op.Call, u []tensor.Tensor) []tensor.Tensor {
	heads, scale := c.Int(6), c.Float(7)
	queries, keys := headedRows(c.Tensor(4), heads), headedRows(c.Tensor(5), heads)
	d := c.Tensor(0).DType()
	var factor tensor.Tensor
	if scale != 0 {
		factor = ops.Cast(scale, d)
	} else {
		depth := ops.Cast(ops.FloorDiv(widthOf(c.Tensor(0)), int64(heads)), d)
		factor = ops.Rsqrt(ops.Maximum(depth, ops.Cast(1, d)))
	}
	cotangent := func(i int) tensor.Tensor { // of a gradient that is not used, nil
		if u[i] == nil {
			return ops.ZerosLike(c.Tensor(i))
		}
		return u[i]
	}
	q, qn := queries.matrices(c.Tensor(0))
	k, kn := keys.matrices(c.Tensor(1))
	v, vn := keys.matrices(c.Tensor(2))
	g, gn := queries.matrices(c.Tensor(3))
	uq, _ := queries.matrices(cotangent(0))
	uk, _ := keys.matrices(cotangent(1))
	uv, _ := keys.matrices(cotangent(2))
	q, uq = ops.Mul(q, factor), ops.Mul(uq, factor)

	// One line of scores for each query of each matrix.
	matrix := RowIDs(queries.starts, -1)
	seen := ops.Gather(keys.lengths, matrix, 0)
	lines := FromLengths(seen)
	sn := ops.Stack([]tensor.Tensor{queries.lengths, keys.lengths}, 1)
	sum := func(x tensor.Tensor) tensor.Tensor { return Repeat(Sum(x, lines), lines, -1) }
	s := MatMul(q, k, qn, kn, false, true)
	var p tensor.Tensor
	if c.Bool(8) { // causal: the last query sees all keys, each one before it one key less
		last := ops.Add(Offsets(queries.starts, -1), ops.Gather(ops.Sub(keys.lengths, queries.lengths), matrix, 0))
		visible := ops.LessEqual(Offsets(lines, -1), Repeat(last, lines, -1))
		lowest := -math.MaxFloat32
		if d == dtype.Float64 {
			lowest = -math.MaxFloat64
		}
		p = ops.Where(visible, Softmax(ops.Where(visible, s, ops.Cast(lowest, d)), lines), ops.Cast(0, d))
	} else {
		p = Softmax(s, lines)
	}
	through := func(x tensor.Tensor) tensor.Tensor { return ops.Mul(p, ops.Sub(x, sum(ops.Mul(p, x)))) }
	dp := MatMul(g, v, gn, vn, false, true)
	ds := through(dp)
	w := ops.Add(MatMul(uq, k, qn, kn, false, true), MatMul(q, uk, qn, kn, false, true)) // the cotangent of ds
	gp := ops.Add(MatMul(g, uv, gn, vn, false, true),
		ops.Sub(ops.Mul(w, ops.Sub(dp, sum(ops.Mul(p, dp)))), ops.Mul(dp, sum(ops.Mul(p, w)))))
	gs, gdp := through(gp), through(w)

	gq := ops.Add(MatMul(ds, uk, sn, kn, false, false), MatMul(gs, k, sn, kn, false, false))
	gk := ops.Add(MatMul(ds, uq, sn, qn, true, false), MatMul(gs, q, sn, qn, true, false))
	gv := MatMul(gdp, g, sn, gn, true, false)
	gg := ops.Add(MatMul(p, uv, sn, vn, false, false), MatMul(gdp, v, sn, vn, false, false))
	return []tensor.Tensor{
		queries.items(ops.Mul(gq, factor), c.Tensor(0)), keys.items(gk, c.Tensor(1)), keys.items(gv, c.Tensor(2)), queries.items(gg, c.Tensor(3)), nil, nil,
	}
}
