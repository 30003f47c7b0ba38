package wire

import (
	"unsafe"
)

// A Span says where in the message of its row a list lies that is yet to be decoded.
// It is negative; once decoded the number of elements takes its place. [Absent] stays
// as it is.
type Span = int64

// Absent marks a row that has no list.
const Absent Span = -1

// MostSpan is the length of the longest message in which spans can be: the place and
// the length have 31 bits each, and not all of them are set.
const MostSpan = 1<<31 - 2

// SpanOf returns the span of b[from:to], of at most [MostSpan] bytes.
func SpanOf(from, to int) Span {
	return -1<<63 | int64(from)<<32 | int64(to-from)
}

// Bounds is the inverse of [SpanOf].
func Bounds(s Span) (from, to int) {
	from = int(uint64(s) << 1 >> 33)
	return from, from + int(uint32(s))
}

// Slack is how many bytes beyond the last element of a list kernels need room for.
const Slack = 128

// Ints decodes lists of packed variable-length integers, row by row, into dst: that of
// row i lies in messages[i], where rows[i] says. It stops before a row that is
// malformed, or rare, or for which dst may lack room, and returns how many rows it has
// done and how many numbers there are in them.
func Ints(dst []int64, messages [][]byte, rows []Span) (done, count int) {
	messages = messages[:len(rows)]
	if done, count, ok := intLists(dst, messages, rows); ok {
		return done, count
	}
	for i, r := range rows {
		if r >= Absent {
			continue
		}
		from, to := Bounds(r)
		if to-from > len(dst)-count {
			return i, count
		}
		n := Varints(dst[count:], messages[i][from:], to-from)
		if n < 0 {
			return i, count
		}
		rows[i] = int64(n)
		count += n
	}
	return len(rows), count
}

// Floats is [Ints] for numbers of four bytes.
func Floats(dst []float32, messages [][]byte, rows []Span) (done, count int) {
	messages = messages[:len(rows)]
	if done, count, ok := floatLists(dst, messages, rows); ok {
		return done, count
	}
	for i, r := range rows {
		if r >= Absent {
			continue
		}
		from, to := Bounds(r)
		n := (to - from) / 4
		if n > len(dst)-count || (to-from)%4 != 0 {
			return i, count
		}
		CopyFloats(dst[count:count+n], messages[i][from:to])
		rows[i] = int64(n)
		count += n
	}
	return len(rows), count
}

// CopyFloats decodes as many numbers as dst has.
func CopyFloats(dst []float32, b []byte) {
	if len(dst) > 0 { // all machines are little-endian, as messages are
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&dst[0])), 4*len(dst)), b)
	}
}

// Strings is [Ints] for lists of strings, the fields with number 1: it copies their
// bytes into dst and writes into ends where each ends there, offset added. A string of
// 128 bytes or more is rare. It returns the number of bytes and of strings.
func Strings(dst []byte, ends []int64, offset int64, messages [][]byte, rows []Span) (done, size, count int) {
	messages = messages[:len(rows)]
	if done, size, count, ok := stringLists(dst, ends, offset, messages, rows); ok {
		return done, size, count
	}
	for i, r := range rows {
		if r >= Absent {
			continue
		}
		from, to := Bounds(r)
		bytes, n := stringList(dst[size:], ends[count:], offset+int64(size), messages[i], from, to)
		if n < 0 {
			return i, size, count
		}
		rows[i] = int64(n)
		size, count = size+bytes, count+n
	}
	return len(rows), size, count
}

// firstTag precedes the elements of a list of strings.
const firstTag = 1<<3 | 2

// stringList decodes one list; count is negative where it is not done.
func stringList(dst []byte, ends []int64, offset int64, b []byte, i, end int) (size, count int) {
	// Copies of 16 bytes reach beyond a string.
	const copied = 16
	// A string takes two bytes besides its own.
	if len(dst) < end-i+copied || len(ends) < (end-i)/2 {
		return 0, -1
	}
	for ; i < end; count++ {
		if end-i < 2 || b[i] != firstTag || b[i+1] >= 0x80 || int(b[i+1]) > end-i-2 {
			return 0, -1
		}
		n := int(b[i+1])
		i += 2
		if n <= copied && len(b)-i >= copied {
			*(*[copied]byte)(dst[size:]) = *(*[copied]byte)(b[i:])
		} else {
			copy(dst[size:size+n], b[i:i+n])
		}
		size, i = size+n, i+n
		ends[count] = offset + int64(size)
	}
	return size, count
}
