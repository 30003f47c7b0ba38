package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/data/parquetio"
	"github.com/tenonml/tenon/structured"
)

// A Hub is a folder of the Hugging Face hub: the Parquet files of a data set, divided into
// configurations and splits, and the metadata of its README.
type Hub struct {
	dir     string
	configs []hubConfig
	card    map[string]any
}

type hubConfig struct {
	name    string
	asked   bool // it is marked as the default
	splits  []string
	pattern map[string][]string // patterns of each split
}

// HuggingFace opens a folder. If the YAML header of README.md has configs with data_files, these
// are the configurations and splits. Otherwise there is one configuration, "default". As on the
// hub, a file then belongs to the split whose name (train, test, validation, or a synonym) is
// part of its path, or to train if there is none.
func HuggingFace(dir string) (*Hub, error) {
	h := &Hub{dir: dir, card: map[string]any{}}
	text, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, inFile("HuggingFace", dir, err)
	}
	if front, ok := frontMatter(string(text)); ok {
		if err := yaml.Unmarshal([]byte(front), &h.card); err != nil {
			return nil, inFile("HuggingFace", filepath.Join(dir, "README.md"), err)
		}
		var c cardConfigs
		if err := yaml.Unmarshal([]byte(front), &c); err != nil {
			return nil, inFile("HuggingFace", filepath.Join(dir, "README.md"), err)
		}
		for _, x := range c.Configs {
			if config, ok := x.config(); ok {
				h.configs = append(h.configs, config)
			}
		}
	}
	if len(h.configs) == 0 {
		c, err := guessed(dir)
		if err != nil {
			return nil, inFile("HuggingFace", dir, err)
		}
		h.configs = []hubConfig{c}
	}
	return h, nil
}

// frontMatter returns the YAML header of a text, between two lines of three dashes.
func frontMatter(text string) (string, bool) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return "", false
	}
	if i := strings.Index("\n"+rest, "\n---\n"); i >= 0 {
		return rest[:max(0, i-1)], true
	}
	return strings.CutSuffix(rest, "\n---")
}

// cardConfigs is the part of a README's YAML that says where the data is.
type cardConfigs struct {
	Configs []cardConfig `yaml:"configs"`
}

type cardConfig struct {
	Name    string    `yaml:"config_name"`
	Default bool      `yaml:"default"`
	Dir     string    `yaml:"data_dir"`
	Files   yaml.Node `yaml:"data_files"`
}

// config returns the splits: data_files is a pattern, a list of patterns, or a list of splits.
func (c cardConfig) config() (hubConfig, bool) {
	out := hubConfig{name: c.Name, asked: c.Default, pattern: map[string][]string{}}
	if out.name == "" {
		out.name = "default"
	}
	add := func(split string, patterns ...string) {
		if split == "" {
			split = "train"
		}
		if _, ok := out.pattern[split]; !ok {
			out.splits = append(out.splits, split)
		}
		for _, p := range patterns {
			out.pattern[split] = append(out.pattern[split], path.Join(c.Dir, p))
		}
	}
	var one string
	var list []string
	var splits []struct {
		Split string    `yaml:"split"`
		Path  yaml.Node `yaml:"path"`
	}
	switch {
	case c.Files.Kind == 0 && c.Dir != "":
		add("train", "**")
	case c.Files.Decode(&one) == nil && one != "":
		add("train", one)
	case c.Files.Decode(&list) == nil && len(list) > 0:
		add("train", list...)
	case c.Files.Decode(&splits) == nil:
		for _, s := range splits {
			var many []string
			if s.Path.Decode(&many) != nil {
				var p string
				if s.Path.Decode(&p) != nil || p == "" {
					continue
				}
				many = []string{p}
			}
			add(s.Split, many...)
		}
	}
	return out, len(out.splits) > 0
}

// splitWords are the words that indicate splits in the names of files.
var splitWords = []struct{ split, words string }{
	{"train", "train|training"}, {"validation", "validation|valid|val|dev"}, {"test", "test|testing|eval|evaluation"},
}

