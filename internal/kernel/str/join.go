package str

// Join returns n strings: string i of each column, one behind the other with
// separator between them. A column of one string stands for n.
func Join(columns []Column, n int, separator string) Column {
	return mapped(n, func(dst []byte, i int) []byte {
		for k, c := range columns {
			if k > 0 {
				dst = append(dst, separator...)
			}
			dst = append(dst, one(c, i)...)
		}
		return dst
	})
}

// JoinRows returns one string for each row: the row's strings one behind the other
// with separator between them. An empty row gives the empty string.
func JoinRows(x Column, splits []int64, separator string) Column {
	return mapped(max(len(splits)-1, 0), func(dst []byte, r int) []byte {
		for i := splits[r]; i < splits[r+1]; i++ {
			if i > splits[r] {
				dst = append(dst, separator...)
			}
			dst = append(dst, x.At(int(i))...)
		}
		return dst
	})
}

// JoinAt returns one string for each entry of at but the last: the strings whose
// positions are order[at[r]:at[r+1]], in that order with separator between them. It
// joins along a dimension that is not the innermost.
func JoinAt(x Column, order, at []int64, separator string) Column {
	return mapped(max(len(at)-1, 0), func(dst []byte, r int) []byte {
		for k, i := range order[at[r]:at[r+1]] {
			if k > 0 {
				dst = append(dst, separator...)
			}
			dst = append(dst, x.At(int(i))...)
		}
		return dst
	})
}
