//go:build amd64 && !purego

package wire

import (
	"unsafe"

	"github.com/tenonml/tenon/internal/cpu"
)

// level is the family of kernels in use; tests change it. PEXT is slow on processors
// of AMD before those that have AVX-512.
var level = cpu.Active()

// wide tells whether the kernel for 64 bytes at once can be used; tests change it.
var wide = cpu.PermutesBytes()

// long is how many bytes it takes for the wide kernel to be the faster one.
const long = 12

// intLists is Ints by a kernel, where there is one.
func intLists(dst []int64, messages [][]byte, rows []Span) (done, count int, ok bool) {
	if !wide || level < cpu.AVX512 || len(rows) == 0 || len(dst) == 0 {
		return 0, 0, false
	}
	done, count = intListsVBMI(&dst[0], len(dst), &messages[0], &rows[0], len(rows))
	return done, count, true
}

func floatLists(dst []float32, messages [][]byte, rows []Span) (done, count int, ok bool) {
	if !wide || level < cpu.AVX512 || len(rows) == 0 || len(dst) == 0 {
		return 0, 0, false
	}
	done, count = floatListsVBMI(&dst[0], len(dst), &messages[0], &rows[0], len(rows))
	return done, count, true
}

func stringLists(dst []byte, ends []int64, offset int64, messages [][]byte, rows []Span) (done, size, count int, ok bool) {
	if !wide || level < cpu.AVX512 || len(rows) == 0 || len(dst) == 0 || len(ends) == 0 {
		return 0, 0, 0, false
	}
	done, size, count = stringListsVBMI(&dst[0], len(dst), &ends[0], len(ends), int(offset), &messages[0], &rows[0], len(rows))
	return done, size, count, true
}

func fast(dst []int64, b []byte, i, end int) (n, used int) {
	if wide && level == cpu.AVX512 && end-i >= long {
		if n, used = varintsVBMI(&dst[0], &b[i], end-i); used > 0 {
			return n, used
		}
	}
	limit := min(end, len(b)-7)
	if i >= limit {
		return 0, 0
	}
	if level < cpu.AVX512 {
		return generic(dst, b, i, limit)
	}
	return varintsBMI2(&dst[0], &b[i], limit-i)
}

func notes() bool { return wide && level >= cpu.AVX512 }

func note(messages [][]byte, table []Entry, row, budget int) (done, size int) {
	if !notes() {
		return 0, 0
	}
	return noteListsVBMI(&messages[0], len(messages), (*byte)(unsafe.Pointer(&table[0])), len(table), row, budget)
}

// Fetch asks for the memory of messages, up to the first 512 bytes of each, without
// waiting for it.
func Fetch(messages [][]byte) {
	if len(messages) > 0 {
		fetchMessages(&messages[0], len(messages))
	}
}
