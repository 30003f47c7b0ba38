package saved

import (
	"errors"
	"io"
	"os"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/filemap"
	"github.com/tenonml/tenon/internal/relpath"
	"github.com/tenonml/tenon/internal/source"
)

// ModelOptions are options of [OpenModel]. The zero value reads everything.
type ModelOptions struct {
	// Map leaves the weights in their file; the operating system loads them into memory when
	// they are used. A model of any size then opens immediately, and programs share the memory.
	// The digests of the weights are not checked (Verify checks them); the file must not be
	// changed while it is mapped. [Model.Close] unmaps it.
	Map bool

	// Verify checks the digests of mapped weights, too, which reads them once.
	Verify bool
}

// OpenModel reads a model, which is a folder or one file. Nothing in it is trusted: only files
// that the manifest lists are read, their sizes and digests must match, and no code is run.
// Operations that this program lacks are reported before any weights are read.
func OpenModel(path string, o ...ModelOptions) (*Model, error) {
	var opts ModelOptions
	if len(o) > 0 {
		opts = o[len(o)-1]
	}
	m, err := openModel(path, opts)
	if err != nil {
		return nil, modelFailure(path, err)
	}
	return m, nil
}

// DecodeModel reads a model from a ZIP file of n bytes.
func DecodeModel(r io.ReaderAt, n int64) (*Model, error) {
	d, err := openArchive(r, n)
	if err != nil {
		return nil, modelFailure("", err)
	}
	m, err := readModel(d, ModelOptions{})
	if err != nil {
		return nil, modelFailure("", err)
	}
	return m, nil
}

// Close unmaps the file of a model that is mapped. Neither the model nor any tensor that is one
// of its weights may be used afterwards. Other models do not need Close.
func (m *Model) Close() error {
	var errs []error
	for _, free := range m.free {
		errs = append(errs, free())
	}
	m.free = nil
	return errors.Join(errs...)
}

func modelFailure(where string, err error) error {
	e := &tenon.Error{Kind: tenon.ErrInvalid, Op: "saved.OpenModel", Where: where, Err: err, Line: source.Line()}
	if t := tenon.AsError(err); t.Kind == tenon.ErrUnsupported {
		e.Kind, e.Hint = t.Kind, t.Hint
	}
	if os.IsNotExist(err) {
		e.Kind = tenon.ErrNotFound
	}
	return e
}

func openModel(path string, o ModelOptions) (*Model, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		folder, err := relpath.OpenFolder(path)
		if err != nil {
			return nil, err
		}
		return readModel(&directory{folder: folder, mapped: o.Map}, o)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if o.Map {
		b, free, err := filemap.Bytes(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		d, err := openArchive(memory(b), int64(len(b)))
		if err != nil {
			free()
			return nil, err
		}
		d.frees = append(d.frees, free)
		return readModel(d, o)
	}
	d, err := openArchive(f, info.Size())
	if err != nil {
		f.Close()
		return nil, err
	}
	d.file = f
	return readModel(d, o)
}
