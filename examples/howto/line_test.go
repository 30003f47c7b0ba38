package howto

import (
	"context"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

type line struct{ Slope, Offset tensor.Tensor }

func lineLoss(l line, x tensor.Tensor, _ tensor.Tensor) tensor.Tensor {
	return ops.Mean(nn.SquaredError(ops.Add(ops.Mul(x, l.Slope), l.Offset), ops.Add(ops.Mul(x, 2), 1)))
}

func newLine() line { return line{tensor.Scalar(0.0), tensor.Scalar(0.0)} }

func lineData(_ context.Context, position int) (tensor.Tensor, error) {
	return ops.RandomNormal(ops.RandomKey(uint64(position)), []int{8}, dtype.Float64), nil
}

type (
	Shop  struct{ named.Dim[Shop] }
	Day   struct{ named.Dim[Day] }
	Price struct{ named.Dim[Price] }
)
