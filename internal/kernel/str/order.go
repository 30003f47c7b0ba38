package str

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/tenonml/tenon/internal/arena"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/internal/par"
)

// ArgSort writes to out, which has x.Len() elements, the positions of the strings in ascending or
// descending byte order. Equal strings keep their order.
func ArgSort(out []int64, x Column, descending bool) {
	ArgSortRows(out, x, []int64{0, int64(x.Len())}, descending)
}

// ArgSortRows is [ArgSort] within each row: positions count from 0 in every row.
func ArgSortRows(out []int64, x Column, splits []int64, descending bool) {
	eachOrdered(splits, func(lo, hi int) {
		var o ordering
		for lo < hi {
			to := nextBlock(splits, lo, hi)
			o.rows(out[splits[lo]:splits[to]], x, splits[lo:to+1], descending)
			lo = to
		}
		o.free()
	})
}

// SortRows returns the strings of each row in ascending or descending byte order.
func SortRows(x Column, splits []int64, descending bool) Column {
	if len(splits) < 2 {
		return Column{Offsets: []int64{0}}
	}
	base, n := splits[0], int(splits[len(splits)-1]-splits[0])
	first := x.Offsets[base]
	// The bytes of a row stay in the same range; only their order within it changes.
	out := Column{freshOffsets(n), freshBytes(int(x.Offsets[base+int64(n)] - first))}
	eachOrdered(splits, func(lo, hi int) {
		var o ordering
		dst := out.Bytes[:x.Offsets[splits[hi]]-first]
		for lo < hi {
			to := nextBlock(splits, lo, hi)
			order := o.room(int(splits[to] - splits[lo]))
			o.rows(order, x, splits[lo:to+1], descending)
			at := x.Offsets[splits[lo]] - first
			for r := lo; r < to; r++ {
				offsets, ends := x.Offsets[splits[r]:], out.Offsets[splits[r]-base+1:]
				row := order[splits[r]-splits[lo] : splits[r+1]-splits[lo]]
				for i, k := range row {
					from, n := offsets[k], offsets[k+1]-offsets[k]
					put(dst, at, x.Bytes, from, n)
					at += n
					ends[i] = at
				}
			}
			lo = to
		}
		o.free()
	})
	return out
}

// eachOrdered calls f for all rows, on several workers if there are many strings.
func eachOrdered(splits []int64, f func(lo, hi int)) {
	rows := max(len(splits)-1, 0)
	if rows == 0 {
		return
	}
	if n := splits[rows] - splits[0]; n <= chunk {
		f(0, rows)
	} else {
		par.For(rows, rowsWith(chunk, rows, int(n)), f)
	}
}

// nextBlock returns the end of the rows from lo on that are sorted together.
func nextBlock(splits []int64, lo, hi int) int {
	to := lo + 1
	for to < hi && splits[to+1]-splits[lo] <= orderBlock && to-lo < orderBlock {
		to++
	}
	return to
}

// orderBlock is the number of strings whose keys fit into the first-level cache.
const orderBlock = 2048

// An ordering is the scratch memory for sorting rows.
type ordering struct {
	lent   *arena.Buffer
	words  []int64
	splits []int64 // row splits, relative to the first string
	groups []tied
	few    [fewKeys]sortKey
}

// tied describes the strings at positions [lo, hi) in the order of a row whose first depth bytes
// are equal and which may be longer.
type tied struct{ lo, hi, depth int }

func (o *ordering) free() {
	if o.lent != nil {
		o.lent.Release()
	}
}

// room returns memory for the order of n strings, followed by memory for their keys.
func (o *ordering) room(n int) (order []int64) {
	if len(o.words) < 2*n {
		o.free()
		size := max(n, min(orderBlock, 4*n))
		o.lent, o.words = arena.Lend[int64](2 * size)
	}
	return o.words[:n]
}

// rows writes the order of rows to out; their strings start at splits[0] in x. Keys made of the
// first bytes are sorted as numbers, and strings with equal keys by the bytes that follow.
func (o *ordering) rows(out []int64, x Column, splits []int64, descending bool) {
	first, rows, n := splits[0], len(splits)-1, len(out)
	if n <= fewKeys {
		for r := range rows {
			lo, hi := splits[r], splits[r+1]
			order := out[lo-first : hi-first]
			for i := range order {
				order[i] = int64(i)
			}
			insertOrder(order, Column{x.Offsets[lo : hi+1], x.Bytes}, 0, o.few[:len(order)], descending)
		}
		return
	}
	o.room(n)
	keys := o.words[n : 2*n]
	orderKeys(keys, x.Offsets[first:first+int64(n)+1], x.Bytes)
	o.splits = o.splits[:0]
	for _, s := range splits {
		o.splits = append(o.splits, s-first)
	}
	segment.ArgSort(out, keys, o.splits, 1, descending)
	for r := range rows {
		lo, hi := o.splits[r], o.splits[r+1]
		if order := out[lo:hi]; o.ties(order, keys[lo:hi], 0) {
			o.decide(order, Column{x.Offsets[first+lo : first+hi+1], x.Bytes}, descending)
		}
	}
}

// ties lists the groups of strings with equal keys that may be longer than their keys, and reports
// whether there are any. key order[i] belongs to string i of the order.
func (o *ordering) ties(order, keys []int64, depth int) bool {
	if len(order) == 0 {
		return false
	}
	last := keys[order[0]]
	for i := 1; i < len(order); i++ {
		k := keys[order[i]]
		if k != last || k&keyBytes != keyBytes {
			last = k
			continue
		}
		lo := i - 1
		for i++; i < len(order); i++ {
			if last = keys[order[i]]; last != k {
				break
			}
		}
		o.groups = append(o.groups, tied{lo, i, depth + keyBytes})
	}
	return len(o.groups) > 0
}

