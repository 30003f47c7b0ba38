package nn

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// Set maps the items of each row, whose order does not matter, to one vector (M. Zaheer et al., NeurIPS
// 2017): y = Out(pooled over i of Each(xᵢ)).
type Set struct {
	Each, Out MLP
	Pool      SetPool
}

// SetPool pools the vectors of the items of a row: by the sum, mean or maximum of each feature or, if
// there is a Query, by a mean with weights softmaxᵢ(xᵢ·Query), head by head.
type SetPool struct {
	Query tensor.Tensor // [features, heads], or nil
	Kind  Combiner      `tenon:"static"` // BagSum, BagMean or BagMax, used without a Query
	Names Names         `tenon:"static"`
}

// SetOptions are the options of [NewSet]. The zero value is the default.
type SetOptions struct {
	Heads      int        // of a weighted pool, a divisor of the last size of Each; 0: none
	Pool       Combiner   // without heads: BagSum, BagMean or BagMax
	Activation Activation // between the layers of Each and of Out, as in an MLP
	DType      dtype.DType
}

// NewSet returns a layer for items of each[0] features. each lists the sizes of the layers that are applied
// to each item; out lists those that are applied to the pooled vector, after the last size of each.
func NewSet(key tensor.Tensor, each, out []int, options ...SetOptions) Set {
	const fn = "nn.NewSet"
	o := option(options)
	k := keys(key, 3)
	if len(each) < 2 || len(out) < 1 || o.Heads < 0 || o.Heads > 0 && each[len(each)-1]%o.Heads != 0 {
		tenon.Throw(tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("%v features of each item, %v of the whole, and %d heads", each, out, o.Heads)))
	}
	last := each[len(each)-1]
	mlp := MLPOptions{Activation: o.Activation, DType: o.DType}
	s := Set{Each: NewMLP(k[0], each, mlp), Out: NewMLP(k[1], append([]int{last}, out...), mlp), Pool: SetPool{Kind: o.Pool}}
	if o.Heads > 0 {
		s.Pool.Query = Initialize(GlorotUniform, k[2], floatType(o.DType), last, o.Heads)
	}
	return s
}

// Apply returns the layer's output. A row without items is pooled to the vector 0.
//
//	x: [rows, (items), features] ragged, or [rows, items, features] dense or masked → [rows, features]
func (s Set) Apply(x tensor.Tensor) tensor.Tensor { return s.Out.Apply(s.Pool.Apply(s.Each.Apply(x))) }

// Apply returns the layer's output. A row without items is pooled to the vector 0. Missing items of a
// masked x are ignored.
//
//	x: [rows, (items), features] ragged, [rows, items, features] masked, [..., items, features] dense,
//	or {..., Along, In} → [rows, features]
func (l SetPool) Apply(x tensor.Tensor) tensor.Tensor {
	const fn = "nn.SetPool"
	if t, ok := x.(dimensioned); ok {
		return unnamed(fn, t, []named.Name{l.Names.Along, l.Names.In}, []named.Name{l.Names.out()}, SetPool{Query: l.Query, Kind: l.Kind}.Apply)
	}
	items, splits, wrap := rowsOf(fn, x, 1)
	some := ops.ExpandDims(ops.Greater(rows.Lengths(splits), 0), -1)
	var y tensor.Tensor
	switch {
	case l.Query != nil:
		heads := l.Query.Shape().Dim(1)
		w := rows.Softmax(ops.MatMul(items, l.Query), splits) // [items, heads]
		each := withLast(items, 1, heads, l.Query.Shape().Dim(0)/heads)
		y = withLast(rows.Sum(ops.Mul(each, ops.ExpandDims(w, -1)), splits), 2, l.Query.Shape().Dim(0))
	case l.Kind == BagSum:
		y = rows.Sum(items, splits)
	case l.Kind == BagMean:
		y = rows.Mean(items, splits)
	case l.Kind == BagMax:
		y = rows.Max(items, splits)
	default:
		e := tenon.NewError(tenon.ErrNotFound, fn, fmt.Sprintf("there is no pool %q", string(l.Kind)))
		e.Hint = `there are "", "mean" and "max"`
		tenon.Throw(e)
	}
	return wrap(ops.Where(some, y, 0.0))
}
