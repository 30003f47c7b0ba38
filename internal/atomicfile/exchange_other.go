//go:build !(linux && (amd64 || arm64))

package atomicfile

import "errors"

// exchange gives two files each other's names in one step.
func exchange(a, b string) error { return errors.ErrUnsupported }
