package train

import (
	"context"
	"fmt"
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/dataset"
)

// FromDataset returns the elements of a dataset as batches. Each epoch is another pass over the
// dataset, in another order if it is shuffled. A stream, whose elements have no numbers, is an
// error of kind tenon.ErrUnsupported.
func FromDataset[B any](d *dataset.Dataset[B]) (Source[B], error) {
	epochs := d.Repeat(0)
	if _, err := epochs.At(0); err != nil {
		return Source[B]{}, err
	}
	n, _ := d.Len()
	if n > math.MaxInt32 {
		return Source[B]{}, tenon.NewError(tenon.ErrInvalid, "train.FromDataset", fmt.Sprintf("%d batches are too many for an epoch: repeat them with Epochs", n))
	}
	return Source[B]{Batches: int(n), At: func(_ context.Context, position int) (B, error) { return epochs.At(int64(position)) }}, nil
}
