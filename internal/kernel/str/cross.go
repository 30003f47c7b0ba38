package str

// Cross returns, for each row, a string for each way to take one string of each column's
// row, the last column's changing fastest: those strings one behind the other with
// separator between them. There is at least one column, and splits divide each of them
// into as many rows; outSplits divide the results.
func Cross(columns []Column, splits [][]int64, outSplits []int64, separator string) Column {
	c, _ := build(len(outSplits)-1, nil, crossed{columns, splits, outSplits, separator}, func(b *builder, r int, with crossed) error {
		all := with.outSplits[r+1] - with.outSplits[r]
		for t := range all {
			ways := all // of the columns from here on
			for k := range with.columns {
				if k > 0 {
					b.bytes = append(b.bytes, with.separator...)
				}
				first := with.splits[k][r]
				ways /= with.splits[k][r+1] - first
				b.bytes = append(b.bytes, with.columns[k].At(int(first+t/ways))...)
				t %= ways
			}
			b.end()
		}
		return nil
	})
	return c
}

// crossed is what [Cross] crosses.
type crossed struct {
	columns   []Column
	splits    [][]int64
	outSplits []int64
	separator string
}
