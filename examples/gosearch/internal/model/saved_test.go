package model

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// TestModelInAnotherProgram saves the model, and has a program that imports nothing of gosearch encode
// texts with it and train it on: the same bytes as here.
func TestModelInAnotherProgram(t *testing.T) {
	const stranger = "github.com/tenonml/tenon/examples/exttypes/stranger" // three steps downhill, see there
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if out, err := exec.Command("go", "build", "-o", at("stranger"), stranger).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if deps, err := exec.Command("go", "list", "-deps", stranger).Output(); err != nil || bytes.Contains(deps, []byte("gosearch")) {
		t.Fatalf("the other program knows the model: %v", err)
	}
	v, questions, declarations := collection(16)
	splits := []int64{0}
	var ids, fields []int64
	for _, r := range append(questions[:4:4], declarations[:4]...) {
		ids, fields, splits = appendRow(ids, fields, splits, r, nil)
	}
	x := textsOf(ids, fields, splits)
	p := New(v, 1)
	held := tenon.Must(nn.Variables(p))
	encode := function.New(func(x Texts) tensor.Tensor { return held.Encode(x) }, function.Options{Name: "encode"})
	loss := function.New(func(x Texts) tensor.Tensor { return Loss(held, x, nil) }, function.Options{Name: "loss"})
	m := saved.NewModel()
	err := errors.Join(m.Name(held), m.Add("encode", encode, x), m.Add("loss", loss, x), m.Save(at("model.zip")),
		saved.Write(at("args.safetensors"), map[string]any{"encode": []any{x}, "loss": []any{x}}))
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(at("stranger"), at("model.zip"), at("args.safetensors"), at("results.safetensors"), at("tuned.zip")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	tenon.Throw(saved.Write(at("want.safetensors"), map[string]any{"encode": []any{encode.Call(x)}}))
	if a, b := tenon.Must(os.ReadFile(at("results.safetensors"))), tenon.Must(os.ReadFile(at("want.safetensors"))); !bytes.Equal(a, b) {
		t.Error("the texts have other vectors")
	}
	start := p
	for range 3 {
		g := grad.Of(func(p Params) tensor.Tensor { return Loss(p, x, nil) })(p)
		p = Params{nn.Embedding{Table: ops.Sub(p.Tokens.Table, ops.Mul(g.Tokens.Table, 0.01))},
			ops.Sub(p.Weight, ops.Mul(g.Weight, 0.01)), ops.Sub(p.Gain, ops.Mul(g.Gain, 0.01))}
	}
	tuned := tenon.Must(saved.OpenModel(at("tuned.zip"))).Parameters()
	for name, want := range map[string]tensor.Tensor{"Tokens.Table": p.Tokens.Table, "Weight": p.Weight, "Gain": p.Gain} {
		if got := tuned[name]; got == nil || !tensor.Equal(got, want) {
			t.Errorf("%s is not trained as here", name)
		}
	}
	if tensor.Equal(p.Gain, start.Gain) {
		t.Error("nothing was learnt")
	}
}
