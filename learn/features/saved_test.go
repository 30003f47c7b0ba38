package features_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/learn/features"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// Scales and vocabularies are saved with a model: in its weights, and in functions that run without
// the Go code.
func TestEncodersAreSaved(t *testing.T) {
	x := orders()
	e := tenon.Must(features.Fit(ops.RandomKey(1), x, features.Options{Hidden: 4, Features: 3}))
	want := e.Apply(x)
	name := filepath.Join(t.TempDir(), "encoder.safetensors")
	if err := saved.Write(name, e); err != nil {
		t.Fatal(err)
	}
	// The schema alone says what is to be read, but for the numbers of words.
	like := tenon.Must(tenon.Must(features.NewSchema(x.Spec().(*structured.Spec), features.Options{Hidden: 4, Features: 3})).Encoder(ops.RandomKey(2)))
	read, err := saved.Read(name, like, saved.ReadOptions{Sizes: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := tensor.AllClose(read.Apply(x), want); err != nil {
		t.Error(err)
	}
	if _, err := saved.Read(name, like); !errors.Is(err, tenon.ErrShape) {
		t.Errorf("other sizes: %v", err)
	}
	m := saved.NewModel()
	row := tenon.Must(x.Spec().(*structured.Spec).Unbatched()).(tenon.Batcher)
	if err := m.Add("vectors", function.New(e.Apply), tenon.Must(row.Batched(-1))); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "model")
	if err := m.Save(folder); err != nil {
		t.Fatal(err)
	}
	opened, err := saved.OpenModel(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	f, err := saved.As[func(*structured.Tensor) tensor.Tensor](opened, "vectors")
	if err != nil {
		t.Fatal(err)
	}
	if err := tensor.AllClose(f(x), want); err != nil {
		t.Error(err)
	}
	one := tenon.Must(x.Index([]int64{1})).(*structured.Tensor)
	if err := tensor.AllClose(f(one), e.Apply(one)); err != nil {
		t.Errorf("one row: %v", err)
	}
}
