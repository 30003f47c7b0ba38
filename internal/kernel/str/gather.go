package str

import (
	"github.com/tenonml/tenon/internal/arena"
	"github.com/tenonml/tenon/internal/kernel/gather"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/internal/par"
)

// Gather returns the strings at the given positions. A position outside
// [0, x.Len()) is a *[gather.IndexError].
func Gather[I gather.Index](x Column, idx []I) (Column, error) {
	if len(idx) >= manyPositions {
		if c, ok := gatherRuns(x, idx); ok {
			return c, nil
		}
	}
	// Compute the sizes first, because the number of bytes is not known.
	offsets := freshOffsets(len(idx))
	lent, starts := arena.Lend[int64](len(idx))
	defer lent.Release()
	total, err := segment.GatherSplits(offsets, starts, x.Offsets, idx)
	if err != nil {
		if bad := gather.Check(idx, int64(x.Len())); bad != nil {
			err = bad
		}
		return Column{}, err
	}
	bytes := freshBytes(int(total))
	segment.Gather(bytes, x.Bytes, offsets, starts, 1)
	return Column{Offsets: offsets, Bytes: bytes}, nil
}

const (
	// manyPositions is the number of positions from which looking for runs pays off.
	manyPositions = 64
	// shortRun is the average length of runs from which they are moved as such.
	shortRun = 3
)

// gatherRuns is [Gather] for positions that are mostly consecutive, such as those of rows:
// adjacent strings are moved together. It reports false if they are not, or if a position
// is out of range.
func gatherRuns[I gather.Index](x Column, idx []I) (c Column, ok bool) {
	most := len(idx) / shortRun
	lent, words := arena.Lend[int64](2*most + 1)
	defer lent.Release()
	splits, starts := words[:most+1], words[most+1:]
	runs, strings := 0, int64(x.Len())
	for i := 0; i < len(idx); runs++ {
		if shortRun*runs > i+manyPositions/2 || runs == most {
			return Column{}, false
		}
		first := int64(idx[i])
		splits[runs], starts[runs] = int64(i), first
		for first -= int64(i); i < len(idx) && int64(idx[i])-int64(i) == first; i++ {
		}
		if from, n := starts[runs], int64(i)-splits[runs]; from < 0 || from > strings-n {
			return Column{}, false
		}
	}
	splits[runs] = int64(len(idx))
	return GatherRows(x, splits[:runs+1], starts[:runs])
}

// GatherRows returns the strings of the rows that begin at starts; row r of the result is
// [splits[r], splits[r+1]). It reports false if the number of bytes overflows.
func GatherRows(x Column, splits, starts []int64) (c Column, ok bool) {
	rows := len(starts)
	lent, words := arena.Lend[int64](2*rows + 1)
	defer lent.Release()
	ends, from := words[:rows+1], words[rows+1:]
	total := int64(0)
	ends[0] = 0
	for r, s := range starts {
		lo := x.Offsets[s]
		from[r] = lo
		if total += x.Offsets[s+splits[r+1]-splits[r]] - lo; total < 0 {
			return Column{}, false
		}
		ends[r+1] = total
	}
	n := int(splits[rows])
	c = Column{freshOffsets(n), freshBytes(int(total))}
	par.For(rows, rowsWith(4*chunk, rows, n), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			s, by := starts[r], ends[r]-from[r]
			to := c.Offsets[splits[r]+1 : splits[r+1]+1]
			for i, o := range x.Offsets[s+1:][:len(to)] {
				to[i] = o + by
			}
		}
	})
	segment.Gather(c.Bytes, x.Bytes, ends, from, 1)
	return c, true
}

// GatherWhere returns the strings at the positions for which there is true, and empty
// strings for the others. It reports false if one of these positions is out of range, or if
// idx and there differ in length.
func GatherWhere(x Column, idx []int64, there []bool) (c Column, ok bool) {
	n, strings := len(idx), uint64(x.Len())
	if len(there) != n {
		return Column{}, false
	}
	c.Offsets = freshOffsets(n)
	total := int64(0)
	for i, at := range idx {
		if there[i] {
			if uint64(at) >= strings {
				return Column{}, false
			}
			total += x.Offsets[at+1] - x.Offsets[at]
		}
		c.Offsets[i+1] = total
	}
	c.Bytes = freshBytes(int(total))
	inChunks(n, gathered{c, x, idx}, func(lo, hi int, with gathered) {
		dst := with.out.Bytes[:with.out.Offsets[hi]]
		for i := lo; i < hi; i++ {
			if at, size := with.out.Offsets[i], with.out.Offsets[i+1]-with.out.Offsets[i]; size > 0 {
				put(dst, at, with.x.Bytes, with.x.Offsets[with.idx[i]], size)
			}
		}
	})
	return c, true
}

// gathered is the arguments of a chunk of [GatherWhere].
type gathered struct {
	out, x Column
	idx    []int64
}

// Concat returns the concatenation of the columns.
func Concat(columns ...Column) Column {
	var strings int
	var size int64
	for _, c := range columns {
		strings += c.Len()
		size += c.Size()
	}
	out := newColumn(strings, int(size))
	at, b := 0, int64(0)
	var room [4][]byte
	parts := room[:0]
	for _, c := range columns {
		n := c.Len()
		if n == 0 {
			continue
		}
		first := c.Offsets[0]
		for i, o := range c.Offsets {
			out.Offsets[at+i] = b + o - first
		}
		parts = append(parts, c.Bytes[first:c.Offsets[n]])
		at += n
		b += c.Size()
	}
	segment.Join(out.Bytes, parts...)
	return out
}

// Fill returns n copies of s.
func Fill(n int, s []byte) Column {
	c := newColumn(n, n*len(s))
	for i := range n {
		copy(c.Bytes[i*len(s):], s)
		c.Offsets[i+1] = int64((i + 1) * len(s))
	}
	return c
}
