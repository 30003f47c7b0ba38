package files

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"path/filepath"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/input"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// idxTypes maps the type codes of IDX to element types.
var idxTypes = map[byte]dtype.DType{0x08: dtype.Uint8, 0x09: dtype.Int8, 0x0B: dtype.Int16, 0x0C: dtype.Int32, 0x0D: dtype.Float32, 0x0E: dtype.Float64}

// IDX reads an array in the format of the MNIST files: two zero bytes, the element type, the rank,
// the sizes, and the elements in big-endian order. The file may be compressed with gzip or zstd.
func IDX(name string) (t tensor.Tensor, err error) {
	r, err := input.File(name).Open()
	if err != nil {
		return nil, inFile("IDX", name, err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	t, err = DecodeIDX(r)
	return t, inFile("IDX", name, err)
}

// DecodeIDX is [IDX] for a reader.
func DecodeIDX(r io.Reader) (tensor.Tensor, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, fmt.Errorf("the header: %w", err)
	}
	d, ok := idxTypes[head[2]]
	if head[0] != 0 || head[1] != 0 || !ok {
		return nil, fmt.Errorf("not an IDX file: it begins with % x", head)
	}
	dims := make([]int, head[3])
	size := uint64(d.Size())
	for i := range dims {
		var b [4]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return nil, fmt.Errorf("the sizes: %w", err)
		}
		dims[i] = int(binary.BigEndian.Uint32(b[:]))
		high, low := bits.Mul64(size, uint64(dims[i]))
		if size = low; high > 0 || low > 1<<48 {
			return nil, fmt.Errorf("an array of %v elements is too large", dims[:i+1])
		}
	}
	var b bytes.Buffer // grows only with the data that exists
	n, err := io.Copy(&b, io.LimitReader(r, int64(size)+1))
	if err != nil {
		return nil, err
	}
	if uint64(n) != size {
		return nil, fmt.Errorf("there are %d or more bytes of elements, but the sizes %v require %d", n, dims, size)
	}
	data := b.Bytes()
	for w, i := d.Size(), 0; w > 1 && i < len(data); i += w {
		slices.Reverse(data[i : i+w])
	}
	return tensor.FromBytes(d, shape.Of(dims...), data)
}

// MNIST returns the training and test examples of a folder with the four files of MNIST, or of a
// data set in the same format: train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-…
// and t10k-labels-… (or test-…), compressed (.gz) or not. Names may have a prefix, as in EMNIST
// (emnist-letters-train-…); prefix selects among several such sets in one folder. Images are
// uint8[28, 28].
func MNIST(dir, prefix string) (train, test *dataset.Dataset[Labelled], err error) {
	part := func(names ...string) (*dataset.Dataset[Labelled], error) {
		var both [2]tensor.Tensor
		for i, kind := range []string{"images-idx3-ubyte", "labels-idx1-ubyte"} {
			var found []string
			for _, n := range names {
				for _, sep := range []string{"-", "."} { // some archives use .idx3-ubyte
					k := kind
					if sep == "." {
						k = kind[:6] + "." + kind[7:]
					}
					for _, ending := range []string{"", ".gz"} {
						list, err := filepath.Glob(filepath.Join(escaped(dir), escaped(prefix)+"*"+n+"-"+k+ending))
						if err != nil {
							return nil, err
						}
						found = append(found, list...)
					}
				}
			}
			if len(found) == 0 {
				e := fail("MNIST", dir, "there is no file %s…%s-%s", prefix, names[0], kind)
				e.Kind, e.Err = tenon.ErrNotFound, fs.ErrNotExist
				return nil, e
			}
			if len(found) > 1 && filepath.Ext(found[1]) != ".gz" {
				return nil, fail("MNIST", dir, "there are several such files; select one with prefix: %q", found)
			}
			t, err := IDX(found[0])
			if err != nil {
				return nil, err
			}
			both[i] = t
		}
		labels := ops.Cast(both[1], dtype.Int64)
		d := dataset.FromRows(Labelled{both[0], labels})
		return d, inFile("MNIST", dir, d.Err())
	}
	if train, err = part("train"); err != nil {
		return nil, nil, err
	}
	test, err = part("t10k", "test")
	return train, test, err
}

// escaped returns a pattern that matches only the given name.
func escaped(name string) string {
	var out []byte
	for i := range len(name) {
		if bytes.IndexByte([]byte(`*?[\`), name[i]) >= 0 {
			out = append(out, '\\')
		}
		out = append(out, name[i])
	}
	return string(out)
}
