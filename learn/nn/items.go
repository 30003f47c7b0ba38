package nn

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// An operand is a value that a loss takes, with so many axes fewer than the first.
type operand struct {
	value tensor.Tensor
	less  int
}

func of(x tensor.Tensor) operand { return operand{value: x} }

// onItems applies f to the items of values of one kind. For ragged tensors these are the flat
// values, after a check that the rows have the same lengths.
func onItems(fn string, f func([]tensor.Tensor) tensor.Tensor, xs ...operand) tensor.Tensor {
	with := func(change func(tensor.Tensor) tensor.Tensor) []operand {
		out := make([]operand, len(xs))
		for i, x := range xs {
			out[i] = operand{change(x.value), x.less}
		}
		return out
	}
	first := xs[0].value
	switch t := first.(type) {
	case dimensioned:
		order := t.Dims().Names()
		y := onItems(fn, f, with(func(x tensor.Tensor) tensor.Tensor {
			u, ok := x.(dimensioned)
			if !ok {
				mixed(fn, first, x)
			}
			sameNames(fn, t.Dims(), u.Dims())
			return named.Unnamed(u, order...)
		})...)
		return named.Of(y, order...)
	case rowed:
		return tenon.Must(t.Carry(onItems(fn, f, with(func(x tensor.Tensor) tensor.Tensor {
			u, ok := x.(rowed)
			if !ok || u.RaggedRank() != t.RaggedRank() {
				mixed(fn, first, x)
			}
			sameRows(t, u)
			items, _ := u.Carried()
			return items
		})...)))
	}
	dense := make([]tensor.Tensor, len(xs))
	for i, x := range xs {
		switch x.value.(type) {
		case dimensioned, rowed:
			mixed(fn, first, x.value)
		}
		if i > 0 {
			sameShapes(fn, first, x.value, x.less)
		}
		dense[i] = x.value
	}
	for i, x := range dense {
		if t, ok := x.(tensor.Carrier); ok { // an item is missing if it is missing in any operand
			items, _ := t.Carried()
			rest := append([]operand{}, xs...)
			rest[i].value = items
			if m, ok := t.(someMissing); ok {
				for k := range rest {
					rest[k].value = whereThere(m.Mask(), rest[k].value)
				}
			}
			return tenon.Must(t.Carry(onItems(fn, f, rest...)))
		}
	}
	return f(dense)
}

// whereThere returns x with 0 where the mask of its items is false, so that what is stored there, such as NaN or a
// label that is no class, reaches no sum, no gradient and no check.
func whereThere(there, x tensor.Tensor) tensor.Tensor {
	if t, ok := x.(tensor.Carrier); ok {
		items, _ := t.Carried()
		return tenon.Must(t.Carry(whereThere(there, items)))
	}
	if !x.Shape().HasRank() || x.Shape().Rank() < there.Shape().Rank() {
		return x
	}
	for there.Shape().Rank() < x.Shape().Rank() {
		there = ops.ExpandDims(there, -1)
	}
	return ops.Where(there, x, ops.ZerosLike(x))
}

// onVectors is like onItems for an f that maps vectors to a number each: those of the first
// operand and of every operand with as many axes. For named values, the option with the given
// name tells the dimension of the vectors.
func onVectors(fn, option string, along named.Name, f func([]tensor.Tensor) tensor.Tensor, xs ...operand) tensor.Tensor {
	t, ok := xs[0].value.(dimensioned)
	if !ok {
		return onItems(fn, f, xs...)
	}
	wantGiven(fn, option, along, t)
	order := batchNames(fn, t, []named.Name{along})
	bare := make([]operand, len(xs))
	for i, x := range xs {
		u, ok := x.value.(dimensioned)
		if !ok {
			mixed(fn, t, x.value)
		}
		want := order
		if x.less == 0 {
			want = append(order[:len(order):len(order)], along)
		}
		sameNames(fn, named.By(want...), u.Dims())
		bare[i] = operand{named.Unnamed(u, want...), x.less}
	}
	return named.Of(onItems(fn, f, bare...), order...)
}

// wantGiven fails if an option does not say which dimension is that of vectors.
func wantGiven(fn, option string, along named.Name, t dimensioned) {
	if along == nil {
		e := tenon.NewError(tenon.ErrInvalid, fn, fmt.Sprintf("the dimension of the vectors is not given: {%v}", t.Dims()))
		tenon.Throw(e.WithHint("set " + option))
	}
}

// mixed rejects values of different kinds.
func mixed(fn string, x, y tensor.Tensor) {
	tenon.Throw(tenon.NewError(tenon.ErrUnsupported, fn, fmt.Sprintf("want values of one kind, got %s and %s", tenon.String(x.Spec()), tenon.String(y.Spec()))))
}

func sameRows(x, y rowed) {
	rows.AssertSame(x.RowSplits(), y.RowSplits())
	a, ok := x.Values().(rowed)
	b, ok2 := y.Values().(rowed)
	if ok && ok2 {
		sameRows(a, b)
	}
}

func sameNames(fn string, x, y named.Dims) {
	a, b := x.Names(), y.Names()
	for _, n := range a {
		if !slices.ContainsFunc(b, func(m named.Name) bool { return named.Path(n) == named.Path(m) }) || len(a) != len(b) {
			e := tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("the prediction is {%v}, the target {%v}: one would be repeated along the dimensions of the other", x, y))
			e.Hint = "give both the same dimensions"
			tenon.Throw(e)
		}
	}
}

// sameShapes fails if a prediction and a target would be broadcast against each other.
func sameShapes(fn string, x, y tensor.Tensor, more int) {
	a, b := x.Shape(), y.Shape()
	if !a.HasRank() || !b.HasRank() || a.Rank() >= more && a.Slice(0, a.Rank()-more).CompatibleWith(b) {
		return
	}
	e := tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("the prediction has the shape %v, the target %v", a, b))
	switch {
	case more > 0:
		e.Msg = fmt.Sprintf("the scores have the shape %v, the labels %v", a, b)
		if e.Hint = "a score for each class, and one label for all of them: [..., classes] and [...]"; a.Rank() == b.Rank() && b.Rank() > 0 && b.Dim(-1) == 1 {
			e.Hint = "drop the last axis of the labels: ops.Squeeze(labels, -1)"
		}
	case a.Rank() == b.Rank()+1 && a.Dim(-1) == 1:
		e.Hint = "drop the last axis of the prediction: ops.Squeeze(prediction, -1)"
	case b.Rank() == a.Rank()+1 && b.Dim(-1) == 1:
		e.Hint = "drop the last axis of the target: ops.Squeeze(target, -1)"
	default:
		e.Hint = "losses do not broadcast; if you want that, use ops.BroadcastTo first"
	}
	tenon.Throw(e)
}
