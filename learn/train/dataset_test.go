package train_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/tensor"
)

// The batches of each pass are those of an epoch of the dataset, in an order of their own.
func TestFromDataset(t *testing.T) {
	rows := tensor.Of([]int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	d := dataset.FromRows(rows).Shuffle(3).Batch(4, dataset.BatchOptions{})
	s, err := train.FromDataset(d)
	if err != nil || s.Batches != 3 {
		t.Fatalf("%d batches, %v", s.Batches, err)
	}
	var passes [2][]int64
	for position := range 6 {
		b, err := s.At(context.Background(), position)
		if err != nil {
			t.Fatal(err)
		}
		passes[position/3] = append(passes[position/3], tensor.Data[int64](b)...)
	}
	if slices.Equal(passes[0], passes[1]) {
		t.Errorf("both passes have the order %v", passes[0])
	}
	for _, p := range passes {
		slices.Sort(p)
		if !slices.Equal(p, tensor.Data[int64](rows)) {
			t.Errorf("a pass has %v", p)
		}
	}
	stream := dataset.FromSeq(func() iter.Seq2[tensor.Tensor, error] { return func(func(tensor.Tensor, error) bool) {} })
	if _, err := train.FromDataset(stream); !errors.Is(err, tenon.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
	if _, err := train.FromDataset(d.Skip(3)); !errors.Is(err, tenon.ErrRange) {
		t.Errorf("no batch at all: got %v", err)
	}
}
