package ragged

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// A Builder makes a ragged tensor row by row, without knowing its size in
// advance. It must not be used by several goroutines at once.
//
//	b := ragged.NewBuilder[float32](1)
//	b.Append(3, 1, 4).EndRow(0)
//	b.EndRow(0)                      // an empty row
//	b.Append(1, 5).EndRow(0)
//	t, err := b.Build()              // [[3 1 4] [] [1 5]]
//
// With a ragged rank above 1, EndRow(0) ends a row of the outermost dimension,
// EndRow(1) one of the dimension below it, and so on.
type Builder[T dtype.Native] struct {
	values []T
	splits [][]int64 // outermost first
	err    error
}

// NewBuilder returns a builder of tensors with a ragged rank of at least 1.
func NewBuilder[T dtype.Native](raggedRank int) *Builder[T] {
	b := &Builder[T]{}
	if raggedRank < 1 {
		b.err = invalid("ragged.NewBuilder", "raggedRank", "is %d, want at least 1", raggedRank)
		raggedRank = 1
	}
	b.splits = make([][]int64, raggedRank)
	for i := range b.splits {
		b.splits[i] = []int64{0}
	}
	return b
}

// Append adds values to the current innermost row.
func (b *Builder[T]) Append(values ...T) *Builder[T] {
	b.values = append(b.values, values...)
	return b
}

// EndRow ends the current row of a dimension, 0 being the outermost. The rows inside it must have
// ended; otherwise Build returns an error.
func (b *Builder[T]) EndRow(dimension int) *Builder[T] {
	if dimension < 0 || dimension >= len(b.splits) {
		if b.err == nil {
			b.err = failed(tenon.ErrAxis, "ragged.Builder.EndRow", "", "there is no dimension %d among %d", dimension, len(b.splits))
		}
		return b
	}
	n := len(b.values)
	if dimension+1 < len(b.splits) {
		b.ended(dimension + 1)
		n = len(b.splits[dimension+1]) - 1
	}
	b.splits[dimension] = append(b.splits[dimension], int64(n))
	return b
}

// ended records an error if rows of the dimension or below have not ended.
func (b *Builder[T]) ended(dimension int) {
	for d := dimension; d < len(b.splits); d++ {
		n := len(b.values)
		if d+1 < len(b.splits) {
			n = len(b.splits[d+1]) - 1
		}
		if s := b.splits[d]; int64(n) != s[len(s)-1] && b.err == nil {
			b.err = invalid("ragged.Builder", fmt.Sprintf("row %d of dimension %d", len(s)-1, d), "has not ended")
		}
	}
}

// Len returns the number of completed rows of the outermost dimension.
func (b *Builder[T]) Len() int { return len(b.splits[0]) - 1 }

// Build returns the tensor of all rows and empties the builder for reuse.
func (b *Builder[T]) Build() (*Tensor, error) {
	b.ended(0)
	if b.err != nil {
		return nil, b.err
	}
	parts := make([]*RowPartition, len(b.splits))
	for i, s := range b.splits {
		parts[i] = newPartition(rows.Trusted(tensor.Vector(s), s), int(s[len(s)-1]))
	}
	t := wrap(tensor.Of(b.values), parts)
	*b = *NewBuilder[T](len(b.splits))
	return t, nil
}
