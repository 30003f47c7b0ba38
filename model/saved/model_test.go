package saved_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

// linear is a model with a variable for each weight.
type linear struct {
	W, B *state.Variable
}

type scores struct {
	Mean tensor.Tensor
	All  tensor.Tensor `tenon:"name=all"`
}

func newLinear(t testing.TB) *linear {
	t.Helper()
	return &linear{
		tenon.Must(state.New(tensor.Of([]float32{1, 2, 3}, 3))),
		tenon.Must(state.New(tensor.Scalar(float32(0.5)))),
	}
}

// apply works for dense and for ragged rows of three, and passes a table that is too
// large to stand in a graph.
func (l *linear) apply(x tensor.Tensor) scores {
	table := tensor.Of(make([]float32, 1000), 1000)
	y := ops.Add(ops.Sum(ops.Mul(x, l.W), -1), l.B)
	y = ops.Add(y, ops.Sum(table))
	return scores{Mean: ops.Mean(y), All: y}
}

var dense3 = tensor.NewSpec(dtype.Float32, shape.Of(-1, 3))

// stored saves a model in both forms and returns what is read again.
func stored(t *testing.T, m *saved.Model) map[string]*saved.Model {
	t.Helper()
	out := map[string]*saved.Model{}
	for _, name := range []string{"folder", "file.zip"} {
		path := filepath.Join(t.TempDir(), name)
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		got, err := saved.OpenModel(path)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = got
	}
	return out
}

func TestModelAnswersLikeItsFunction(t *testing.T) {
	l := newLinear(t)
	f := function.New(l.apply)
	m := saved.NewModel()
	if err := errors.Join(m.Name(l), m.Add("score", f, dense3)); err != nil {
		t.Fatal(err)
	}
	m.Function("score").SetDoc("Scores rows.")
	m.Metadata["author"] = "somebody"
	x := tensor.Of([]float32{1, 0, 0, 0, 1, 1}, 2, 3)
	want := f.Call(x)
	for name, got := range stored(t, m) {
		res, err := got.Function("score").Call(x)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s := res[0].(map[string]any)
		if !tensor.Equal(s["Mean"].(tenon.Value), want.Mean, tensor.EqualOptions{}) || !tensor.Equal(s["all"].(tenon.Value), want.All, tensor.EqualOptions{}) {
			t.Errorf("%s: got %v, want %v", name, s, want)
		}
		typed, err := saved.As[func(x tensor.Tensor) scores](got, "score")
		if err != nil {
			t.Fatal(err)
		}
		if y := typed(x); !tensor.Equal(y.All, want.All, tensor.EqualOptions{}) {
			t.Errorf("%s: got %v, want %v", name, y, want)
		}
		if got.Metadata["author"] != "somebody" || got.Function("score").Doc() != "Scores rows." || len(got.Variables()) != 2 || got.Variables()["W"] == nil {
			t.Errorf("%s: %v %v", name, got.Metadata, got.Variables())
		}
		if err := got.Variables()["B"].Assign(float32(100.5)); err != nil {
			t.Fatal(err)
		}
		if y := typed(x); tensor.Data[float32](y.All)[0] != 101.5 {
			t.Errorf("%s: a variable that was assigned is not read: %v", name, y)
		}
	}
}

func TestModelIsTracedAndDifferentiated(t *testing.T) {
	l := newLinear(t)
	m := saved.NewModel()
	if err := m.Add("score", function.New(l.apply), dense3); err != nil {
		t.Fatal(err)
	}
	score, err := saved.As[func(x tensor.Tensor) scores](stored(t, m)["file.zip"], "score")
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.Of([]float32{1, 0, 0, 0, 1, 1}, 2, 3)
	twice := function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Mul(score(x).Mean, float32(2)) })
	if got := tensor.Item[float32](twice.Call(x)); got != 7 {
		t.Errorf("traced into a function: %v, want 7", got)
	}
	g := grad.Of(func(x tensor.Tensor) tensor.Tensor { return score(x).Mean })(x)
	if want := tensor.Of([]float32{0.5, 1, 1.5, 0.5, 1, 1.5}, 2, 3); !tensor.Equal(g, want, tensor.EqualOptions{}) {
		t.Errorf("gradient %v, want %v", g, want)
	}
	again := saved.NewModel()
	if err := again.Add("twice", twice, dense3); err != nil {
		t.Fatal(err)
	}
	res, err := stored(t, again)["folder"].Function("twice").Call(x)
	if err != nil || tensor.Item[float32](res[0].(tensor.Tensor)) != 7 {
		t.Errorf("saved again: %v, %v", res, err)
	}
}

