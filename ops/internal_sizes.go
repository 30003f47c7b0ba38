package ops

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Sizes as operands: constants if they are known, operations otherwise.

// sizeOperand returns the size of an axis of x as a scalar. The axis must not be negative.
func sizeOperand(x tensor.Tensor, axis int) tensor.Tensor {
	if s := x.Shape(); s.HasRank() && s.Dim(axis) >= 0 {
		return tensor.Scalar(int64(s.Dim(axis)))
	}
	return Index(Shape(x), axis)
}

// rowsOf returns the size of the outermost axis of x as a scalar.
func rowsOf(x tensor.Tensor) tensor.Tensor { return sizeOperand(x, 0) }

// prepended returns a vector of n followed by sizes.
func prepended(n, sizes tensor.Tensor) tensor.Tensor {
	return Concat([]any{Reshape(n, []int{1}), castIndex(sizes)}, 0)
}

// reshapedLike returns x in the shape of another tensor; known sizes of that
// shape stay known.
func reshapedLike(x, like tensor.Tensor) tensor.Tensor {
	return known(Reshape(x, Shape(like)), like.Shape())
}

// known adds the sizes in s to what is known of the shape of x.
func known(x tensor.Tensor, s shape.Shape) tensor.Tensor {
	if x.Shape().SubtypeOf(s) {
		return x
	}
	return EnsureShape(x, s)
}

// inFront returns v with an outermost axis of size n: v itself if it has the axis
// already, and otherwise v repeated without copying.
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

// allInFront adds the batch axis to every value that lacks it.
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
