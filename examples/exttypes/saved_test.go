package exttypes_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/examples/exttypes/alignment"
	"github.com/tenonml/tenon/examples/exttypes/csr"
	"github.com/tenonml/tenon/examples/exttypes/digraph"
	"github.com/tenonml/tenon/examples/exttypes/dist"
	"github.com/tenonml/tenon/examples/exttypes/labeled"
	"github.com/tenonml/tenon/examples/exttypes/maskedtensor"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/internal/generated"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

// A saving is a function over a type, of a model with one variable, and how far its result is
// from something to be trained for.
type saving struct {
	name string
	path string // of the variable
	arg  tenon.Value
	add  func(m *saved.Model) error
	want func() (out tenon.Value, tuned tensor.Tensor)
}

// savingOf makes a saving of a function of the variable's value and the argument. What is
// wanted is computed here, by the type's own code.
func savingOf[T, R tenon.Value](name string, x T, f func(w tensor.Tensor, x T) R) saving {
	loss := func(w tensor.Tensor, x T) tensor.Tensor { return squares(f(w, x)) }
	return saving{
		name: name, path: name, arg: x,
		add: func(m *saved.Model) error {
			w := must(state.New(start()))
			if err := m.Name(map[string]*state.Variable{name: w}); err != nil {
				return err
			}
			if err := m.Add(name, function.New(func(x T) R { return f(w, x) }, function.Options{Name: name}), x); err != nil {
				return err
			}
			return m.Add("loss_"+name, function.New(func(x T) tensor.Tensor { return loss(w, x) }, function.Options{Name: "loss"}), x)
		},
		want: func() (tenon.Value, tensor.Tensor) {
			w := tensor.Tensor(start())
			out := function.New(func(x T) R { return f(w, x) }).Call(x)
			for range 3 {
				g := grad.Of(func(w tensor.Tensor) tensor.Tensor { return loss(w, x) })(w)
				w = ops.Sub(w, ops.Mul(g, 0.01))
			}
			return out, w
		},
	}
}

// heldSaving is a saving whose variable is part of a ragged tensor, and whose function has a gradient
// of its own, twice the right one.
func heldSaving(name string, x tensor.Tensor) saving {
	square := grad.Custom(func(r tensor.Tensor) tensor.Tensor { return ops.Mul(r, r) },
		func(r, _, ct tensor.Tensor) tensor.Tensor { return ops.Mul(ct, ops.Mul(r, 4.0)) })
	splits := []int64{0, 0, 2}
	f := func(r *ragged.Tensor, x tensor.Tensor) tensor.Tensor { return ops.Mul(square(r), x) }
	held := func() *state.Of[*ragged.Tensor] {
		return must(state.NewOf(must(ragged.FromRowSplits(start(), splits))))
	}
	return saving{
		name: name, path: name + ".flat_values", arg: x,
		add: func(m *saved.Model) error {
			rows := held()
			if err := errors.Join(m.Name(map[string]any{name: rows}),
				m.Add(name, function.New(func(x tensor.Tensor) tensor.Tensor { return f(must(rows.Value()), x) }, function.Options{Name: name}), x),
				m.Add("loss_"+name, function.New(func(x tensor.Tensor) tensor.Tensor { return squares(f(must(rows.Value()), x)) }, function.Options{Name: "loss"}), x)); err != nil {
				return err
			}
			return errors.Join(m.Function(name).NameSizes(map[string][]string{"[0]": {"one"}}), m.Function(name).AddWarmUp(x))
		},
		want: func() (tenon.Value, tensor.Tensor) {
			rows := held()
			out := function.New(func(x tensor.Tensor) tensor.Tensor { return f(must(rows.Value()), x) }).Call(x)
			w := tensor.Tensor(start())
			for range 3 {
				g := grad.Of(func(w tensor.Tensor) tensor.Tensor { return squares(f(must(ragged.FromRowSplits(w, splits)), x)) })(w)
				w = ops.Sub(w, ops.Mul(g, 0.01))
			}
			return out, w
		},
	}
}

func start() *tensor.Dense { return tensor.Vector([]float64{0.5, -0.25}) }

