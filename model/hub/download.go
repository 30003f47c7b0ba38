package hub

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/opencontainers/go-digest"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/filelock"
)

// A download brings bytes to a file of the cache when all of them have arrived and have the
// right digest.
type download struct {
	to   string // the file
	part string // where the bytes are until then
	lock string // the file that is locked meanwhile
	size int64
	sum  func() hash.Hash
	want string // the digest in hexadecimal

	// open returns the bytes starting at from, or at an earlier position, which it returns.
	open func(ctx context.Context, from int64) (body io.ReadCloser, at int64, err error)
}

// sumOf returns a function that makes a hash for a digest.
func sumOf(d digest.Digest) (func() hash.Hash, error) {
	switch d.Algorithm() {
	case digest.SHA256:
		return sha256.New, nil
	case digest.SHA512:
		return sha512.New, nil
	}
	return nil, bad(tenon.ErrUnsupported, "digests of type %s are not supported", d.Algorithm())
}

// gitSum returns a function that makes a hash for the name that git gives to a file of n bytes.
func gitSum(n int64) func() hash.Hash {
	return func() hash.Hash {
		h := sha1.New()
		io.WriteString(h, "blob "+strconv.FormatInt(n, 10)+"\x00")
		return h
	}
}

// have reports whether the file exists. Its contents were checked when it was stored.
func (d *download) have() bool {
	info, err := os.Stat(d.to)
	return err == nil && info.Mode().IsRegular() && info.Size() == d.size
}

// run downloads the missing bytes.
func (d *download) run(ctx context.Context) error {
	if d.have() {
		return nil
	}
	for _, name := range []string{d.to, d.part, d.lock} {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
	}
	unlock, err := lockFile(ctx, d.lock)
	if err != nil {
		return err
	}
	defer unlock()
	if d.have() { // another process was faster
		return nil
	}
	f, err := os.OpenFile(d.part, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	keep, err := d.fill(ctx, f)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(d.part, d.to)
	}
	if err != nil && !keep {
		os.Remove(d.part)
	}
	return err
}

// retries is how often a transfer that made progress is continued after it broke off.
const retries = 20

// fill downloads to a file, which may already have some of the bytes. It reports whether the
// bytes that it has are useful for another attempt.
func (d *download) fill(ctx context.Context, f *os.File) (keep bool, err error) {
	sum := d.sum()
	n, err := io.Copy(sum, f)
	if err != nil {
		return false, err
	}
	for try := 0; n != d.size; try++ {
		if n > d.size {
			return false, fmt.Errorf("more than %d bytes arrived", d.size)
		}
		body, at, err := d.open(ctx, n)
		if err != nil {
			return true, err
		}
		if at != n { // start over
			n, sum = 0, d.sum()
			if _, err = f.Seek(0, io.SeekStart); err == nil {
				err = f.Truncate(0)
			}
			if err != nil {
				body.Close()
				return false, err
			}
		}
		k, readErr, writeErr := transfer(f, sum, io.LimitReader(body, d.size-n+1))
		body.Close()
		n += k
		switch {
		case writeErr != nil:
			return false, writeErr // the disk may be full; removing the partial file may help
		case ctx.Err() != nil:
			return true, context.Cause(ctx)
		case n < d.size && (k == 0 || try >= retries):
			return true, fmt.Errorf("%d of %d bytes arrived: %w", n, d.size, errOf(readErr, io.ErrUnexpectedEOF))
		}
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != d.want {
		return false, fmt.Errorf("the bytes have the digest %s, want %s", got, d.want)
	}
	return true, f.Sync()
}

// transfer appends what it reads to a file and a hash.
func transfer(f *os.File, sum hash.Hash, body io.Reader) (n int64, readErr, writeErr error) {
	b := make([]byte, 1<<18)
	for {
		k, err := body.Read(b)
		if k > 0 {
			sum.Write(b[:k])
			if _, err := f.Write(b[:k]); err != nil {
				return n, nil, err
			}
			n += int64(k)
		}
		if err == io.EOF {
			return n, nil, nil
		}
		if err != nil {
			return n, err, nil
		}
	}
}

// lockFile waits for the lock on a file, which it creates if necessary.
func lockFile(ctx context.Context, name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	for {
		ok, err := filelock.Try(f)
		if ok {
			return func() { f.Close() }, nil
		}
		if err == nil {
			err = wait(ctx, 20*time.Millisecond)
		}
		if err != nil {
			f.Close()
			return nil, err
		}
	}
}

// wait waits, but no longer than until the context is done.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