// decide sorts the tied strings of a row by the bytes after their common prefix.
func (o *ordering) decide(order []int64, x Column, descending bool) {
	for len(o.groups) > 0 {
		g := o.groups[len(o.groups)-1]
		o.groups = o.groups[:len(o.groups)-1]
		group := order[g.lo:g.hi]
		depth, equal := shared(group, x, g.depth)
		switch {
		case equal:
		case len(group) <= fewKeys:
			insertOrder(group, x, depth, o.few[:len(group)], descending)
		default:
			o.decideMany(group, g.lo, x, depth, descending)
		}
	}
}

// decideMany is decide for many strings, starting at position lo of the order: it sorts them by
// keys of the bytes from depth on, and lists those that are still tied.
func (o *ordering) decideMany(group []int64, lo int, x Column, depth int, descending bool) {
	n := len(group)
	lent, words := arena.Lend[int64](3 * n)
	defer lent.Release()
	keys, order, old := words[:n], words[n:2*n], words[2*n:]
	copy(old, group)
	for i, at := range old {
		keys[i] = orderKey(x.Bytes, x.Offsets[at]+int64(depth), x.Offsets[at+1])
	}
	segment.ArgSort(order, keys, []int64{0, int64(n)}, 1, descending)
	for i, k := range order {
		group[i] = old[k]
	}
	from := len(o.groups)
	o.ties(order, keys, depth)
	for k := from; k < len(o.groups); k++ {
		o.groups[k].lo += lo
		o.groups[k].hi += lo
	}
}

// keyBytes is the number of bytes in a key.
const keyBytes = 7

// orderKeys writes keys that order strings by their first seven bytes and then by their lengths up
// to seven, so that strings of fewer than seven bytes are equal if their keys are. The highest five
// bits, which include the sign, are left for the position in a row.
func orderKeys(keys, offsets []int64, bytes []byte) {
	offsets = offsets[:len(keys)+1]
	for i := range keys {
		keys[i] = orderKey(bytes, offsets[i], offsets[i+1])
	}
}

// orderKey returns the key of the string [lo, hi).
func orderKey(bytes []byte, lo, hi int64) int64 {
	n := uint64(min(hi-lo, keyBytes))
	p := wordAt(bytes, lo, hi) & (^uint64(0) << (64 - 8*n))
	return int64(p>>5|n) - 1<<58
}

// shared returns the length of the common prefix of the strings, of which depth bytes are known,
// and whether the strings are equal.
func shared(group []int64, x Column, depth int) (n int, equal bool) {
	a := x.At(int(group[0]))[depth:]
	n, equal = len(a), true
	for _, at := range group[1:] {
		b := x.At(int(at))[depth:]
		equal = equal && len(a) == len(b)
		if k := commonPrefix(a[:n], b); k < n {
			if n, equal = k, false; n == 0 {
				break
			}
		}
	}
	return depth + n, equal
}

// commonPrefix returns the length of the common prefix of a and b.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	k := 0
	for ; k+8 <= n; k += 8 {
		if d := load64(a[k:]) ^ load64(b[k:]); d != 0 {
			return k + bits.TrailingZeros64(d)/8
		}
	}
	for k < n && a[k] == b[k] {
		k++
	}
	return k
}

// A sortKey holds eight bytes of a string, which decide most comparisons without reading the string
// itself.
type sortKey struct {
	prefix uint64
	at     int64
}

// fewKeys is the number of strings up to which insertion sort is fastest.
const fewKeys = 32

// insertOrder sorts the positions of a few strings whose first depth bytes are equal. The sort is
// stable, because a string is never moved past an equal one.
func insertOrder(order []int64, x Column, depth int, keys []sortKey, descending bool) {
	for i, at := range order {
		lo, hi := x.Offsets[at]+int64(depth), x.Offsets[at+1]
		keys[i] = sortKey{firstBytes(x.Bytes, lo, hi), at}
	}
	for i := 1; i < len(keys); i++ {
		k, j := keys[i], i
		for ; j > 0; j-- {
			p := keys[j-1]
			before := k.prefix < p.prefix
			if k.prefix == p.prefix {
				c := bytes.Compare(x.At(int(k.at))[depth:], x.At(int(p.at))[depth:])
				if c == 0 {
					break
				}
				before = c < 0
			}
			if before == descending {
				break
			}
			keys[j] = p
		}
		keys[j] = k
	}
	for i, k := range keys {
		order[i] = k.at
	}
}

// wordAt returns the eight bytes from lo on as a number that has the same order; bytes after the
// end hi of the string are arbitrary.
func wordAt(bytes []byte, lo, hi int64) uint64 {
	if lo+8 <= int64(len(bytes)) {
		return binary.BigEndian.Uint64(bytes[lo:])
	}
	var p uint64
	for k, b := range bytes[lo:hi] {
		if k < 8 {
			p |= uint64(b) << (56 - 8*k)
		}
	}
	return p
}

// SearchSorted writes, for each string of x, the position at which it can be inserted into sorted,
// which is in ascending order: before equal strings or, if right is set, after them.
func SearchSorted(out []int64, sorted, x Column, right bool) {
	limit := 0 // insert before the first string that compares at least this high
	if right {
		limit = 1
	}
	par.For(x.Len(), chunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			s := x.At(i)
			from, n := 0, sorted.Len()
			for n > 0 {
				half := n / 2
				if bytes.Compare(sorted.At(from+half), s) < limit {
					from += half + 1
					n -= half + 1
				} else {
					n = half
				}
			}
			out[i] = int64(from)
		}
	})
}
