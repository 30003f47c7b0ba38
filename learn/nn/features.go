package nn

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Names says which dimensions of a named tensor a layer works on. Tensors without names need
// none.
type Names struct {
	In    named.Name // the features of the layer's input
	Out   named.Name // the features of its output; nil: In
	Along named.Name // positions, for layers that work along them

	// Plane are the axes of positions, for layers with windows over several axes; nil means
	// Along alone.
	Plane []named.Name
}

func (n Names) out() named.Name {
	if n.Out == nil {
		return n.In
	}
	return n.Out
}

// dimensioned is a tensor whose dimensions have names.
type dimensioned interface {
	tensor.Tensor
	Dims() named.Dims
}

// rowed is a tensor with rows of different lengths.
type rowed interface {
	tensor.Carrier
	RaggedRank() int
	RowSplits() tensor.Tensor
	Values() tensor.Tensor
}

// someMissing is a tensor that may have missing elements.
type someMissing interface {
	tensor.Carrier
	Mask() tensor.Tensor
}

// ofItems returns the items of t and the mask of those that are not missing. The mask of t must
// have all axes except that of the features.
func ofItems(fn string, t someMissing) (items, there tensor.Tensor) {
	items, axes := t.Carried()
	if axes != items.Shape().Rank()-1 {
		tenon.Throw(tenon.NewError(tenon.ErrUnsupported, fn, fmt.Sprintf("the mask of %s is not one of whole items", tenon.String(t.Spec()))))
	}
	return items, t.Mask()
}

// filled is ofItems with fill in place of missing values, so that what is stored there, such as NaN, reaches no sum and
// no gradient.
func filled(fn string, t someMissing, fill float64) (items, there tensor.Tensor) {
	items, there = ofItems(fn, t)
	return ops.Where(elementsThere(t), items, fill), there
}

// elementsThere returns the mask of t with as many axes as its values.
func elementsThere(t someMissing) tensor.Tensor {
	items, axes := t.Carried()
	there := t.Mask()
	for range items.Shape().Rank() - axes {
		there = ops.ExpandDims(there, -1)
	}
	return there
}

// onFeatures applies f, which works on the last axis of a dense tensor, to the features of any
// value. A value that is neither named nor arranged by a [tensor.Carrier] handles the
// operations in f itself.
func onFeatures(fn string, x tensor.Tensor, n Names, f func(tensor.Tensor) tensor.Tensor) tensor.Tensor {
	switch t := x.(type) {
	case dimensioned:
		return unnamed(fn, t, []named.Name{n.In}, []named.Name{n.out()}, func(u tensor.Tensor) tensor.Tensor {
			return onFeatures(fn, u, Names{}, f)
		})
	case tensor.Carrier:
		_, axes := t.Carried()
		if s := t.Shape(); !s.HasRank() || axes < s.Rank() {
			return tenon.Must(t.Carry(onFeatures(fn, carriedBy(t), Names{}, f)))
		}
		if r, ok := x.(rowed); ok {
			noFeatures(fn, r)
		}
	}
	if x.Shape().HasRank() && x.Shape().Rank() == 0 {
		tenon.Throw(tenon.NewError(tenon.ErrShape, fn, "a scalar has no features"))
	}
	return f(x)
}

// carriedBy returns what t carries, with 0 in place of missing elements.
func carriedBy(t tensor.Carrier) tensor.Tensor {
	items, _ := t.Carried()
	if m, ok := t.(someMissing); ok {
		return whereThere(m.Mask(), items)
	}
	return items
}

func noFeatures(fn string, x rowed) {
	e := tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("the innermost dimension of %s is ragged: its items have no features", tenon.String(x.Spec())))
	e.Hint = "look the items up in an nn.Embedding first"
	tenon.Throw(e)
}

// unnamed applies f to a named tensor with the given dimensions last, and names the result's
// dimensions.
func unnamed(fn string, t dimensioned, from, to []named.Name, f func(tensor.Tensor) tensor.Tensor) tensor.Tensor {
	order := batchNames(fn, t, from)
	y := f(named.Unnamed(t, append(append([]named.Name{}, order...), from...)...))
	return named.Of(y, append(order, to...)...)
}

