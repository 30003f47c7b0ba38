package segment

import "github.com/tenonml/tenon/internal/kernel/gather"

// MaskSplits writes to out, which has len(splits) entries, the row splits of the values whose mask
// is true, and returns the number of these values.
func MaskSplits(out, splits []int64, mask []bool) int64 {
	if len(splits) == 0 {
		return 0
	}
	if len(mask) < worthIndex {
		return countRows(out, splits, mask)
	}
	b := gather.NewBitmap(mask)
	b.BeforeAll(out, splits)
	return int64(b.Count())
}

// worthIndex is the number of values from which an index of the mask pays off.
const worthIndex = 512

// countRows is MaskSplits without an index.
func countRows(out, splits []int64, mask []bool) int64 {
	total := int64(0)
	out[0] = 0
	for r := range rowsOf(splits) {
		for _, m := range mask[splits[r]:splits[r+1]] {
			if m {
				total++
			}
		}
		out[r+1] = total
	}
	return total
}

// Mask copies the items whose mask is true to out and writes their row splits to outSplits, which
// has len(splits) entries. It returns the number of items kept; [gather.CountTrue] tells how many
// out must hold.
func Mask[T any](out []T, outSplits []int64, values []T, splits []int64, mask []bool, inner int) int64 {
	if len(splits) == 0 {
		return 0
	}
	if len(mask) < worthIndex {
		gather.Compact(out, values, mask, inner)
		return countRows(outSplits, splits, mask)
	}
	b := gather.NewBitmap(mask)
	b.BeforeAll(outSplits, splits)
	if inner == 1 {
		gather.CompactBy(out[:b.Count()], values, b)
	} else {
		gather.Compact(out, values, mask, inner)
	}
	return int64(b.Count())
}
