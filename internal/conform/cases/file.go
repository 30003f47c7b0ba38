package cases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A File is the cases of one group.
type File struct {
	Group     string  `json:"group"`
	Reference string  `json:"reference"`
	Types     []Type  `json:"types"`
	Cases     []*Case `json:"cases"`

	Path string `json:"-"` // where it was read from; cases may name files beside it
}

// A Type is an extension type that the cases of a file use. Kinds, defaults and
// rules are left as they are written.
type Type struct {
	Name     string           `json:"name"`
	Fields   []TypeField      `json:"fields"`
	Validate []map[string]any `json:"validate"`
}

// A TypeField is a field of a declared type.
type TypeField struct {
	Name    string          `json:"name"`
	Kind    any             `json:"kind"`
	Default json.RawMessage `json:"default"` // nil: there is none
}

// A Case is an operation, its arguments and the answer.
type Case struct {
	ID    string         `json:"id"`
	Op    string         `json:"op"`
	Args  []any          `json:"args"`  // decoded once the case runs
	Attrs map[string]any `json:"attrs"` // decoded once the case runs
	Want  any            `json:"want"`  // as written
	Error *WantError     `json:"error"`
	Tol   Tolerance      `json:"tol"`
	Note  string         `json:"note"`

	File *File `json:"-"`
}

// WantError names the kind of error that a case expects.
type WantError struct {
	Kind   string `json:"kind"`
	What   string `json:"what"`   // of a text, for operations that say so
	Line   int    `json:"line"`   // where
	Column string `json:"column"` // and in which column
}

// Tolerance says how far an answer may be off; the zero value asks for equality.
type Tolerance struct {
	Rtol       float64 `json:"rtol"`
	Atol       float64 `json:"atol"`
	ULP        uint64  `json:"ulp"`
	SignedZero bool    `json:"signed_zero"`
}

// Read reads a file.
func Read(path string) (*File, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.Path = path
	return f, nil
}

// Parse reads the text of a file. Numbers stay as they are written
// ([json.Number]) until they are decoded.
func Parse(text []byte) (*File, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	f := &File{}
	if err := d.Decode(f); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("there is text after the end")
	}
	if f.Group == "" {
		return nil, fmt.Errorf("the file names no group")
	}
	seen := map[string]bool{}
	for _, c := range f.Cases {
		if c.ID == "" || c.Op == "" || seen[c.ID] {
			return nil, fmt.Errorf("case %q of operation %q: identifiers have to be there and be unique", c.ID, c.Op)
		}
		seen[c.ID] = true
		c.File = f
	}
	return f, nil
}

// ReadAll reads all files with cases in directories, or files, in the order of
// their paths. Folders called files hold what cases refer to, not cases.
func ReadAll(paths ...string) ([]*File, error) {
	var names []string
	for _, p := range paths {
		err := filepath.WalkDir(p, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == "files" {
				return fs.SkipDir
			}
			if err == nil && !d.IsDir() && strings.HasSuffix(path, ".json") {
				names = append(names, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(names)
	files := make([]*File, 0, len(names))
	for _, n := range slices.Compact(names) {
		f, err := Read(n)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}