// TestMappedModels leaves weights in their file: the same answers, and what is trained is not
// written to the file.
func TestMappedModels(t *testing.T) {
	l := newLinear(t)
	m := saved.NewModel()
	if err := errors.Join(m.Name(l), m.Add("score", function.New(l.apply), dense3)); err != nil {
		t.Fatal(err)
	}
	x := tensor.Of([]float32{1, 0, 0, 0, 1, 1}, 2, 3)
	want := l.apply(x)
	for _, name := range []string{"folder", "file.zip"} {
		path := filepath.Join(t.TempDir(), name)
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		weights := path
		if name == "folder" {
			weights = filepath.Join(path, "weights", "variables.safetensors")
		}
		before := must(os.ReadFile(weights))
		got, err := saved.OpenModel(path, saved.ModelOptions{Map: true})
		if err != nil {
			t.Fatal(err)
		}
		score := must(saved.As[func(x tensor.Tensor) scores](got, "score"))
		if y := score(x); !tensor.Equal(y.All, want.All, tensor.EqualOptions{}) {
			t.Errorf("%s: got %v, want %v", name, y, want)
		}
		w := tensor.Data[float32](got.Variables()["W"].Value())
		w[0] = 100 // as nobody should
		if err := got.SetParameters(map[string]tensor.Tensor{"B": tensor.Scalar(float32(9))}); err != nil {
			t.Fatal(err)
		}
		if err := got.Close(); err != nil {
			t.Error(err)
		}
		if !bytes.Equal(before, must(os.ReadFile(weights))) {
			t.Errorf("%s: the file was changed", name)
		}
		i := bytes.Index(before, []byte{0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64}) // 1, 2, 3
		before[i] = 1
		if err := os.WriteFile(weights, before, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, o := range []saved.ModelOptions{{}, {Map: true, Verify: true}} {
			if _, err := saved.OpenModel(path, o); err == nil || !strings.Contains(err.Error(), "digest") && !strings.Contains(err.Error(), "checksum") {
				t.Errorf("%s: other weights were read: %v", name, err)
			}
		}
		for _, n := range []int{len(before) - 1, len(before) / 2, 9, 0} {
			if err := os.WriteFile(weights, before[:n], 0o666); err != nil {
				t.Fatal(err)
			}
			if _, err := saved.OpenModel(path, saved.ModelOptions{Map: true}); err == nil {
				t.Errorf("%s: %d of %d bytes were read", name, n, len(before))
			}
		}
	}
}

func TestModelIsFineTuned(t *testing.T) {
	l := newLinear(t)
	m := saved.NewModel()
	steps := tenon.Must(state.New(int64(0)))
	loss := function.New(func(x tensor.Tensor) tensor.Tensor {
		tenon.Throw(steps.Assign(ops.Add(steps, int64(1))))
		return l.apply(x).Mean
	})
	if err := errors.Join(m.Name(l), m.Name(map[string]any{"steps": steps}), m.Add("loss", loss, dense3)); err != nil {
		t.Fatal(err)
	}
	x := tensor.Of([]float32{1, 0, 0, 0, 1, 1}, 2, 3)
	for name, m := range stored(t, m) {
		f := m.Function("loss")
		p := m.Parameters()
		if len(p) != 2 {
			t.Fatalf("%s: parameters %v", name, p)
		}
		for call, at := range map[string]func(p map[string]tensor.Tensor) tensor.Tensor{
			"at once": func(p map[string]tensor.Tensor) tensor.Tensor { return tenon.Must(f.CallWith(p, x))[0].(tensor.Tensor) },
			"traced": function.New(func(p map[string]tensor.Tensor) tensor.Tensor {
				return tenon.Must(f.CallWith(p, x))[0].(tensor.Tensor)
			}).Call,
		} {
			g := grad.Of(at)(p)
			if want := tensor.Of([]float32{0.5, 0.5, 0.5}, 3); !tensor.Equal(g["W"], want) || tensor.Item[float32](g["B"]) != 1 {
				t.Errorf("%s, %s: gradient %v", name, call, g)
			}
		}
		if n := tensor.Item[int64](m.Variables()["steps"].Value()); n != 2 {
			t.Errorf("%s: %d calls were counted, want 2", name, n)
		}
		if err := m.SetParameters(map[string]tensor.Tensor{"W": tensor.Of([]float32{0, 0, 0}, 3)}); err != nil {
			t.Fatal(err)
		}
		if out := tenon.Must(f.Call(x)); tensor.Item[float32](out[0].(tensor.Tensor)) != 0.5 {
			t.Errorf("%s: got %v", name, out)
		}
		for _, bad := range []map[string]tensor.Tensor{{"W": tensor.Scalar(float32(1))}, {"W": tensor.Of([]float64{0, 0, 0}, 3)}, {"none": x}} {
			_, err := f.CallWith(bad, x)
			if err == nil || m.SetParameters(bad) == nil {
				t.Errorf("%s: %v was taken", name, bad)
			}
		}
	}
}

func TestModelWithStateAndLoops(t *testing.T) {
	calls := tenon.Must(state.New(int64(0)))
	f := function.New(func(x tensor.Tensor) tensor.Tensor {
		tenon.Throw(calls.Assign(ops.Add(calls, int64(1))))
		return control.While(
			func(x tensor.Tensor) tensor.Tensor { return ops.Less(x, 100.0) },
			func(x tensor.Tensor) tensor.Tensor { return ops.Mul(x, 2.0) }, x)
	})
	m := saved.NewModel()
	if err := m.Add("grow", f, tensor.Scalar(1.0)); err != nil {
		t.Fatal(err)
	}
	for name, got := range stored(t, m) {
		for i := range 3 {
			res, err := got.Function("grow").Call(tensor.Scalar(3.0))
			if err != nil || tensor.Item[float64](res[0].(tensor.Tensor)) != 192 {
				t.Errorf("%s: %v, %v", name, res, err)
			}
			if n := tensor.Item[int64](got.Variables()["variable0"].Value()); n != int64(i+1) {
				t.Errorf("%s: %d calls were counted, want %d", name, n, i+1)
			}
		}
	}
	if n := tensor.Item[int64](calls.Value()); n != 0 {
		t.Errorf("the program's own variable is %d", n)
	}
}

func TestModelHasVariantsBySpec(t *testing.T) {
	l := newLinear(t)
	f := function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Sum(ops.Mul(x, 2.0)) })
	rows := tenon.Must(ragged.FromRowSplits(tensor.Of([]float64{1, 2, 3}, 3), tensor.Of([]int64{0, 1, 3}, 3)))
	m := saved.NewModel()
	if err := errors.Join(m.Name(l), m.Add("sum", f, tensor.NewSpec(dtype.Float64, shape.Of(-1))), m.Add("sum", f, rows)); err != nil {
		t.Fatal(err)
	}
	got := stored(t, m)["file.zip"].Function("sum")
	if got.Variants() != 2 {
		t.Fatalf("%d variants", got.Variants())
	}
	for _, x := range []any{tensor.Of([]float64{1, 2, 3}, 3), rows, map[string]any{"values": tensor.Of([]float64{1, 2, 3}, 3)}} {
		if _, ok := x.(map[string]any); ok {
			continue
		}
		res, err := got.Call(x)
		if err != nil || tensor.Item[float64](res[0].(tensor.Tensor)) != 12 {
			t.Errorf("%T: %v, %v", x, res, err)
		}
	}
	_, err := got.Call(tensor.Of([]string{"a"}, 1))
	if err == nil || !strings.Contains(err.Error(), "string[1]") || !strings.Contains(err.Error(), "the function is sum(") {
		t.Error(err)
	}
	if _, err := got.Call(); err == nil {
		t.Error("no argument was taken")
	}
	if _, err := got.Call(tensor.Of([]float64{1}, 1), tensor.Scalar(1.0)); err == nil {
		t.Error("a second argument was taken")
	}
}

