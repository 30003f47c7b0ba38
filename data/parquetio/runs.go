package parquetio

import "encoding/binary"

// leastRun is the smallest number of equal numbers that are written as a run; fewer are bit-packed
// with their neighbours.
const leastRun = 16

// appendRuns appends numbers of a given width in bits, in the form that [hybrid] reads. same reports whether eight
// numbers are equal, and pack packs eight numbers.
func appendRuns[T uint8 | uint32](to []byte, list []T, width int, same func(*[8]T) bool, pack func(to []byte, x *[8]T, width int) []byte) []byte {
	literal := 0 // beginning of the numbers to pack
	flush := func(end int) {
		if groups := (end - literal + 7) / 8; groups > 0 {
			to = binary.AppendUvarint(to, uint64(groups)<<1|1)
		}
		for ; literal+8 <= end; literal += 8 {
			to = pack(to, (*[8]T)(list[literal:]), width)
		}
		if literal < end { // the last numbers, padded with zeros
			var rest [8]T
			copy(rest[:], list[literal:end])
			to = pack(to, &rest, width)
			literal = end
		}
	}
	for i := 0; i < len(list); {
		end := i
		for end+8 <= len(list) && list[end] == list[i] && same((*[8]T)(list[end:])) {
			end += 8
		}
		for len(list)-end < 8 && end < len(list) && list[end] == list[i] {
			end++
		}
		if end-i < leastRun {
			i = min(max(end, i+8), len(list))
			continue
		}
		flush(i)
		to = binary.AppendUvarint(to, uint64(end-i)<<1)
		for v, k := uint64(list[i]), 0; k < (width+7)/8; k++ {
			to = append(to, byte(v>>(8*k)))
		}
		i, literal = end, end
	}
	flush(len(list))
	return to
}

// appendLevels appends levels of a width of 1 to 8 bits.
func appendLevels(to []byte, list []uint8, width int) []byte {
	return appendRuns(to, list, width, sameBytes, packBytes)
}

// appendNumbers appends dictionary indices, of 1 to 32 bits each.
func appendNumbers(to []byte, list []uint32, width int) []byte {
	return appendRuns(to, list, width, sameNumbers, packNumbers)
}

func sameBytes(x *[8]uint8) bool {
	return binary.LittleEndian.Uint64(x[:]) == uint64(x[0])*0x0101010101010101
}

func sameNumbers(x *[8]uint32) bool {
	v := x[0]
	return x[1] == v && x[2] == v && x[3] == v && x[4] == v && x[5] == v && x[6] == v && x[7] == v
}

// packBytes is the inverse of [unpackBytes], for eight numbers: it combines pairs, and then pairs of
// pairs.
func packBytes(to []byte, b *[8]uint8, width int) []byte {
	w := width
	one, two, four := uint64(1)<<w-1, uint64(1)<<(2*w)-1, uint64(1)<<(4*w)-1
	one, two = one*0x0001000100010001, two*0x0000000100000001
	x := binary.LittleEndian.Uint64(b[:])
	x = x&one | x>>(8-w)&(one<<w)
	x = x&two | x>>(16-2*w)&(two<<(2*w))
	x = x&four | x>>(32-4*w)&(four<<(4*w))
	return binary.LittleEndian.AppendUint64(to, x)[:len(to)+w]
}

// packNumbers is the inverse of [unpackNumbers], for eight numbers.
func packNumbers(to []byte, t *[8]uint32, width int) []byte {
	w := width
	if w <= 8 {
		x := uint64(t[0]) | uint64(t[1])<<w | uint64(t[2])<<(2*w) | uint64(t[3])<<(3*w) |
			uint64(t[4])<<(4*w) | uint64(t[5])<<(5*w) | uint64(t[6])<<(6*w) | uint64(t[7])<<(7*w)
		return binary.LittleEndian.AppendUint64(to, x)[:len(to)+w]
	}
	x, have := uint64(0), 0
	for _, v := range t {
		x |= uint64(v) << have
		if have += w; have >= 32 {
			to = binary.LittleEndian.AppendUint32(to, uint32(x))
			x, have = x>>32, have-32
		}
	}
	for ; have > 0; have -= 8 {
		to = append(to, byte(x))
		x >>= 8
	}
	return to
}
