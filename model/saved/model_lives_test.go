package saved_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// TestModelIsVectorised applies loaded functions to each row: dense rows, rows of rows, inside of
// a trace, with a gradient, and saved again.
func TestModelIsVectorised(t *testing.T) {
	l := newLinear(t)
	m := saved.NewModel()
	one := tensor.NewSpec(dtype.Float32, shape.Of(3))
	words := function.New(func(x *ragged.Tensor) tensor.Tensor { return ops.Sum(ops.Mul(x, float32(2))) })
	if err := errors.Join(m.Add("score", function.New(func(x tensor.Tensor) tensor.Tensor { return l.apply(x).Mean }), one),
		m.Add("words", words, ragged.FromSlices([][]float32{{1}, {2}}).Spec())); err != nil {
		t.Fatal(err)
	}
	got := stored(t, m)["file.zip"]
	score := must(saved.As[func(tensor.Tensor) tensor.Tensor](got, "score"))
	each := function.Vectorize(score)
	x := tensor.Of([]float32{1, 0, 0, 0, 1, 1}, 2, 3)
	want := tensor.Of([]float32{1.5, 5.5})
	if y := each(x); !tensor.Equal(y, want) {
		t.Errorf("got %v, want %v", y, want)
	}
	traced := function.New(each)
	if y := traced.Call(x); !tensor.Equal(y, want) {
		t.Errorf("traced: got %v, want %v", y, want)
	}
	g := grad.Of(func(x tensor.Tensor) tensor.Tensor { return ops.Sum(each(x)) })(x)
	if want := tensor.Of([]float32{1, 2, 3, 1, 2, 3}, 2, 3); !tensor.Equal(g, want) {
		t.Errorf("gradient %v, want %v", g, want)
	}
	again := saved.NewModel()
	if err := again.Add("each", traced, dense3); err != nil {
		t.Fatal(err)
	}
	if out, err := stored(t, again)["folder"].Function("each").Call(x); err != nil || !tensor.Equal(out[0].(tensor.Tensor), want) {
		t.Errorf("saved again: %v, %v", out, err)
	}
	for _, n := range []int{0, 1} {
		if y := each(ops.Ones(dtype.Float32, []int{n, 3})); y.Shape().Dims()[0] != n {
			t.Errorf("%d rows: %v", n, y)
		}
	}
}

// TestModelOfAnEarlierVersionOfAType calls a function that was saved for a type which has since
// then got a field, by a migration.
func TestModelOfAnEarlierVersionOfAType(t *testing.T) {
	ext.Register[length](lengthName)
	f := function.New(func(x length) length { return length{ops.Mul(x.Metres, 2.0), x.Unit} })
	m := saved.NewModel()
	if err := m.Add("double", f, length{tensor.Of([]float64{0, 0}), "m"}.Spec()); err != nil {
		t.Fatal(err)
	}
	b := encodedModel(t, m)
	if err := ext.Unregister[length](); err != nil {
		t.Fatal(err)
	}
	ext.Register[longer](lengthName, ext.Options{Version: 1, Migrations: map[int]ext.Migration{
		0: {To: 1, Do: func(f map[string]any) (map[string]any, error) {
			f["Error"], f["Source"] = nil, "unknown"
			return f, nil
		}},
	}})
	defer ext.Unregister[longer]()
	got := decoded(t, b)
	double := must(saved.As[func(longer) (longer, error)](got, "double"))
	y, err := double(longer{Metres: tensor.Of([]float64{1, 2}), Unit: "m", Source: "unknown"})
	if err != nil || y.Source != "unknown" || y.Error != nil || !tensor.Equal(y.Metres, tensor.Of([]float64{2, 4})) {
		t.Errorf("got %v, %v", y, err)
	}
	out, err := got.Function("double").Call(map[string]any{"Metres": []float64{1, 2}})
	if y, ok := out[0].(longer); err != nil || !ok || tensor.Data[float64](y.Metres)[1] != 4 {
		t.Errorf("by components: %v, %v", out, err)
	}
	for name, x := range map[string]longer{ // what the function would lose
		"another field's value": {Metres: tensor.Of([]float64{1, 2}), Unit: "m", Source: "a tape"},
		"a field that it lacks": {Metres: tensor.Of([]float64{1, 2}), Unit: "m", Source: "unknown", Error: tensor.Scalar(0.1)},
		"another size":          {Metres: tensor.Of([]float64{1}), Unit: "m", Source: "unknown"},
		"another text":          {Metres: tensor.Of([]float64{1, 2}), Unit: "km", Source: "unknown"},
	} {
		if y, err := double(x); !errors.Is(err, tenon.ErrDType) {
			t.Errorf("%s: got %v, %v", name, y, err)
		}
	}
	saved := decoded(t, encodedModel(t, got)) // the earlier version stays what it is
	if out, err := saved.Function("double").Call(longer{Metres: tensor.Of([]float64{1, 2}), Unit: "m", Source: "unknown"}); err != nil || out[0].(longer).Unit != "m" {
		t.Errorf("saved again: %v, %v", out, err)
	}
}

