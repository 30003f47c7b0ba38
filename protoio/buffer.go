package protoio

import (
	"encoding/binary"
	"math"
	"math/bits"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
)

// A buffer collects the values of one feature in a run of examples.
type buffer struct {
	kind   kind
	lens   []int64 // of the rows; absent where a row lacks the feature
	ints   []int64
	floats []float32
	bytes  []byte
	ends   []int64 // of the strings in bytes

	steps []int64 // of feature lists: the rows of each example
}

const absent = -1

// reset empties the buffer for rows that lack the feature so far.
func (f *buffer) reset(k kind, rows int) {
	*f = buffer{kind: k, lens: f.lens[:0], ints: f.ints[:0], floats: f.floats[:0], bytes: f.bytes[:0], ends: f.ends[:0], steps: f.steps[:0]}
	for range rows {
		f.lens = append(f.lens, absent)
	}
}

// count returns the number of values.
func (f *buffer) count() int {
	switch f.kind {
	case int64List:
		return len(f.ints)
	case floatList:
		return len(f.floats)
	}
	return len(f.ends)
}

// cut drops all values from n on.
func (f *buffer) cut(n int) {
	switch f.kind {
	case int64List:
		f.ints = f.ints[:n]
	case floatList:
		f.floats = f.floats[:n]
	default:
		f.ends = f.ends[:n]
		end := int64(0)
		if n > 0 {
			end = f.ends[n-1]
		}
		f.bytes = f.bytes[:end]
	}
}

// undo drops the values that the row has, which is the last one.
func (f *buffer) undo(row int) {
	if n := f.lens[row]; n != absent {
		f.cut(f.count() - int(n))
		f.lens[row] = absent
	}
}

// feature appends the values of a Feature message and returns which list it has: the
// last one, where there are several; lists of one kind add up.
func (f *buffer) feature(b []byte, i, end int) (got kind, err error) {
	if i < end && b[i] == byte(f.kind)<<3|2 { // nearly always there is the one list
		if from, to := length(b, i+1, end); to == end && from >= 0 {
			return f.kind, f.list(b, from, to)
		}
	}
	start := f.count()
	for i < end {
		t := b[i]
		k := kind(t >> 3)
		if t&7 != 2 || k == noList || k >= otherLists {
			if i = skip(b, i, end); i < 0 {
				return noList, errTruncated
			}
			continue
		}
		from, to := length(b, i+1, end)
		if from < 0 {
			return noList, errTruncated
		}
		i = to
		if got != k {
			f.cut(start)
			got = k
		}
		if k != f.kind {
			continue
		}
		if err = f.list(b, from, to); err != nil {
			return noList, err
		}
	}
	return got, nil
}

// list appends the values of a list of the buffer's kind.
func (f *buffer) list(b []byte, i, end int) error {
	switch f.kind {
	case int64List:
		return f.int64s(b, i, end)
	case floatList:
		return f.float32s(b, i, end)
	}
	return f.strings(b, i, end)
}

// strings appends the elements of a BytesList.
func (f *buffer) strings(b []byte, i, end int) error {
	for i < end {
		if b[i] != tagFirst {
			if i = skip(b, i, end); i < 0 {
				return errTruncated
			}
			continue
		}
		from, to := length(b, i+1, end)
		if from < 0 {
			return errTruncated
		}
		f.bytes = append(f.bytes, b[from:to]...)
		f.ends = append(f.ends, int64(len(f.bytes)))
		i = to
	}
	return nil
}

// tagFloat and tagInt precede single elements of lists that are not packed.
const (
	tagFloat = 1<<3 | 5
	tagInt   = 1 << 3
)

