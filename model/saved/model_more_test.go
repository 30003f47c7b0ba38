package saved_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// encodedModel returns the ZIP file of a model.
func encodedModel(t testing.TB, m *saved.Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func decoded(t testing.TB, b []byte) *saved.Model {
	t.Helper()
	return must(saved.DecodeModel(bytes.NewReader(b), int64(len(b))))
}

// files returns the records of a ZIP file, and zipped makes one of records.
func files(t testing.TB, b []byte) (names []string, content map[string][]byte) {
	t.Helper()
	content = map[string][]byte{}
	for _, f := range must(zip.NewReader(bytes.NewReader(b), int64(len(b)))).File {
		names = append(names, f.Name)
		content[f.Name] = must(io.ReadAll(must(f.Open())))
	}
	return names, content
}

func zipped(t testing.TB, names []string, content map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range names {
		w := must(z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store}))
		must(w.Write(content[name]))
	}
	tenon.Throw(z.Close())
	return b.Bytes()
}

// changed is a model whose manifest was changed.
func changed(t testing.TB, b []byte, change func(doc map[string]any)) []byte {
	t.Helper()
	names, content := files(t, b)
	var doc map[string]any
	tenon.Throw(json.Unmarshal(content["model.json"], &doc))
	change(doc)
	content["model.json"] = must(json.Marshal(doc))
	return zipped(t, names, content)
}

func simpleModel(t testing.TB) *saved.Model {
	t.Helper()
	l := newLinear(t)
	m := saved.NewModel()
	tenon.Throw(errors.Join(m.Name(l), m.Add("score", function.New(l.apply), dense3)))
	return m
}

// TestModelKeepsWhatItDoesNotKnow: a model of a later minor version is read, and what that has
// added is there when it is saved again.
func TestModelKeepsWhatItDoesNotKnow(t *testing.T) {
	b := encodedModel(t, simpleModel(t))
	later := changed(t, b, func(doc map[string]any) {
		doc["version"] = []int{1, 99}
		doc["licence"] = map[string]any{"spdx": "MIT"}
		f := doc["functions"].([]any)[0].(map[string]any)
		f["cost"] = 3
		f["variants"].([]any)[0].(map[string]any)["devices"] = []string{"cpu"}
		doc["variables"].([]any)[1].(map[string]any)["trained"] = false
	})
	_, content := files(t, encodedModel(t, decoded(t, later)))
	var doc map[string]any
	tenon.Throw(json.Unmarshal(content["model.json"], &doc))
	f := doc["functions"].([]any)[0].(map[string]any)
	for what, ok := range map[string]bool{
		"of the model":    doc["licence"].(map[string]any)["spdx"] == "MIT",
		"of the function": f["cost"] == 3.0,
		"of the variant":  f["variants"].([]any)[0].(map[string]any)["devices"].([]any)[0] == "cpu",
		"of the variable": doc["variables"].([]any)[1].(map[string]any)["trained"] == false,
		"the version":     doc["version"].([]any)[1] == 1.0,
	} {
		if !ok {
			t.Errorf("%s: what was not known is lost: %s", what, content["model.json"])
		}
	}
	if again := encodedModel(t, decoded(t, b)); !bytes.Equal(again, b) {
		t.Error("a model that is read and saved has other bytes")
	}
	major := changed(t, b, func(doc map[string]any) { doc["version"] = []int{2, 0} })
	if _, err := saved.DecodeModel(bytes.NewReader(major), int64(len(major))); !errors.Is(err, tenon.ErrUnsupported) || !strings.Contains(err.Error(), "2.0") {
		t.Errorf("a later major version: %v", err)
	}
}

func TestModelWithFilesAndReadme(t *testing.T) {
	m := simpleModel(t)
	m.Readme = "# Scores\n\nMade of three numbers.\n"
	m.Files["assets/words.txt"] = []byte("a\nb\n")
	m.Files["notes"] = nil
	for name, got := range stored(t, m) {
		if got.Readme != m.Readme || string(got.Files["assets/words.txt"]) != "a\nb\n" || len(got.Files) != 2 {
			t.Errorf("%s: %q, %q", name, got.Readme, got.Files)
		}
	}
	if got := decoded(t, encodedModel(t, simpleModel(t))); got.Readme != "" || len(got.Files) != 0 {
		t.Errorf("a text that was made: %q, %q", got.Readme, got.Files)
	}
	for _, name := range []string{"model.json", "README.md", "weights/x", "../x", "/x", "a\\b", "NUL"} {
		m.Files = map[string][]byte{name: nil}
		if err := m.Encode(io.Discard); err == nil {
			t.Errorf("a file called %q was written", name)
		}
	}
}

