package segment

// Repeat writes item r of perRow to every item of row r of out. perRow has rows*inner elements, out
// splits[rows]*inner.
func Repeat[T any](out, perRow []T, splits []int64, inner int) {
	if inner == 1 && repeatVectorised(out, perRow, splits) {
		return
	}
	eachRows(splits, inner, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			o, v := row(out, splits, r, inner), item(perRow, r, inner)
			if inner == 1 {
				x := v[0]
				for i := range o {
					o[i] = x
				}
				continue
			}
			for ; len(o) > 0; o = o[inner:] {
				copy(o, v)
			}
		}
	})
}

// RepeatRows writes row r of values times[r] times in succession: the values of tiled or repeated
// rows. outSplits are the row splits of out.
func RepeatRows[T any, I Index](out, values []T, outSplits, splits []int64, times []I, inner int) {
	to := 0
	for r, n := range times {
		x := row(values, splits, r, inner)
		for range int64(n) {
			copy(out[int(outSplits[to])*inner:], x)
			to++
		}
	}
}
