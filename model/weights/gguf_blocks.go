package weights

import (
	"encoding/binary"
	"math"

	"github.com/tenonml/tenon/dtype"
)

// A ggufBlock says how elements of a type are stored: a number of elements in a number of
// bytes.
type ggufBlock struct {
	elements, bytes int
	dt              dtype.DType                   // of the tensor that is read
	decode          func(out []float32, b []byte) // nil for plain elements
}

// ggufBlocks are the supported types, by their numbers in ggml.
var ggufBlocks = map[uint32]ggufBlock{
	0:  {1, 4, dtype.Float32, nil},
	1:  {1, 2, dtype.Float16, nil},
	30: {1, 2, dtype.BFloat16, nil},
	24: {1, 1, dtype.Int8, nil},
	25: {1, 2, dtype.Int16, nil},
	26: {1, 4, dtype.Int32, nil},
	27: {1, 8, dtype.Int64, nil},
	28: {1, 8, dtype.Float64, nil},
	2:  {32, 18, dtype.Float32, q40},
	3:  {32, 20, dtype.Float32, q41},
	6:  {32, 22, dtype.Float32, q50},
	7:  {32, 24, dtype.Float32, q51},
	8:  {32, 34, dtype.Float32, q80},
	10: {256, 84, dtype.Float32, q2k},
	11: {256, 110, dtype.Float32, q3k},
	12: {256, 144, dtype.Float32, q4k},
	13: {256, 176, dtype.Float32, q5k},
	14: {256, 210, dtype.Float32, q6k},
	15: {256, 292, dtype.Float32, q8k},
}

func blockOf(kind uint32) (ggufBlock, error) {
	b, ok := ggufBlocks[kind]
	if !ok {
		return b, unsupported("elements of ggml's type %d are not supported", kind)
	}
	return b, nil
}

// Products are converted to float32 before anything is added to them, which prevents fused
// multiply-add, so that results are the same everywhere.

// half decodes a float16.
func half(b []byte) float32 { return dtype.F16(binary.LittleEndian.Uint16(b)).Float32() }

// times returns a rounded product.
func times(a float32, n int) float32 { return float32(a * float32(n)) }

// q40 has a scale and 32 4-bit numbers, starting at -8.
func q40(out []float32, b []byte) {
	d := half(b)
	for i, q := range b[2:18] {
		out[i], out[i+16] = times(d, int(q&15)-8), times(d, int(q>>4)-8)
	}
}

// q41 has a scale, a minimum and 32 4-bit numbers.
func q41(out []float32, b []byte) {
	d, m := half(b), half(b[2:])
	for i, q := range b[4:20] {
		out[i], out[i+16] = times(d, int(q&15))+m, times(d, int(q>>4))+m
	}
}

// q50 has a scale, the fifth bits, and 32 numbers, starting at -16.
func q50(out []float32, b []byte) {
	d, high := half(b), binary.LittleEndian.Uint32(b[2:])
	for i, q := range b[6:22] {
		lo, hi := fifth(high, i, q)
		out[i], out[i+16] = times(d, lo-16), times(d, hi-16)
	}
}

// q51 has a scale, a minimum, the fifth bits, and 32 numbers.
func q51(out []float32, b []byte) {
	d, m, high := half(b), half(b[2:]), binary.LittleEndian.Uint32(b[4:])
	for i, q := range b[8:24] {
		lo, hi := fifth(high, i, q)
		out[i], out[i+16] = times(d, lo)+m, times(d, hi)+m
	}
}

// fifth returns elements i and i+16 of a block, given their lower bits.
func fifth(high uint32, i int, q byte) (lo, hi int) {
	return int(q&15) | int(high>>i&1)<<4, int(q>>4) | int(high>>(i+16)&1)<<4
}

// q80 has a scale and 32 bytes.
func q80(out []float32, b []byte) {
	d := half(b)
	for i, q := range b[2:34] {
		out[i] = times(d, int(int8(q)))
	}
}

// q8k has a scale in float32, 256 bytes, and sums that are not needed here.
func q8k(out []float32, b []byte) {
	d := math.Float32frombits(binary.LittleEndian.Uint32(b))
	for i, q := range b[4:260] {
		out[i] = times(d, int(int8(q)))
	}
}

// q2k has 16 scales and minimums of 4 bits, and 256 2-bit numbers.
func q2k(out []float32, b []byte) {
	scales, q := b[:16], b[16:80]
	d, least := half(b[80:]), half(b[82:])
	for i := range out {
		s := scales[i/16]
		v := q[i/128*32+i%32] >> (i % 128 / 32 * 2) & 3
		out[i] = times(times(d, int(s&15)), int(v)) - times(least, int(s>>4))
	}
}

// q3k has the third bit of each number, the two lower ones, and 16 6-bit scales.
func q3k(out []float32, b []byte) {
	mask, q, packed, d := b[:32], b[32:96], b[96:108], half(b[108:])
	var scales [16]float32
	for i := range scales {
		low := packed[i%8] >> (i / 8 * 4) & 15
		high := packed[8+i%4] >> (i / 4 * 2) & 3
		scales[i] = times(d, int(low|high<<4)-32)
	}
	for i := range out {
		v := int(q[i/128*32+i%32] >> (i % 128 / 32 * 2) & 3)
		if mask[i%32]>>(i/32)&1 == 0 {
			v -= 4
		}
		out[i] = times(scales[i/16], v)
	}
}

// scaleOf returns scale and minimum i of the eight 6-bit pairs in 12 bytes.
func scaleOf(b []byte, i int) (scale, least int) {
	if i < 4 {
		return int(b[i] & 63), int(b[i+4] & 63)
	}
	return int(b[i+4]&15 | b[i-4]>>6<<4), int(b[i+4]>>4 | b[i]>>6<<4)
}

// q4k has eight scales and minimums, and 256 4-bit numbers.
func q4k(out []float32, b []byte) { k45(out, b, nil, b[16:144]) }

// q5k is q4k with a fifth bit for each number.
func q5k(out []float32, b []byte) { k45(out, b, b[16:48], b[48:176]) }

func k45(out []float32, b, high, q []byte) {
	d, least := half(b), half(b[2:])
	for part := range 8 {
		s, m := scaleOf(b[4:16], part)
		scale, low := times(d, s), times(least, m)
		for i := range 32 {
			v := q[part/2*32+i] >> (part % 2 * 4) & 15
			if high != nil {
				v |= high[i] >> part & 1 << 4
			}
			out[part*32+i] = times(scale, int(v)) - low
		}
	}
}

// q6k has the four lower and two upper bits of each number, and 16 scales of one byte.
func q6k(out []float32, b []byte) {
	low, high, scales, d := b[:128], b[128:192], b[192:208], half(b[208:])
	for i := range out {
		part, j := i/128, i%128
		v := low[part*64+j%64] >> (j / 64 * 4) & 15
		v |= high[part*32+j%32] >> (j / 32 * 2) & 3 << 4
		out[i] = times(times(d, int(int8(scales[i/16]))), int(v)-32)
	}
}
