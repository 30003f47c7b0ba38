package parquetio

import (
	"encoding/binary"
	"errors"
	"slices"
)

// Levels, numbers in a dictionary and truth values are stored as runs of equal numbers and
// of eight or more that are packed, the lowest bit first.

var errRuns = errors.New("runs of numbers end early")

// hybrid appends n numbers of a width in bits, and room behind them.
func hybrid[T uint8 | uint32](to []T, b []byte, n, width int, unpack func(to []T, b []byte, width int)) ([]T, error) {
	to = slices.Grow(to, n+8)
	for n > 0 {
		h, k := binary.Uvarint(b)
		if k <= 0 {
			return nil, errRuns
		}
		b = b[k:]
		if h&1 == 0 {
			size := (width + 7) / 8
			if len(b) < size {
				return nil, errRuns
			}
			var v uint64
			for i := range size {
				v |= uint64(b[i]) << (8 * i)
			}
			b = b[size:]
			count := int(min(h>>1, uint64(n)))
			if v>>width != 0 {
				return nil, errRuns
			}
			to = repeated(to, T(v), count)
			n -= count
			continue
		}
		groups := h >> 1
		count := int(min(groups, uint64(n+7)/8)) * 8
		if width > 0 && groups > uint64(len(b)/width) {
			return nil, errRuns
		}
		at := len(to)
		to = to[:at+count]
		unpack(to[at:], b, width)
		if count > n {
			to, count = to[:at+n], n
		}
		n -= count
		b = b[groups*uint64(width):]
	}
	return to, nil
}

// repeated appends a number some times.
func repeated[T uint8 | uint32](to []T, v T, n int) []T {
	if n == 0 {
		return to
	}
	at := len(to)
	to = to[:at+n]
	run := to[at:]
	if v == 0 {
		clear(run)
		return to
	}
	run[0] = v
	for k := 1; k < n; k *= 2 {
		copy(run[k:], run[:k])
	}
	return to
}

// load returns eight bytes, of which some may be behind the end.
func load(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.LittleEndian.Uint64(b)
	}
	v := uint64(0)
	for i, c := range b {
		v |= uint64(c) << (8 * i)
	}
	return v
}

// spreader moves eight numbers of a width of 8 bits at most, packed, into bytes.
type spreader struct {
	width      int
	a, b, c    uint64
	s1, s2, s3 int
}

func spreading(width int) spreader {
	return spreader{
		width: width, s1: 4 * width, s2: 2 * width, s3: width,
		a: 1<<(4*width) - 1, b: (1<<(2*width) - 1) * 0x0000000100000001, c: (1<<width - 1) * 0x0001000100010001,
	}
}

func (s *spreader) of(x uint64) uint64 {
	x = x&s.a | x>>(s.s1&63)&s.a<<32
	x = x&s.b | x>>(s.s2&63)&s.b<<16
	return x&s.c | x>>(s.s3&63)&s.c<<8
}

// unpackBytes unpacks numbers of a width of 1 to 8 bits, a multiple of 8 of them.
func unpackBytes(to []uint8, b []byte, width int) {
	s := spreading(width)
	i := 0
	for ; i+8 <= len(to) && len(b) >= 8; i += 8 {
		binary.LittleEndian.PutUint64(to[i:], s.of(binary.LittleEndian.Uint64(b)))
		b = b[width:]
	}
	for ; i+8 <= len(to); i += 8 {
		binary.LittleEndian.PutUint64(to[i:], s.of(load(b)))
		b = b[min(width, len(b)):]
	}
}

// unpackNumbers unpacks numbers of a width of 0 to 32 bits, a multiple of 8 of them.
func unpackNumbers(to []uint32, b []byte, width int) {
	if width == 0 {
		clear(to)
		return
	}
	mask := uint64(1)<<width - 1
	i := 0
	if width <= 8 {
		w := width
		for ; i+8 <= len(to) && len(b) >= 8; i += 8 {
			x, t := binary.LittleEndian.Uint64(b), to[i:i+8:i+8]
			t[0] = uint32(x & mask)
			t[1] = uint32(x >> (w & 63) & mask)
			t[2] = uint32(x >> (2 * w & 63) & mask)
			t[3] = uint32(x >> (3 * w & 63) & mask)
			t[4] = uint32(x >> (4 * w & 63) & mask)
			t[5] = uint32(x >> (5 * w & 63) & mask)
			t[6] = uint32(x >> (6 * w & 63) & mask)
			t[7] = uint32(x >> (7 * w & 63) & mask)
			b = b[w:]
		}
	}
	for ; i+8 <= len(to) && len(b) >= width+8; i += 8 {
		t, at := to[i:i+8:i+8], 0
		for k := range t {
			t[k] = uint32(binary.LittleEndian.Uint64(b[at>>3:]) >> (at & 7) & mask)
			at += width
		}
		b = b[width:]
	}
	for at := 0; i < len(to); i++ {
		to[i] = uint32(load(b[min(at>>3, len(b)):]) >> (at & 7) & mask)
		at += width
	}
}
