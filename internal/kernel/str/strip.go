package str

// space reports whether b is ASCII white space.
func space(b byte) bool { return b == ' ' || '\t' <= b && b <= '\r' }

// Strip returns each string without ASCII white space at its ends.
func Strip(x Column) Column {
	if x.Len() > chunk {
		out, _ := cut(x, func(i int, size int64) (from, to int64, err error) {
			s := x.At(i)
			to = size
			for from < to && space(s[from]) {
				from++
			}
			for from < to && space(s[to-1]) {
				to--
			}
			return from, to, nil
		})
		return out
	}
	return mapped(x.Len(), x, func(dst []byte, i int, x Column) []byte {
		s := x.At(i)
		for len(s) > 0 && space(s[0]) {
			s = s[1:]
		}
		for len(s) > 0 && space(s[len(s)-1]) {
			s = s[:len(s)-1]
		}
		return append(dst, s...)
	})
}
