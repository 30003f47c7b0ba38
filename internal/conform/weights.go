package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/model/weights"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	cases.Handle(map[string]cases.Func{"weights.load": loadWeights})
}

// loadWeights reads a file of another system. The path is that from the folder of the
// case's file.
func loadWeights(c *cases.Case) (any, error) {
	path := filepath.Join(filepath.Dir(c.File.Path), c.Str(0))
	m, err := readWeights(path, weights.Format(cases.As[string](c.Attrs["format"])))
	if never, ok := c.Attrs["never"].(string); ok {
		if _, e := os.Stat(never); e == nil {
			return "code of the file was run", nil
		}
	}
	either := c.Attrs["either"]
	switch {
	case err == nil && c.Error != nil && either != nil:
		c.Want, c.Error = either, nil
	case err != nil && c.Error == nil && either == true:
		c.Error = &cases.WantError{Kind: cases.ErrorKind(err)}
	}
	if err != nil {
		return nil, err
	}
	out := cases.Dict{}
	for name, t := range m {
		if c.Attrs["as"] == "float32" {
			t = ops.Cast(t, dtype.Float32)
		}
		out[name] = t
	}
	if strings.HasSuffix(path, ".npy") {
		return out[""], nil
	}
	return out, nil
}

func readWeights(path string, format weights.Format) (map[string]tensor.Tensor, error) {
	f, err := weights.OpenAs(path, format)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadAll()
}
