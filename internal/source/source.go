package source

import (
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// Line returns "file.go:12" for the innermost caller outside of the library, or "" if there is
// none. Paths are shortened to their last two elements. Line takes some hundred nanoseconds, so it
// is called when an operation is recorded or fails, but never when one runs.
func Line() string {
	var pcs [64]uintptr
	for skip, n := 2, 10; skip < 1<<16; skip, n = skip+n, len(pcs) { // the caller is usually close
		got := runtime.Callers(skip, pcs[:n])
		for _, pc := range pcs[:got] {
			if line := at(pc); line != "" {
				return line
			}
		}
		if got < n {
			break
		}
	}
	return ""
}

// A Place is a position in a call stack from which the line can be determined later, if needed. It
// costs a tenth of [Line].
type Place [12]uintptr

// Here returns the Place of the caller's caller.
func Here() (p Place) {
	runtime.Callers(3, p[:])
	return p
}

// String returns what [Line] would have returned at the Place, within the limit of twelve callers.
func (p Place) String() string {
	for _, pc := range p {
		if pc == 0 {
			break
		}
		if line := at(pc); line != "" {
			return line
		}
	}
	return ""
}

// A known place is a program counter with the user's line, or "" for the library.
type known struct {
	pc   uintptr
	line string
}

// places caches lines by program counter: failing calls occur at the same few places, below the
// same functions of the library.
var places [4096]atomic.Pointer[known]

func at(pc uintptr) string {
	kept := &places[uint64(pc)*0x9E3779B97F4A7C15>>(64-12)]
	if k := kept.Load(); k != nil && k.pc == pc {
		return k.line
	}
	line := ""
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	if f.File != "" && !library(f) {
		dir, file := filepath.Split(f.File)
		line = filepath.Join(filepath.Base(dir), file) + ":" + strconv.Itoa(f.Line)
	}
	kept.Store(&known{pc, line})
	return line
}

// root is the folder of the library as it appears in the file names of this program, regardless of
// -trimpath and vendoring.
var root = func() string {
	_, file, _, _ := runtime.Caller(0)
	return strings.TrimSuffix(file, "internal/source/source.go")
}()

// mine are the folders below root whose code counts as user code.
var mine = []string{"examples/", "cmd/", "internal/bench/", "internal/outsider"}

// standard are packages that call functions passed to them.
var standard = []string{"runtime.", "reflect.", "iter.", "slices.", "maps.", "sort.", "sync.", "internal/"}

// library reports whether a frame belongs to the library, or lies between the library and
// its caller. The decision is made by file, because an inlined closure of the library has
// the name of the function it is inlined into.
func library(f runtime.Frame) bool {
	rest, ok := strings.CutPrefix(f.File, root)
	if !ok {
		return slices.ContainsFunc(standard, func(p string) bool { return strings.HasPrefix(f.Function, p) })
	}
	return !strings.HasSuffix(rest, "_test.go") && !slices.ContainsFunc(mine, func(p string) bool { return strings.HasPrefix(rest, p) })
}
