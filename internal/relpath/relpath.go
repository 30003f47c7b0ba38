package relpath

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Check returns an error unless name is a plain path inside a folder on any system: with
// slashes, without "..", devices, streams, or characters that some system gives a meaning.
func Check(name string) error {
	if !fs.ValidPath(name) || name == "." || len(name) > 1024 {
		return fmt.Errorf("%q is no path inside a folder", name)
	}
	for elem := range strings.SplitSeq(name, "/") {
		base, _, _ := strings.Cut(strings.ToUpper(elem), ".")
		device := slices.Contains([]string{"CON", "PRN", "AUX", "NUL"}, base) ||
			len(base) == 4 && (base[:3] == "COM" || base[:3] == "LPT")
		if len(elem) > 255 || device || strings.HasSuffix(elem, " ") || strings.HasSuffix(elem, ".") ||
			strings.ContainsFunc(elem, func(r rune) bool { return r < 32 || r == 127 || strings.ContainsRune(`\:*?"<>|`, r) }) {
			return fmt.Errorf("%q is no path inside a folder", name)
		}
	}
	return nil
}
