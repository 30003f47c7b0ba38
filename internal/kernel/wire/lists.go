package wire

import (
	"unsafe"
)

// A Span tells where in the message of its row an undecoded list is. Spans are negative; once a
// list is decoded, its number of elements replaces the span. [Absent] is never replaced.
type Span = int64

// Absent marks a row that has no list.
const Absent Span = -1

// MostSpan is the length of the longest message that spans can address: position and length have 31
// bits each, and not all of them may be set.
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

// Slack is the number of bytes of room that kernels need beyond the last element of a list.
const Slack = 128

// Ints decodes lists of packed variable-length integers into dst, row by row; rows[i] is the span
// of the list in messages[i], and is replaced by its number of elements. Ints stops before a row
// that is malformed or has an unusual encoding, or that may not fit into dst, and returns the
// number of rows done and of integers decoded.
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

// Floats is [Ints] for four-byte floating-point numbers.
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

// CopyFloats decodes len(dst) numbers from b.
func CopyFloats(dst []float32, b []byte) {
	if len(dst) > 0 { // supported machines are little-endian, as messages are
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&dst[0])), 4*len(dst)), b)
	}
}

// Strings is [Ints] for lists of strings, which are fields with number 1. It copies their bytes
// into dst and writes the end of each in dst, plus offset, to ends. A string of 128 bytes or more
// counts as unusual. Strings returns the number of rows done, of bytes and of strings.
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

// stringList decodes one list; count is -1 if it cannot.
func stringList(dst []byte, ends []int64, offset int64, b []byte, i, end int) (size, count int) {
	// Short strings are copied as 16 bytes, which may go past their end.
	const copied = 16
	// Each string has two bytes of overhead.
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
