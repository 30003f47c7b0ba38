package ragged_test

import (
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/spectest"
	"github.com/tenonml/tenon/tensor"
)

func TestLawsOfTensors(t *testing.T) {
	spectest.Laws(t, spectest.Options{},
		rag([]int64{1, 2}, nil, []int64{3}),
		rag([]int64{1}, nil),
		rag[float32](),
		tenon.Must(ragged.FromUniformRowLength([]float32{1, 2, 3, 4}, 2, nil)),
		tenon.Must(ragged.FromUniformRowLength([]float32{}, 0, 3)),
		tenon.Must(ragged.FromRowSplits([]string{"a", "b", ""}, []int32{0, 0, 3})),
		tenon.Must(ragged.FromRowSplits(tensor.Of([]bool{true, false, true, true}, 2, 2), []int{0, 1, 2})),
		tenon.Must(ragged.FromRowSplits(rag([]int64{1, 2}, nil, []int64{3}), []int{0, 2, 2, 3})),
		tenon.Must(ragged.FromUniformRowLength(rag([]int64{1, 2}, nil, []int64{3}, nil), 2, nil)),
		ragged.FromSlices2([][][]float64{{{1}, {}}, {}, {{2, 3}}}),
	)
}

func TestLawsOfPartitions(t *testing.T) {
	spectest.Laws(t, spectest.Options{},
		tenon.Must(ragged.PartitionFromRowSplits([]int{0, 2, 2, 5}, ragged.PartitionOptions{})),
		tenon.Must(ragged.PartitionFromRowSplits([]int32{0, 2}, ragged.PartitionOptions{})),
		tenon.Must(ragged.PartitionFromRowLengths([]int{}, ragged.PartitionOptions{})),
		tenon.Must(ragged.PartitionFromValueRowIDs([]int{0, 0, 4}, ragged.PartitionOptions{NRows: 6})),
		tenon.Must(ragged.PartitionFromUniformRowLength(3, ragged.PartitionOptions{NRows: 2})),
		tenon.Must(ragged.PartitionFromUniformRowLength(int32(0), ragged.PartitionOptions{NRows: 2})),
	)
}

func TestLawsOfShapes(t *testing.T) {
	spectest.Laws(t, spectest.Options{},
		ragged.ShapeOf(rag([]int64{1, 2}, nil, []int64{3})),
		ragged.ShapeOf(tensor.Of([]int64{1, 2}, 1, 2)),
		ragged.ShapeOf(tensor.Scalar(1.5)),
		tenon.Must(ragged.ShapeFromLengths([]any{2, []int{1, 2}, 3}, ragged.ShapeOptions{})),
		tenon.Must(ragged.ShapeFromLengths([]any{2, []int{1, 2}, 3}, ragged.ShapeOptions{Partitions: 2, DType: dtype.Int32})),
	)
}
