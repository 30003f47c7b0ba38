package relpath

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Check returns an error unless name is a plain path inside a folder on every system: with slashes,
// and without "..", devices, streams, or characters that are special on some system.
func Check(name string) error {
	if !fs.ValidPath(name) || name == "." || len(name) > 1024 {
		return fmt.Errorf("%q is not a path inside a folder", name)
	}
	for elem := range strings.SplitSeq(name, "/") {
		base, _, _ := strings.Cut(strings.ToUpper(elem), ".")
		device := slices.Contains([]string{"CON", "PRN", "AUX", "NUL"}, base) ||
			len(base) == 4 && (base[:3] == "COM" || base[:3] == "LPT")
		if len(elem) > 255 || device || strings.HasSuffix(elem, " ") || strings.HasSuffix(elem, ".") ||
			strings.ContainsFunc(elem, func(r rune) bool { return r < 32 || r == 127 || strings.ContainsRune(`\:*?"<>|`, r) }) {
			return fmt.Errorf("%q is not a path inside a folder", name)
		}
	}
	return nil
}
