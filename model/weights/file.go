package weights

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/tensor"
)

// A Format is a file format.
type Format string

// The formats.
const (
	Safetensors Format = "safetensors"
	NumPy       Format = "npy" // .npy and .npz
	PyTorch     Format = "pytorch"
	GGUF        Format = "gguf"
	Checkpoint  Format = "checkpoint" // of TensorFlow
)

var _ saved.Source = (*File)(nil)

// A File is an open file. It is safe for concurrent use.
type File struct {
	format  Format
	path    string
	names   []string
	entries map[string]entry
	meta    map[string]any
	closers []io.Closer
}

// An entry is a tensor of a file.
type entry struct {
	spec *tensor.Spec
	read func() (tensor.Tensor, error)
}

// Open opens a file and detects its format from its first bytes. The path of a checkpoint is
// the common prefix of its files.
func Open(path string) (*File, error) {
	format, err := detect(path)
	if err != nil {
		return nil, failed(path, err)
	}
	return OpenAs(path, format)
}

// OpenAs opens a file of a known format.
func OpenAs(path string, format Format) (*File, error) {
	return filled(format, path, func(f *File) error {
		switch {
		case format == Checkpoint:
			return openCheckpoint(f, path)
		case format == Safetensors && strings.HasSuffix(path, indexSuffix):
			return openShards(f, path)
		}
		open, ok := openers[format]
		if !ok {
			return invalid("there is no format %q", format)
		}
		h, size, err := f.file(path)
		if err != nil {
			return err
		}
		return open(f, h, size)
	})
}

// NewFile opens a file of n bytes that r provides. Formats of several files, checkpoints and
// shards, can only be opened by path.
func NewFile(r io.ReaderAt, n int64, format Format) (*File, error) {
	return filled(format, "", func(f *File) error {
		open, ok := openers[format]
		if !ok {
			return invalid("there is no format %q with a single file", format)
		}
		return open(f, r, n)
	})
}

// filled returns a File that fill has filled in.
func filled(format Format, path string, fill func(f *File) error) (*File, error) {
	f := &File{format: format, path: path, entries: map[string]entry{}, meta: map[string]any{}}
	if err := guarded(func() error { return fill(f) }); err != nil {
		f.Close()
		return nil, failed(path, err)
	}
	return f, nil
}

// openers fill in a File, for each format that is one file.
var openers = map[Format]func(f *File, r io.ReaderAt, size int64) error{
	Safetensors: openSafetensors,
	NumPy:       openNumPy,
	PyTorch:     openPyTorch,
	GGUF:        openGGUF,
}

// indexSuffix is the suffix of the name of an index of shards.
const indexSuffix = ".index.json"

// Load reads all tensors of a file.
func Load(path string) (map[string]tensor.Tensor, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadAll()
}

// Format returns the format of the file.
func (f *File) Format() Format { return f.format }

// Names returns the names of the tensors in the order of the file. A single tensor, as in an
// .npy file, has the empty name.
func (f *File) Names() []string { return slices.Clone(f.names) }

// Spec returns the element type and shape of a tensor, or nil if there is no tensor of that
// name.
func (f *File) Spec(name string) *tensor.Spec { return f.entries[name].spec }

// Metadata returns the other data of the file: the keys and values of GGUF (numbers, strings,
// bools, lists) and of safetensors (strings).
func (f *File) Metadata() map[string]any { return f.meta }

// Read reads a tensor.
func (f *File) Read(name string) (tensor.Tensor, error) {
	e, ok := f.entries[name]
	if !ok {
		return nil, failed(f.path, &tenon.Error{Kind: tenon.ErrNotFound, Where: name, Msg: "there is no tensor of this name"})
	}
	var t tensor.Tensor
	err := guarded(func() (err error) { t, err = e.read(); return err })
	if err != nil {
		return nil, failed(f.path+": "+name, err)
	}
	return t, nil
}

