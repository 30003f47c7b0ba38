package nn

import (
	"fmt"
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// A Dropping says which elements [Dropout] drops together, and what it replaces them by.
type Dropping string

// What is dropped, at random, in training.
const (
	DropElements Dropping = ""         // single elements; those that stay are multiplied by 1/(1-Rate)
	DropFeatures Dropping = "features" // a feature at all positions of a row (J. Tompson et al., CVPR 2015)
	DropItems    Dropping = "items"    // all features of an item, such as a word
	DropRows     Dropping = "rows"     // entire rows (G. Huang et al., ECCV 2016, "stochastic depth")
	DropAlpha    Dropping = "alpha"    // single elements, so that mean and variance after Selu are kept (G. Klambauer et al., NeurIPS 2017)
	DropGaussian Dropping = "gaussian" // nothing: multiplies each element by a normal random number of mean 1 and variance Rate/(1-Rate) (N. Srivastava et al., JMLR 15, 2014)
)

// Dropout sets random elements to 0 during training and scales up the others.
type Dropout struct {
	Rate  float64  `tenon:"static"` // the share of elements that is dropped
	Kind  Dropping `tenon:"static"`
	Names Names    `tenon:"static"` // In: features; Along or Plane: positions, to find the elements that are dropped together
}

// Apply returns x with random elements dropped, as key determines, or x itself if key is nil,
// as it is outside training.
//
//	x: of any kind; to drop elements together: [rows, positions..., features] dense,
//	[rows, (positions), features] ragged, or {..., Along, In}
func (l Dropout) Apply(key, x tensor.Tensor) tensor.Tensor {
	const fn = "nn.Dropout"
	if l.Rate < 0 || l.Rate >= 1 || l.Rate != l.Rate {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, fn, fmt.Sprintf("the rate is %v, want at least 0 and less than 1", l.Rate)))
	}
	if key == nil || l.Rate == 0 {
		return x
	}
	switch l.Kind {
	case DropElements:
		return onAll(x, func(x tensor.Tensor) tensor.Tensor { return ops.Dropout(key, x, l.Rate) })
	case DropAlpha:
		return onAll(x, func(x tensor.Tensor) tensor.Tensor { return l.alpha(key, x) })
	case DropGaussian:
		return onAll(x, func(x tensor.Tensor) tensor.Tensor {
			noise := ops.RandomNormal(key, ops.Shape(x), x.DType())
			return ops.Mul(x, ops.Add(ops.Mul(noise, math.Sqrt(l.Rate/(1-l.Rate))), 1.0))
		})
	case DropFeatures, DropItems, DropRows:
		return l.together(fn, key, x)
	}
	e := tenon.NewError(tenon.ErrNotFound, fn, fmt.Sprintf("there is no kind of dropping %q", string(l.Kind)))
	e.Hint = `there are "", "features", "items", "rows", "alpha" and "gaussian"`
	tenon.Throw(e)
	return nil
}

// alpha sets elements to the limit of Selu at -Inf, and restores mean and variance.
func (l Dropout) alpha(key, x tensor.Tensor) tensor.Tensor {
	const least = -1.7580993408473766 // -scale·alpha of Selu
	q := 1 - l.Rate
	a := 1 / math.Sqrt(q+least*least*q*l.Rate)
	kept := ops.RandomBernoulli(key, ops.Shape(x), q)
	return ops.Add(ops.Mul(ops.Where(kept, x, least), a), -a*least*l.Rate)
}

// together multiplies elements that are dropped together by one number.
func (l Dropout) together(fn string, key, x tensor.Tensor) tensor.Tensor {
	factors := func(like tensor.Tensor, sizes any) tensor.Tensor {
		return ops.Dropout(key, ops.Ones(like.DType(), sizes), l.Rate)
	}
	switch t := x.(type) {
	case dimensioned:
		return onRows(fn, t, l.Names, func(x tensor.Tensor) tensor.Tensor { return l.together(fn, key, x) })
	case rowed:
		return innermost(fn, t, func(x rowed) tensor.Tensor {
			items, _ := x.Carried()
			features := ops.Slice(ops.Shape(items), []int{1}, []int{1})
			n := ops.ExpandDims(ops.Sub(size(x.RowSplits(), 0), int64(1)), 0)
			var each tensor.Tensor
			switch l.Kind {
			case DropItems:
				each = factors(items, ops.Concat([]any{ops.Slice(ops.Shape(items), []int{0}, []int{1}), []int64{1}}, 0))
			case DropRows:
				each = rows.Repeat(factors(items, ops.Concat([]any{n, []int64{1}}, 0)), x.RowSplits(), -1)
			default:
				each = rows.Repeat(factors(items, ops.Concat([]any{n, features}, 0)), x.RowSplits(), -1)
			}
			return tenon.Must(x.Carry(ops.Mul(items, each)))
		})
	case tensor.Carrier:
		items, _ := t.Carried()
		return tenon.Must(t.Carry(l.together(fn, key, items)))
	}
	rank := x.Shape().Rank()
	if rank < 2 {
		tenon.Throw(tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("%s has no axes of rows and features", tenon.String(x.Spec()))))
	}
	sizes := ops.Shape(x)
	one := func(n int) tensor.Tensor { return ops.Ones(sizes.DType(), []int{n}) }
	part := func(from, n int) tensor.Tensor { return ops.Slice(sizes, []int{from}, []int{n}) }
	switch l.Kind {
	case DropItems:
		sizes = ops.Concat([]any{part(0, rank-1), one(1)}, 0)
	case DropRows:
		sizes = ops.Concat([]any{part(0, 1), one(rank - 1)}, 0)
	default:
		sizes = ops.Concat([]any{part(0, 1), one(rank - 2), part(rank-1, 1)}, 0)
	}
	return ops.Mul(x, factors(x, sizes))
}
