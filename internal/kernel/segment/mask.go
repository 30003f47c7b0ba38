package segment

import "github.com/tenonml/tenon/internal/kernel/gather"

// MaskSplits writes the row splits that remain when only the values whose mask is
// true are kept to out, which has len(splits) entries, and returns their number.
func MaskSplits(out, splits []int64, mask []bool) int64 {
	if len(splits) == 0 {
		return 0
	}
	out = out[:len(splits)]
	total := int64(0)
	out[0] = 0
	for r := range rowsOf(splits) {
		total += int64(gather.CountTrue(mask[splits[r]:splits[r+1]]))
		out[r+1] = total
	}
	return total
}

// Mask copies the items whose mask is true to out and writes the row splits of what
// remains to outSplits, which has len(splits) entries. It returns the number of
// items kept; out has room for them, as [gather.CountTrue] says.
func Mask[T any](out []T, outSplits []int64, values []T, splits []int64, mask []bool, inner int) int64 {
	total := MaskSplits(outSplits, splits, mask)
	gather.Compact(out, values, mask, inner)
	return total
}
