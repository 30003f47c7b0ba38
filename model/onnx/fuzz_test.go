package onnx

import (
	"io/fs"
	"testing"
)

// Whatever is read as a model gives a model or an error.
func FuzzParse(f *testing.F) {
	fsys, err := keptCases()
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range []string{"test_add", "test_loop11", "test_if", "test_gru_defaults", "test_cast_INT4_to_FLOAT", "test_optional_has_element_empty_optional_input"} {
		if b, err := fs.ReadFile(fsys, "node/"+name+"/model.onnx"); err == nil {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Parse(b)
		if (m == nil) == (err == nil) {
			t.Fatalf("got %v and %v", m, err)
		}
	})
}
