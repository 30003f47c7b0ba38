package wire

import (
	"runtime"
	"unsafe"

	"github.com/tenonml/tenon/internal/cpu"
)

// kernels are the kernels for one instruction set. Missing kernels are nil.
type kernels struct {
	// Kernels for lists of numbers and of strings, row by row: see [Ints].
	ints    func(dst *int64, room int, messages *[]byte, rows *Span, n int) (done, count int)
	floats  func(dst *float32, room int, messages *[]byte, rows *Span, n int) (done, count int)
	strings func(dst *byte, room int, ends *int64, roomEnds, offset int, messages *[]byte, rows *Span, n int) (done, size, count int)

	// note is the kernel of [Note].
	note func(messages *[]byte, n int, table *byte, entries, row, budget int) (done, size int)

	// long and varints decode numbers that begin in the first limit bytes of src, until one has an
	// unusual encoding. varints reads 7 bytes more, and is slower from worthLong bytes on.
	long, varints func(dst *int64, src *byte, limit int) (count, used int)

	// fetch is the kernel of [Fetch].
	fetch func(messages *[]byte, n int)
}

var table = cpu.NewTable(kernels{})

// intLists is Ints by a kernel; ok reports whether there is one.
func intLists(dst []int64, messages [][]byte, rows []Span) (done, count int, ok bool) {
	f := table.Now().ints
	if f == nil || len(rows) == 0 || len(dst) == 0 {
		return 0, 0, false
	}
	done, count = f(&dst[0], len(dst), &messages[0], &rows[0], len(rows))
	return done, count, true
}

func floatLists(dst []float32, messages [][]byte, rows []Span) (done, count int, ok bool) {
	f := table.Now().floats
	if f == nil || len(rows) == 0 || len(dst) == 0 {
		return 0, 0, false
	}
	done, count = f(&dst[0], len(dst), &messages[0], &rows[0], len(rows))
	return done, count, true
}

func stringLists(dst []byte, ends []int64, offset int64, messages [][]byte, rows []Span) (done, size, count int, ok bool) {
	f := table.Now().strings
	if f == nil || len(rows) == 0 || len(dst) == 0 || len(ends) == 0 {
		return 0, 0, 0, false
	}
	done, size, count = f(&dst[0], len(dst), &ends[0], len(ends), int(offset), &messages[0], &rows[0], len(rows))
	return done, size, count, true
}

// worthLong is the number of bytes from which the long kernel is faster.
const worthLong = 12

func fast(dst []int64, b []byte, i, end int) (n, used int) {
	k := table.Now()
	if k.long != nil && end-i >= worthLong {
		if n, used = k.long(&dst[0], &b[i], end-i); used > 0 {
			return n, used
		}
	}
	limit := min(end, len(b)-7)
	switch {
	case i >= limit:
		return 0, 0
	case k.varints == nil:
		return generic(dst, b, i, limit)
	}
	return k.varints(&dst[0], &b[i], limit-i)
}

func note(messages [][]byte, entries []Entry, row, budget int) (done, size int) {
	f := table.Now().note
	if f == nil {
		return 0, 0
	}
	return f(&messages[0], len(messages), (*byte)(unsafe.Pointer(&entries[0])), len(entries), row, budget)
}

// Fetch prefetches messages, up to the first 512 bytes of each, without waiting for them if there
// is a kernel for it.
func Fetch(messages [][]byte) {
	if f := table.Now().fetch; f != nil && len(messages) > 0 {
		f(&messages[0], len(messages))
		return
	}
	// Load one byte of each line; a processor can have several such loads in flight.
	sum := byte(0)
	for _, b := range messages {
		for i := 0; i < len(b) && i < 512; i += 64 {
			sum += b[i]
		}
	}
	runtime.KeepAlive(sum)
}