// length is a type of value that a program may not know.
type length struct {
	Metres tensor.Tensor
	Unit   string
}

func (l length) Spec() tenon.Spec { return ext.SpecOf(l) }

const lengthName = "example.com/saved_test.Length"

func TestModelOfTypesThatAreNotKnown(t *testing.T) {
	ext.Register[length](lengthName)
	f := function.New(func(x length) length { return length{ops.Mul(x.Metres, 2.0), x.Unit} })
	m := saved.NewModel()
	arg := length{tensor.Of([]float64{1, 2}, 2), "m"}
	if err := m.Add("double", f, arg); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := m.Encode(&b); err != nil {
		t.Fatal(err)
	}
	known, err := saved.DecodeModel(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	double, err := saved.As[func(length) length](known, "double")
	if err != nil {
		t.Fatal(err)
	}
	if got := double(arg); got.Unit != "m" || tensor.Data[float64](got.Metres)[1] != 4 {
		t.Errorf("got %v", got)
	}
	ext.Unregister[length]()
	m, err = saved.DecodeModel(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	res, err := m.Function("double").Call(map[string]tensor.Tensor{"Metres": tensor.Of([]float64{1, 2}, 2)})
	if err != nil {
		t.Fatal(err)
	}
	v, ok := res[0].(*tenon.OpaqueValue)
	if !ok || v.Spec().TypeName() != lengthName {
		t.Fatalf("got %T %v", res[0], res[0])
	}
	if again, err := m.Function("double").Call(v); err != nil || again[0].(tenon.Value).Spec().TypeName() != lengthName {
		t.Errorf("an opaque value: %v, %v", again, err)
	}
}

func TestSameModelSameBytes(t *testing.T) {
	encoded := func() []byte {
		l := newLinear(t)
		m := saved.NewModel()
		var b bytes.Buffer
		if err := errors.Join(m.Name(l), m.Add("score", function.New(l.apply, function.Options{Name: "score"}), dense3), m.Encode(&b)); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	a, b := encoded(), encoded()
	if !bytes.Equal(a, b) {
		t.Error("the same model gives other bytes")
	}
	z, err := zip.NewReader(bytes.NewReader(a), int64(len(a)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		at, err := f.DataOffset()
		if err != nil || at%64 != 0 || f.Method != zip.Store {
			t.Errorf("%s begins at %d, method %d: %v", f.Name, at, f.Method, err)
		}
		r, err := f.Open()
		if err == nil {
			_, err = new(bytes.Buffer).ReadFrom(r)
		}
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}

func TestWhatCannotBeLoadedIsNotSaved(t *testing.T) {
	m := saved.NewModel()
	f := function.New(func(x tensor.Tensor) tensor.Tensor {
		return control.GoFunc(func(x tensor.Tensor) ([]tenon.Value, error) { return []tenon.Value{x}, nil }, []tenon.Spec{x.Spec()}, x)[0].(tensor.Tensor)
	})
	if err := m.Add("go", f, tensor.Scalar(1.0)); !errors.Is(err, tenon.ErrUnsupported) || !strings.Contains(err.Error(), "control.GoFunc") {
		t.Error(err)
	}
	if err := m.Add("a/b", f, tensor.Scalar(1.0)); !errors.Is(err, tenon.ErrInvalid) {
		t.Error(err)
	}
	path := t.TempDir()
	if err := os.WriteFile(filepath.Join(path, "precious"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := m.Save(path); err == nil {
		t.Error("a folder that is no model was replaced")
	}
}

func TestModelNeedsTheOperationsItUses(t *testing.T) {
	o := op.Register(&op.Op{Name: "saved_test.same", Statement: op.Statement{Axes: op.Opaque, Missing: op.Refuse, Why: "a test"}, Params: []op.Param{{Name: "x"}}, Results: 1,
		Infer:  func(c *op.Call) ([]tenon.Spec, error) { return []tenon.Spec{c.Value(0).Spec()}, nil },
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) { return c.Tensors(0)[:0:0], nil }})
	f := function.New(func(x tensor.Tensor) tensor.Tensor {
		return tenon.Must(op.Do(o, x))[0].(tensor.Tensor)
	})
	m := saved.NewModel()
	var b bytes.Buffer
	if err := errors.Join(m.Add("same", f, tensor.Scalar(1.0)), m.Encode(&b)); err != nil {
		t.Fatal(err)
	}
	op.Unregister(o)
	_, err := saved.DecodeModel(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if !errors.Is(err, tenon.ErrUnsupported) || !strings.Contains(err.Error(), "saved_test.same") {
		t.Error(err)
	}
}

// TestDamagedModels changes each byte of a model in turn: it is read as it was, or there
// is an error.
func TestDamagedModels(t *testing.T) {
	m := saved.NewModel()
	f := function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Mul(x, 2.0) })
	var b bytes.Buffer
	if err := errors.Join(m.Add("double", f, tensor.Scalar(1.0)), m.Encode(&b)); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()
	step := 1
	if testing.Short() {
		step = 7
	}
	for i := 0; i < len(whole); i += step {
		bad := bytes.Clone(whole)
		bad[i] ^= 0x55
		if m, err := saved.DecodeModel(bytes.NewReader(bad), int64(len(bad))); err == nil {
			if res, err := m.Function("double").Call(tensor.Scalar(2.0)); err != nil || tensor.Item[float64](res[0].(tensor.Tensor)) != 4 {
				t.Fatalf("byte %d: %v, %v", i, res, err)
			}
		} else if !errors.Is(err, tenon.ErrInvalid) && !errors.Is(err, tenon.ErrUnsupported) && !errors.Is(err, tenon.ErrNotFound) {
			t.Fatalf("byte %d: %v", i, err)
		}
		if _, err := saved.DecodeModel(bytes.NewReader(whole[:i]), int64(i)); err == nil {
			t.Fatalf("the first %d bytes were read", i)
		}
	}
}

// A folder or a ZIP file of something else says so.
func TestNoModel(t *testing.T) {
	var empty bytes.Buffer
	if err := zip.NewWriter(&empty).Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "empty.zip")
	if err := os.WriteFile(file, empty.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{t.TempDir(), file} {
		if _, err := saved.OpenModel(path); err == nil || !strings.Contains(err.Error(), "not a saved model: there is no model.json in it") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func FuzzModel(f *testing.F) {
	m := saved.NewModel()
	double := function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Mul(x, 2.0) })
	var b bytes.Buffer
	if err := errors.Join(m.Add("double", double, tensor.Scalar(1.0)), m.Encode(&b)); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		saved.DecodeModel(bytes.NewReader(b), int64(len(b)))
	})
}