// TestModelOfATypeWithRenamedFields calls a function that was saved for a type whose fields have
// since then got other names and places.
func TestModelOfATypeWithRenamedFields(t *testing.T) {
	ext.Register[interval](intervalName)
	ext.Register[track[interval]](trackName)
	f := function.New(func(x interval) interval {
		return interval{[]tensor.Tensor{ops.Sub(x.Ends[0], 1.0), ops.Add(x.Ends[1], 1.0)}, x.Weight, x.Unit}
	})
	m := saved.NewModel()
	if err := m.Add("widen", f, interval{[]tensor.Tensor{tensor.Of([]float64{0}), tensor.Of([]float64{0})}, tensor.Of([]float64{0}), "m"}.Spec()); err != nil {
		t.Fatal(err)
	}
	g := function.New(func(x, y track[interval]) (track[interval], track[interval]) {
		return track[interval]{f.Call(y.At), y.Name}, track[interval]{x.At, "moved"}
	})
	zero := interval{[]tensor.Tensor{tensor.Of([]float64{0}), tensor.Of([]float64{0})}, tensor.Of([]float64{0}), "m"}
	if err := m.Add("turn", g, track[interval]{zero, "a"}.Spec(), track[interval]{zero, "b"}.Spec()); err != nil {
		t.Fatal(err)
	}
	b := encodedModel(t, m)
	if err := errors.Join(ext.Unregister[track[interval]](), ext.Unregister[interval]()); err != nil {
		t.Fatal(err)
	}
	ext.Register[span](intervalName, ext.Options{Version: 2, Migrations: map[int]ext.Migration{
		0: {To: 1, Do: func(f map[string]any) (map[string]any, error) {
			ends := f["Ends"].([]any)
			f["From"], f["To"] = ends[0], ends[1]
			delete(f, "Ends")
			return f, nil
		}},
		1: {To: 2, Do: func(f map[string]any) (map[string]any, error) {
			if _, ok := f["From"].(tensor.Tensor); !ok { // it may look
				return nil, fmt.Errorf("it is a %T", f["From"])
			}
			return map[string]any{"Low": f["From"], "High": f["To"], "Ends": f["Weight"], "Dimension": f["Unit"], "Closed": true}, nil
		}},
	}})
	defer ext.Unregister[span]()
	ext.Register[track[span]](trackName) // of the same version, with a part of a later one
	defer ext.Unregister[track[span]]()
	got := decoded(t, b)
	widen := must(saved.As[func(span) (span, error)](got, "widen"))
	one := tensor.Of([]float64{7})
	for name, x := range map[string]span{
		"three tensors": {High: tensor.Of([]float64{5}), Ends: tensor.Of([]float64{0.5}), Low: tensor.Of([]float64{3}), Dimension: "m", Closed: true},
		"one tensor":    {High: one, Ends: one, Low: one, Dimension: "m", Closed: true},
		"equal tensors": {High: one, Ends: tensor.Of([]float64{7}), Low: tensor.Of([]float64{7}), Dimension: "m", Closed: true},
	} {
		y, err := widen(x)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := span{High: ops.Add(x.High, 1.0), Low: ops.Sub(x.Low, 1.0), Ends: x.Ends, Dimension: "m", Closed: true}
		if !tensor.Equal(y, want) {
			t.Errorf("%s: got %v, want %v", name, y, want)
		}
		traced := function.New(func(x span) span { return must(widen(x)) })
		if y := traced.Call(x); !tensor.Equal(y, want) {
			t.Errorf("%s, traced: got %v, want %v", name, y, want)
		}
	}
	turn := must(saved.As[func(x, y track[span]) (track[span], track[span], error)](got, "turn"))
	x := span{High: one, Ends: one, Low: tensor.Of([]float64{2}), Dimension: "m", Closed: true}
	y := span{High: tensor.Of([]float64{5}), Ends: one, Low: one, Dimension: "m", Closed: true}
	want := []track[span]{{must(widen(y)), "b"}, {x, "moved"}}
	if a, b, err := turn(track[span]{x, "a"}, track[span]{y, "b"}); err != nil || !tensor.Equal(a, want[0]) || !tensor.Equal(b, want[1]) {
		t.Errorf("as parts of another type: got %v, %v, %v, want %v", a, b, err, want)
	}
	x.Closed = false
	if a, b, err := turn(track[span]{x, "a"}, track[span]{y, "b"}); !errors.Is(err, tenon.ErrDType) {
		t.Errorf("as parts of another type, what the version lacks: got %v, %v, %v", a, b, err)
	}
	for name, x := range map[string]span{
		"what the version lacks": {High: one, Ends: one, Low: one, Dimension: "m"},
		"another size":           {High: one, Ends: one, Low: tensor.Of([]float64{1, 2}), Dimension: "m", Closed: true},
		"another text":           {High: one, Ends: one, Low: one, Dimension: "km", Closed: true},
	} {
		if y, err := widen(x); !errors.Is(err, tenon.ErrDType) {
			t.Errorf("%s: got %v, %v", name, y, err)
		}
	}
}

