//go:build !amd64 || purego

package wire

import (
	"runtime"

	"github.com/tenonml/tenon/internal/cpu"
)

var (
	level = cpu.Active()
	wide  bool
)

// intLists, floatLists and stringLists have no kernels here.
func intLists([]int64, [][]byte, []Span) (done, count int, ok bool)     { return 0, 0, false }
func floatLists([]float32, [][]byte, []Span) (done, count int, ok bool) { return 0, 0, false }
func stringLists([]byte, []int64, int64, [][]byte, []Span) (done, size, count int, ok bool) {
	return 0, 0, 0, false
}

func notes() bool { return false }

func note([][]byte, []Entry, int, int) (done, size int) { return 0, 0 }

func fast(dst []int64, b []byte, i, end int) (n, used int) {
	limit := min(end, len(b)-7)
	if i >= limit {
		return 0, 0
	}
	return generic(dst, b, i, limit)
}

// Fetch asks for the memory of messages, up to the first 512 bytes of each, by loading a
// byte of each line, of which a processor has several under way.
func Fetch(messages [][]byte) {
	sum := byte(0)
	for _, b := range messages {
		for i := 0; i < len(b) && i < 512; i += 64 {
			sum += b[i]
		}
	}
	runtime.KeepAlive(sum)
}
