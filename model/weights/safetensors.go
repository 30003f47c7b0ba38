package weights

import (
	"encoding/json"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"github.com/tenonml/tenon/internal/relpath"
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

func (f *File) addFrom(s *saved.File, name string) error {
	spec, err := s.TensorSpec(name)
	if err != nil {
		return err
	}
	return f.add(name, spec, func() (tensor.Tensor, error) { return s.Tensor(name) })
}

// maxIndex bounds the index of shards.
const maxIndex = 64 << 20

// openShards opens the files that an index names, which must be in the same folder.
func openShards(f *File, path string) error {
	h, size, err := f.file(path)
	if err != nil {
		return err
	}
	if size > maxIndex {
		return invalid("the index of %d bytes is too large", size)
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
		return invalid("the index is not valid: %v", err)
	}
	if index.Weights == nil {
		return invalid("the index has no weight_map")
	}
	maps.Copy(f.meta, index.Metadata)
	folder, err := relpath.OpenFolder(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer folder.Close()
	shards := map[string]*saved.File{}
	for _, name := range slices.Sorted(maps.Keys(index.Weights)) {
		shard := index.Weights[name]
		s := shards[shard]
		if s == nil {
			h, size, err := folder.Open(shard)
			if err != nil {
				return at(name, failed("", err))
			}
			f.closers = append(f.closers, h)
			if s, err = saved.NewFile(h, size); err != nil {
				return at(shard, failed("", err))
			}
			shards[shard] = s
		}
		if err := f.addFrom(s, name); err != nil {
			return at(shard, err)
		}
	}
	return nil
}