// interval and span are one type in two versions of a program.
type interval struct {
	Ends   []tensor.Tensor
	Weight tensor.Tensor
	Unit   string
}

func (x interval) Spec() tenon.Spec { return ext.SpecOf(x) }

type span struct {
	High, Ends, Low tensor.Tensor // Ends was Weight
	Dimension       string
	Closed          bool
}

func (x span) Spec() tenon.Spec { return ext.SpecOf(x) }

// track has a part of a type that changes.
type track[T tenon.Value] struct {
	At   T
	Name string
}

func (x track[T]) Spec() tenon.Spec { return ext.SpecOf(x) }

const trackName = "example.com/saved_test.Track"

const intervalName = "example.com/saved_test.Interval"

// longer is length in a later version of a program.
type longer struct {
	Metres tensor.Tensor
	Unit   string
	Error  tensor.Tensor `tenon:"optional"`
	Source string
}

func (l longer) Spec() tenon.Spec { return ext.SpecOf(l) }

// TestPlaceOfWhatCannotBeStored tells which node of which loop it is.
func TestPlaceOfWhatCannotBeStored(t *testing.T) {
	spoken := func(x tensor.Tensor) tensor.Tensor {
		return control.GoFunc(func(x tensor.Tensor) ([]tenon.Value, error) { return []tenon.Value{x}, nil }, []tenon.Spec{x.Spec()}, x)[0].(tensor.Tensor)
	}
	f := function.New(func(x tensor.Tensor) tensor.Tensor {
		return control.While(func(x tensor.Tensor) tensor.Tensor { return ops.Less(x, 100.0) }, func(x tensor.Tensor) tensor.Tensor {
			return ops.Mul(spoken(ops.Mul(x, 3.0)), 2.0)
		}, ops.Add(x, 1.0))
	})
	err := saved.NewModel().Add("grow", f, tensor.Scalar(1.0))
	if !errors.Is(err, tenon.ErrUnsupported) {
		t.Fatal(err)
	}
	rest := err.Error()
	for _, step := range []string{"grow", ": node ", ", control.while: body: node ", ", control.go_func: ", "cannot be stored"} {
		_, after, ok := strings.Cut(rest, step)
		if !ok {
			t.Errorf("%v does not say %q", err, step)
		}
		rest = after
	}
}

// TestManyStrings keeps a vocabulary beside the graph, whatever its size.
func TestManyStrings(t *testing.T) {
	n := 1_100_000 // more than an encoding may have parts
	if testing.Short() {
		n = 20_000
	}
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint("w", i)
	}
	words := tensor.Of(list)
	m := saved.NewModel()
	f := function.New(func(i tensor.Tensor) tensor.Tensor { return ops.Gather(words, i, 0) })
	if err := m.Add("word", f, tensor.NewSpec(dtype.Int64, shape.Of(-1))); err != nil {
		t.Fatal(err)
	}
	b := encodedModel(t, m)
	for name, text := range filesOf(b) {
		if strings.HasSuffix(name, ".graph") && len(text) > 10_000 {
			t.Errorf("%s has %d bytes", name, len(text))
		}
	}
	got, err := saved.DecodeModel(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := got.Function("word").Call([]int64{0, int64(n - 1)}); err != nil || !tensor.Equal(out[0].(tensor.Tensor), tensor.Of([]string{"w0", fmt.Sprint("w", n-1)})) {
		t.Errorf("got %v, %v", out, err)
	}
}
