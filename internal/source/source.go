package source

import (
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

const module = "github.com/tenonml/tenon"

// Line returns "file.go:12" for the innermost caller outside the library, and
// "" where there is none. Files are shortened to their last two elements.
// It costs about a microsecond, so it is called when an operation is recorded
// or fails, never when one runs.
func Line() string {
	var pcs [48]uintptr
	n := runtime.Callers(2, pcs[:])
	frames := runtime.CallersFrames(pcs[:n])
	for {
		f, more := frames.Next()
		if f.File != "" && !library(f) {
			dir, file := filepath.Split(f.File)
			return filepath.Join(filepath.Base(dir), file) + ":" + strconv.Itoa(f.Line)
		}
		if !more {
			return ""
		}
	}
}

func library(f runtime.Frame) bool {
	if strings.HasPrefix(f.Function, "runtime.") || strings.HasPrefix(f.Function, "reflect.") || strings.HasPrefix(f.Function, "iter.") || strings.HasPrefix(f.Function, "slices.") {
		return true
	}
	rest, ok := strings.CutPrefix(f.Function, module)
	if !ok || strings.HasSuffix(f.File, "_test.go") {
		return false
	}
	return !strings.HasPrefix(rest, "/examples/") && !strings.HasPrefix(rest, "/cmd/") && !strings.HasPrefix(rest, "/internal/outsider")
}
