package onnx

import (
	"math"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
)

// attentionOf expresses attention by matrix products and a softmax.
func attentionOf(c *op.Call) T {
	if c.Has(4) || c.Has(5) {
		refuse(tenon.ErrUnsupported, "ONNX has no attention within ragged rows")
	}
	l, err := ops.LabelsOfAttention(c)
	tenon.Throw(err)
	const query, keys = 0, 1
	var batch, depth, width []int
	for _, x := range l.Result {
		switch {
		case x == query:
		case slices.Contains(l.Value, x) && !slices.Contains(l.Query, x) && !slices.Contains(l.Key, x):
			width = append(width, x)
		default:
			batch = append(batch, x)
		}
	}
	for _, x := range l.Query {
		if x != query && !slices.Contains(l.Result, x) {
			depth = append(depth, x)
		}
	}
	d := c.Tensor(0).DType()
	single := func(x T) T {
		if x.DType().Size() == 2 {
			return ops.Cast(x, dtype.Float32)
		}
		return x
	}
	q := laidOut(single(c.Tensor(0)), l.Query, batch, []int{query}, depth)
	k := laidOut(single(c.Tensor(1)), l.Key, batch, []int{keys}, depth)
	v := laidOut(single(c.Tensor(2)), l.Value, batch, []int{keys}, width)
	scale := like(c.Float(11), q)
	if c.Float(11) == 0 {
		scale = ops.Rsqrt(ops.Cast(ops.Maximum(size1(q, rank(q)-1), int64(1)), q.DType()))
	}
	scores := ops.MatMulT(ops.Mul(q, scale), k, false, true)
	seen := T(nil)
	if c.Has(3) {
		seen = laidOut(c.Tensor(3), l.Mask, batch, []int{query}, []int{keys})
	}
	if c.Bool(12) {
		n, m := size1(q, rank(q)-2), size1(k, rank(k)-2)
		last := ops.Add(ops.ExpandDims(ops.Range(int64(0), n, int64(1)), 1), ops.Sub(m, n))
		if causal := ops.LessEqual(ops.Range(int64(0), m, int64(1)), last); seen == nil {
			seen = causal
		} else {
			seen = ops.LogicalAnd(seen, causal)
		}
	}
	var p T
	if seen == nil {
		p = ops.Softmax(scores, -1)
	} else {
		p = ops.Softmax(ops.Where(seen, scores, like(math.Inf(-1), scores)), -1)
		p = ops.Where(seen, p, like(0, p)) // a query that attends to nothing gets zeros
	}
	y := ops.MatMul(p, v)
	// The axes of the result.
	s := []any{ops.Index(sizesOf(y), key.To(rank(y)-1))}
	order := append(slices.Clone(batch), query)
	for _, x := range width {
		s = append(s, ops.Reshape(size1(c.Tensor(2), slices.Index(l.Value, x)), []int{1}))
		order = append(order, x)
	}
	y = ops.Reshape(y, ops.Concat(s, 0))
	return ops.Cast(ops.Transpose(y, places(order, l.Result)...), d)
}

// laidOut orders the axes of x by label: a batch, some of whose axes x may lack, and two groups,
// each of which is merged into one axis.
func laidOut(x T, labels, batch, first, second []int) T {
	var perm []int
	s := []any{}
	for _, l := range batch {
		if i := slices.Index(labels, l); i >= 0 {
			perm = append(perm, i)
			s = append(s, size1(x, i))
		} else {
			s = append(s, int64(1))
		}
	}
	for _, group := range [][]int{first, second} {
		n := any(int64(1))
		for _, l := range group {
			if i := slices.Index(labels, l); i >= 0 {
				perm = append(perm, i)
				n = ops.Mul(n, size1(x, i))
			}
		}
		s = append(s, n)
	}
	return ops.Reshape(ops.Transpose(x, perm...), ops.Stack(s, 0))
}
