package saved

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/relpath"
)

// indexSuffix is the suffix of the name of an index of several files.
const indexSuffix = ".index.json"

// openShards opens the files that an index lists as one.
func openShards(name string, r io.Reader) (_ *File, err error) {
	text, err := io.ReadAll(io.LimitReader(r, maxHeader+1))
	if err != nil {
		return nil, openError(name, err)
	}
	if len(text) > maxHeader {
		return nil, openError(name, fmt.Errorf("the index has more than %d bytes", maxHeader))
	}
	var index struct {
		Metadata  map[string]any    `json:"metadata"`
		WeightMap map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(text, &index); err != nil {
		return nil, openError(name, fmt.Errorf("it is not an index: %w", err))
	}
	if len(index.WeightMap) == 0 {
		return nil, openError(name, errors.New(`it is not an index: there is no "weight_map"`))
	}
	folder, err := relpath.OpenFolder(filepath.Dir(name)) // the folder of the listed files
	if err != nil {
		return nil, openError(name, err)
	}
	defer folder.Close()
	f := &File{
		label: name, shards: map[string]*File{}, header: &header{meta: map[string]string{}}, tensors: map[string]*entry{},
		specs: map[string]tenon.Spec{}, holders: map[string]tenon.Spec{},
	}
	var open []io.Closer
	f.close = func() (err error) {
		for _, c := range open {
			err = errors.Join(err, c.Close())
		}
		return err
	}
	defer func() {
		if err != nil {
			f.close()
		}
	}()
	shards := map[string]*File{}
	for _, shard := range slices.Sorted(maps.Values(index.WeightMap)) {
		if shards[shard] != nil {
			continue
		}
		file, n, err := folder.Open(shard)
		if err != nil {
			return nil, openError(name, err)
		}
		open = append(open, file)
		if shards[shard], err = newFile(file, n, shard); err != nil {
			return nil, openError(filepath.Join(filepath.Dir(name), shard), err)
		}
		maps.Copy(f.header.meta, shards[shard].Metadata())
	}
	for _, tensor := range slices.Sorted(maps.Keys(index.WeightMap)) {
		shard := shards[index.WeightMap[tensor]]
		e := shard.tensors[tensor]
		if e == nil {
			return nil, openError(name, fmt.Errorf("tensor %q is not in %s", tensor, index.WeightMap[tensor]))
		}
		f.shards[tensor], f.tensors[tensor] = shard, e
		f.header.entries = append(f.header.entries, *e)
	}
	return f, f.index()
}
