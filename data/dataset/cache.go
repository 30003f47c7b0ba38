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

// CacheOptions say how elements are written. The zero value will do.
type CacheOptions struct {
	// BlockBytes is about how much is read at once. 0: 4 MiB.
	BlockBytes int64

	// FileBytes is the size from which another file is begun. 0: 1 GiB.
	FileBytes int64

	// Compression of the files. Those that are not compressed are read without a copy.
	Compression arrowio.Compression

	// Blocks says how many blocks are kept in memory.
	Blocks BlockOptions
}

// manifestName is the file of a cache that says what is in it, and that it is whole.
const manifestName = "manifest.json"

// cacheVersion is that of the form of the files.
const cacheVersion = 1

// manifest says what is in a cache.
type manifest struct {
	Version  int         `json:"version"`
	Key      string      `json:"key"`
	Specs    []string    `json:"specs"` // of the first element
	Elements int64       `json:"elements"`
	Files    []cacheFile `json:"files"`
}

type cacheFile struct {
	Name   string  `json:"name"`
	Blocks []int64 `json:"blocks"` // the numbers of their elements
}

// Cache computes all elements once, into Arrow files of a folder, and returns the dataset of
// what is there: numbered, also where d is a stream, and read by blocks, as [FromBlocks] has
// them. A folder that has been written before is read at once, if its key is the same, and
// its first element has the Specs that the first element of d has; otherwise it is an error of
// kind tenon.ErrInvalid, as nobody knows whether functions have changed: the key is to
// change when they do. A folder is there whole or not at all.
//
// Values of every type come back as they were, plain Go data as JSON has them. The files stay
// mapped as long as the process runs.
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

// fits checks that a cache is the one that is wanted.
func (m manifest) fits(dir string, want manifest) error {
	e := errOf("Cache", "")
	e.Where = dir
	e.Hint = "use a different folder for each key, or remove the old folder"
	switch {
	case m.Version != want.Version:
		e.Msg = fmt.Sprintf("the cache is of version %d, want %d", m.Version, want.Version)
	case m.Key != want.Key:
		e.Msg = fmt.Sprintf("the cache has the key %q, want %q", m.Key, want.Key)
	case len(m.Specs) != len(want.Specs):
		e.Msg = fmt.Sprintf("the elements of the cache hold %q, those of the dataset %q", m.Specs, want.Specs)
	default:
		for i, s := range want.Specs {
			if m.Specs[i] != s {
				e.Msg = fmt.Sprintf("the first element of the cache holds %s, that of the dataset %s", m.Specs[i], s)
				return e
			}
		}
		return nil
	}
	return e
}

// writeCache writes all elements into a folder beside dir, which then takes its name.
func (d *Dataset[T]) writeCache(ctx context.Context, dir string, m manifest, o CacheOptions) (_ manifest, err error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return m, err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".part-*")
	if err != nil {
		return m, err
	}
	defer func() { _ = os.RemoveAll(tmp) }() // nothing is there once it has its name
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
		if have, e := readManifest(dir); e == nil { // somebody else was first
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
	ends []int64 // of the elements of a block
	text []byte
	file *os.File
	to   *arrowio.Writer
	size int64 // of the file
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

// end writes what is left, and closes the file.
func (w *cacheWriter) end() error { return errors.Join(w.flush(), w.close()) }

func (w *cacheWriter) close() error {
	if w.file == nil {
		return nil
	}
	err := errors.Join(w.to.Close(), w.file.Close())
	w.file, w.to = nil, nil
	return err
}

// openCache returns the dataset of a cache; its elements are like another one.
func openCache[T any](dir string, m manifest, like T, o CacheOptions) (*Dataset[T], error) {
	var sizes []int64
	var files []*arrowio.File
	var first []int64 // block of each file
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
			e := errOf("Cache", "the file has %d blocks, the manifest says %d", x.Len(), len(f.Blocks))
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
			return nil, invalid("Cache", "%s is not of a cache", m.Files[k].Name)
		}
		return records.Field("element")
	}
	texts := FromBlocks(sizes, read, o.Blocks)
	if n, _ := texts.Len(); n != m.Elements && texts.err == nil {
		e := errOf("Cache", "the files have %d elements, the manifest says %d", n, m.Elements)
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
			return x, invalid("Cache", "%s is not of a cache", dir)
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

// escaped returns a pattern that a name alone matches.
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
