package formats

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/tenonml/tenon/internal/input"
	"github.com/tenonml/tenon/internal/zipbounds"
)

// An Input is the input of a command.
type Input struct {
	Name   string // for messages
	Path   string // empty if it is a pipe that is read directly
	Size   int64  // bytes of the file, or -1 if unknown
	Format *Format
	Head   Head

	compressed bool
	stream     io.Reader // of a pipe, after decompression
	temp       string    // the file to which a pipe was copied
}

// Compressed reports whether the whole file is compressed.
func (in *Input) Compressed() bool { return in.compressed }

// Close closes the input and removes temporary files.
func (in *Input) Close() error {
	if in.temp == "" {
		return nil
	}
	return os.Remove(in.temp)
}

// Open opens a file or folder, or standard input if the name is "-", and detects its format, unless that
// is given.
func Open(name string, stdin io.Reader, format *Format) (in *Input, err error) {
	if name == "-" {
		return openPipe("standard input", stdin, format)
	}
	st, err := os.Stat(name)
	if err != nil {
		// The prefix of a checkpoint's files is not itself the name of a file.
		h := Head{Name: name, Path: name}
		if errors.Is(err, fs.ErrNotExist) && checkpointFormat.Match(h) {
			return &Input{Name: name, Path: name, Size: -1, Format: checkpointFormat, Head: h}, nil
		}
		return nil, plain(err)
	}
	if !st.IsDir() && !st.Mode().IsRegular() {
		f, err := os.Open(name)
		if err != nil {
			return nil, plain(err)
		}
		return openPipe(name, f, format) // closed when the process ends
	}
	in = &Input{Name: name, Path: name, Size: -1, Format: format, Head: Head{Name: name, Path: name}}
	if st.IsDir() {
		in.Head.Dir = os.DirFS(name)
	} else if err := in.look(st.Size()); err != nil {
		return nil, err
	}
	if err := in.tell(); err != nil {
		return nil, err
	}
	if in.compressed && !in.Format.Streams {
		r, err := in.reader()
		if err != nil {
			return nil, err
		}
		in.stream = r
		return in, errors.Join(in.spool(), r.Close())
	}
	return in, nil
}

// look reads the beginning of a file.
func (in *Input) look(size int64) error {
	in.Size = size
	f, err := os.Open(in.Path)
	if err != nil {
		return plain(err)
	}
	defer f.Close()
	raw := make([]byte, headSize)
	n, err := io.ReadFull(f, raw)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return fmt.Errorf("%s: %w", in.Name, err)
	}
	in.Head.Bytes = raw[:n]
	if bytes.HasPrefix(raw, []byte("PK\x03\x04")) {
		z, err := zipbounds.Open(f, size)
		if err != nil {
			return fmt.Errorf("%s: the ZIP file is truncated or damaged: %w", in.Name, err)
		}
		const most = 10000
		for _, e := range z.File[:min(len(z.File), most)] {
			in.Head.Entries = append(in.Head.Entries, e.Name)
		}
	}
	if compressed(raw[:n]) {
		in.compressed = true
		r, err := input.File(in.Path).Open()
		if err != nil {
			return fmt.Errorf("%s: %w", in.Name, err)
		}
		defer r.Close()
		head := make([]byte, headSize)
		n, err := io.ReadFull(r, head)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return fmt.Errorf("%s: the compressed data is damaged: %w", in.Name, err)
		}
		in.Head.Bytes = head[:n]
	}
	return nil
}

// compressed reports whether bytes are compressed with gzip or zstd.
func compressed(b []byte) bool {
	return bytes.HasPrefix(b, []byte{0x1f, 0x8b}) || bytes.HasPrefix(b, []byte{0x28, 0xb5, 0x2f, 0xfd})
}

// tell detects the format.
func (in *Input) tell() error {
	if in.Format != nil {
		return nil
	}
	if in.Head.Dir == nil && len(in.Head.Bytes) == 0 {
		if f := OfName(in.Name); f != nil && f.Streams && f.Rows != nil {
			in.Format = f
			return nil
		}
		return fmt.Errorf("%s: %w; set the format with -i", in.Name, errEmpty)
	}
	for _, f := range Table {
		if f.Match != nil && f.Match(in.Head) {
			in.Format = f
			return nil
		}
	}
	if in.Head.Dir != nil {
		return fmt.Errorf("%s is a folder without a model; name the files in it", in.Name)
	}
	for magic, what := range map[string]string{"\x89HDF": "HDF5", "ORC": "ORC", "Obj\x01": "Avro", "%PDF": "PDF", "\x89PNG": "a picture", "\x7fELF": "a program", "SQLite": "a database of SQLite"} {
		if in.Head.magic(magic) {
			return fmt.Errorf("%s is %s, which is not supported; convert it to Parquet or JSON first", in.Name, what)
		}
	}
	return fmt.Errorf("%s: the format is unknown; set it with -i FORMAT", in.Name)
}

// openPipe reads input that can be read only once.
func openPipe(name string, r io.Reader, format *Format) (*Input, error) {
	opened, err := input.Reader(name, r).Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	b := bufio.NewReaderSize(opened, 1<<16)
	head, err := b.Peek(headSize)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	in := &Input{Name: name, Size: -1, Format: format, Head: Head{Name: name, Bytes: bytes.Clone(head)}, stream: b}
	if in.Format == nil && bytes.HasPrefix(head, []byte("PK\x03\x04")) { // its directory is at the end
		if err := in.spool(); err != nil {
			return nil, err
		}
		st, err := os.Stat(in.temp)
		if err == nil {
			err = in.look(st.Size())
		}
		if err != nil {
			return nil, errors.Join(err, in.Close())
		}
	}
	if err := in.tell(); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	if !in.Format.Streams && in.temp == "" {
		return in, in.spool()
	}
	return in, nil
}

// spool copies a pipe to a file.
func (in *Input) spool() (err error) {
	f, err := os.CreateTemp("", "tenon-")
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			os.Remove(f.Name())
		}
	}()
	in.temp, in.Path = f.Name(), f.Name()
	in.Head.Path = in.Path
	_, err = io.Copy(f, in.stream)
	return err
}

// reader returns the bytes from the front, after decompression.
func (in *Input) reader() (io.ReadCloser, error) {
	if in.stream != nil && in.temp == "" {
		return io.NopCloser(in.stream), nil
	}
	r, err := input.File(in.Path).Open()
	if err != nil {
		return nil, plain(err)
	}
	return r, nil
}

// plain returns an error of the operating system without the name of the call.
func plain(err error) error {
	if p := new(fs.PathError); errors.As(err, &p) {
		what := p.Err
		switch {
		case errors.Is(p.Err, fs.ErrNotExist):
			what = errors.New("there is no such file")
		case errors.Is(p.Err, fs.ErrPermission):
			what = errors.New("permission to read it is denied")
		case errors.Is(p.Err, syscall.EISDIR):
			what = errors.New("it is a folder")
		}
		return &fs.PathError{Op: "open", Path: p.Path, Err: what}
	}
	return err
}
