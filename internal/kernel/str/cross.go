package str

import "github.com/tenonml/tenon/internal/par"

// A Crossing computes, for each row, the Cartesian product of the columns' rows, with the last
// column varying fastest. Each result is the concatenation of one string of each column, with
// Separator between them. There is at least one column.
type Crossing struct {
	Columns   []Column
	Splits    [][]int64 // the row splits of each column; all have the same number of rows
	OutSplits []int64   // the row splits of the results
	Separator string
}

// crossGrain is the approximate number of strings that a worker makes at a time.
const crossGrain = 4096

// grain returns the number of rows that a worker takes at a time.
func (x *Crossing) grain() int {
	n := len(x.OutSplits) - 1
	return max(1, int(float64(crossGrain)*float64(n)/float64(x.OutSplits[n]+1)))
}

// maxCrossed is a number of bytes larger than the memory of any machine.
const maxCrossed = 1 << 46

// Strings returns the strings, or false if they exceed memory.
func (x *Crossing) Strings() (c Column, ok bool) {
	n, grain := len(x.OutSplits)-1, x.grain()
	var starts []int64 // of rows, in bytes; only needed with several workers
	if n > grain {
		starts = make([]int64, n)
	}
	size := int64(0)
	for r := range n {
		if starts != nil {
			starts[r] = size
		}
		b := x.size(r)
		if size += b; b > maxCrossed || size > maxCrossed {
			return Column{}, false
		}
	}
	c = newColumn(int(x.OutSplits[n]), int(size))
	if n <= grain {
		x.write(c, 0, 0, n)
	} else {
		par.For(n, grain, func(lo, hi int) { x.write(c, starts[lo], lo, hi) })
	}
	return c, true
}

// size returns the number of bytes of a row's strings, or a number above maxCrossed if it exceeds
// that.
func (x *Crossing) size(r int) int64 {
	ways := x.OutSplits[r+1] - x.OutSplits[r]
	if ways == 0 {
		return 0
	}
	between := int64(len(x.Columns)-1) * int64(len(x.Separator))
	if float64(ways)*float64(between) > maxCrossed {
		return maxCrossed + 1
	}
	size := ways * between
	for k := range x.Columns {
		lo, hi := x.Splits[k][r], x.Splits[k][r+1]
		b, often := x.Columns[k].Offsets[hi]-x.Columns[k].Offsets[lo], ways/(hi-lo)
		if float64(b)*float64(often) > maxCrossed {
			return maxCrossed + 1
		}
		size = min(size+b*often, maxCrossed+1)
	}
	return size
}

// prefix appends the strings of all columns but the last for group g of row r. Within a group, only
// the string of the last column changes.
func (x *Crossing) prefix(dst []byte, r int, g, groups int64) []byte {
	for k := range x.Columns[:len(x.Columns)-1] {
		first := x.Splits[k][r]
		groups /= x.Splits[k][r+1] - first
		dst = append(dst, x.Columns[k].At(int(first+g/groups))...)
		dst = append(dst, x.Separator...)
		g %= groups
	}
	return dst
}

// write writes the strings of the rows [lo, hi), whose bytes begin at position at.
func (x *Crossing) write(c Column, at int64, lo, hi int) {
	last := len(x.Columns) - 1
	var room [128]byte
	prefix := room[:0]
	for r := lo; r < hi; r++ {
		k, end := x.OutSplits[r], x.OutSplits[r+1]
		if k == end {
			continue
		}
		row := Column{x.Columns[last].Offsets[x.Splits[last][r] : x.Splits[last][r+1]+1], x.Columns[last].Bytes}
		groups := (end - k) / int64(row.Len())
		for g := range groups {
			prefix = x.prefix(prefix[:0], r, g, groups)
			for i := range row.Len() {
				at += int64(copy(c.Bytes[at:], prefix))
				at += int64(copy(c.Bytes[at:], row.At(i)))
				k++
				c.Offsets[k] = at
			}
		}
	}
}

// Hashes writes the hash of each string to out without storing the strings: its [Fingerprint64] or,
// if key is not nil, its [SipHash].
func (x *Crossing) Hashes(out []uint64, key *[2]uint64) {
	n, grain := len(x.OutSplits)-1, x.grain()
	if n <= grain {
		x.hash(out, key, 0, n)
	} else {
		par.For(n, grain, func(lo, hi int) { x.hash(out, key, lo, hi) })
	}
}

func (x *Crossing) hash(out []uint64, key *[2]uint64, lo, hi int) {
	last := len(x.Columns) - 1
	var room [128]byte
	s := room[:0]
	for r := lo; r < hi; r++ {
		k, end := x.OutSplits[r], x.OutSplits[r+1]
		if k == end {
			continue
		}
		row := Column{x.Columns[last].Offsets[x.Splits[last][r] : x.Splits[last][r+1]+1], x.Columns[last].Bytes}
		groups := (end - k) / int64(row.Len())
		for g := range groups {
			s = x.prefix(s[:0], r, g, groups)
			prefix := len(s)
			for i := range row.Len() {
				s = append(s[:prefix], row.At(i)...)
				if key == nil {
					out[k] = Fingerprint64(s)
				} else {
					out[k] = SipHash(s, *key)
				}
				k++
			}
		}
	}
}
