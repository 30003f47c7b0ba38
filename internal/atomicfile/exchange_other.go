//go:build !(linux && (amd64 || arm64))

package atomicfile

import "os"

// rename gives a file the name of another one.
func rename(from, to string) error { return os.Rename(from, to) }
