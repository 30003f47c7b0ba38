//go:build !(linux && (amd64 || arm64))

package atomicfile

import "errors"

// exchange atomically exchanges the names of two files.
func exchange(a, b string) error { return errors.ErrUnsupported }
