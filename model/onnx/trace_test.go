package onnx

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
)

// What is traced answers as what runs node by node. Inputs of integers that are vectors or
// scalars are left as data, since they often say what shapes come out.
func TestTracedModels(t *testing.T) {
	fsys, _ := suite(t)
	entries, err := fs.ReadDir(fsys, "node")
	if err != nil {
		t.Fatal(err)
	}
	traced, refused := 0, 0
	for _, e := range entries {
		if reasonFor(e.Name()) != "" {
			continue
		}
		switch err := tryTraced(fsys, "node/"+e.Name()); {
		case err == nil:
			traced++
		case errors.Is(err, tenon.ErrUnsupported) && strings.Contains(err.Error(), "must be known when the model is traced"),
			err != nil && strings.Contains(err.Error(), "results have different structures"): // sequences and optional values that depend on data
			refused++
		default:
			t.Errorf("%s: %v", e.Name(), err)
		}
	}
	t.Logf("%d traced, %d need data", traced, refused)
	if traced < 900 {
		t.Errorf("only %d cases can be traced", traced)
	}
}

func tryTraced(fsys fs.FS, name string) (err error) {
	defer tenon.Catch(&err)
	b, err := fs.ReadFile(fsys, name+"/model.onnx")
	if err != nil {
		return err
	}
	m, err := Parse(b)
	if err != nil {
		return err
	}
	in := make([]any, len(m.Inputs))
	var symbolic []any
	for i, p := range m.Inputs {
		if in[i], err = readData(fsys, name+"/test_data_set_0/input_"+string(rune('0'+i))+".pb", p); err != nil {
			return err
		}
		if isData(in[i]) {
			symbolic = append(symbolic, in[i])
		}
	}
	f := function.New(func(xs []any) []any {
		args := make([]any, len(in))
		for i, x := range in {
			if args[i] = x; isData(x) {
				args[i], xs = xs[0], xs[1:]
			}
		}
		return tenon.Must(m.Call(args...))
	})
	got := f.Call(symbolic)
	for i, p := range m.Outputs {
		want, err := readData(fsys, name+"/test_data_set_0/output_"+string(rune('0'+i))+".pb", p)
		if err != nil {
			return err
		}
		if err := compare(got[i], want); err != nil {
			return err
		}
	}
	return nil
}

// isData reports whether a value is given when a traced model is called.
func isData(x any) bool {
	t, ok := x.(T)
	return ok && (t.DType() != dtype.Int64 && t.DType() != dtype.Int32 && !t.DType().IsString() || t.Shape().Rank() > 1)
}
