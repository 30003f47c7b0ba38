package input

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/tenonml/tenon/internal/atomicfile"
)

// WriteFile gives fill what a file of the name will hold, compressed where the name
// ends in .gz or .zst. A file that is there is replaced in the end, when all has been
// written: where that fails it stays as it was. What is no file, such as a pipe, is
// written to as it is.
func WriteFile(name string, fill func(w io.Writer) error) error {
	return replace(name, func(w io.Writer) error {
		var z io.WriteCloser
		switch {
		case strings.HasSuffix(name, ".gz"):
			z = gzip.NewWriter(w)
		case strings.HasSuffix(name, ".zst"):
			enc, err := zstd.NewWriter(w)
			if err != nil {
				return err
			}
			z = enc
		default:
			return fill(w)
		}
		return errors.Join(fill(z), z.Close())
	})
}

func replace(name string, fill func(w io.Writer) error) error {
	if st, err := os.Stat(name); err == nil && !st.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(fill(f), f.Close())
	}
	if target, err := filepath.EvalSymlinks(name); err == nil { // the link stays
		name = target
	}
	return atomicfile.Replace(name, fill)
}
