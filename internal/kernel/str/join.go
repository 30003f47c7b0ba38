package str

// Join returns n strings: string i of each column, one behind the other with
// separator between them. A column of one string stands for n.
func Join(columns []Column, n int, separator string) Column {
	return mapped(n, joined{columns, separator}, func(dst []byte, i int, with joined) []byte {
		for k := range with.columns {
			if k > 0 {
				dst = append(dst, with.separator...)
			}
			dst = append(dst, one(with.columns[k], i)...)
		}
		return dst
	})
}

// joined is what [Join] joins.
type joined struct {
	columns   []Column
	separator string
}

// JoinRows returns one string for each row: the row's strings one behind the other
// with separator between them. An empty row gives the empty string.
func JoinRows(x Column, splits []int64, separator string) Column {
	return mapped(max(len(splits)-1, 0), joinedRows{x, splits, separator}, func(dst []byte, r int, with joinedRows) []byte {
		for i := with.splits[r]; i < with.splits[r+1]; i++ {
			if i > with.splits[r] {
				dst = append(dst, with.separator...)
			}
			dst = append(dst, with.x.At(int(i))...)
		}
		return dst
	})
}

// joinedRows is what [JoinRows] joins.
type joinedRows struct {
	x         Column
	splits    []int64
	separator string
}

// JoinAt returns one string for each entry of at but the last: the strings whose
// positions are order[at[r]:at[r+1]], in that order with separator between them. It
// joins along a dimension that is not the innermost.
func JoinAt(x Column, order, at []int64, separator string) Column {
	type picked struct {
		joinedRows
		order []int64
	}
	return mapped(max(len(at)-1, 0), picked{joinedRows{x, at, separator}, order}, func(dst []byte, r int, with picked) []byte {
		for k, i := range with.order[with.splits[r]:with.splits[r+1]] {
			if k > 0 {
				dst = append(dst, with.separator...)
			}
			dst = append(dst, with.x.At(int(i))...)
		}
		return dst
	})
}
