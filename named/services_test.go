package named_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/named/coords"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/profile"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/sparse"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/structured/gostruct"
	"github.com/tenonml/tenon/tensor"
)

// A bound is a schema, as it stands in a model.
type bound struct {
	*named.Tensor
	Seq
	Rep
}

// storedValues are Values of all types that are made of others.
func storedValues(t *testing.T) map[string]tenon.Value {
	t.Helper()
	x := wave(Seq{}.Of(2), Rep{}.Of(3))
	r := ragged.FromSlices([][]float64{{1, 2, 3}, {}, {4, 5}})
	m := tenon.Must(masked.New([][]float64{{1, 2}, {3, 4}}, [][]bool{{true, false}, {true, true}}))
	return map[string]tenon.Value{
		"dense":              tensor.Of([]float64{1, 2}, 2),
		"named":              x,
		"named, transposed":  named.Order(x, Rep{}, Seq{}),
		"named, by text":     named.Of([]float64{1, 2}, named.Dynamic("wind speed")),
		"named, without any": named.Scalar(2.5),
		"named ragged":       named.Of(r, Batch{}, Token{}),
		"named masked":       named.Of(m, Batch{}, Rep{}),
		"schema":             named.Bind[bound](x),
		"labels":             coords.New(x, coords.Along[Seq]("Oslo", "Rome"), coords.Along[Rep](1, 2, 3)),
		"masked":             m,
		"masked of named":    tenon.Must(masked.New(x, named.Map2(ops.Greater, x, 0.0))),
		"ragged":             r,
		"sparse":             tenon.Must(sparse.FromDense([][]float64{{0, 2}, {3, 0}})),
		"records":            tenon.Must(gostruct.From([]struct{ A, B float64 }{{1, 2}, {3, 4}})),
		"words":              tenon.Must(structured.EncodeStrings([]string{"b", "a", "b"})),
	}
}

// same checks that two Values are the same, what they are made of included.
func same(t *testing.T, got, want tenon.Value) {
	t.Helper()
	if got == nil {
		t.Fatal("there is no value")
	}
	if !tenon.Equal(got.Spec(), want.Spec()) {
		t.Fatalf("got %s, want %s", tenon.String(got.Spec()), tenon.String(want.Spec()))
	}
	if tenon.IsLeaf(got.Spec()) {
		g, w := tenon.Must(tensor.Settled(got)), tenon.Must(tensor.Settled(want))
		if !tensor.Equal(g.(tensor.Tensor), w.(tensor.Tensor), tensor.EqualOptions{}) {
			t.Fatalf("got %v, want %v", got, want)
		}
		return
	}
	g, w := tenon.Must(got.Spec().Disassemble(got)), tenon.Must(want.Spec().Disassemble(want))
	for i := range w {
		same(t, g[i], w[i])
	}
}

// TestEveryValueComesBackFromEachService: what a Value is, names, labels and all, does not
// depend on where it has been.
func TestEveryValueComesBackFromEachService(t *testing.T) {
	type model struct{ W tenon.Value }
	dir := t.TempDir()
	services := map[string]func(x tenon.Value) (tenon.Value, error){
		"file": func(x tenon.Value) (tenon.Value, error) {
			name := filepath.Join(dir, "x.safetensors")
			if err := saved.Write(name, model{x}, saved.WriteOptions{}); err != nil {
				return nil, err
			}
			m, err := saved.Read(name, model{x}, saved.ReadOptions{})
			return m.W, err
		},
		"file, by name": func(x tenon.Value) (tenon.Value, error) {
			var b bytes.Buffer
			if err := saved.Encode(&b, model{x}, saved.WriteOptions{}); err != nil {
				return nil, err
			}
			f, err := saved.NewFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
			if err != nil {
				return nil, err
			}
			return f.Value("W")
		},
		"function": func(x tenon.Value) (tenon.Value, error) {
			return tenon.Try(func() tenon.Value { return function.New(func(x tenon.Value) tenon.Value { return x }).Call(x) })
		},
		"branches": func(x tenon.Value) (tenon.Value, error) {
			f := function.New(func(p tensor.Tensor, x tenon.Value) tenon.Value {
				return control.Cond(p, func() tenon.Value { return x }, func() tenon.Value { return x })
			})
			return tenon.Try(func() tenon.Value { return f.Call(tensor.Scalar(true), x) })
		},
		"loop": func(x tenon.Value) (tenon.Value, error) {
			type state struct {
				I tensor.Tensor
				X tenon.Value
			}
			f := function.New(func(i tensor.Tensor, x tenon.Value) state {
				return control.While(func(s state) tensor.Tensor { return ops.Less(s.I, 2) }, func(s state) state { return state{ops.Add(s.I, 1), s.X} }, state{i, x})
			})
			return tenon.Try(func() tenon.Value { return f.Call(tensor.Scalar(int64(0)), x).X })
		},
		"boxed": func(x tenon.Value) (tenon.Value, error) {
			b, ok := x.Spec().(tenon.Boxer)
			if !ok {
				return x, nil
			}
			parts, err := b.Box(x, 0)
			if err != nil {
				return nil, err
			}
			return b.Unbox(parts)
		},
	}
	for service, f := range services {
		for name, x := range storedValues(t) {
			t.Run(service+"/"+name, func(t *testing.T) {
				got, err := f(x)
				if err != nil {
					if service == "boxed" && strings.Contains(err.Error(), "cannot be encoded") {
						return // says so, and loses nothing
					}
					t.Fatal(err)
				}
				same(t, got, x)
			})
		}
	}
}

