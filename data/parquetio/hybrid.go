package parquetio

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// Levels, dictionary indices and booleans are stored as runs of equal numbers and groups of eight
// bit-packed numbers, lowest bit first.

var errRuns = errors.New("run-length encoded data ends early")

// A runReader reads numbers of a given width in bits.
type runReader[T uint8 | uint32] struct {
	b      []byte
	width  int
	unpack func(to []T, b []byte, width int)
	equal  int // remaining numbers of a run of equal numbers
	value  T
	groups uint64 // remaining groups of eight packed numbers
}

// read reads as many numbers as there is room for or, if the next numbers are packed, up to seven fewer. There must
// be room for eight more after them.
func (r *runReader[T]) read(to []T) (int, error) {
	at := 0
	for at < len(to) {
		switch {
		case r.equal > 0:
			n := min(r.equal, len(to)-at)
			fillRun(to[at:at+n], r.value)
			at, r.equal = at+n, r.equal-n
		case r.groups > 0:
			n := min(r.groups, uint64(len(to)-at)/8)
			if n == 0 {
				if at > 0 {
					return at, nil
				}
				n = 1
			}
			count := 8 * int(n)
			r.unpack(to[at:at+count:cap(to)], r.b, r.width)
			at, r.groups, r.b = at+count, r.groups-n, r.b[n*uint64(r.width):]
		default:
			if err := r.next(); err != nil {
				return 0, err
			}
		}
	}
	return min(at, len(to)), nil
}

// next starts the next run.
func (r *runReader[T]) next() error {
	h, k := binary.Uvarint(r.b)
	if k <= 0 {
		return errRuns
	}
	r.b = r.b[k:]
	if h&1 != 0 {
		if r.groups = h >> 1; r.width > 0 && r.groups > uint64(len(r.b)/r.width) {
			return errRuns
		}
		return nil
	}
	size := (r.width + 7) / 8
	if len(r.b) < size {
		return errRuns
	}
	var v uint64
	for i := range size {
		v |= uint64(r.b[i]) << (8 * i)
	}
	r.b = r.b[size:]
	if v>>r.width != 0 {
		return errRuns
	}
	r.equal, r.value = int(min(h>>1, math.MaxInt32)), T(v)
	return nil
}

// hybrid appends n numbers of a given width in bits, followed by slack.
func hybrid[T uint8 | uint32](to []T, b []byte, n, width int, unpack func(to []T, b []byte, width int)) ([]T, error) {
	to = slices.Grow(to, n+8)
	r := runReader[T]{b: b, width: width, unpack: unpack}
	for n > 0 {
		at := len(to)
		k, err := r.read(to[at : at+n])
		if err != nil {
			return nil, err
		}
		to, n = to[:at+k], n-k
	}
	return to, nil
}

// repeated appends n copies of a number.
func repeated[T uint8 | uint32](to []T, v T, n int) []T {
	at := len(to)
	to = to[:at+n]
	fillRun(to[at:], v)
	return to
}

// fillRun sets all of some numbers.
func fillRun[T uint8 | uint32](run []T, v T) {
	switch {
	case len(run) == 0:
	case v == 0:
		clear(run)
	default:
		run[0] = v
		for k := 1; k < len(run); k *= 2 {
			copy(run[k:], run[:k])
		}
	}
}

// load returns eight bytes, some of which may be past the end.
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

// spreader unpacks eight numbers of at most 8 bits each into bytes.
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

// unpackBytes unpacks a multiple of 8 numbers, of 1 to 8 bits each.
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

// unpackNumbers unpacks a multiple of 8 numbers, of 0 to 32 bits each.
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
	switch w := width; {
	case w > 8 && w < 16: // four of them begin in one byte and end in the eighth
		half, odd := w>>1, 4*w&7
		for ; i+8 <= len(to) && len(b) >= 16; i += 8 {
			x, y, t := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[half:half+8])>>(odd&63), to[i:i+8:i+8]
			t[0] = uint32(x & mask)
			t[1] = uint32(x >> (w & 63) & mask)
			t[2] = uint32(x >> (2 * w & 63) & mask)
			t[3] = uint32(x >> (3 * w & 63) & mask)
			t[4] = uint32(y & mask)
			t[5] = uint32(y >> (w & 63) & mask)
			t[6] = uint32(y >> (2 * w & 63) & mask)
			t[7] = uint32(y >> (3 * w & 63) & mask)
			b = b[w:]
		}
	case w >= 16 && w < 29: // two of them
		for ; i+8 <= len(to) && len(b) >= w+8; i += 8 {
			t := to[i : i+8 : i+8]
			x, y := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[w>>2:])>>(2*w&7)
			z, u := binary.LittleEndian.Uint64(b[w>>1:])>>(4*w&7), binary.LittleEndian.Uint64(b[3*w>>2:])>>(6*w&7)
			t[0], t[1] = uint32(x&mask), uint32(x>>(w&63)&mask)
			t[2], t[3] = uint32(y&mask), uint32(y>>(w&63)&mask)
			t[4], t[5] = uint32(z&mask), uint32(z>>(w&63)&mask)
			t[6], t[7] = uint32(u&mask), uint32(u>>(w&63)&mask)
			b = b[w:]
		}
	}
	for at := 0; i < len(to); i++ {
		to[i] = uint32(load(b[min(at>>3, len(b)):]) >> (at & 7) & mask)
		at += width
	}
}
