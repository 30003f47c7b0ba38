package wire

import (
	"encoding/binary"
	"math/bits"
)

// more has the continuation bit of each byte set.
const more = 0x8080808080808080

// Varints decodes the numbers packed in b[:end] into dst, which has room for one number for each
// byte, and returns how many there are, or -1 if a number is truncated or has more than ten bytes.
// Bytes of b after end may be read but do not affect the result.
func Varints(dst []int64, b []byte, end int) int {
	if end == 0 {
		return 0
	}
	_, _ = dst[end-1], b[end-1]
	if b[end-1] >= 0x80 {
		return -1
	}
	if end <= 8 && len(b) >= 8 {
		// Many lists have a single number.
		x := binary.LittleEndian.Uint64(b)
		stop := ^x & more
		if bits.TrailingZeros64(stop)+1 == 8*end {
			dst[0] = int64(join(x & (stop ^ (stop - 1))))
			return 1
		}
	}
	n, i := 0, 0
	for i < end {
		if k, used := fast(dst[n:], b, i, end); used > 0 {
			n, i = n+k, i+used
			continue
		}
		v, size := binary.Uvarint(b[i:end])
		if size <= 0 {
			return -1
		}
		dst[n] = int64(v)
		n, i = n+1, i+size
	}
	return n
}

// generic decodes numbers that begin in b[i:limit], after which 7 more bytes can be read, until one
// has more than eight bytes. Bytes without the top bit are the ends of numbers.
func generic(dst []int64, b []byte, i, limit int) (n, used int) {
	start := i
	for i < limit {
		x := binary.LittleEndian.Uint64(b[i:])
		stop := ^x & more
		if stop == 0 {
			break
		}
		first, upTo := bits.TrailingZeros64(stop)+1, stop^(stop-1)
		dst[n] = int64(join(x & upTo))
		n++
		i += first / 8
		next := stop & (stop - 1)
		if next != 0 && i < limit {
			dst[n] = int64(join(x & (next ^ (next - 1)) >> (first & 63)))
			n++
			i += (bits.TrailingZeros64(next) + 1 - first) / 8
		}
	}
	return n, i - start
}

// join packs the 7-bit groups of up to eight bytes together, in three steps.
func join(x uint64) uint64 {
	x &= 0x7f7f7f7f7f7f7f7f
	x = x&0x007f007f007f007f | x&0x7f007f007f007f00>>1
	x = x&0x00003fff00003fff | x&0x3fff00003fff0000>>2
	return x&0x000000000fffffff | x&0x0fffffff00000000>>4
}
