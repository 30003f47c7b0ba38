package ragged

import (
	"errors"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// The number of segments is one number, for rows of one length too, which tell how many
// there are by it.
func TestSegmentsAreCountedByAScalar(t *testing.T) {
	x, err := FromUniformRowLength([]float64{1, 2, 3, 4}, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tenon.Try(func() tensor.Tensor { return ops.SegmentSum(x, []int64{0, 0}, []int64{1}) }); !errors.Is(err, tenon.ErrShape) {
		t.Errorf("got %v", err)
	}
}
