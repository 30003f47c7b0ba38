package weights

import (
	"encoding/json"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/tensor"
)

// openSafetensors opens a single file.
func openSafetensors(f *File, r io.ReaderAt, size int64) error {
	s, err := saved.NewFile(r, size)
	if err != nil {
		return err
	}
	for k, v := range s.Metadata() {
		f.meta[k] = v
	}
	for _, name := range s.Tensors() {
		if err := f.addFrom(s, name); err != nil {
			return err
		}
	}
	return nil
}

// safetensors opens a file to be closed with f.
func (f *File) safetensors(path string) (*saved.File, error) {
	h, size, err := f.file(path)
	if err != nil {
		return nil, err
	}
	return saved.NewFile(h, size)
}

func (f *File) addFrom(s *saved.File, name string) error {
	spec, err := s.TensorSpec(name)
	if err != nil {
		return err
	}
	return f.add(name, spec, func() (tensor.Tensor, error) { return s.Tensor(name) })
}

// maxIndex bounds the index of shards.
const maxIndex = 64 << 20

// openShards opens the files that an index names, which lie beside it.
func openShards(f *File, path string) error {
	h, size, err := f.file(path)
	if err != nil {
		return err
	}
	if size > maxIndex {
		return invalid("an index of %d bytes", size)
	}
	text, err := section{h, 0, size}.bytes()
	if err != nil {
		return err
	}
	var index struct {
		Metadata map[string]any    `json:"metadata"`
		Weights  map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(text, &index); err != nil {
		return invalid("the index is no JSON of the right form: %v", err)
	}
	if index.Weights == nil {
		return invalid("the index has no weight_map")
	}
	maps.Copy(f.meta, index.Metadata)
	shards := map[string]*saved.File{}
	for _, name := range slices.Sorted(maps.Keys(index.Weights)) {
		shard := index.Weights[name]
		s := shards[shard]
		if s == nil {
			if !filepath.IsLocal(shard) || strings.ContainsAny(shard, `/\`) {
				return at(name, invalid("the file %q is not beside the index", shard))
			}
			if s, err = f.safetensors(filepath.Join(filepath.Dir(path), shard)); err != nil {
				return at(shard, notThere(err))
			}
			shards[shard] = s
		}
		if err := f.addFrom(s, name); err != nil {
			return at(shard, err)
		}
	}
	return nil
}

// notThere keeps the kind of an error about a file that is missing.
func notThere(err error) error { return failed("", err).(*tenon.Error) }
