package rows_test

import (
	"slices"
	"testing"

	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// TestClamped cuts lengths, and keeps those that need not be cut.
func TestClamped(t *testing.T) {
	ok, bad := tensor.Of([]int64{0, 3, 2}), tensor.Of([]int64{-1, 3, 9})
	if got := rows.Clamped(ok, tensor.Scalar(int64(3))); got != ok {
		t.Errorf("lengths that fit became %v", got)
	}
	if got := tensor.Data[int64](rows.Clamped(bad, tensor.Scalar(int64(4)))); !slices.Equal(got, []int64{0, 3, 4}) {
		t.Errorf("got %v", got)
	}
	small := tensor.Of([]int32{-5, 7, 1})
	if got := tensor.Data[int32](rows.Clamped(small, tensor.Scalar(int32(2)))); !slices.Equal(got, []int32{0, 2, 1}) {
		t.Errorf("got %v", got)
	}
}