// Value is [File.Read] for [saved.Fill], which fills a model with the tensors by rules for their names:
//
//	f, err := weights.Open("pytorch_model.bin")
//	model, err = saved.Fill(f, model, saved.ReadOptions{Rules: rules, Rename: saved.Dotted, Cast: true})
func (f *File) Value(name string) (tenon.Value, error) {
	t, err := f.Read(name)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// ReadAll reads all tensors.
func (f *File) ReadAll() (map[string]tensor.Tensor, error) {
	out := make(map[string]tensor.Tensor, len(f.names))
	for _, name := range f.names {
		t, err := f.Read(name)
		if err != nil {
			return nil, err
		}
		out[name] = t
	}
	return out, nil
}

// Close closes the file. Tensors that were read stay valid.
func (f *File) Close() error {
	var errs []error
	for _, c := range f.closers {
		errs = append(errs, c.Close())
	}
	f.closers = nil
	return errors.Join(errs...)
}

// add adds a tensor. Names are unique.
func (f *File) add(name string, spec *tensor.Spec, read func() (tensor.Tensor, error)) error {
	if _, ok := f.entries[name]; ok {
		return invalid("the name %q occurs twice", name)
	}
	f.names = append(f.names, name)
	f.entries[name] = entry{spec, read}
	return nil
}

// file opens a file that is closed together with f.
func (f *File) file(path string) (*os.File, int64, error) {
	h, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	f.closers = append(f.closers, h)
	info, err := h.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, invalid("is not a regular file")
	}
	return h, info.Size(), nil
}

// detect returns the format of a file.
func detect(path string) (Format, error) {
	if strings.HasSuffix(path, indexSuffix) {
		return Safetensors, nil
	}
	h, err := os.Open(path)
	if err != nil {
		if _, e := os.Stat(path + ".index"); e == nil && errors.Is(err, fs.ErrNotExist) {
			return Checkpoint, nil
		}
		return "", err
	}
	defer h.Close()
	head := make([]byte, 64)
	n, err := io.ReadFull(h, head)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return "", err
	}
	switch head = head[:n]; {
	case bytes.HasPrefix(head, []byte(npyMagic)):
		return NumPy, nil
	case bytes.HasPrefix(head, []byte("GGUF")):
		return GGUF, nil
	case bytes.HasPrefix(head, []byte("PK")):
		if strings.HasSuffix(path, ".npz") {
			return NumPy, nil
		}
		return PyTorch, nil
	case bytes.HasPrefix(head, []byte(legacyMagic)):
		return PyTorch, nil
	case n > 8 && bytes.HasPrefix(bytes.TrimLeft(head[8:], " \t\r\n"), []byte("{")):
		return Safetensors, nil
	}
	return "", invalid("the first bytes match no known format: safetensors, NumPy, PyTorch, GGUF, or the prefix of a checkpoint")
}

// invalid returns the error for a fault of the file.
func invalid(format string, args ...any) error {
	return &tenon.Error{Kind: tenon.ErrInvalid, Msg: fmt.Sprintf(format, args...)}
}

// unsupported returns the error for a part that is recognised but not supported.
func unsupported(format string, args ...any) error {
	return &tenon.Error{Kind: tenon.ErrUnsupported, Msg: fmt.Sprintf(format, args...)}
}

// failed adds the place in the file to an error.
func failed(where string, err error) error {
	e := &tenon.Error{Kind: tenon.ErrInvalid, Op: "weights.Open", Where: where, Line: source.Line()}
	var inner *tenon.Error
	switch {
	case errors.As(err, &inner):
		e.Kind, e.Msg, e.Hint, e.Err = inner.Kind, inner.Msg, inner.Hint, inner.Err
		if inner.Where != "" {
			e.Where += ": " + inner.Where
		}
	case errors.Is(err, fs.ErrNotExist):
		e.Kind, e.Err = tenon.ErrNotFound, err
	default:
		e.Err = err
	}
	return e
}

// guarded runs f and returns what it throws as an error.
func guarded(f func() error) (err error) {
	defer tenon.Catch(&err)
	return f()
}
