package graph_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/interp"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

type T = tensor.Tensor

// samples are graphs with every kind of argument: values, lists, attributes, constants
// of numbers and strings, regions, results of unknown size.
func samples(t testing.TB) map[string]*graph.Graph {
	trace := func(name string, f func(x T) []T) *graph.Graph {
		x := tensor.NewSpec(dtype.Float32, shape.Of(shape.Unknown, 3)).Named("x")
		g, err := graph.Trace(name, []*tensor.Spec{x}, func(p []T) ([]T, error) { return f(p[0]), nil })
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range g.Nodes {
			n.Line = "model.go:" + string(rune('1'+len(n.Op.Name)%9))
		}
		return g
	}
	return map[string]*graph.Graph{
		"arithmetic": trace("arithmetic", func(x T) []T { return []T{ops.Add(ops.Mul(x, 2.5), x), ops.Sum(x, 0)} }),
		"lists":      trace("lists of things", func(x T) []T { return []T{ops.Concat([]T{x, ops.Neg(x), x}, -1)} }),
		"strings":    trace("strings", func(x T) []T { return []T{ops.Gather(tensor.Of([]string{"a", "", "ü"}), ops.ArgMax(x, 1), 0)} }),
		"constant":   trace("constant", func(x T) []T { return []T{x, tensor.Of([]bool{true, false})} }),
		"branches": trace("branches", func(x T) []T {
			return []T{control.Cond(ops.Greater(ops.Sum(x), 0), func() T { return ops.Exp(x) }, func() T { return ops.Neg(x) })}
		}),
		"loop": trace("loop", func(x T) []T {
			return []T{control.While(func(y T) T { return ops.Less(ops.Sum(y), 100) }, func(y T) T { return ops.Mul(y, 2) }, x)}
		}),
	}
}

func TestBinaryForm(t *testing.T) {
	x := tensor.Of([]float32{1, 2, 3, -4, 5, 6}, 2, 3)
	for name, g := range samples(t) {
		b, err := g.MarshalBinary()
		if err != nil {
			t.Fatal(name, err)
		}
		h, err := graph.ReadBinary(b)
		if err != nil {
			t.Fatal(name, err)
		}
		if err := h.Verify(); err != nil {
			t.Error(name, err)
		}
		if h.String() != g.String() {
			t.Errorf("%s: read back as\n%v\nnot\n%v", name, h, g)
		}
		p, err := graph.Parse(g.String())
		if err != nil || p.String() != g.String() {
			t.Errorf("%s: the text is parsed as\n%v, %v\nnot\n%v", name, p, err, g)
		}
		again, err := h.MarshalBinary()
		if err != nil || !bytes.Equal(b, again) {
			t.Errorf("%s: another binary form the second time, %v", name, err)
		}
		want, err := interp.For(g).Run(t.Context(), []T{x})
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := interp.For(h).Run(t.Context(), []T{x})
		if err != nil {
			t.Fatal(name, err)
		}
		for i := range want {
			if fmt.Sprint(want[i]) != fmt.Sprint(got[i]) {
				t.Errorf("%s: result %d is %v, want %v", name, i, got[i], want[i])
			}
		}
	}
}

// TestBinaryFormIsStable: what was stored once reads for ever.
func TestBinaryFormIsStable(t *testing.T) {
	for name, g := range samples(t) {
		file := filepath.Join("testdata", name+".graph")
		stored, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		h, err := graph.ReadBinary(stored)
		if err != nil {
			t.Fatal(name, err)
		}
		if h.String() != g.String() {
			t.Errorf("%s: the stored graph is\n%v\nnot\n%v", name, h, g)
		}
	}
}

func TestNotStored(t *testing.T) {
	f := function.New(func(x T) T {
		return control.GoFunc(func(x T) ([]tenon.Value, error) { return []tenon.Value{x}, nil }, []tenon.Spec{x.Spec()}, x)[0].(T)
	})
	g, err := f.Trace(tensor.Of([]float32{1}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.MarshalBinary(); !errors.Is(err, tenon.ErrUnsupported) || !strings.Contains(err.Error(), "control.go_func") {
		t.Errorf("got %v", err)
	}
}

func TestDamaged(t *testing.T) {
	for name, g := range samples(t) {
		b, err := g.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		for i := range b {
			if _, err := graph.ReadBinary(b[:i]); !errors.Is(err, tenon.ErrInvalid) {
				t.Fatalf("%s, the first %d bytes: %v", name, i, err)
			}
		}
		if _, err := graph.ReadBinary(append(b, 0)); !errors.Is(err, tenon.ErrInvalid) {
			t.Errorf("%s and a byte more: %v", name, err)
		}
	}
}

func FuzzReadBinary(f *testing.F) {
	for _, g := range samples(f) {
		b, err := g.MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 2048 {
			return
		}
		g, err := graph.ReadBinary(b)
		if err != nil {
			return
		}
		if err := g.Verify(); err != nil {
			t.Fatal(err)
		}
		c, err := g.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		h, err := graph.ReadBinary(c)
		if err != nil || h.String() != g.String() {
			t.Fatalf("read back as\n%v, %v\nnot\n%v", h, err, g)
		}
	})
}

func TestExports(t *testing.T) {
	for name, g := range samples(t) {
		d := g.DOT()
		if !strings.HasPrefix(d, "digraph ") || strings.Count(d, "{") != strings.Count(d, "}") {
			t.Errorf("%s: %s", name, d)
		}
		for _, n := range g.Nodes {
			if !strings.Contains(d, `label="`+n.Op.Name) {
				t.Errorf("%s lacks %s", name, n.Op.Name)
			}
		}
		b, err := g.JSON()
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Params, Nodes []map[string]any
			Outputs       []int
		}
		if err := json.Unmarshal(b, &got); err != nil || len(got.Nodes) != len(g.Nodes) || len(got.Params) != len(g.Params) || len(got.Outputs) != len(g.Outputs) {
			t.Errorf("%s: %s, %v", name, b, err)
		}
	}
}
