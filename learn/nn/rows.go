package nn

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// innermost applies f, which maps rows of features to rows of features, to the rows of the
// innermost ragged dimension.
func innermost(fn string, x rowed, f func(rowed) tensor.Tensor) tensor.Tensor {
	if items, _ := x.Carried(); items.Shape().Rank() == 1 {
		noFeatures(fn, x)
	}
	return innermostOf(x, f)
}

func innermostOf(x rowed, f func(rowed) tensor.Tensor) tensor.Tensor {
	below, ok := x.Values().(rowed)
	if !ok {
		return f(x)
	}
	return tenon.Must(ragged.FromRowSplits(innermostOf(below, f), x.RowSplits()))
}

// inner returns the rows of the innermost ragged dimension.
func inner(x rowed) rowed {
	for {
		below, ok := x.Values().(rowed)
		if !ok {
			return x
		}
		x = below
	}
}

// wantPositions fails if a dense tensor has no axis of positions.
func wantPositions(fn string, x tensor.Tensor) {
	if s := x.Shape(); s.HasRank() && s.Rank() < 2 {
		tenon.Throw(tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("%s has no axes of positions and features", tenon.String(x.Spec()))))
	}
}
