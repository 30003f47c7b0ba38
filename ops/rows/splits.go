package rows

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/tensor"
)

// Entries returns the entries of concrete row splits, a vector of int64 or int32, as int64, and an
// error that names the first bad entry if they are not a partition. If there are many, both are
// stored with the tensor. The slice must not be changed.
func Entries(splits *tensor.Dense) ([]int64, error) {
	if small(splits) {
		s := tensor.Data[int64](splits)
		return s, segment.CheckSplits(s, -1)
	}
	s := splits.Memo(checkedKey{}, func() any {
		s := wide(splits)
		return &checked{s, segment.CheckSplits(s, -1)}
	}).(*checked)
	return s.splits, s.err
}

// smallSplits is the number of row splits up to which checking them takes less time than looking
// up, let alone storing, what is known about them.
const smallSplits = 32

// small reports whether row splits, a vector, are checked each time.
func small(splits *tensor.Dense) bool {
	return splits.Len() <= smallSplits && splits.DType() == dtype.Int64 && splits.IsContiguous()
}

// Trusted marks row splits that were just made as a valid partition, so that they
// are not checked again. entries are the elements as int64.
func Trusted(splits *tensor.Dense, entries []int64) *tensor.Dense { return valid(splits, entries) }
