package onnx

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Attributes and inputs that do not fit an operation are errors, whatever they are: nothing
// but what tenon throws leaves a call.
func TestAttributesThatDoNotFit(t *testing.T) {
	fsys, err := keptCases()
	if err != nil {
		t.Fatal(err)
	}
	entries, err := fs.ReadDir(fsys, "node")
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for i, e := range entries {
		if testing.Short() && i%8 > 0 {
			continue
		}
		b, err := fs.ReadFile(fsys, "node/"+e.Name()+"/model.onnx")
		if err != nil {
			t.Fatal(err)
		}
		m, err := Parse(b)
		if err != nil {
			continue
		}
		in, ok := inputsOf(fsys, e.Name(), m)
		if !ok {
			continue
		}
		try := func(what string, in []any) {
			calls++
			if r := panicOf(m, in); r != nil {
				t.Errorf("%s with %s: a panic: %v", e.Name(), what, r)
			}
		}
		for _, n := range m.graph.nodes {
			for name, a := range n.attrs {
				was := *a
				for _, bad := range []int64{0, -7, 9} {
					a.i, a.f = bad, float32(bad)
					for k := range was.ints {
						a.ints = append([]int64(nil), was.ints...)
						a.ints[k] = bad
						try(fmt.Sprintf("%s[%d] = %d", name, k, bad), in)
					}
					a.ints = append(was.ints[:len(was.ints):len(was.ints)], bad)
					a.s, a.t, a.g = []byte("?"), nil, nil
					try(fmt.Sprintf("%s = %d", name, bad), in)
					*a = was
				}
				delete(n.attrs, name)
				try("no "+name, in)
				n.attrs[name] = a
			}
		}
		for i := range in {
			if strings.HasPrefix(e.Name(), "test_loop") {
				break // without its number of steps a loop may go on for ever
			}
			for _, bad := range []any{nil, tensor.Scalar(float32(1)), ops.Zeros(dtype.Int64, []int{0, 3}), ops.Ones(dtype.Float32, []int{1, 2, 1, 2, 1}), []any{}} {
				others := append([]any(nil), in...)
				others[i] = bad
				try(fmt.Sprintf("input %d = %v", i, bad), others)
				if p := m.Inputs[i]; p.Spec != nil { // past the check of inputs, as values of other nodes are
					m.Inputs[i].Spec = nil
					try(fmt.Sprintf("value %d = %v", i, bad), others)
					m.Inputs[i].Spec = p.Spec
				}
			}
		}
	}
	t.Logf("%d calls", calls)
}

func inputsOf(fsys fs.FS, name string, m *Model) ([]any, bool) {
	in := make([]any, len(m.Inputs))
	for i, p := range m.Inputs {
		x, err := readData(fsys, fmt.Sprintf("node/%s/test_data_set_0/input_%d.pb", name, i), p)
		if err != nil {
			return nil, false
		}
		in[i] = x
	}
	return in, true
}

// panicOf returns what a call panics with that is not an error of tenon.
func panicOf(m *Model, in []any) (r any) {
	defer func() { r = recover() }()
	_, _ = tenon.Try(func() struct{} {
		_, err := m.Call(in...)
		tenon.Throw(err)
		return struct{}{}
	})
	return nil
}