func TestAFileFillsAModelInAnotherLayout(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.safetensors")
	x := wave(Seq{}.Of(2), Rep{}.Of(3))
	tenon.Throw(saved.Write(name, x, saved.WriteOptions{}))
	got, err := saved.Read(name, named.Zeros(dtype.Float64, Rep{}.Of(3), Seq{}.Of(2)), saved.ReadOptions{})
	if err != nil || !named.Equal(got, x, tensor.EqualOptions{}) || got.Dims().String() != "Rep, Seq" {
		t.Errorf("got %v, %v", got, err)
	}
	_, err = saved.Read(name, named.Zeros(dtype.Float64, Kq{}.Of(3), Seq{}.Of(2)), saved.ReadOptions{})
	if err == nil || !strings.Contains(err.Error(), "the file has float64{Seq:2 Rep:3}, but the place needs float64{Kq:3 Seq:2}") {
		t.Errorf("other names: %v", err)
	}
}

func TestTrainingOfNamedParametersIsResumed(t *testing.T) {
	type model struct{ W T }
	loss := func(m model, b T, _ tensor.Tensor) tensor.Tensor {
		return ops.Mean(ops.Square(named.Sub(named.Dot[Rep](b, m.W), 1)))
	}
	o := train.FitOptions[model, T]{
		Data:       train.Source[T]{Batches: 2, At: func(context.Context, int) (T, error) { return wave(Seq{}.Of(3), Rep{}.Of(4)), nil }},
		Checkpoint: filepath.Join(t.TempDir(), "c.safetensors"), Epochs: 1,
	}
	if _, err := train.Fit(context.Background(), model{wave(Rep{}.Of(4), Val{}.Of(2))}, loss, o); err != nil {
		t.Fatal(err)
	}
	o.Epochs = 2
	fit, err := train.Fit(context.Background(), model{wave(Rep{}.Of(4), Val{}.Of(2))}, loss, o)
	if err != nil || fit.Params.W.Dims().String() != "Rep, Val" || fit.From != 2 {
		t.Errorf("resumed from %d: %v, %v", fit.From, fit.Params.W, err)
	}
}

func TestAJacobianHasTheNamesOfBothSides(t *testing.T) {
	square := func(x tensor.Tensor) tensor.Tensor { return named.Map(ops.Square, named.From(x.(tenon.Value))) }
	x := named.Of([]float64{1, 2}, Rep{})
	j := named.From(tenon.Must(grad.Jacobian(square, x)))
	if want := named.Of([][]float64{{2, 0}, {0, 4}}, Rep{}, named.Wrt[Rep]{}); !named.Equal(j, want, tensor.EqualOptions{}) {
		t.Errorf("got %v, want %v", j, want)
	}
	w := named.Of([][]float64{{1, 2}, {3, 4}, {5, 6}}, Kq{}, Rep{})
	j = named.From(tenon.Must(grad.Jacobian(func(x tensor.Tensor) tensor.Tensor { return named.Dot[Rep](w, x) }, x)))
	if !named.Equal(j, w, tensor.EqualOptions{}) {
		t.Errorf("of a product: got %v, want %v", j, w)
	}
	cube := func(x tensor.Tensor) tensor.Tensor { return ops.Sum(named.Pow(x, 3)) }
	h := named.From(tenon.Must(grad.Hessian(cube, x)))
	if want := named.Of([][]float64{{6, 0}, {0, 12}}, Rep{}, named.Wrt[Rep]{}); !named.Equal(h, want, tensor.EqualOptions{}) {
		t.Errorf("Hessian: got %v, want %v", h, want)
	}
}

