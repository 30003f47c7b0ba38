package str

import (
	"github.com/tenonml/tenon/internal/arena"
	"github.com/tenonml/tenon/internal/par"
)

// Join returns n strings: the concatenation of string i of each column, with separator between
// them. A column of one string is broadcast.
func Join(columns []Column, n int, separator string) Column {
	if n > chunk {
		return joinMany(columns, n, separator)
	}
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

// joinMany is [Join] for many strings.
func joinMany(columns []Column, n int, separator string) Column {
	parts := make([]stepped, len(columns))
	for k, c := range columns {
		parts[k] = stepping(c)
	}
	out := Column{Offsets: freshOffsets(n)}
	ends := out.Offsets[1:]
	between := int64(len(separator) * max(len(columns)-1, 0))
	var each []stepped // columns that are not broadcast
	for _, c := range parts {
		if c.step == 0 {
			between += c.Offsets[1] - c.Offsets[0]
		} else {
			each = append(each, c)
		}
	}
	total := int64(0)
	for i := range ends {
		total += between
		for k := range each {
			total += each[k].Offsets[i+1] - each[k].Offsets[i]
		}
		ends[i] = total
	}
	out.Bytes = freshBytes(int(total))
	cut := padded(separator)
	par.For(n, chunk, func(lo, hi int) {
		dst, at := out.Bytes[:out.Offsets[hi]], out.Offsets[lo]
		for i := lo; i < hi; i++ {
			for k := range parts {
				if k > 0 {
					put(dst, at, cut, 0, int64(len(separator)))
					at += int64(len(separator))
				}
				c := &parts[k]
				from := c.Offsets[i*c.step:][:2]
				put(dst, at, c.Bytes, from[0], from[1]-from[0])
				at += from[1] - from[0]
			}
		}
	})
	return out
}

// padded returns the bytes of s with spare capacity after them, so that [put] can copy them at
// once.
func padded(s string) []byte {
	b := make([]byte, len(s)+16)
	copy(b, s)
	return b
}

// joined is the arguments of a chunk of [Join].
type joined struct {
	columns   []Column
	separator string
}

// JoinRows returns one string for each row: the concatenation of its strings, with separator
// between them. An empty row gives the empty string.
func JoinRows(x Column, splits []int64, separator string) Column {
	if x.Len() > chunk {
		return joinManyRows(x, splits, separator)
	}
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

// joinManyRows is [JoinRows] for many strings.
func joinManyRows(x Column, splits []int64, separator string) Column {
	rows, between := max(len(splits)-1, 0), int64(len(separator))
	out := Column{Offsets: freshOffsets(rows)}
	total := int64(0)
	for r := range rows {
		lo, hi := splits[r], splits[r+1]
		total += x.Offsets[hi] - x.Offsets[lo] + between*max(hi-lo-1, 0)
		out.Offsets[r+1] = total
	}
	out.Bytes = freshBytes(int(total))
	cut := padded(separator)
	par.For(rows, rowsWith(chunk, rows, x.Len()), func(lo, hi int) {
		dst := out.Bytes[:out.Offsets[hi]]
		for r := lo; r < hi; r++ {
			at, offsets := out.Offsets[r], x.Offsets[splits[r]:splits[r+1]+1]
			for i := range len(offsets) - 1 {
				if i > 0 {
					put(dst, at, cut, 0, between)
					at += between
				}
				from, n := offsets[i], offsets[i+1]-offsets[i]
				put(dst, at, x.Bytes, from, n)
				at += n
			}
		}
	})
	return out
}

// joinedRows is the arguments of a chunk of [JoinRows].
type joinedRows struct {
	x         Column
	splits    []int64
	separator string
}

// JoinAt returns one string for each entry of at but the last: the concatenation of the strings at
// positions order[at[r]:at[r+1]], with separator between them. It joins along a dimension that is
// not the innermost.
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

// ZipRows concatenates columns row by row: row r of the result holds row r of each column in turn.
// splits are the row splits of the columns, and outSplits those of the result.
func ZipRows(columns []Column, splits [][]int64, outSplits []int64) Column {
	rows := max(len(outSplits)-1, 0)
	n := int64(0)
	size := int64(0)
	for _, c := range columns {
		size += c.Size()
	}
	if rows > 0 {
		n = outSplits[rows]
	}
	lent, starts := arena.Lend[int64](rows) // of the rows, in bytes
	defer lent.Release()
	total := int64(0)
	for r := range rows {
		starts[r] = total
		for k, c := range columns {
			total += c.Offsets[splits[k][r+1]] - c.Offsets[splits[k][r]]
		}
	}
	out := Column{freshOffsets(int(n)), freshBytes(int(size))}
	par.For(rows, rowsWith(chunk, rows, int(n)), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			at, to := starts[r], out.Offsets[outSplits[r]+1:outSplits[r+1]+1]
			for k := range columns {
				offsets := columns[k].Offsets[splits[k][r] : splits[k][r+1]+1]
				from := offsets[0]
				for i, o := range offsets[1:] {
					to[i] = o - from + at
				}
				to = to[len(offsets)-1:]
				at += int64(copy(out.Bytes[at:], columns[k].Bytes[from:offsets[len(offsets)-1]]))
			}
		}
	})
	return out
}
