package metric

import (
	"fmt"
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

func invalid(fn, format string, args ...any) error {
	return tenon.NewError(tenon.ErrInvalid, "metric."+fn, fmt.Sprintf(format, args...))
}

// floats returns the elements of a tensor, none of which may be NaN.
func floats(fn, what string, t tensor.Tensor) (x []float64, err error) {
	defer tenon.Catch(&err)
	x = tensor.Data[float64](ops.Cast(t, dtype.Float64))
	for i, v := range x {
		if math.IsNaN(v) {
			return nil, invalid(fn, "the %s of item %d is not a number", what, i)
		}
	}
	return x, nil
}

// labels returns integers from 0 to classes-1, or any that are not negative if classes is 0.
func labels(fn, what string, t tensor.Tensor, classes int) (x []int, err error) {
	defer tenon.Catch(&err)
	if !t.DType().IsInteger() && !t.DType().IsBool() {
		return nil, tenon.NewError(tenon.ErrDType, "metric."+fn, fmt.Sprintf("the %s is %s, want integers or booleans", what, tenon.String(t.Spec())))
	}
	for i, v := range tensor.Data[int64](ops.Cast(t, dtype.Int64)) {
		if v < 0 || classes > 0 && v >= int64(classes) || v > math.MaxInt32 {
			if classes == 0 {
				return nil, invalid(fn, "the %s of item %d is %d, want a class from 0 to %d", what, i, v, math.MaxInt32)
			}
			return nil, invalid(fn, "the %s of item %d is %d, which is not one of the %d classes", what, i, v, classes)
		}
		x = append(x, int(v))
	}
	return x, nil
}

// same checks that two tensors have the same shape.
func same(fn string, truth, predicted tensor.Tensor) error {
	return sameShape(fn, truth.Shape(), predicted.Shape())
}

func sameShape(fn string, a, b shape.Shape) error {
	if a.Equal(b) {
		return nil
	}
	return tenon.NewError(tenon.ErrShape, "metric."+fn, fmt.Sprintf("the truth has the shape %v, the prediction %v", a, b))
}

// weightsOf returns the weights of n items.
func weightsOf(fn string, weights tensor.Tensor, n int) ([]float64, error) {
	if weights == nil {
		w := make([]float64, n)
		for i := range w {
			w[i] = 1
		}
		return w, nil
	}
	if s := weights.Shape(); s.Rank() != 1 || s.Dim(0) != n {
		return nil, tenon.NewError(tenon.ErrShape, "metric."+fn, fmt.Sprintf("the weights have the shape %v, there are %d items", s, n))
	}
	w, err := floats(fn, "weight", weights)
	for i, x := range w {
		if x < 0 {
			return nil, invalid(fn, "the weight of item %d is %v", i, x)
		}
	}
	return w, err
}

// ratio is a/b, and 0 for 0/0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}