func TestAConditionMayBeANamedScalar(t *testing.T) {
	double := func(x T) T {
		return control.While(func(x T) tensor.Tensor { return ops.Less(ops.Sum(x), 100.0) }, func(x T) T { return named.Mul(x, 2) }, x)
	}
	choose := func(x T) T {
		return control.Cond(ops.Less(ops.Sum(x), 100.0), func() T { return x }, func() T { return named.Mul(x, -1) })
	}
	x, want := named.Of([]float64{1, 2}, Rep{}), named.Of([]float64{64, 128}, Rep{})
	for _, got := range []T{double(x), function.New(double).Call(x)} {
		if !named.Equal(got, want, tensor.EqualOptions{}) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	for _, f := range []func(T) T{choose, function.New(choose).Call} {
		if got := f(want); !named.Equal(got, named.Mul(want, -1), tensor.EqualOptions{}) {
			t.Errorf("got %v", got)
		}
	}
}

func TestGraphsAndProfilesShowNames(t *testing.T) {
	f := function.New(func(x, w T) T {
		return named.Softmax[KeySeq](named.Dot[Rep](x, named.Rename[Seq, KeySeq](named.Map(ops.Exp, w))))
	})
	x := wave(Seq{}.Of(3), Rep{}.Of(2))
	var p profile.Profile
	if _, err := f.CallContext(function.WithOptions(context.Background(), function.RunOptions{Profile: &p}), x, x); err != nil {
		t.Fatal(err)
	}
	g := tenon.Must(f.Trace(x, x))
	text := g.String()
	for _, want := range []string{"%0: float64[3, 2] {Seq, Rep}", "float64[3, 3] {Seq, KeySeq}"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
		if dot := g.DOT(); !strings.Contains(dot, "{Seq, KeySeq}") {
			t.Errorf("DOT lacks names:\n%s", dot)
		}
	}
	again, err := graph.Parse(text)
	if err != nil || again.String() != text {
		t.Errorf("the text is not read as it was written: %v\n%v", err, again)
	}
	for _, e := range p.Events() {
		if strings.Contains(e.Op, "softmax") && strings.Join(e.Dims, " ") != "Seq KeySeq" {
			t.Errorf("%s has the dimensions %v", e.Op, e.Dims)
		}
	}
}

func TestErrorsInRelaxedTracesShowNames(t *testing.T) {
	f := function.New(func(x, y T) T { return named.Dot[Rep](x, named.Rename[Kq, Rep](y)) }, function.Options{RelaxAfter: 1})
	for n := range 3 {
		f.Call(wave(Seq{}.Of(2), Rep{}.Of(2+n)), wave(Kq{}.Of(2+n)))
	}
	_, err := tenon.Try(func() T { return f.Call(wave(Seq{}.Of(2), Rep{}.Of(6)), wave(Kq{}.Of(7))) })
	if err == nil {
		t.Fatal("there is no error")
	}
	for _, want := range []string{"{Seq:2 Rep:6}", "{Rep:7}"} {
		if !strings.Contains(tenon.AsError(err).Msg, want) {
			t.Errorf("the error lacks %q: %v", want, err)
		}
	}
}

func TestLabelsStayInReductions(t *testing.T) {
	x := coords.New(named.Of([][]float64{{1, 2, 3}, {4, 5, 6}}, Seq{}, Rep{}), coords.Along[Seq]("Oslo", "Rome"), coords.Along[Rep](2020, 2021, 2022))
	got := coords.Mean[Seq](x)
	want := coords.New(named.Of([]float64{2.5, 3.5, 4.5}, Rep{}), coords.Along[Rep](2020, 2021, 2022))
	if got.String() != want.String() {
		t.Errorf("got %v, want %v", got, want)
	}
	_, err := tenon.Try(func() T { return named.Mean[Seq](x) })
	if err == nil || !strings.Contains(tenon.AsError(err).Hint, "coords.Apply(named.Mean[…], array)") {
		t.Errorf("the hint does not say how: %v", err)
	}
}