// float32s appends the elements of a FloatList.
func (f *buffer) float32s(b []byte, i, end int) error {
	for i < end {
		switch b[i] {
		case tagFirst:
			from, to := length(b, i+1, end)
			if from < 0 {
				return errTruncated
			}
			if (to-from)%4 != 0 {
				return errPacked
			}
			n := len(f.floats)
			f.floats = grow(f.floats, (to-from)/4)[:n+(to-from)/4]
			if to > from { // all machines are little-endian, as messages are
				copy(unsafe.Slice((*byte)(unsafe.Pointer(&f.floats[n])), to-from), b[from:to])
			}
			i = to
		case tagFloat:
			if end-i < 5 {
				return errTruncated
			}
			f.floats = append(f.floats, math.Float32frombits(binary.LittleEndian.Uint32(b[i+1:])))
			i += 5
		default:
			if i = skip(b, i, end); i < 0 {
				return errTruncated
			}
		}
	}
	return nil
}

// int64s appends the elements of an Int64List.
func (f *buffer) int64s(b []byte, i, end int) error {
	for i < end {
		switch b[i] {
		case tagFirst:
			from, to := length(b, i+1, end)
			if from < 0 {
				return errTruncated
			}
			if to > from && b[to-1] >= 0x80 {
				return errPacked
			}
			// A number takes a byte at least, so there are no more than bytes.
			f.ints = grow(f.ints, to-from)
			var ok bool
			if f.ints, ok = varints(f.ints, b, from, to); !ok {
				return errPacked
			}
			i = to
		case tagInt:
			x, n := protowire.ConsumeVarint(b[i+1 : end])
			if n < 0 {
				return errTruncated
			}
			f.ints = append(f.ints, int64(x))
			i += 1 + n
		default:
			if i = skip(b, i, end); i < 0 {
				return errTruncated
			}
		}
	}
	return nil
}

// varints appends the numbers packed in b[i:end], which dst has room for; the last
// byte ends a number. Numbers of a few bytes are taken apart without a loop: in 8
// bytes, those without their top bit set tell where numbers end, and two numbers of up
// to 4 bytes come of one load where both end in it. A longer number is done in three
// steps, which move its groups of 7 bits together.
func varints(dst []int64, b []byte, i, end int) ([]int64, bool) {
	n := len(dst)
	dst = dst[:cap(dst)]
	const more = 0x8080808080808080
	for i < end && i+8 <= len(b) {
		x := binary.LittleEndian.Uint64(b[i:])
		stop := ^x & more
		if stop&0x80808080 != 0 {
			first := bits.TrailingZeros64(stop) + 1
			dst[n] = int64(short(x & (1<<(first&63) - 1)))
			n++
			i += first / 8
			next := stop & (stop - 1)
			if second := bits.TrailingZeros64(next) + 1 - first; next != 0 && second <= 32 && i < end {
				dst[n] = int64(short(x >> (first & 63) & (1<<(second&63) - 1)))
				n++
				i += second / 8
			}
			continue
		}
		if stop == 0 {
			v, size := protowire.ConsumeVarint(b[i:end])
			if size < 0 {
				return nil, false
			}
			dst[n] = int64(v)
			n++
			i += size
			continue
		}
		x &= stop ^ (stop - 1) // up to the end of the number
		i += bits.TrailingZeros64(stop)/8 + 1
		x &^= more
		x = x&0x007f007f007f007f | x&0x7f007f007f007f00>>1
		x = x&0x00003fff00003fff | x&0x3fff00003fff0000>>2
		x = x&0x000000000fffffff | x&0x0fffffff00000000>>4
		dst[n] = int64(x)
		n++
	}
	for i < end {
		v, size := protowire.ConsumeVarint(b[i:end])
		if size < 0 {
			return nil, false
		}
		dst[n] = int64(v)
		n++
		i += size
	}
	return dst[:n], true
}

// short returns the number of up to four bytes of varint.
func short(x uint64) uint64 {
	return x&0x7f | x>>1&(0x7f<<7) | x>>2&(0x7f<<14) | x>>3&(0x7f<<21)
}

// grow returns s with room for n more.
func grow[T any](s []T, n int) []T {
	if cap(s)-len(s) >= n {
		return s
	}
	t := make([]T, len(s), max(len(s)+n, 2*cap(s), 64))
	copy(t, s)
	return t
}
