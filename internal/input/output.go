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

// WriteFile calls fill with a writer of the named file, which compresses if the name ends in .gz or
// .zst. An existing file is replaced only after everything has been written; if that fails, it is
// unchanged. A path that is not a regular file, such as a pipe, is written to directly.
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
	if target, err := filepath.EvalSymlinks(name); err == nil { // keep the link
		name = target
	}
	return atomicfile.Replace(name, fill)
}
