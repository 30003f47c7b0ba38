package parquetio

import (
	"encoding/binary"
	"errors"
)

var errDelta = errors.New("the delta-encoded values of a page are damaged")

// deltas decodes at most most numbers in DELTA_BINARY_PACKED, and returns the bytes that follow.
func deltas(b []byte, most int) ([]int64, []byte, error) {
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
	out := make([]int64, 1, total)
	out[0] = first
	per := int(block / minis)
	for last := first; uint64(len(out)) < total; {
		least := signed()
		if !ok || uint64(len(b)) < minis {
			return nil, nil, errDelta
		}
		widths := b[:minis]
		b = b[minis:]
		for _, w := range widths {
			left := int(total) - len(out)
			if left == 0 {
				break
			}
			size := int(w) * per / 8
			if w > 64 || size > len(b) {
				return nil, nil, errDelta
			}
			at := len(out)
			out = out[:at+min(per, left)]
			last = summed(out[at:], b[:size], int(w), least, last)
			b = b[size:]
		}
	}
	return out, b, nil
}

// summed decodes a block: each number is the preceding one plus least plus a packed difference;
// last is the number before the block.
func summed(to []int64, b []byte, width int, least, last int64) int64 {
	if width == 0 {
		for i := range to {
			last += least
			to[i] = last
		}
		return last
	}
	mask := ^uint64(0) >> (64 - width)
	at := 0
	for i := range to {
		v := load(b[at>>3:]) >> (at & 7)
		if have := 64 - at&7; have < width { // it extends into a ninth byte
			v |= uint64(b[at>>3+8]) << have
		}
		last += least + int64(v&mask)
		to[i] = last
		at += width
	}
	return last
}
