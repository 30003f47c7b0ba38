package gather

import (
	"math/bits"
	"unsafe"

	"github.com/tenonml/tenon/internal/par"
)

// A Bitmap is an indexed mask: it can tell how many elements before any position are true, which is
// needed for compaction by several workers and for new row splits.
type Bitmap struct {
	bits  []uint64
	ranks []int64 // number of true elements before each word, and in total
	n     int
}

// wordsPerChunk is the number of words that a worker takes at a time.
const wordsPerChunk = chunk / 64

// NewBitmap returns the index of a mask. It takes a quarter of the mask's memory.
func NewBitmap(mask []bool) Bitmap {
	words := (len(mask) + 63) / 64
	b := Bitmap{bits: make([]uint64, words+1), ranks: make([]int64, words+1), n: len(mask)}
	whole := len(mask) / 64
	chunks := (words + wordsPerChunk - 1) / wordsPerChunk
	counts := make([]int64, chunks)
	par.For(chunks, 1, func(c, end int) {
		for ; c < end; c++ {
			lo, hi := c*wordsPerChunk, min((c+1)*wordsPerChunk, words)
			counts[c] = b.fill(mask, lo, min(hi, whole))
			if hi > whole {
				b.ranks[whole] = counts[c]
				for i, m := range mask[64*whole:] {
					if m {
						b.bits[whole] |= 1 << i
						counts[c]++
					}
				}
			}
		}
	})
	total := int64(0)
	for c, n := range counts {
		if total != 0 {
			ranks := b.ranks[c*wordsPerChunk : min((c+1)*wordsPerChunk, words)]
			for i := range ranks {
				ranks[i] += total
			}
		}
		total += n
	}
	b.ranks[words] = total
	return b
}

// fill packs whole words, counting ranks from 0, and returns the number of true elements.
func (b *Bitmap) fill(mask []bool, lo, hi int) int64 {
	if lo >= hi {
		return 0
	}
	if k := table.Now(); k.ranks != nil {
		return k.ranks(&b.bits[lo], &b.ranks[lo], &bytesOf(mask)[64*lo], hi-lo)
	}
	count := int64(0)
	for w := lo; w < hi; w++ {
		var bits64 uint64
		for i := range 8 {
			// Each of the eight bytes is 0 or 1; the multiplication gathers their bits in the top
			// byte.
			bits64 |= word(mask[64*w+8*i:]) * 0x0102040810204080 >> 56 << (8 * i)
		}
		b.bits[w], b.ranks[w] = bits64, count
		count += int64(bits.OnesCount64(bits64))
	}
	return count
}

// Count returns the number of true elements.
func (b Bitmap) Count() int { return int(b.ranks[len(b.ranks)-1]) }

// positions writes the positions of the true elements to out in ascending order.
func (b Bitmap) positions(out []int64) {
	par.For(len(b.bits)-1, wordsPerChunk, func(lo, hi int) {
		to := out[b.ranks[lo]:b.ranks[hi]]
		n := 0
		for i, w := range b.bits[lo:hi] {
			base := int64(lo+i) << 6
			count := bits.OnesCount64(w)
			if n+count+3 <= len(to) {
				// Always write four at a time, even if fewer are left, because a branch for each
				// would be mispredicted at the end of each word.
				for k := 0; k < count; k += 4 {
					o := to[n+k : n+k+4]
					o[0] = base + int64(bits.TrailingZeros64(w))
					w &= w - 1
					o[1] = base + int64(bits.TrailingZeros64(w))
					w &= w - 1
					o[2] = base + int64(bits.TrailingZeros64(w))
					w &= w - 1
					o[3] = base + int64(bits.TrailingZeros64(w))
					w &= w - 1
				}
				n += count
				continue
			}
			for ; w != 0; w &= w - 1 {
				to[n] = base + int64(bits.TrailingZeros64(w))
				n++
			}
		}
	})
}

// Before returns the number of true elements before position i, which may be the
// length of the mask.
func (b Bitmap) Before(i int64) int64 {
	w := i >> 6
	return b.ranks[w] + int64(bits.OnesCount64(b.bits[w]&(1<<(i&63)-1)))
}

// BeforeAll writes [Bitmap.Before] of each position to out, which has len(positions) entries.
// Positions are in the range from 0 to the length of the mask.
func (b Bitmap) BeforeAll(out, positions []int64) {
	par.For(len(positions), chunk/4, func(lo, hi int) {
		if k := table.Now(); k.before != nil {
			k.before(&out[lo], &positions[lo], &b.bits[0], &b.ranks[0], hi-lo)
			return
		}
		for i, p := range positions[lo:hi] {
			out[lo+i] = b.Before(p)
		}
	})
}

// CompactBy copies the elements of x whose mask is true to out, one after the other. out has Count
// elements, and x has as many as the mask.
func CompactBy[T any](out, x []T, b Bitmap) {
	words := len(b.bits) - 1
	size := int(unsafe.Sizeof(*new(T)))
	var kernel func(dst, x *byte, bits *uint64, words int)
	if (size == 4 || size == 8) && holdsNoPointers[T]() {
		kernel = table.Now().compress[size/4-1]
	}
	par.For(words, wordsPerChunk, func(lo, hi int) {
		if kernel != nil {
			lo = compactWords(kernel, bytesOf(out), bytesOf(x), b, size, lo, hi)
		}
		for ; lo < hi; lo++ {
			at := b.ranks[lo]
			for w := b.bits[lo]; w != 0; w &= w - 1 {
				out[at] = x[64*lo+bits.TrailingZeros64(w)]
				at++
			}
		}
	})
}

// compactWords compacts as many words from lo on, before hi, as the kernel can without writing past
// the last of their elements, and returns the first word that remains.
func compactWords(kernel func(dst, x *byte, bits *uint64, words int), dst, x []byte, b Bitmap, size, lo, hi int) int {
	const vector = 64
	room := int(b.ranks[hi])*size - vector
	end := min(hi, b.n/64)
	for end > lo && int(b.ranks[end])*size > room {
		end--
	}
	if end > lo {
		kernel(&dst[int(b.ranks[lo])*size], &x[64*size*lo], &b.bits[lo], end-lo)
	}
	return max(end, lo)
}
