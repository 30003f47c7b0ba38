package source

import (
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// Line returns "file.go:12" for the innermost caller outside the library, and
// "" where there is none. Files are shortened to their last two elements.
// It costs some hundred nanoseconds, so it is called when an operation is recorded
// or fails, never when one runs.
func Line() string {
	var pcs [64]uintptr
	for skip, n := 2, 10; skip < 1<<16; skip, n = skip+n, len(pcs) { // the caller is close most of the time
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

// A Place is where something was called from, to be told later if somebody asks: it
// costs a tenth of what [Line] does.
type Place [12]uintptr

// Here returns the place of the caller's caller.
func Here() (p Place) {
	runtime.Callers(3, p[:])
	return p
}

// String returns what [Line] would have returned at the place, as far as twelve
// callers tell.
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

// A known place is a program counter with the user's line, which is "" for the library.
type known struct {
	pc   uintptr
	line string
}

// places remembers places in the code, each where its program counter tells: calls that
// fail, do so at the same few places, and stand below the same functions of the library.
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

// root is the folder of the library as its files are called in this program, whatever
// -trimpath and vendoring make of it.
var root = func() string {
	_, file, _, _ := runtime.Caller(0)
	return strings.TrimSuffix(file, "internal/source/source.go")
}()

// mine are the folders below root that use the library as everybody does.
var mine = []string{"examples/", "cmd/", "internal/bench/", "internal/outsider"}

// standard are packages that call functions they are given.
var standard = []string{"runtime.", "reflect.", "iter.", "slices.", "maps.", "sort.", "sync.", "internal/"}

// library reports whether a frame is the library's own or one between it and its caller.
// The file decides: a closure of the library that is inlined has the name of the function it
// is inlined into.
func library(f runtime.Frame) bool {
	rest, ok := strings.CutPrefix(f.File, root)
	if !ok {
		return slices.ContainsFunc(standard, func(p string) bool { return strings.HasPrefix(f.Function, p) })
	}
	return !strings.HasSuffix(rest, "_test.go") && !slices.ContainsFunc(mine, func(p string) bool { return strings.HasPrefix(rest, p) })
}
