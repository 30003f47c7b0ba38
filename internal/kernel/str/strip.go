package str

import (
	"github.com/tenonml/tenon/internal/arena"
	"github.com/tenonml/tenon/internal/kernel/segment"
)

// space reports whether b is ASCII white space.
func space(b byte) bool { return b == ' ' || '\t' <= b && b <= '\r' }

// Strip returns each string without leading and trailing ASCII white space.
func Strip(x Column) Column {
	if x.Len() > chunk {
		return stripMany(x)
	}
	return mapped(x.Len(), x, func(dst []byte, i int, x Column) []byte {
		lo, hi := stripped(x.Bytes, x.Offsets[i], x.Offsets[i+1])
		return append(dst, x.Bytes[lo:hi]...)
	})
}

// stripped returns the bounds of the string [lo, hi) without leading and trailing white space.
func stripped(bytes []byte, lo, hi int64) (from, to int64) {
	for lo < hi && space(bytes[lo]) {
		lo++
	}
	for lo < hi && space(bytes[hi-1]) {
		hi--
	}
	return lo, hi
}

// stripMany is [Strip] for many strings, which often have nothing to strip.
func stripMany(x Column) Column {
	n, same := x.Len(), 0
	for same < n {
		lo, hi := x.Offsets[same], x.Offsets[same+1]
		if lo < hi && (x.Bytes[lo] <= ' ' || x.Bytes[hi-1] <= ' ') && (space(x.Bytes[lo]) || space(x.Bytes[hi-1])) {
			break
		}
		same++
	}
	if same == n {
		return x
	}
	lent, starts := arena.Lend[int64](n)
	defer lent.Release()
	offsets := freshOffsets(n)
	total := int64(0)
	for i := range starts {
		lo, hi := stripped(x.Bytes, x.Offsets[i], x.Offsets[i+1])
		starts[i] = lo
		total += hi - lo
		offsets[i+1] = total
	}
	out := Column{offsets, freshBytes(int(total))}
	segment.Gather(out.Bytes, x.Bytes, offsets, starts, 1)
	return out
}
