package saved_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	_ "github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/model/saved"
	_ "github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// TestGoldenModels reads the models that each release has written, with arguments and results of
// types that are not known here, and calls all of their functions. Nothing below
// testdata/golden is ever changed: a new version of the format adds a folder
// (examples/exttypes, TestModelsInAnotherProgram with -update).
func TestGoldenModels(t *testing.T) {
	releases, err := os.ReadDir(filepath.Join("testdata", "golden"))
	if err != nil || len(releases) == 0 {
		t.Fatalf("no golden models: %v", err)
	}
	for _, r := range releases {
		dir := filepath.Join("testdata", "golden", r.Name())
		m := must(saved.OpenModel(filepath.Join(dir, "model.zip")))
		args, results := must(saved.Open(filepath.Join(dir, "args.safetensors"))), must(saved.Open(filepath.Join(dir, "results.safetensors")))
		defer args.Close()
		defer results.Close()
		for _, f := range m.Functions() {
			out, err := f.Call(must(args.Value(f.Name() + "[0]")))
			if err != nil {
				t.Errorf("%s: %s: %v", r.Name(), f.Name(), err)
				continue
			}
			if strings.HasPrefix(f.Name(), "loss") {
				continue
			}
			if err := tensor.AllClose(out[0].(tenon.Value), must(results.Value(f.Name()+"[0]"))); err != nil {
				t.Errorf("%s: %s: %v", r.Name(), f.Name(), err)
			}
		}
	}
}
