package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/examples/gosearch/internal/decl"
	"github.com/tenonml/tenon/examples/gosearch/internal/model"
	"github.com/tenonml/tenon/examples/gosearch/internal/rank"
	"github.com/tenonml/tenon/examples/gosearch/internal/token"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Format is the version of the folder's format.
const Format = 5

// Config describes a model.
type Config struct {
	Format       int     `json:"gosearch_format"`
	Seed         uint64  `json:"seed"` // of training, and of the choice of the held-out part
	Epochs       int     `json:"epochs"`
	Steps        int     `json:"steps"`
	Seconds      float64 `json:"seconds"` // of training
	Declarations int     `json:"declarations"`
	Width        int     `json:"width"`
	Lexical      float64 `json:"lexical"` // the weight of BM25 relative to the model, determined on the validation part
}

// Model is a trained model.
type Model struct {
	Config     Config
	Vocabulary *token.Vocabulary
	Params     model.Params
	Vectors    tensor.Tensor // float32[declarations, model.Width]
	Words      *rank.Index
	lines      []int64 // where each declaration starts, and the end
	file       string  // of the declarations
}

// names of the files.
const (
	configFile, vocabularyFile, weightsFile, indexFile, declarationsFile = "config.json", "vocabulary.json", "weights.safetensors", "index.safetensors", "declarations.jsonl"
)

// index is the tree in the file of that name.
type index struct {
	Vectors, Lines any
	Words          rank.Kept
}

// Write stores a model and its declarations in a folder. It replaces an existing model
// atomically; a folder with anything else is an error. extra writes more files into the folder
// that it is given.
func Write(dir string, m *Model, decls []decl.Decl, extra func(dir string) error) (err error) {
	if err := Replaceable(dir); err != nil {
		return err
	}
	parent, base := filepath.Split(filepath.Clean(dir))
	if parent == "" {
		parent = "."
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(parent, "."+base+".*.tmp")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp) // it does not exist any more on success
	if err := os.Chmod(temp, 0o755); err != nil {
		return err
	}
	var text bytes.Buffer
	lines := []int64{0}
	for i := range decls {
		b, err := json.Marshal(&decls[i])
		if err != nil {
			return err
		}
		text.Write(append(b, '\n'))
		lines = append(lines, int64(text.Len()))
	}
	c := m.Config
	c.Format, c.Declarations, c.Width = Format, len(decls), model.Width
	config, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	vocabulary, err := json.Marshal(m.Vocabulary)
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{configFile: append(config, '\n'), vocabularyFile: vocabulary, declarationsFile: text.Bytes()} {
		if err := writeFile(filepath.Join(temp, name), data); err != nil {
			return err
		}
	}
	if err := saved.Write(filepath.Join(temp, weightsFile), m.Params, saved.WriteOptions{}); err != nil {
		return err
	}
	if err := saved.Write(filepath.Join(temp, indexFile), index{m.Vectors, tensor.Of(lines), m.Words.Kept()}, saved.WriteOptions{}); err != nil {
		return err
	}
	if extra != nil {
		if err := extra(temp); err != nil {
			return err
		}
	}
	return replace(temp, dir)
}

// Replaceable returns an error if a folder contains something that is not a model, of this format or another.
func Replaceable(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := readConfig(dir); err != nil {
		return fmt.Errorf("%s is not replaced, because it contains something other than a model", dir)
	}
	return nil
}

// replace renames a new folder. If that fails, the old one keeps its name.
func replace(temp, dir string) error {
	old := temp + ".old"
	err := os.Rename(dir, old)
	had := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(temp, dir); err != nil {
		if had {
			os.Rename(old, dir)
		}
		return err
	}
	return os.RemoveAll(old)
}

func writeFile(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if e := f.Sync(); err == nil { // a full disk may show only now
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// readSmall reads a file of at most limit bytes.
func readSmall(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	return b, err
}

func readConfig(dir string) (Config, error) {
	var c Config
	b, err := readSmall(filepath.Join(dir, configFile), 1<<16)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(b, &c); err != nil || c.Format == 0 {
		return c, errors.New(configFile + " is not that of a model")
	}
	return c, nil
}

// Open reads a model.
func Open(dir string) (*Model, error) {
	m, err := open(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			if _, e := os.Stat(filepath.Join(dir, configFile)); errors.Is(e, fs.ErrNotExist) {
				return nil, fmt.Errorf("no model at %s; make one with gosearch train", dir)
			}
		}
		return nil, fmt.Errorf("the model at %s cannot be used: %w; make a new one with gosearch train", dir, err)
	}
	return m, nil
}

func open(dir string) (*Model, error) {
	c, err := readConfig(dir)
	if err != nil {
		return nil, err
	}
	if c.Format != Format {
		return nil, fmt.Errorf("its format is %d, but this program reads %d", c.Format, Format)
	}
	m := &Model{Config: c, Vocabulary: &token.Vocabulary{}, file: filepath.Join(dir, declarationsFile)}
	if c.Width != model.Width {
		return nil, fmt.Errorf("its vectors have %d dimensions, but this program needs %d", c.Width, model.Width)
	}
	text, err := readSmall(filepath.Join(dir, vocabularyFile), 1<<28)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, m.Vocabulary); err != nil {
		return nil, fmt.Errorf("%s: %w", vocabularyFile, err)
	}
	if m.Params, err = saved.Read(filepath.Join(dir, weightsFile), model.Like(m.Vocabulary.Size()), saved.ReadOptions{}); err != nil {
		return nil, err
	}
	ix, err := saved.Read(filepath.Join(dir, indexFile), index{
		tensor.NewSpec(dtype.Float32, shape.Of(shape.Unknown, model.Width)), tensor.NewSpec(dtype.Int64, shape.Of(shape.Unknown)),
		rank.Like(),
	}, saved.ReadOptions{})
	if err != nil {
		return nil, err
	}
	m.Vectors, m.lines = ix.Vectors.(tensor.Tensor), tensor.Data[int64](ix.Lines.(tensor.Tensor))
	info, err := os.Stat(m.file)
	if err != nil {
		return nil, err
	}
	n := c.Declarations
	if n < 1 || m.Vectors.Shape().Dim(0) != n || len(m.lines) != n+1 || m.lines[0] != 0 || m.lines[n] != info.Size() {
		return nil, fmt.Errorf("its files do not fit together: %d declarations, %d vectors, %d lines", n, m.Vectors.Shape().Dim(0), len(m.lines)-1)
	}
	for i := range n {
		if m.lines[i] >= m.lines[i+1] {
			return nil, fmt.Errorf("%s: line %d is empty", indexFile, i+1)
		}
	}
	if m.Words, err = rank.Open(ix.Words, n); err != nil {
		return nil, fmt.Errorf("%s: %w", indexFile, err)
	}
	return m, nil
}

// Declarations reads all declarations.
func (m *Model) Declarations() ([]decl.Decl, error) { return decl.ReadFile(m.file) }

// Declaration reads the declarations with the given numbers.
func (m *Model) Declaration(numbers ...int) ([]decl.Decl, error) {
	f, err := os.Open(m.file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := make([]decl.Decl, len(numbers))
	for k, i := range numbers {
		line := make([]byte, m.lines[i+1]-m.lines[i])
		if _, err := f.ReadAt(line, m.lines[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", m.file, err)
		}
		if err := json.Unmarshal(line, &out[k]); err != nil {
			return nil, fmt.Errorf("%s:%d: not a declaration: %w", m.file, i+1, err)
		}
	}
	return out, nil
}
