package nn

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// innermost applies f, which takes and gives rows of features, to the rows of the
// innermost ragged dimension.
func innermost(fn string, x *ragged.Tensor, f func(*ragged.Tensor) tensor.Tensor) tensor.Tensor {
	if x.FlatValues().Shape().Rank() == 1 {
		e := tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("the innermost dimension of %s is ragged: its items have no features", tenon.String(x.Spec())))
		e.Hint = "look the items up in an nn.Embedding first"
		tenon.Throw(e)
	}
	if x.RaggedRank() == 1 {
		return f(x)
	}
	inner := innermost(fn, x.Values().(*ragged.Tensor), f)
	return tenon.Must(ragged.FromPartition(inner, x.Partition()))
}

// wantPositions fails where a dense tensor has no axis of positions.
func wantPositions(fn string, x tensor.Tensor) {
	if s := x.Shape(); s.HasRank() && s.Rank() < 2 {
		tenon.Throw(tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("%s has no axes of positions and features", tenon.String(x.Spec()))))
	}
}
