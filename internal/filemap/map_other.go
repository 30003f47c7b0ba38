//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package filemap

import (
	"errors"
	"os"
)

// mapped returns an error, so that the file is read.
func mapped(*os.File) (b []byte, free func() error, err error) {
	return nil, nil, errors.ErrUnsupported
}
