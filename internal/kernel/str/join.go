package str

import (
	"bytes"

	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/internal/throw"
)

// Join returns n strings: string i of each column, one behind the other with
// separator between them. A column of one string stands for n.
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

// joinMany is [Join] of many strings, whose bytes are rows to be joined row by row.
func joinMany(columns []Column, n int, separator string) Column {
	var values [][]byte
	var splits [][]int64
	between := Column{}
	if separator != "" && len(columns) > 1 {
		between = Fill(n, []byte(separator))
	}
	for k, c := range columns {
		if k > 0 && separator != "" {
			values, splits = append(values, between.Bytes), append(splits, between.Offsets)
		}
		if c.Len() == 1 {
			c = Fill(n, c.At(0))
		} else if c.Offsets[0] != 0 {
			c = Concat(c)
		}
		values, splits = append(values, c.Bytes), append(splits, c.Offsets)
	}
	if len(values) == 0 {
		return Column{Offsets: make([]int64, n+1)}
	}
	offsets := freshOffsets(n)
	if err := segment.ZipSplits(offsets, splits...); err != nil {
		throw.Throw(err)
	}
	bytes := freshBytes(int(offsets[n]))
	segment.Zip(bytes, offsets, values, splits, 1)
	return Column{Offsets: offsets, Bytes: bytes}
}

// joined is what [Join] joins.
type joined struct {
	columns   []Column
	separator string
}

// JoinRows returns one string for each row: the row's strings one behind the other
// with separator between them. An empty row gives the empty string.
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

// joinManyRows is [JoinRows] of many strings: each is joined with the separator that comes
// behind it, which is none at the end of a row.
func joinManyRows(x Column, splits []int64, separator string) Column {
	if x.Offsets[0] != 0 {
		x = Concat(x)
	}
	n, rows := x.Len(), len(splits)-1
	behind := freshOffsets(n)
	at := int64(0)
	for r := range rows {
		for i := splits[r]; i < splits[r+1]; i++ {
			behind[i] = at
			at += int64(len(separator))
		}
		if splits[r+1] > splits[r] {
			at -= int64(len(separator))
		}
	}
	for i := splits[rows]; i <= int64(n); i++ {
		behind[i] = at
	}
	between := Fill(1, bytes.Repeat([]byte(separator), int(at)/max(len(separator), 1))).Bytes
	offsets := freshOffsets(n)
	if err := segment.ZipSplits(offsets, x.Offsets, behind); err != nil {
		throw.Throw(err)
	}
	out := Column{Offsets: freshOffsets(rows), Bytes: freshBytes(int(offsets[n]))}
	segment.Zip(out.Bytes, offsets, [][]byte{x.Bytes, between}, [][]int64{x.Offsets, behind}, 1)
	for r := range out.Offsets {
		out.Offsets[r] = offsets[splits[r]]
	}
	return out
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
