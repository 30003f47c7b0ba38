package dataset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/internal/elements"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// CacheOptions control how elements are written. The zero value is a good default.
type CacheOptions struct {
	// BlockBytes is the approximate size of a block, which is read as a whole. 0 means 4 MiB.
	BlockBytes int64

	// FileBytes is the size of a file from which a new one is started. 0 means 1 GiB.
	FileBytes int64

	// Compression is the compression of the files. Uncompressed files are read without copying.
	Compression arrowio.Compression

	// Blocks controls how many blocks are kept in memory.
	Blocks BlockOptions
}

// manifestName is the file that describes a cache. It is written last, so that it marks the cache
// as complete.
const manifestName = "manifest.json"

// cacheVersion is the version of the file format.
const cacheVersion = 1

// manifest describes the contents of a cache.
type manifest struct {
	Version  int         `json:"version"`
	Key      string      `json:"key"`
	Specs    []string    `json:"specs"` // Specs of the first element
	Elements int64       `json:"elements"`
	Files    []cacheFile `json:"files"`
}

type cacheFile struct {
	Name   string  `json:"name"`
	Blocks []int64 `json:"blocks"` // numbers of elements
}

// Cache computes all elements once, writes them to Arrow files in a folder, and returns the
// dataset of the stored elements. It is numbered, even if d is a stream, and is read in
// blocks, like that of [FromBlocks]. A folder that was written before is used directly if it
// has the same key, and if its first element has the same Specs as the first element of d.
// Otherwise Cache returns an error of kind tenon.ErrInvalid. It cannot detect changes of
// functions, so the key must be changed along with them. A folder is either complete or does
// not exist.
//
// Values of every type are restored unchanged, and plain Go data as JSON represents it. The
// files stay mapped into memory as long as the process runs.
func (d *Dataset[T]) Cache(ctx context.Context, dir, key string, o CacheOptions) (*Dataset[T], error) {
	if d.err != nil {
		return nil, d.err
	}
	if o.BlockBytes < 0 || o.FileBytes < 0 {
		return nil, invalid("Cache", "the options %+v are negative", o)
	}
	if o.BlockBytes == 0 {
		o.BlockBytes = 4 << 20
	}
	if o.FileBytes == 0 {
		o.FileBytes = 1 << 30
	}
	var first T
	some := false
	for x, err := range d.All(ctx) {
		if err != nil {
			return nil, err
		}
		first, some = x, true
		break
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	want := manifest{Version: cacheVersion, Key: key, Specs: []string{}}
	if some {
		fields, err := specsOf(first)
		if err != nil {
			return nil, err
		}
		for _, f := range fields {
			want.Specs = append(want.Specs, f.Name+" "+tenon.String(f.Spec))
		}
	}
	have, err := readManifest(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if have, err = d.writeCache(ctx, dir, want, o); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	if err := have.fits(dir, want); err != nil {
		return nil, err
	}
	return openCache(dir, have, first, o)
}

func readManifest(dir string) (m manifest, err error) {
	name := filepath.Join(dir, manifestName)
	text, err := os.ReadFile(name)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		e := errOf("Cache", "the manifest is damaged")
		e.Where, e.Err = name, err
		return m, e
	}
	return m, nil
}

// fits checks that a cache matches the requested one.
func (m manifest) fits(dir string, want manifest) error {
	e := errOf("Cache", "")
	e.Where = dir
	e.Hint = "use a different folder for each key, or remove the old folder"
	switch {
	case m.Version != want.Version:
		e.Msg = fmt.Sprintf("the cache has version %d, want %d", m.Version, want.Version)
	case m.Key != want.Key:
		e.Msg = fmt.Sprintf("the cache has the key %q, want %q", m.Key, want.Key)
	case len(m.Specs) != len(want.Specs):
		e.Msg = fmt.Sprintf("the elements of the cache contain %q, but those of the dataset %q", m.Specs, want.Specs)
	default:
		for i, s := range want.Specs {
			if m.Specs[i] != s {
				e.Msg = fmt.Sprintf("the first element of the cache contains %s, but that of the dataset %s", m.Specs[i], s)
				return e
			}
		}
		return nil
	}
	return e
}

// writeCache writes all elements to a temporary folder next to dir, which is then renamed to dir.
func (d *Dataset[T]) writeCache(ctx context.Context, dir string, m manifest, o CacheOptions) (_ manifest, err error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return m, err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".part-*")
	if err != nil {
		return m, err
	}
	defer func() { _ = os.RemoveAll(tmp) }() // does nothing once the folder has been renamed
	w := &cacheWriter{dir: tmp, m: &m, o: o}
	defer func() { err = errors.Join(err, w.end()) }()
	i := int64(0)
	for x, err := range d.All(ctx) {
		if err == nil {
			err = w.put(x)
		}
		if err != nil {
			return m, elementError(i, err)
		}
		i++
	}
	m.Elements = i
	if err := w.end(); err != nil {
		return m, err
	}
	text, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		return m, err
	}
	if err := os.WriteFile(filepath.Join(tmp, manifestName), append(text, '\n'), 0o666); err != nil {
		return m, err
	}
	if err := os.Rename(tmp, dir); err != nil {
		if have, e := readManifest(dir); e == nil { // another process was first
			return have, nil
		}
		return m, err
	}
	return m, nil
}

