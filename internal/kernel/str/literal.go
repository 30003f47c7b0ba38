package str

import (
	"bytes"
	"math/bits"

	"github.com/tenonml/tenon/internal/par"
)

// A literal is searched for in the bytes of many strings at once. Most strings do not contain it,
// and starting a new search for each takes much longer.

// found holds the positions of a literal in the strings of a column, by chunk.
type found struct {
	x      Column
	length int       // length of the literal, which is not empty
	at     [][]int64 // positions in x.Bytes, by chunk; occurrences do not overlap
}

// literalChunk is the number of strings in a chunk.
const literalChunk = 4 * chunk

// find finds lit in the strings of x, at most most times in each string, or without limit if most
// is 0.
func find(x Column, lit []byte, most int) found {
	n := x.Len()
	f := found{x, len(lit), make([][]int64, (n+literalChunk-1)/literalChunk)}
	par.For(n, literalChunk, func(lo, hi int) { f.at[lo/literalChunk] = occurrences(x, lit, most, lo, hi) })
	return f
}

// occurrences returns the positions of lit in the strings [lo, hi).
func occurrences(x Column, lit []byte, most, lo, hi int) (at []int64) {
	offsets := x.Offsets[lo : hi+1]
	if len(lit) == 1 && most == 0 {
		return everyByte(x.Bytes, offsets[0], offsets[len(offsets)-1], lit[0])
	}
	pos, end := offsets[0], offsets[len(offsets)-1]
	size := int64(len(lit))
	i, often := 0, 0 // the current string, and the number of occurrences found in it
	for {
		k := int64(bytes.Index(x.Bytes[pos:end], lit))
		if k < 0 {
			return at
		}
		pos += k
		if offsets[i+1] <= pos {
			for often = 0; offsets[i+1] <= pos; i++ {
			}
		}
		if pos+size > offsets[i+1] {
			pos++ // it crosses into the next string
			continue
		}
		at = append(at, pos)
		pos += size
		if often++; often == most {
			pos = offsets[i+1]
		}
	}
}

// everyByte returns the positions of a byte in b[pos:end]. Occurrences are often close together, so
// it does not start a new search for each.
func everyByte(b []byte, pos, end int64, sought byte) (at []int64) {
	const ones = 0x0101010101010101
	at = make([]int64, 0, (end-pos)/16)
	for ; pos+8 <= end; pos += 8 {
		w := load64(b[pos:]) ^ uint64(sought)*ones
		// zero has the top bits of the bytes that are 0; the additions do not carry from one byte
		// to the next.
		for zero := ^((w&^(0x80*ones) + 0x7f*ones) | w | 0x7f*ones); zero != 0; zero &= zero - 1 {
			at = append(at, pos+int64(bits.TrailingZeros64(zero)>>3))
		}
	}
	for ; pos < end; pos++ {
		if b[pos] == sought {
			at = append(at, pos)
		}
	}
	return at
}

// total returns the number of occurrences, and the number before each chunk.
func (f *found) total() (before []int, n int) {
	before = make([]int, len(f.at))
	for k, at := range f.at {
		before[k] = n
		n += len(at)
	}
	return before, n
}

// replace returns the strings with each occurrence replaced by text.
func (f *found) replace(text []byte) Column {
	before, n := f.total()
	x := f.x
	if n == 0 {
		return x
	}
	by := int64(len(text) - f.length)
	first := x.Offsets[0]
	out := newColumn(x.Len(), int(x.Size()+by*int64(n)))
	par.For(x.Len(), literalChunk, func(lo, hi int) {
		k := lo / literalChunk
		shift := by*int64(before[k]) - first // offset by which unreplaced bytes move
		from, to := x.Offsets[lo], x.Offsets[lo]+shift
		i := lo + 1
		for _, at := range f.at[k] {
			for ; x.Offsets[i] <= at; i++ {
				out.Offsets[i] = x.Offsets[i] + shift
			}
			to += int64(copy(out.Bytes[to:], x.Bytes[from:at]))
			to += int64(copy(out.Bytes[to:], text))
			from = at + int64(f.length)
			shift += by
		}
		copy(out.Bytes[to:], x.Bytes[from:x.Offsets[hi]])
		for ; i <= hi; i++ {
			out.Offsets[i] = x.Offsets[i] + shift
		}
	})
	return out
}

// split returns the pieces between the occurrences, and writes their row splits.
func (f *found) split(splits []int64) Column {
	before, n := f.total()
	x := f.x
	first := x.Offsets[0]
	out := newColumn(x.Len()+n, int(x.Size())-f.length*n)
	splits[0] = 0
	par.For(x.Len(), literalChunk, func(lo, hi int) {
		k := lo / literalChunk
		piece := lo + before[k]
		shift := first + int64(f.length*before[k])
		from, to := x.Offsets[lo], x.Offsets[lo]-shift
		dst := out.Bytes[:x.Offsets[hi]-first-int64(f.length*(before[k]+len(f.at[k])))]
		i := lo + 1
		for _, at := range f.at[k] {
			for ; x.Offsets[i] <= at; i++ {
				piece++
				out.Offsets[piece], splits[i] = x.Offsets[i]-shift, int64(piece)
			}
			piece++
			out.Offsets[piece] = at - shift
			put(dst, to, x.Bytes, from, at-from)
			to += at - from
			from = at + int64(f.length)
			shift += int64(f.length)
		}
		copy(dst[to:], x.Bytes[from:x.Offsets[hi]])
		for ; i <= hi; i++ {
			piece++
			out.Offsets[piece], splits[i] = x.Offsets[i]-shift, int64(piece)
		}
	})
	return out
}
