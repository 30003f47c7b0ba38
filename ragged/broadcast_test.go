package ragged_test

import (
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// rag returns the tensor with the given rows.
func rag[T int64 | float32 | float64 | int32 | bool](rows ...[]T) *ragged.Tensor {
	return ragged.FromSlices(rows)
}

func TestElementwiseBroadcasts(t *testing.T) {
	x := rag([]int64{1, 2}, nil, []int64{3})
	for _, c := range []struct {
		name string
		y    any
		want *ragged.Tensor
	}{
		{"the same partition", x, rag([]int64{2, 4}, nil, []int64{6})},
		{"equal lengths in another partition", rag([]int64{10, 20}, nil, []int64{30}), rag([]int64{11, 22}, nil, []int64{33})},
		{"a scalar", 10, rag([]int64{11, 12}, nil, []int64{13})},
		{"a column", tensor.Of([]int64{10, 20, 30}, 3, 1), rag([]int64{11, 12}, nil, []int64{33})},
		{"a single element", tensor.Of([]int64{10}, 1, 1), rag([]int64{11, 12}, nil, []int64{13})},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := ops.Add(x, c.y); !tensor.Equal(got, c.want, tensor.EqualOptions{}) {
				t.Errorf("got %v, want %v", got, c.want)
			}
			if got := ops.Add(c.y, x); !tensor.Equal(got, c.want, tensor.EqualOptions{}) {
				t.Errorf("the other way round: got %v, want %v", got, c.want)
			}
		})
	}
}

func TestElementwiseNamesTheRowThatDiffers(t *testing.T) {
	x := rag([]int64{1, 2}, nil, []int64{3})
	_, err := tenon.Try(func() tensor.Tensor { return ops.Add(x, rag([]int64{1, 2}, nil, []int64{3, 4})) })
	if err == nil || !strings.Contains(err.Error(), "row 2") {
		t.Errorf("got the error %v, want one that names row 2", err)
	}
}
