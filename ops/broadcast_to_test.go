package ops_test

import (
	"errors"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// TestBroadcastToScalar: no sizes are the shape of a scalar, and known.
func TestBroadcastToScalar(t *testing.T) {
	none := ops.Zeros(dtype.Int64, []int{0})
	if got := ops.BroadcastTo(tensor.Scalar(2.5), none); got.Shape().Rank() != 0 || tensor.Item[float64](got) != 2.5 {
		t.Errorf("got %v", got)
	}
	for _, to := range []any{none, []int{}, tensor.Of([]int64{})} {
		if _, err := tenon.Try(func() tensor.Tensor { return ops.BroadcastTo(tensor.Of([]float64{1}), to) }); !errors.Is(err, tenon.ErrShape) {
			t.Errorf("a vector as a scalar: %v", err)
		}
	}
}