func TestModelWithNamedSizes(t *testing.T) {
	f := function.New(func(x, y tensor.Tensor) tensor.Tensor { return ops.Add(ops.Sum(x, 1), y) })
	m := saved.NewModel()
	vector := tensor.NewSpec(dtype.Float32, shape.Of(-1))
	tenon.Throw(m.Add("add", f, dense3, vector))
	fn := m.Function("add")
	for _, bad := range []map[string][]string{{"[2]": {"n"}}, {"[0]": {"n"}}, {"[0]": {"n", "m", ""}}, {"x": {"n"}}} {
		if err := fn.NameSizes(bad); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
	if err := fn.SetBatch("n"); err == nil {
		t.Error("a size that nobody has was taken")
	}
	tenon.Throw(errors.Join(fn.NameSizes(map[string][]string{"[0]": {"n", "width"}, "[1]": {"n"}, "→[0]": {"n"}}), fn.SetBatch("n")))
	for name, m := range stored(t, m) {
		fn := m.Function("add")
		if axes := fn.BatchAxes(0); len(axes) != 3 || axes["[0]"] != 0 || axes["→[0]"] != 0 || fn.Sizes(0)["[0]"][1] != "width" {
			t.Errorf("%s: %v, %v", name, axes, fn.Sizes(0))
		}
		x := tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
		if out, err := fn.Call(x, []float32{1, 1}); err != nil || !tensor.Equal(out[0].(tensor.Tensor), tensor.Of([]float32{7, 16})) {
			t.Errorf("%s: %v, %v", name, out, err)
		}
		// Broadcasting would make a result of one row.
		if _, err := fn.Call(x, []float32{1}); err == nil || !strings.Contains(err.Error(), "another argument has 2 n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	b := encodedModel(t, m)
	for _, change := range []func(v map[string]any){
		func(v map[string]any) { v["sizes"] = map[string]any{"[7]": []string{"n"}} },
		func(v map[string]any) { v["batch"] = "m" },
	} {
		bad := changed(t, b, func(doc map[string]any) {
			change(doc["functions"].([]any)[0].(map[string]any)["variants"].([]any)[0].(map[string]any))
		})
		if _, err := saved.DecodeModel(bytes.NewReader(bad), int64(len(bad))); !errors.Is(err, tenon.ErrInvalid) {
			t.Errorf("got %v", err)
		}
	}
}

func TestModelWithWarmUps(t *testing.T) {
	calls := tenon.Must(state.New(int64(0)))
	f := function.New(func(x tensor.Tensor, scale float64) map[string]tensor.Tensor {
		tenon.Throw(calls.Assign(ops.Add(calls, int64(1))))
		return map[string]tensor.Tensor{"y": ops.Mul(x, float32(scale))}
	})
	rows := ragged.FromSlices([][]float32{{1}, {2, 3}})
	m := saved.NewModel()
	tenon.Throw(errors.Join(m.Add("scale", f, dense3, 2.0), m.Add("scale", function.New(func(x *ragged.Tensor) tensor.Tensor { return ops.Sum(x, 1) }), rows)))
	fn := m.Function("scale")
	x := tensor.Of([]float32{1, 2, 3}, 1, 3)
	tenon.Throw(errors.Join(fn.AddWarmUp(x, 2.0), fn.AddWarmUp(rows), fn.AddWarmUp(tensor.Of([]float32{4, 5, 6}, 1, 3), 2.0)))
	if err := fn.AddWarmUp("no"); err == nil {
		t.Error("arguments of another type were taken")
	}
	for name, m := range stored(t, m) {
		fn := m.Function("scale")
		if err := m.WarmUp(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if n := tensor.Item[int64](m.Variables()["variable0"].Value()); n != 0 {
			t.Errorf("%s: warming up has counted %d calls", name, n)
		}
		dense, other := must(fn.WarmUps(0)), must(fn.WarmUps(1))
		if len(dense) != 2 || len(other) != 1 || !tensor.Equal(dense[0][0].(tenon.Value), x) || dense[0][1] != 2.0 || !tensor.Equal(other[0][0].(tenon.Value), rows) {
			t.Errorf("%s: %v, %v", name, dense, other)
		}
		if out, err := fn.Call(dense[1]...); err != nil || !tensor.Equal(out[0].(map[string]any)["y"].(tensor.Tensor), tensor.Of([]float32{8, 10, 12}, 1, 3)) {
			t.Errorf("%s: %v, %v", name, out, err)
		}
	}
}

// weighed is a type of a stranger with variables for its components.
type weighed struct {
	Words  *ragged.Tensor
	Weight tensor.Tensor
}

func (w weighed) Spec() tenon.Spec { return ext.SpecOf(w) }

// TestModelWithVariablesOfAnyValue: what variables hold may be rows, records or a type that the
// program which reads the model does not know.
func TestModelWithVariablesOfAnyValue(t *testing.T) {
	ext.Register[weighed]("saved_test.Weighed")
	rows := ragged.FromSlices([][]float32{{1}, {2, 3}})
	cells := must(state.NewOf(rows))
	records := must(state.NewOf[tenon.Value](must(structured.FromFields([]structured.Field{{Name: "A", Value: tensor.Of([]float32{5, 6})}}, shape.Of(2), structured.Options{}))))
	own := weighed{rows, must(state.New([]float32{10}))}
	whole := must(state.NewOf(weighed{rows, tensor.Of([]float32{100})}))
	tree := map[string]any{"cells": cells, "records": records, "own": own, "list": []any{whole}}
	f := function.New(func(x tensor.Tensor) tensor.Tensor {
		sum := ops.Add(ops.Add(ops.Mul(ops.Sum(must(cells.Value())), x), own.Weight), must(whole.Value()).Weight)
		flat := must(must(records.Value()).(*structured.Tensor).Field("A"))
		return ops.Add(sum, ops.Sum(flat))
	})
	grow := function.New(func(x tensor.Tensor) tensor.Tensor {
		tenon.Throw(cells.Assign(must(ragged.FromRowSplits(ops.Mul(must(cells.Value()).FlatValues(), x), rows.RowSplits()))))
		return x
	})
	m := saved.NewModel()
	one := tensor.Scalar(float32(2))
	tenon.Throw(errors.Join(m.Name(tree), m.Add("f", f, one), m.Add("grow", grow, one)))
	b := encodedModel(t, m)
	check := func(what string, m *saved.Model, kind string) {
		t.Helper()
		values := must(m.Values())
		if len(values) != 4 || !tensor.Equal(values["cells"], rows) || values["own"].Spec().TypeName() != "saved_test.Weighed" {
			t.Fatalf("%s: %v", what, values)
		}
		if _, opaque := values["list[0]"].(*tenon.OpaqueValue); opaque != (kind == "unknown") {
			t.Errorf("%s: a %T", what, values["list[0]"])
		}
		if vars := m.Variables(); vars["cells.flat_values"] == nil || vars["own.Weight"] == nil || vars["own.Words.flat_values"] != nil || vars["list[0].Words.flat_values"] == nil {
			t.Errorf("%s: variables %v", what, sorted(vars))
		}
		call := func() float32 {
			return tensor.Data[float32](must(m.Function("f").Call(one))[0].(tensor.Tensor))[0]
		}
		if got := call(); got != 6*2+10+100+11 {
			t.Errorf("%s: got %v", what, got)
		}
		must(m.Function("grow").Call(one))
		if got := call(); got != 12*2+10+100+11 {
			t.Errorf("%s: got %v once the rows have grown", what, got)
		}
		if got := must(m.Values())["cells"]; !tensor.Equal(got, ragged.FromSlices([][]float32{{2}, {4, 6}})) {
			t.Errorf("%s: %v", what, got)
		}
		g := grad.Of(func(p map[string]tensor.Tensor) tensor.Tensor {
			return ops.Sum(tenon.Must(m.Function("f").CallWith(p, one))[0].(tensor.Tensor))
		})(m.Parameters())
		if !tensor.Equal(g["cells.flat_values"], tensor.Of([]float32{2, 2, 2})) || !tensor.Equal(g["own.Weight"], tensor.Of([]float32{1})) {
			t.Errorf("%s: gradient %v", what, g)
		}
	}
	check("at once", m, "")
	check("read", decoded(t, b), "")
	check("read twice", decoded(t, encodedModel(t, decoded(t, b))), "")
	ext.Unregister[weighed]()
	check("of unknown types", decoded(t, b), "unknown")
	check("of unknown types, saved again", decoded(t, encodedModel(t, decoded(t, b))), "unknown")
}

func sorted[V any](m map[string]V) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	return out
}

// TestModelThatAdds: what is added to a variable is added by each call of the loaded function.
func TestModelThatAdds(t *testing.T) {
	count := must(state.New(int64(0)))
	f := function.New(func(x tensor.Tensor) tensor.Tensor {
		tenon.Throw(count.Add(ops.Sum(x)))
		return x
	})
	m := saved.NewModel()
	tenon.Throw(errors.Join(m.Name(map[string]any{"count": count}), m.Add("f", f, tensor.NewSpec(dtype.Int64, shape.Of(-1)))))
	for name, m := range stored(t, m) {
		for range 2 {
			must(m.Function("f").Call([]int64{3, 4}))
		}
		if n := tensor.Item[int64](m.Variables()["count"].Value()); n != 14 {
			t.Errorf("%s: %d, want 14", name, n)
		}
	}
}

// TestModelWithItsOwnGradient: a gradient rule of the program is part of the model, and of one
// that is saved again; recomputation is as well.
func TestModelWithItsOwnGradient(t *testing.T) {
	w := must(state.New([]float64{1, 2}))
	triple := grad.Custom(func(x tensor.Tensor) tensor.Tensor { return ops.Mul(x, ops.Mul(x, w)) },
		func(x, y, ct tensor.Tensor) tensor.Tensor { return ops.Mul(ct, ops.Add(ops.Mul(x, 3.0), y)) })
	again := grad.Checkpoint(func(x tensor.Tensor) tensor.Tensor { return ops.Exp(ops.Mul(x, 2.0)) })
	f := function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Sum(ops.Add(triple(x), again(x))) })
	x := tensor.Of([]float64{1, -2})
	m := saved.NewModel()
	tenon.Throw(errors.Join(m.Name(map[string]any{"w": w}), m.Add("f", f, tensor.NewSpec(dtype.Float64, shape.Of(-1)))))
	want := grad.Of(f.Call)(x)
	second := func(f func(tensor.Tensor) tensor.Tensor) tensor.Tensor {
		return grad.Of(func(x tensor.Tensor) tensor.Tensor { return ops.Sum(ops.Mul(grad.Of(f)(x), x)) })(x)
	}
	b := encodedModel(t, m)
	for name, m := range map[string]*saved.Model{"read": decoded(t, b), "read twice": decoded(t, encodedModel(t, decoded(t, b)))} {
		g := must(saved.As[func(tensor.Tensor) tensor.Tensor](m, "f"))
		if !tensor.Equal(g(x), f.Call(x)) {
			t.Errorf("%s: %v, want %v", name, g(x), f.Call(x))
		}
		if got := grad.Of(g)(x); !tensor.Equal(got, want) {
			t.Errorf("%s: gradient %v, want %v", name, got, want)
		}
		if got, want := second(g), second(f.Call); !tensor.Equal(got, want) {
			t.Errorf("%s: second gradient %v, want %v", name, got, want)
		}
		// What the function captures has the gradient of its operations: d/dw = x².
		p := grad.Of(func(p map[string]tensor.Tensor) tensor.Tensor {
			return tenon.Must(m.Function("f").CallWith(p, x))[0].(tensor.Tensor)
		})(m.Parameters())
		if !tensor.Equal(p["w"], tensor.Of([]float64{1, 4})) {
			t.Errorf("%s: gradient of the variable %v", name, p["w"])
		}
	}
	outside := must(state.New(1.0))
	bad := grad.Custom(func(x tensor.Tensor) tensor.Tensor { return x },
		func(x, y, ct tensor.Tensor) tensor.Tensor { return ops.Mul(ct, outside) })
	if err := m.Add("bad", function.New(func(x tensor.Tensor) tensor.Tensor { return bad(x) }), x); !errors.Is(err, tenon.ErrUnsupported) || !strings.Contains(err.Error(), "bad") {
		t.Errorf("a rule that reads a variable: %v", err)
	}
}

func TestModelOfOneVariable(t *testing.T) {
	w := must(state.New([]float32{2}))
	m := saved.NewModel()
	tenon.Throw(errors.Join(m.Name(w), m.Add("f", function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Mul(x, w) }), tensor.Scalar(float32(1)))))
	for name, m := range stored(t, m) {
		if out := must(m.Function("f").Call(float32(3))); m.Variables()["value"] == nil || !tensor.Equal(out[0].(tensor.Tensor), tensor.Of([]float32{6})) {
			t.Errorf("%s: %v, %v", name, m.Variables(), out)
		}
	}
}

// TestSourceLinesAreLeftOut: files do not tell where the program stood.
func TestSourceLinesAreLeftOut(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "m")
	tenon.Throw(simpleModel(t).Save(dir))
	b := must(os.ReadFile(filepath.Join(dir, "functions", "0-0.graph")))
	if bytes.Contains(b, []byte(".go:")) {
		t.Errorf("the graph has source lines: %q", b)
	}
}
