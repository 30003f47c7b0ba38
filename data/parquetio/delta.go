package parquetio

import (
	"encoding/binary"
	"errors"
)

// Values of a fixed width may be stored as DELTA_BYTE_ARRAY: the lengths of what each has
// in common with the one before, and the rest of each. The library below reads that for
// byte arrays only, so such pages are made plain.

var errDelta = errors.New("the values of a page, stored by their differences, are damaged")

// plain returns values of a width, one behind the other.
func plain(b []byte, width int) ([]byte, error) {
	prefixes, b, err := deltas(b, int64(len(b))*maxShared)
	if err != nil {
		return nil, err
	}
	lengths, b, err := deltas(b, int64(len(prefixes)))
	if err != nil || len(lengths) != len(prefixes) {
		return nil, errDelta
	}
	var out []byte
	for i, p := range prefixes {
		n := lengths[i]
		if p < 0 || n < 0 || p+n != int64(width) || n > int64(len(b)) || i == 0 && p > 0 {
			return nil, errDelta
		}
		if p > 0 {
			at := len(out) - width
			out = append(out, out[at:at+int(p)]...)
		}
		out = append(out, b[:n]...)
		b = b[n:]
	}
	return out, nil
}

// maxShared bounds how many values a byte of differences stands for: a block of equal ones
// takes a few bytes.
const maxShared = 1 << 12

// deltas reads numbers in DELTA_BINARY_PACKED, at most so many, and returns what follows.
func deltas(b []byte, most int64) ([]int64, []byte, error) {
	ok := true
	number := func() uint64 {
		v, k := binary.Uvarint(b)
		if k <= 0 {
			ok = false
			return 0
		}
		b = b[k:]
		return v
	}
	signed := func() int64 {
		v := number()
		return int64(v>>1) ^ -int64(v&1)
	}
	block, minis, total, first := number(), number(), number(), signed()
	if !ok || block == 0 || block > 1<<16 || block%128 != 0 || minis == 0 || block%minis != 0 || block/minis%32 != 0 || total > uint64(max(most, 0)) {
		return nil, nil, errDelta
	}
	if total == 0 {
		return nil, b, nil
	}
	out := []int64{first}
	per := int(block / minis)
	for last := first; uint64(len(out)) < total; {
		least := signed()
		if !ok || uint64(len(b)) < minis {
			return nil, nil, errDelta
		}
		widths := b[:minis]
		b = b[minis:]
		for _, w := range widths {
			if uint64(len(out)) == total {
				break
			}
			size := int(w) * per / 8
			if w > 64 || size > len(b) {
				return nil, nil, errDelta
			}
			for i := 0; i < per && uint64(len(out)) < total; i++ {
				last += least + int64(packed64(b, i*int(w), int(w)))
				out = append(out, last)
			}
			b = b[size:]
		}
	}
	return out, b, nil
}

// packed64 returns width bits from a bit on, the lowest first.
func packed64(b []byte, at, width int) uint64 {
	v := uint64(0)
	for i := range width {
		if b[(at+i)>>3]>>((at+i)&7)&1 != 0 {
			v |= 1 << i
		}
	}
	return v
}
