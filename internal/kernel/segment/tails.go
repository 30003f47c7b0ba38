package segment

import "math"

// TailSplits writes, for each value, the row splits of the values behind it in its row to
// out, and where the first of those is to starts; with itself each value is among them. out
// has one entry more than there are values, starts as many. [Gather] copies the values.
// More of them than int64 counts is an error.
func TailSplits(out, starts, splits []int64, itself bool) (total int64, err error) {
	behind := int64(1)
	if itself {
		behind = 0
	}
	out[0] = 0
	for r := range rowsOf(splits) {
		lo, hi := splits[r], splits[r+1]
		if n := hi - lo; n > math.MaxInt32 || n*(n+1)/2 > math.MaxInt64-total {
			return 0, rowError("rows", r, n, "values have more values behind them than int64 counts")
		}
		o, from := out[lo+1:hi+1], starts[lo:hi]
		from = from[:len(o)]
		left := hi - lo - behind
		for i := range o {
			total += left - int64(i)
			o[i], from[i] = total, lo+int64(i)+behind
		}
	}
	return total, nil
}
