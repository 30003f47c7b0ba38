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
	// Map leaves weights in their file, from which the system brings them into memory when
	// they are used: a model is open at once, whatever its size, and programs share the
	// memory. Their digests are not compared (with Verify they are); the file must not be
	// changed in the meantime, and [Model.Close] gives it free.
	Map bool

	// Verify compares the digests of weights that are mapped, too, for which they are read
	// once.
	Verify bool
}

// OpenModel reads a model, a folder or one file. Nothing of it is trusted: the files are
// those that the manifest names, of the sizes and digests that it states, and no code
// is run. An operation that this program lacks is named before any weights are read.
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

// Close gives the file of a model free that is mapped. Nothing of the model, and no tensor
// that is one of its weights, may be used afterwards. Other models need no Close.
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