// onRows applies f, which keeps what lies along positions and features, to a named tensor as rows: [rows, positions...,
// features], in which all other dimensions are those of rows.
func onRows(fn string, t dimensioned, n Names, f func(tensor.Tensor) tensor.Tensor) tensor.Tensor {
	at := append(slices.Clone(n.positions()), n.In)
	return unnamed(fn, t, at, at, func(x tensor.Tensor) tensor.Tensor {
		if _, ok := x.(rowed); ok || x.Shape().Rank() == len(at)+1 {
			return f(x)
		}
		if m, ok := x.(someMissing); ok {
			items, there := ofItems(fn, m)
			y, _ := f(tenon.Must(masked.New(asRows(items, len(at)), asRows(there, len(at)-1)))).(tensor.Carrier).Carried()
			return tenon.Must(m.Carry(ops.Reshape(y, ops.Shape(items))))
		}
		return ops.Reshape(f(asRows(x, len(at))), ops.Shape(x))
	})
}

// asRows makes one axis of all axes of a dense tensor but the last n.
func asRows(x tensor.Tensor, n int) tensor.Tensor {
	return ops.Reshape(x, ops.Concat([]any{[]int64{-1}, ops.Slice(ops.Shape(x), []int{x.Shape().Rank() - n}, []int{n})}, 0))
}

// batchNames returns the names of a tensor except those that a layer works on.
func batchNames(fn string, t dimensioned, but []named.Name) (order []named.Name) {
	for _, n := range but {
		if n == nil {
			e := tenon.NewError(tenon.ErrInvalid, fn, fmt.Sprintf("the layer does not know which dimensions of {%v} to use", t.Dims()))
			e.Hint = "give the layer Names"
			tenon.Throw(e)
		}
		if !named.From(t).Has(n) {
			tenon.Throw(tenon.NewError(tenon.ErrNotFound, fn, fmt.Sprintf("the layer works on %v, but the tensor has {%v}", n, t.Dims())))
		}
	}
	for _, d := range t.Dims().Names() {
		if !slices.ContainsFunc(but, func(n named.Name) bool { return named.Path(d) == named.Path(n) }) {
			order = append(order, d)
		}
	}
	return order
}

// multiply returns x·kernel over the last axis of a dense tensor of any rank.
func multiply(x, kernel tensor.Tensor) tensor.Tensor { return affine(x, kernel, nil) }

// affine returns x·kernel + bias over the last axis of a dense tensor of any rank.
func affine(x, kernel, bias tensor.Tensor) tensor.Tensor {
	switch s := x.Shape(); {
	case s.HasRank() && s.Rank() == 1:
		return ops.Squeeze(withBias(ops.MatMul(ops.ExpandDims(x, 0), kernel), bias), 0)
	case s.HasRank() && s.Rank() > 2 && s.IsFull():
		// One product of two matrices is faster than many small ones.
		dims := s.Dims()
		lead := dims[: len(dims)-1 : len(dims)-1]
		flat := ops.Reshape(x, []int{s.Slice(0, len(lead)).Size(), dims[len(lead)]})
		return ops.Reshape(withBias(ops.MatMul(flat, kernel), bias), append(lead, kernel.Shape().Dim(1)))
	}
	return withBias(ops.MatMul(x, kernel), bias)
}

// onAll applies f, which works element by element, to the elements of any value.
func onAll(x tensor.Tensor, f func(tensor.Tensor) tensor.Tensor) tensor.Tensor {
	switch t := x.(type) {
	case dimensioned:
		dims := t.Dims().Names()
		return named.Of(onAll(named.Unnamed(t, dims...), f), dims...)
	case tensor.Carrier:
		return tenon.Must(t.Carry(onAll(carriedBy(t), f)))
	}
	return f(x)
}

// onesOf returns ones in place of the elements of x, except where they are missing.
func onesOf(x tensor.Tensor) tensor.Tensor {
	return onAll(x, func(x tensor.Tensor) tensor.Tensor { return ops.OnesLike(x) })
}

// withFeatures applies f, which adds an axis of features to each element, to the elements of any
// value.
func withFeatures(fn string, x tensor.Tensor, n Names, f func(tensor.Tensor) tensor.Tensor) tensor.Tensor {
	switch t := x.(type) {
	case dimensioned:
		if n.Out == nil {
			e := tenon.NewError(tenon.ErrInvalid, fn, "the layer does not know the name of its features")
			e.Hint = "give the layer Names{Out: ...}"
			tenon.Throw(e)
		}
		dims := t.Dims().Names()
		return named.Of(withFeatures(fn, named.Unnamed(t, dims...), n, f), append(append([]named.Name{}, dims...), n.Out)...)
	case tensor.Carrier:
		return tenon.Must(t.Carry(withFeatures(fn, carriedBy(t), n, f)))
	}
	return f(x)
}

// option returns the options that were given, or the default.
func option[O any](o []O) (out O) {
	if len(o) > 0 {
		out = o[0]
	}
	return out
}
