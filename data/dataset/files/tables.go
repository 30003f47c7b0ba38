package files

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/data/parquetio"
	"github.com/tenonml/tenon/internal/rows"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/model/weights"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func fail(fn, where, format string, args ...any) *tenon.Error {
	return &tenon.Error{Kind: tenon.ErrInvalid, Op: "files." + fn, Where: where, Msg: fmt.Sprintf(format, args...), Line: source.Line()}
}

// inFile returns an error with the name of the file.
func inFile(fn, name string, err error) error {
	if err == nil {
		return nil
	}
	e := fail(fn, name, "the file cannot be read")
	e.Err = err
	var in *tenon.Error
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Kind = tenon.ErrNotFound
	case errors.As(err, &in) && in.Kind != nil:
		e.Kind = in.Kind
	}
	return e
}

// Parquet returns the dataset of the rows of one or several open files; the row groups that f reads
// are the blocks. f must be closed after the last loop.
func Parquet(f *parquetio.File, o dataset.BlockOptions) *dataset.Dataset[*structured.Tensor] {
	sizes := make([]int64, f.Len())
	for i := range sizes {
		sizes[i] = f.Rows(int64(i))
	}
	return dataset.FromBlocks(sizes, func(i int64) (*structured.Tensor, error) {
		v, err := f.At(i)
		return table("Parquet", v, err)
	}, named(o, f.Where))
}

// Arrow returns the dataset of the rows of one or several open files; the record batches are the
// blocks. They are examined once to find their sizes. f must be closed after the last loop.
func Arrow(f *arrowio.File, o dataset.BlockOptions) (*dataset.Dataset[*structured.Tensor], error) {
	sizes := make([]int64, f.Len())
	for i := range sizes {
		v, err := f.At(int64(i))
		t, err := table("Arrow", v, err)
		if err != nil {
			return nil, err
		}
		n, err := rows.Count(t)
		if err != nil {
			return nil, err
		}
		sizes[i] = int64(n)
	}
	return dataset.FromBlocks(sizes, func(i int64) (*structured.Tensor, error) {
		v, err := f.At(i)
		return table("Arrow", v, err)
	}, named(o, f.Where)), nil
}

// named returns options with names for the blocks.
func named(o dataset.BlockOptions, name func(block int64) string) dataset.BlockOptions {
	if o.Name == nil {
		o.Name = name
	}
	return o
}

// table returns a Value as a table.
func table(fn string, v tenon.Value, err error) (*structured.Tensor, error) {
	if err != nil {
		return nil, err
	}
	t, ok := v.(*structured.Tensor)
	if !ok {
		e := fail(fn, "", "the file contains %s, want records", tenon.String(v.Spec()))
		e.Kind = tenon.ErrDType
		return nil, e
	}
	return t, nil
}

// NPY returns the dataset of the rows of the array in a .npy file.
func NPY(name string) (*dataset.Dataset[tensor.Tensor], error) {
	all, err := arrays("NPY", name)
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		d := dataset.FromRows[tensor.Tensor](t)
		return d, inFile("NPY", name, d.Err())
	}
	return nil, fail("NPY", name, "the file contains no array")
}

// NPZ returns the dataset of the rows of arrays in an .npz file, which must have equal numbers of
// rows. If names is nil, it reads all arrays.
func NPZ(name string, names ...string) (*dataset.Dataset[map[string]tensor.Tensor], error) {
	all, err := arrays("NPZ", name)
	if err != nil {
		return nil, err
	}
	if len(names) > 0 {
		some := map[string]tensor.Tensor{}
		for _, n := range names {
			t, ok := all[n]
			if !ok {
				e := fail("NPZ", name, "there is no array %q", n)
				e.Kind = tenon.ErrNotFound
				return nil, e
			}
			some[n] = t
		}
		all = some
	}
	d := dataset.FromRows(all)
	return d, inFile("NPZ", name, d.Err())
}

func arrays(fn, name string) (map[string]tensor.Tensor, error) {
	f, err := weights.OpenAs(name, weights.NumPy)
	if err != nil {
		return nil, inFile(fn, name, err)
	}
	all, err := f.ReadAll()
	err = errors.Join(err, f.Close())
	return all, inFile(fn, name, err)
}
