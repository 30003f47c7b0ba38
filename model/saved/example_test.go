package saved_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/state"
)

func Example() {
	dir, err := os.MkdirTemp("", "saved")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	type model struct {
		W    *state.Variable
		Step int
	}
	newModel := func(w ...float32) model { return model{W: must(state.New(w))} }

	m := newModel(1, 2, 3)
	m.Step = 100
	name := filepath.Join(dir, "model.safetensors")
	if err := saved.Write(name, m, saved.WriteOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	got, err := saved.Read(name, newModel(0, 0, 0), saved.ReadOptions{})
	fmt.Println(got.W, got.Step, err)
	// Output: [1. 2. 3.] float32[3] 100 <nil>
}
