package rows

import (
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/tensor"
)

// Entries returns the entries of concrete row splits, a vector of int64 or int32,
// as int64, and an error that names the first bad entry where they are no
// partition. Both are kept with the tensor. The slice must not be changed.
func Entries(splits *tensor.Dense) ([]int64, error) {
	s := splits.Memo(checkedKey{}, func() any {
		s := wide(splits)
		return &checked{s, segment.CheckSplits(s, -1)}
	}).(*checked)
	return s.splits, s.err
}

// Trusted marks row splits that were just made as a partition, so that nobody
// checks them again. entries are the elements as int64.
func Trusted(splits *tensor.Dense, entries []int64) *tensor.Dense { return valid(splits, entries) }