// guessed derives a configuration from the names of files.
func guessed(dir string) (hubConfig, error) {
	out := hubConfig{name: "default", pattern: map[string][]string{}}
	names, err := parquetFiles(dir)
	if err != nil {
		return out, err
	}
	for _, w := range splitWords {
		word := regexp.MustCompile(`(?i)(^|[-._ 0-9/])(` + w.words + `)([-._ 0-9/]|$)`)
		for _, n := range names {
			if word.MatchString(n) {
				out.pattern[w.split] = append(out.pattern[w.split], n)
			}
		}
		if len(out.pattern[w.split]) > 0 {
			out.splits = append(out.splits, w.split)
		}
	}
	if len(out.splits) == 0 && len(names) > 0 {
		out.splits, out.pattern["train"] = []string{"train"}, names
	}
	return out, nil
}

// parquetFiles returns the Parquet files below a folder, sorted, with slashes.
func parquetFiles(dir string) ([]string, error) {
	var out []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.EqualFold(path.Ext(name), ".parquet") {
			out = append(out, name)
		}
		return err
	})
	return out, err
}

// Configs returns the names of the configurations; the default one is the first.
func (h *Hub) Configs() []string {
	var out []string
	for _, c := range h.configs {
		if c.asked || c.name == "default" {
			out = slices.Insert(out, 0, c.name)
		} else {
			out = append(out, c.name)
		}
	}
	return out
}

// Splits returns the names of the splits of a configuration; "" means the default one.
func (h *Hub) Splits(config string) []string {
	c, err := h.config(config)
	if err != nil {
		return nil
	}
	return slices.Clone(c.splits)
}

// Card returns the YAML metadata of the README: license, language, tags and so on.
func (h *Hub) Card() map[string]any { return h.card }

func (h *Hub) config(name string) (hubConfig, error) {
	if name == "" {
		name = h.Configs()[0]
	}
	for _, c := range h.configs {
		if c.name == name {
			return c, nil
		}
	}
	e := fail("Hub", h.dir, "unknown configuration %q; there are %q", name, h.Configs())
	e.Kind = tenon.ErrNotFound
	return hubConfig{}, e
}

// Files returns the Parquet files of a split, sorted by name.
func (h *Hub) Files(config, split string) ([]string, error) {
	c, err := h.config(config)
	if err != nil {
		return nil, err
	}
	patterns, ok := c.pattern[split]
	if !ok {
		e := fail("Hub", h.dir, "unknown split %q in configuration %q; there are %q", split, c.name, c.splits)
		e.Kind = tenon.ErrNotFound
		return nil, e
	}
	names, err := parquetFiles(h.dir)
	if err != nil {
		return nil, inFile("Hub", h.dir, err)
	}
	var out []string
	for _, n := range names {
		for _, p := range patterns {
			if p == n || globbed(p).MatchString(n) {
				out = append(out, filepath.Join(h.dir, filepath.FromSlash(n)))
				break
			}
		}
	}
	if len(out) == 0 {
		e := fail("Hub", h.dir, "no Parquet file matches %q", patterns)
		e.Kind = tenon.ErrNotFound
		return nil, e
	}
	return out, nil
}

// globbed returns the regular expression for a pattern of the hub: * matches within a folder, ** at
// any depth.
func globbed(pattern string) *regexp.Regexp {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch rest := pattern[i:]; {
		case strings.HasPrefix(rest, "**/"):
			b.WriteString("(.*/)?")
			i += 2
		case strings.HasPrefix(rest, "**"):
			b.WriteString(".*")
			i++
		case rest[0] == '*':
			b.WriteString("[^/]*")
		case rest[0] == '?':
			b.WriteString("[^/]")
		default:
			b.WriteString(regexp.QuoteMeta(rest[:1]))
		}
	}
	return regexp.MustCompile("^" + b.String() + "$")
}

// Open opens the files of a split; [Parquet] reads the rows. Close must be called after the last
// loop.
func (h *Hub) Open(config, split string, o parquetio.ReadOptions) (*HubSplit, error) {
	names, err := h.Files(config, split)
	if err != nil {
		return nil, err
	}
	s := &HubSplit{}
	var parts []*dataset.Dataset[*structured.Tensor]
	for _, name := range names {
		f, err := parquetio.Open(escaped(name), o)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s of %s: %w", split, h.dir, err), s.Close())
		}
		s.files = append(s.files, f)
		parts = append(parts, Parquet(f, dataset.BlockOptions{}))
	}
	s.Data = dataset.Concat(parts...)
	return s, nil
}

// A HubSplit is an open split.
type HubSplit struct {
	Data  *dataset.Dataset[*structured.Tensor]
	files []*parquetio.File
}

// Close closes the files.
func (s *HubSplit) Close() error {
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
