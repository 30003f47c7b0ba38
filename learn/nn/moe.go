package nn

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// Experts is a mixture of experts (N. Shazeer et al., ICLR 2017): each item is processed by
// those that the gate ranks highest:
//
//	y = Σ pₑ·(activation(x·Upₑ)·Downₑ),   p = softmax of x·Gate over the best Top
//
// The items of an expert are a row of a ragged tensor, so none is dropped and nothing is
// padded, however unevenly they are distributed.
type Experts struct {
	Gate       tensor.Tensor // [features, experts]
	Up         tensor.Tensor // [experts, features, hidden]
	Down       tensor.Tensor // [experts, hidden, features]
	Top        int           `tenon:"static"`
	Activation Activation    `tenon:"static"` // "" means Relu
	Names      Names         `tenon:"static"`
}

// ExpertOptions are the options of [NewExperts]. The zero value is the default.
type ExpertOptions struct {
	Top        int // experts for each item; 0 means 2, or 1 if there is only one
	Activation Activation
	Init       Init // "" stands for GlorotUniform
	DType      dtype.DType
	Names      Names
}

// NewExperts returns a layer whose output has as many features as its input.
func NewExperts(key tensor.Tensor, experts, features, hidden int, options ...ExpertOptions) Experts {
	o := option(options)
	if o.Top == 0 {
		o.Top = min(2, experts)
	}
	if experts < 1 || o.Top < 1 || o.Top > experts {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, "nn.NewExperts", fmt.Sprintf("items cannot go to %d of %d experts", o.Top, experts)))
	}
	k, d, how := keys(key, 3), floatType(o.DType), orInit(o.Init, GlorotUniform)
	return Experts{
		Gate: Initialize(how, k[0], d, features, experts),
		Up:   initializeEach(how, k[1], d, experts, features, hidden),
		Down: initializeEach(how, k[2], d, experts, hidden, features),
		Top:  o.Top, Activation: o.Activation, Names: o.Names,
	}
}

// initializeEach returns n kernels, initialized independently.
func initializeEach(how Init, key tensor.Tensor, d dtype.DType, n int, dims ...int) tensor.Tensor {
	each := make([]any, n)
	for i, k := range keys(key, n) {
		each[i] = Initialize(how, k, d, dims...)
	}
	return ops.Stack(each, 0)
}

// Apply returns the layer's output.
//
//	x: [..., features], dense or ragged, or {..., In} → the same
func (l Experts) Apply(x tensor.Tensor) tensor.Tensor {
	return onFeatures("nn.Experts", x, l.Names, func(x tensor.Tensor) tensor.Tensor {
		features := ops.Slice(ops.Shape(l.Gate), []int{0}, []int{1})
		items := ops.Reshape(x, ops.Concat([]any{[]int64{-1}, features}, 0))
		best, to := ops.TopK(ops.MatMul(items, l.Gate), l.Top)
		each := l.route(items, ops.Reshape(to, []int{-1}))
		each = ops.Reshape(each, ops.Concat([]any{ops.Shape(to), features}, 0)) // [items, Top, features]
		return ops.Reshape(ops.Sum(ops.Mul(each, ops.ExpandDims(ops.Softmax(best, -1), -1)), -2), ops.Shape(x))
	})
}

// route returns the output of the expert with each id for the item; each item has Top ids.
func (l Experts) route(items, ids tensor.Tensor) tensor.Tensor {
	order := ops.ArgSort(ids, 0, ops.SortOptions{})
	splits := rows.FromRowIDs(ops.Gather(ids, order, 0), size(l.Gate, 1))
	in := tenon.Must(ragged.FromRowSplits(ops.Gather(items, ops.FloorDiv(order, int64(l.Top)), 0), splits))
	a := l.Activation
	if a == "" {
		a = Relu
	}
	hidden := a.Apply(flatOf(ops.MatMul(in, l.Up)))
	out := flatOf(ops.MatMul(tenon.Must(ragged.FromRowSplits(hidden, splits)), l.Down))
	return ops.Gather(out, ops.ArgSort(order, 0, ops.SortOptions{}), 0)
}

// flatOf returns the items of rows.
func flatOf(x tensor.Tensor) tensor.Tensor {
	items, _ := x.(rowed).Carried()
	return items
}