// savings has one function for each example type of this folder, and one of a variable that is part
// of a Value.
func savings() []saving {
	numbers := tensor.Vector([]float64{1, 2})
	mixture := must(dist.NewMixture(must(dist.NewCategorical([]float64{0.2, 0.8})), must(dist.NewNormal([]float64{0, 1}, []float64{1, 2}))))
	return []saving{
		savingOf("normal", must(dist.NewNormal(numbers, []float64{1, 2})), func(w tensor.Tensor, d dist.Normal) dist.Normal {
			return dist.Normal{Loc: ops.Add(d.Loc, w), Scale: ops.Mul(d.Scale, ops.Exp(w))}
		}),
		savingOf("mixture", mixture, func(w tensor.Tensor, d dist.Mixture) tensor.Tensor { return d.LogProb(w) }),
		savingOf("digraph", must(digraph.New(numbers, []int64{0, 1, 1}, []int64{1, 0, 1})), func(w tensor.Tensor, g digraph.TensorDigraph) digraph.TensorDigraph {
			g.Nodes = ops.Mul(g.Nodes, w)
			return g.SumMessages()
		}),
		savingOf("alignment", must(alignment.New("x", "y", [][]int64{{0}, {0, 1}})), func(w tensor.Tensor, a alignment.DimensionAlignment) *ragged.Tensor { return a.Broadcast(w) }),
		savingOf("csr", must(csr.FromDense([][]float64{{0, 1}, {2, 3}})), func(w tensor.Tensor, m csr.Matrix) tensor.Tensor {
			return ops.MatMul(m, ops.Reshape(w, []int{2, 1}))
		}),
		savingOf("masked", must(maskedtensor.New(numbers, []bool{true, false})), func(w tensor.Tensor, m maskedtensor.MaskedTensor) tensor.Tensor {
			return ops.Mul(ops.Add(m, w), m)
		}),
		savingOf("labelled", must(labeled.New([][]float64{{1, 2}, {3, 4}}, "row", "column")), func(w tensor.Tensor, t labeled.Tensor) labeled.Tensor {
			t.Values = ops.Mul(t.Values, w)
			return labeled.Sum(t, "row")
		}),
		heldSaving("rows", tensor.Vector([]float64{3})),
	}
}

// TestModelsInAnotherProgram saves a model over the example types, and has a program that imports
// none of them call its functions and train it: the same bytes as here.
func TestModelsInAnotherProgram(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "stranger")
	if out, err := exec.Command("go", "build", "-o", program, "./stranger").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	deps, err := exec.Command("go", "list", "-deps", "./stranger").Output()
	if err != nil || bytes.Count(deps, []byte("examples/exttypes/")) != 1 {
		t.Fatalf("the other program knows the types: %v", err)
	}
	m, args := saved.NewModel(), map[string]any{}
	all := savings()
	for _, s := range all {
		if err := s.add(m); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		args[s.name], args["loss_"+s.name] = []any{s.arg}, []any{s.arg}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := saved.Write(at("args.safetensors"), args); err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{"model", "model.zip"} {
		if err := m.Save(at(form)); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(program, at(form), at("args.safetensors"), at("results.safetensors"), at("tuned-"+form)).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", form, err, out)
		}
		want := map[string]any{}
		tuned := must(saved.OpenModel(at("tuned-" + form)))
		for _, s := range all {
			v, w := s.want()
			want[s.name] = []any{v}
			if got := tuned.Variables()[s.path]; got == nil || !tensor.Equal(got.Value(), w, tensor.EqualOptions{}) {
				t.Errorf("%s, %s: the tuned variable is %v, want %v", form, s.name, got, w)
			}
			if tensor.Equal(w, start(), tensor.EqualOptions{}) {
				t.Errorf("%s: nothing was learnt", s.name)
			}
		}
		if err := saved.Write(at("want.safetensors"), want); err != nil {
			t.Fatal(err)
		}
		if a, b := must(os.ReadFile(at("results.safetensors"))), must(os.ReadFile(at("want.safetensors"))); !bytes.Equal(a, b) {
			t.Errorf("%s: the results differ: %s", form, first(a, b))
		}
	}
	if generated.Update() { // what every later version has to read, see model/saved
		golden := filepath.FromSlash("../../model/saved/testdata/golden/1.1")
		for _, name := range []string{"model.zip", "args.safetensors", "results.safetensors"} {
			if err := errors.Join(os.MkdirAll(golden, 0o777), os.WriteFile(filepath.Join(golden, name), must(os.ReadFile(at(name))), 0o666)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// first shows where bytes begin to differ.
func first(a, b []byte) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return fmt.Sprintf("at byte %d: %.200q, want %.200q", i, a[max(0, i-40):], b[max(0, i-40):])
}
