package ops

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Sizes as operands: constants where they are known, operations otherwise.

// sizeOperand returns the size of one axis of x, which is not negative, as a scalar.
func sizeOperand(x tensor.Tensor, axis int) tensor.Tensor {
	if s := x.Shape(); s.HasRank() && s.Dim(axis) >= 0 {
		return tensor.Scalar(int64(s.Dim(axis)))
	}
	return Index(Shape(x), axis)
}

// rowsOf returns the size of the outermost axis of x as a scalar.
func rowsOf(x tensor.Tensor) tensor.Tensor { return sizeOperand(x, 0) }

// prepended returns the vector of a size and further sizes.
func prepended(n, sizes tensor.Tensor) tensor.Tensor {
	return Concat([]any{Reshape(n, []int{1}), castIndex(sizes)}, 0)
}

// reshapedLike returns x in the shape of another tensor, whose sizes that are
// known stay known.
func reshapedLike(x, like tensor.Tensor) tensor.Tensor {
	return known(Reshape(x, Shape(like)), like.Shape())
}

// known tells the sizes of x where they are not all known anyway.
func known(x tensor.Tensor, s shape.Shape) tensor.Tensor {
	if x.Shape().SubtypeOf(s) {
		return x
	}
	return EnsureShape(x, s)
}

// inFront returns v with an outermost axis of size n: v itself where it has the
// axis already, and otherwise v repeated, without a copy.
func inFront(v tenon.Value, batched bool, n tensor.Tensor) tensor.Tensor {
	t := v.(tensor.Tensor)
	if batched {
		return t
	}
	return BroadcastTo(t, prepended(n, Shape(t)))
}

// batchSize returns the size of the batch axis: that of the first batched value.
func batchSize(values []tenon.Value, batched []bool) tensor.Tensor {
	for i, b := range batched {
		if b {
			return rowsOf(values[i].(tensor.Tensor))
		}
	}
	return tensor.Scalar(int64(1))
}

// allInFront gives every value the batch axis.
func allInFront(values []tenon.Value, batched []bool) []tensor.Tensor {
	n := batchSize(values, batched)
	out := make([]tensor.Tensor, len(values))
	for i, v := range values {
		out[i] = inFront(v, batched[i], n)
	}
	return out
}

// castIndex returns an int32 or int64 tensor as int64.
func castIndex(x tensor.Tensor) tensor.Tensor { return Cast(x, dtype.Int64) }
