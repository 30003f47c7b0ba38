package nn

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// rowsOf returns the items and row splits of rows of items: the innermost rows of a ragged
// value, or those along an axis of a dense one. An item has the given number of axes.
func rowsOf(fn string, x tensor.Tensor, axes int) (items, splits tensor.Tensor, wrap func(each tensor.Tensor) tensor.Tensor) {
	switch t := x.(type) {
	case rowed:
		in := inner(t)
		items, _ = in.Carried()
		if items.Shape().Rank() == axes+1 {
			return items, in.RowSplits(), func(each tensor.Tensor) tensor.Tensor { return withRows(each, t) }
		}
	case dimensioned, tensor.Carrier:
	default:
		if s := x.Shape(); s.HasRank() && s.Rank() >= axes+2 && s.IsFull() {
			dims := s.Dims()
			at := len(dims) - axes - 1
			lead, n := s.Slice(0, at), dims[at]
			items = ops.Reshape(x, append([]int{lead.Size() * n}, dims[at+1:]...))
			return items, rows.Uniform(int64(n), int64(lead.Size())), func(each tensor.Tensor) tensor.Tensor { return ops.Reshape(each, lead.Dims()) }
		}
	}
	e := tenon.NewError(tenon.ErrUnsupported, fn, fmt.Sprintf("%s does not have rows of items of rank %d", tenon.String(x.Spec()), axes))
	e.Hint = "give a ragged tensor, or a dense one of known shape"
	tenon.Throw(e)
	return nil, nil, nil
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
