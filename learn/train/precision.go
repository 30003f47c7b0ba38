package train

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// LossScale multiplies the loss before gradients are computed and divides the gradients
// afterwards, so that small ones do not underflow in 16 bits (P. Micikevicius et al., "Mixed
// precision training", ICLR 2018). An update whose gradients are not finite is skipped and
// halves the scale; after Grow finite updates in a row the scale is doubled. The zero value
// does no scaling: bfloat16, which has the exponents of float32, needs none.
type LossScale struct {
	Start float64 // the first scale, such as 65536; 0: none
	Grow  int     // number of finite updates; 0 stands for 2000
}

// narrowed returns a nest whose floating-point tensors, of any type of Value, are converted to
// an element type. Values without such tensors do not change.
func narrowed[T any](x T, d dtype.DType) T {
	if d == dtype.None {
		return x
	}
	return tenon.Must(nest.Map(func(l []any) (any, error) {
		t, ok := l[0].(tensor.Tensor)
		if !ok || !t.DType().IsFloat() || t.DType() == d {
			return l[0], nil
		}
		return tenon.Try(func() any { return ops.Cast(t, d) })
	}, nest.Options{}, x))
}

// newScale returns the part of a state that a loss scale needs: the scale, and the number of
// finite updates in a row.
func (o Options) newScale() []tensor.Tensor {
	if o.LossScale.Start == 0 {
		return nil
	}
	return []tensor.Tensor{tensor.Scalar(float32(o.LossScale.Start)), tensor.Scalar(int64(0))}
}

// rescaled returns the scale after an update, which was finite or not.
func (o Options) rescaled(scale []tensor.Tensor, fine tensor.Tensor) []tensor.Tensor {
	grow := int64(o.LossScale.Grow)
	if grow == 0 {
		grow = 2000
	}
	count := ops.Where(fine, ops.Add(scale[1], int64(1)), ops.ZerosLike(scale[1]))
	full := ops.GreaterEqual(count, grow)
	factor := ops.Where(fine, ops.Where(full, like(2, scale[0]), like(1, scale[0])), like(0.5, scale[0]))
	// A scale below 1 would defeat its purpose, and one of 2¹²⁶ or more is soon infinite.
	next := ops.Clip(ops.Mul(scale[0], factor), 1.0, 0x1p126)
	return []tensor.Tensor{next, ops.Where(full, ops.ZerosLike(count), count)}
}

// allFinite returns a boolean scalar: whether all gradients are finite.
func allFinite(grads []tensor.Tensor) tensor.Tensor {
	fine := tensor.Tensor(tensor.Scalar(true))
	for _, g := range grads {
		fine = ops.LogicalAnd(fine, ops.All(ops.IsFinite(g)))
	}
	return fine
}

// chosen returns tensors of yes if the scalar is true, and of no otherwise.
func chosen(fine tensor.Tensor, yes, no []tensor.Tensor) []tensor.Tensor {
	out := make([]tensor.Tensor, len(yes))
	for i := range yes {
		out[i] = ops.Where(fine, yes[i], no[i])
	}
	return out
}

// check rejects invalid options.
func (o Options) check() error {
	bad := func(what string, x any, want string) error {
		return tenon.NewError(tenon.ErrInvalid, "train.Options", fmt.Sprintf("%s is %v, want %s", what, x, want))
	}
	switch {
	case !(o.ClipNorm >= 0):
		return bad("ClipNorm", o.ClipNorm, "0 or more")
	case !(o.ClipValue >= 0):
		return bad("ClipValue", o.ClipValue, "0 or more")
	case o.Accumulate < 0:
		return bad("Accumulate", o.Accumulate, "0 or more")
	case !(o.Average >= 0 && o.Average < 1):
		return bad("Average", o.Average, "a decay from 0 to less than 1, such as 0.999")
	case o.AverageEvery < 0 || o.AverageFrom < 0:
		return bad("AverageEvery and AverageFrom", []int{o.AverageEvery, o.AverageFrom}, "0 or more")
	case o.Average != 0 && o.AverageEvery != 0:
		return bad("Average", o.Average, "0 if AverageEvery is set")
	case !(o.LossScale.Start >= 0) || o.LossScale.Grow < 0:
		return bad("LossScale", o.LossScale, "no negative numbers")
	case o.Compute != dtype.None && !o.Compute.IsFloat():
		return bad("Compute", o.Compute, "a floating-point type, such as dtype.BFloat16")
	}
	return nil
}
