package str

// Cross returns, for each row, a string for each way to take one string of each column's
// row, the last column's changing fastest: those strings one behind the other with
// separator between them. There is at least one column, and splits divide each of them
// into as many rows; outSplits divide the results.
func Cross(columns []Column, splits [][]int64, outSplits []int64, separator string) Column {
	m, _ := build(len(outSplits)-1, func(b *builder, r int) error {
		for t := range outSplits[r+1] - outSplits[r] {
			ways := outSplits[r+1] - outSplits[r] // of the columns from here on
			for k, c := range columns {
				if k > 0 {
					b.bytes = append(b.bytes, separator...)
				}
				first := splits[k][r]
				ways /= splits[k][r+1] - first
				b.bytes = append(b.bytes, c.At(int(first+t/ways))...)
				t %= ways
			}
			b.end()
		}
		return nil
	})
	return m.column
}
