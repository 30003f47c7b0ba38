package saved_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	_ "github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
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
		if err := m.WarmUp(); err != nil {
			t.Errorf("%s: %v", r.Name(), err)
		}
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

var update = flag.Bool("update", false, "write testdata/operations.zip, which is never to change")

// affine registers the operation saved_test.affine as a version has it.
func affine(o op.Op) *op.Op {
	o.Name, o.Results = "saved_test.affine", 1
	o.Statement = op.Statement{Axes: op.Opaque, Missing: op.Refuse, Why: "a test"}
	o.Infer = func(c *op.Call) ([]tenon.Spec, error) { return []tenon.Spec{c.Value(0).Spec()}, nil }
	return op.Register(&o)
}

// TestOperationsOfEarlierVersions reads a model of version 1 of two operations. One of them has
// had two versions since then: its parameters were called otherwise, and its offset was to be
// subtracted. The other one is no more. Programs without the upgrades, and those of earlier versions,
// say what they lack.
func TestOperationsOfEarlierVersions(t *testing.T) {
	golden := filepath.Join("testdata", "operations.zip")
	number := func(name string) op.Param {
		return op.Param{Name: name, Kind: op.Attr, Type: op.FloatType, Default: 0.0}
	}
	if *update {
		o := affine(op.Op{Params: []op.Param{{Name: "operand"}, number("factor"), number("minus")},
			Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
				return []tensor.Tensor{ops.Sub(ops.Mul(c.Tensor(0), c.Float(1)), c.Float(2))}, nil
			}})
		gone := op.Register(&op.Op{Name: "saved_test.double", Statement: o.Statement, Results: 1, Params: []op.Param{{Name: "operand"}}, Infer: o.Infer,
			Kernel: func(c *op.Call) ([]tensor.Tensor, error) { return []tensor.Tensor{ops.Mul(c.Tensor(0), 2.0)}, nil }})
		m := saved.NewModel()
		f := function.New(func(x tensor.Tensor) tensor.Tensor { return op.Eval(gone, op.Eval(o, x, 3.0, 1.0)) })
		if err := errors.Join(m.Add("f", f, tensor.Scalar(1.0)), m.Save(golden)); err != nil {
			t.Fatal(err)
		}
		op.Unregister(o)
		op.Unregister(gone)
	}
	open := func() (*saved.Model, error) { return saved.OpenModel(golden) }
	if _, err := open(); !errors.Is(err, tenon.ErrUnsupported) || !strings.Contains(err.Error(), "saved_test.affine, saved_test.double") {
		t.Errorf("without the operations: %v", err)
	}
	now := affine(op.Op{Version: 3, Params: []op.Param{{Name: "x"}, number("scale"), number("offset")},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			return []tensor.Tensor{ops.Add(ops.Mul(c.Tensor(0), c.Float(1)), c.Float(2))}, nil
		}})
	defer op.Unregister(now)
	if _, err := open(); !errors.Is(err, tenon.ErrUnsupported) || !strings.Contains(err.Error(), "stored in version 1, this program has version 3") {
		t.Errorf("without the upgrades: %v", err)
	}
	defer op.RegisterUpgrade("saved_test.affine", 1, func(s *op.Stored) error {
		s.Values["x"], s.Attrs["scale"] = s.Values["operand"], s.Attrs["factor"]
		delete(s.Values, "operand")
		delete(s.Attrs, "factor")
		s.Version = 2
		return nil
	})()
	defer op.RegisterUpgrade("saved_test.affine", 2, func(s *op.Stored) error {
		minus, err := tenon.As[tenon.Float](s.Attrs["minus"])
		if err != nil {
			return err
		}
		s.Attrs["offset"] = -minus
		delete(s.Attrs, "minus")
		s.Version = 3
		return nil
	})()
	defer op.RegisterUpgrade("saved_test.double", 1, func(s *op.Stored) error {
		s.Op, s.Version = "saved_test.affine", 2
		s.Attrs = map[string]tenon.Encoding{"scale": tenon.Float(2), "minus": tenon.Float(0)}
		s.Values = map[string]tenon.Encoding{"x": s.Values["operand"]}
		return nil
	})()
	m, err := open()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := m.Function("f").Call(5.0); err != nil || tensor.Item[float64](out[0].(tensor.Tensor)) != 28 {
		t.Errorf("got %v, %v, want 2*(3*5-1)", out, err)
	}
	b := encodedModel(t, m) // in today's version
	if out, err := decoded(t, b).Function("f").Call(5.0); err != nil || tensor.Item[float64](out[0].(tensor.Tensor)) != 28 {
		t.Errorf("saved again: %v, %v", out, err)
	}
	op.Unregister(now)
	old := affine(op.Op{Version: 2, Params: now.Params, Kernel: now.Kernel})
	defer op.Unregister(old)
	later := func(b []byte) error {
		_, err := saved.DecodeModel(bytes.NewReader(b), int64(len(b)))
		return err
	}
	if err := later(b); !errors.Is(err, tenon.ErrUnsupported) || !strings.Contains(err.Error(), "stored in version 3, this program has version 2") {
		t.Errorf("a later version of an operation: %v", err)
	}
}