// cacheWriter writes elements in blocks.
type cacheWriter struct {
	dir  string
	m    *manifest
	o    CacheOptions
	ends []int64 // ends of the elements of a block
	text []byte
	file *os.File
	to   *arrowio.Writer
	size int64 // size of the file
}

func (w *cacheWriter) put(x any) (err error) {
	if len(w.ends) == 0 {
		w.ends = []int64{0}
	}
	if w.text, err = elements.Append(w.text, x); err != nil {
		return err
	}
	w.ends = append(w.ends, int64(len(w.text)))
	if int64(len(w.text)) < w.o.BlockBytes {
		return nil
	}
	return w.flush()
}

// flush writes a block.
func (w *cacheWriter) flush() error {
	n := len(w.ends) - 1
	if n < 1 {
		return nil
	}
	if w.file == nil {
		name := fmt.Sprintf("%06d.arrow", len(w.m.Files))
		f, err := os.Create(filepath.Join(w.dir, name))
		if err != nil {
			return err
		}
		w.file, w.to, w.size = f, arrowio.NewWriter(f, arrowio.WriteOptions{Compression: w.o.Compression}), 0
		w.m.Files = append(w.m.Files, cacheFile{Name: name})
	}
	column, err := tensor.NewStrings(w.ends, w.text, shape.Of(n))
	if err != nil {
		return err
	}
	block, err := structured.FromFields([]structured.Field{{Name: "element", Value: column}}, shape.Of(n), structured.Options{})
	if err != nil {
		return err
	}
	if err := w.to.Write(block); err != nil {
		return err
	}
	f := &w.m.Files[len(w.m.Files)-1]
	f.Blocks = append(f.Blocks, int64(n))
	w.size += int64(len(w.text))
	w.ends, w.text = nil, nil
	if w.size >= w.o.FileBytes {
		return w.close()
	}
	return nil
}

// end writes the remaining elements and closes the file.
func (w *cacheWriter) end() error { return errors.Join(w.flush(), w.close()) }

func (w *cacheWriter) close() error {
	if w.file == nil {
		return nil
	}
	err := errors.Join(w.to.Close(), w.file.Close())
	w.file, w.to = nil, nil
	return err
}

// openCache returns the dataset of a cache whose elements have the same structure as like.
func openCache[T any](dir string, m manifest, like T, o CacheOptions) (*Dataset[T], error) {
	var sizes []int64
	var files []*arrowio.File
	var first []int64 // first block of each file
	fail := func(err error) (*Dataset[T], error) {
		for _, f := range files {
			err = errors.Join(err, f.Close())
		}
		return nil, err
	}
	for _, f := range m.Files {
		name := filepath.Join(dir, filepath.Base(f.Name))
		x, err := arrowio.Open(escaped(name), arrowio.ReadOptions{})
		if err != nil {
			return fail(err)
		}
		files, first = append(files, x), append(first, int64(len(sizes)))
		if x.Len() != int64(len(f.Blocks)) {
			e := errOf("Cache", "the file has %d blocks, but the manifest says %d", x.Len(), len(f.Blocks))
			e.Where = name
			return fail(e)
		}
		sizes = append(sizes, f.Blocks...)
	}
	read := func(block int64) (tensor.Tensor, error) {
		k := len(first) - 1
		for first[k] > block {
			k--
		}
		v, err := files[k].At(block - first[k])
		if err != nil {
			return nil, err
		}
		records, ok := v.(*structured.Tensor)
		if !ok {
			return nil, invalid("Cache", "%s is not a cache file", m.Files[k].Name)
		}
		return records.Field("element")
	}
	texts := FromBlocks(sizes, read, o.Blocks)
	if n, _ := texts.Len(); n != m.Elements && texts.err == nil {
		e := errOf("Cache", "the files have %d elements, but the manifest says %d", n, m.Elements)
		e.Where = dir
		return fail(e)
	}
	n := &node[T]{name: "Cache", size: texts.n.size, many: texts.n.many, keep: texts.n.keep}
	n.get = func(i int64) (x T, err error) {
		r, ok := texts.n.place(i)
		if !ok {
			_, err := texts.n.get(i)
			return x, err
		}
		s, ok := r.of.value.(*tensor.Strings)
		if !ok {
			return x, invalid("Cache", "%s is not a cache", dir)
		}
		off := s.Offsets()
		if x, err = elements.Read(s.Buffer()[off[r.row]:off[r.row+1]], like); err != nil {
			e := errOf("Cache", "element %d is damaged", i)
			e.Where, e.Err = dir, err
			return x, e
		}
		return x, nil
	}
	return derived(n, texts.err), texts.err
}

// escaped returns a pattern that matches only the given name.
func escaped(name string) string {
	out := make([]byte, 0, len(name))
	for i := range len(name) {
		switch name[i] {
		case '*', '?', '[', '\\':
			out = append(out, '\\')
		}
		out = append(out, name[i])
	}
	return string(out)
}
