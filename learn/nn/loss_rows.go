package nn

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// rowsOf returns the items and row splits of rows of items: the innermost rows of a ragged value, those along an axis of
// a dense one, or the items of a masked one that are not missing. An item has the given number of axes. wrap arranges
// results of all rows as the rows are.
func rowsOf(fn string, x tensor.Tensor, axes int) (items, splits tensor.Tensor, wrap func(each tensor.Tensor) tensor.Tensor) {
	switch t := x.(type) {
	case rowed:
		in := inner(t)
		items, _ = in.Carried()
		if items.Shape().Rank() == axes+1 {
			return items, in.RowSplits(), func(each tensor.Tensor) tensor.Tensor { return withRows(each, t) }
		}
	case someMissing:
		if items, _ := t.Carried(); items.Shape().Rank()-axes == t.Mask().Shape().Rank() && t.Mask().Shape().Rank() > 0 {
			there := t.Mask()
			return ops.BooleanMask(items, there, 0), rows.FromLengths(ops.Reshape(ops.Sum(ops.Cast(there, dtype.Int64), -1), []int{-1})), alongAxes(there, there.Shape().Rank()-1)
		}
	case dimensioned, tensor.Carrier:
	default:
		if at := x.Shape().Rank() - axes - 1; at >= 0 { // all axes before the items are those of rows
			lead := ops.Slice(ops.Shape(x), []int{0}, []int{at})
			return withoutAxis(x, at), rows.Uniform(size(x, at), ops.Prod(lead)), alongAxes(x, at)
		}
	}
	e := tenon.NewError(tenon.ErrUnsupported, fn, fmt.Sprintf("%s does not have rows of items of rank %d", tenon.String(x.Spec()), axes))
	e.Hint = "give a ragged, masked or dense tensor; named.Unnamed removes names"
	tenon.Throw(e)
	return nil, nil, nil
}

// withoutAxis makes one axis of all axes up to one.
func withoutAxis(x tensor.Tensor, axis int) tensor.Tensor {
	s := x.Shape()
	if rest := s.Slice(axis+1, s.Rank()); rest.IsFull() && rest.Size() > 0 {
		return ops.Reshape(x, append([]int{-1}, rest.Dims()...))
	}
	return ops.Reshape(x, ops.Concat([]any{ops.ExpandDims(ops.Prod(ops.Slice(ops.Shape(x), []int{0}, []int{axis + 1})), 0), ops.Slice(ops.Shape(x), []int{axis + 1}, []int{-1})}, 0))
}

// alongAxes returns a function that gives the results of all rows, one for each, the first n axes of x.
func alongAxes(x tensor.Tensor, n int) func(each tensor.Tensor) tensor.Tensor {
	return func(each tensor.Tensor) tensor.Tensor {
		lead, rest := x.Shape().Slice(0, n), each.Shape().Slice(1, each.Shape().Rank())
		if rest.IsFull() && (lead.IsFull() || n == 1 && rest.Size() > 0) {
			dims := lead.Dims()
			for i, d := range dims {
				dims[i] = max(d, -1)
			}
			return ops.Reshape(each, append(dims, rest.Dims()...))
		}
		return ops.Reshape(each, ops.Concat([]any{ops.Slice(ops.Shape(x), []int{0}, []int{n}), ops.Slice(ops.Shape(each), []int{1}, []int{-1})}, 0))
	}
}

// perRow applies f to the scores and the relevance of the items of each row.
func perRow(fn string, scores, relevance tensor.Tensor, f func(s, r, splits tensor.Tensor) tensor.Tensor) tensor.Tensor {
	s, splits, wrap := rowsOf(fn, scores, 0)
	r, other, _ := rowsOf(fn, relevance, 0)
	rows.AssertSame(splits, other)
	return wrap(f(s, ops.Cast(r, s.DType()), splits))
}

// PairwiseLogistic returns, for each row, the mean of log(1 + e^(s₂ - s₁)) over all pairs of
// items of which the first is more relevant (C. Burges et al., ICML 2005); 0 if there is no
// such pair.
//
//	scores, relevance: [rows, (items)] → [rows]
func PairwiseLogistic(scores, relevance tensor.Tensor) tensor.Tensor {
	return perRow("nn.PairwiseLogistic", scores, relevance, func(s, r, splits tensor.Tensor) tensor.Tensor {
		pairs, index := rows.Cartesian([]tensor.Tensor{splits, splits}, false)
		at := func(x tensor.Tensor, i int) tensor.Tensor { return ops.Gather(x, index[i], 0) }
		above := ops.Cast(ops.Greater(at(r, 0), at(r, 1)), s.DType())
		loss := ops.Mul(ops.Softplus(ops.Sub(at(s, 1), at(s, 0))), above)
		return ops.Div(rows.Sum(loss, pairs), ops.Maximum(rows.Sum(above, pairs), 1.0))
	})
}

// ListNet returns -Σ softmax(relevance)·log softmax(scores) of each row (Z. Cao et al., ICML
// 2007); 0 for a row without items.
//
//	scores, relevance: [rows, (items)] → [rows]
func ListNet(scores, relevance tensor.Tensor) tensor.Tensor {
	return perRow("nn.ListNet", scores, relevance, func(s, r, splits tensor.Tensor) tensor.Tensor {
		return ops.Neg(rows.Sum(ops.Mul(rows.Softmax(r, splits), rows.LogSoftmax(s, splits)), splits))
	})
}
