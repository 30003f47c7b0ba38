//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package filemap

import (
	"errors"
	"os"
)

// mapped says that a file has to be read.
func mapped(*os.File) (b []byte, free func() error, err error) {
	return nil, nil, errors.ErrUnsupported
}
