package features_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/learn/features"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

type (
	rec  = map[string]any
	list = []any
)

func table(rows ...any) *structured.Tensor {
	return tenon.Must(structured.FromNested(list(rows), structured.NestedOptions{Missing: structured.MissingMasked})).(*structured.Tensor)
}

// orders have numbers, words, a record, a list of words, a list of records with lists, and gaps.
func orders() *structured.Tensor {
	return table(
		rec{"total": 10.0, "at": rec{"city": "Oslo", "zip": 150}, "tags": list{"new", "gift"}, "note": nil,
			"items": list{rec{"price": 4.0, "sizes": list{1, 3}}, rec{"price": 6.0, "sizes": list{}}}},
		rec{"total": 30.0, "at": rec{"city": "Rome", "zip": 151}, "tags": list{}, "note": "fast",
			"items": list{}},
		rec{"total": 20.0, "at": rec{"city": "Oslo", "zip": 152}, "tags": list{"new"}, "note": "fast",
			"items": list{rec{"price": 8.0, "sizes": list{5}}}},
	)
}

func options() features.Options {
	return features.Options{DType: dtype.Float64, Columns: map[string]features.Column{
		"at.city": {Kind: features.OneHot}, "tags": {Kind: features.OneHot}, "note": {Kind: features.OneHot},
		"at.zip": {Kind: features.Skip}, "items.price": {Scaling: nn.Unscaled}, "items.sizes": {Scaling: nn.MinMax},
	}}
}

// Every feature of every record, worked out by hand.
func TestFeaturesOfNestedRecords(t *testing.T) {
	x := orders()
	e := tenon.Must(features.Fit(ops.RandomKey(1), x, options()))
	z, l2, l3 := math.Sqrt(1.5), math.Log(2), math.Log(3)
	// at: city (others, Oslo, Rome); items: price, sizes (mean, count), count; note (others, fast), is there; tags (others, new, gift), count; total
	want := [][]float64{
		{0, 1, 0, 5, 0.125, l3 / 2, l3, 0, 0, 0, 0, 0.5, 0.5, l3, -z},
		{0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, z},
		{0, 1, 0, 8, 1, l2, l2, 0, 1, 1, 0, 1, 0, l2, 0},
	}
	check := func(name string, got tensor.Tensor, want ...[]float64) {
		t.Helper()
		if err := tensor.AllClose(got, tensor.Of(slices.Concat(want...), len(want), len(want[0]))); err != nil {
			t.Errorf("%s: %v\n%v", name, err, got)
		}
	}
	if e.Width() != len(want[0]) {
		t.Fatalf("%d features, want %d", e.Width(), len(want[0]))
	}
	check("at once", e.Apply(x), want...)
	f := function.New(features.Encoder.Apply, function.Options{})
	check("traced", f.Call(e, x), want...)
	check("other rows", f.Call(e, tenon.Must(x.Index([]int64{2, 0})).(*structured.Tensor)), want[2], want[0])

	// Batch by batch it is the same.
	s := tenon.Must(features.NewSchema(x.Spec().(*structured.Spec), options()))
	for i := range 3 {
		if err := s.Update(tenon.Must(x.Index([]int64{int64(i)})).(*structured.Tensor)); err != nil {
			t.Fatal(err)
		}
	}
	check("in batches", tenon.Must(s.Encoder(ops.RandomKey(1))).Apply(x), want...)

	// What was never seen is 0 of the words, and numbers go on beyond.
	other := table(
		rec{"total": 40.0, "at": rec{"city": "Bern", "zip": 1}, "tags": list{"new", "old", "old", "old"}, "note": "x", "items": list{rec{"price": -2.0, "sizes": list{9, 1}}}, "more": 1},
		rec{"total": 20.0, "at": rec{"city": "Oslo", "zip": 1}, "tags": list{}, "note": nil, "items": list{}, "more": 2},
	)
	check("unknown words", e.Apply(other),
		[]float64{1, 0, 0, -2, 1, l3, l2, 1, 0, 1, 0.75, 0.25, 0, math.Log(5), 2 * z},
		[]float64{0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
}

func TestEmbeddingsAreTrainedAndScalesAreNot(t *testing.T) {
	x := orders()
	e := tenon.Must(features.Fit(ops.RandomKey(1), x, features.Options{Features: 3, Hidden: 4, Pool: nn.MaxPool, DType: dtype.Float64}))
	if again := tenon.Must(features.Fit(ops.RandomKey(1), x, features.Options{Features: 3, Hidden: 4, Pool: nn.MaxPool, DType: dtype.Float64})); tensor.AllClose(e.Apply(x), again.Apply(x)) != nil {
		t.Error("the same key starts otherwise")
	}
	loss := func(e features.Encoder) tensor.Tensor { return ops.Sum(ops.Square(e.Apply(x))) }
	// Gradients against central differences, of a table, and of the layer on the records of a list.
	for name, place := range map[string]func(e *features.Encoder) *tensor.Tensor{
		"city":  func(e *features.Encoder) *tensor.Tensor { return &e.Root.Parts[0].Parts[0].Table.Table },
		"items": func(e *features.Encoder) *tensor.Tensor { return &e.Root.Parts[1].Each.Kernel },
	} {
		of := func(w tensor.Tensor) tensor.Tensor {
			with := tenon.Must(nest.Map(func(l []any) (any, error) { return l[0], nil }, nest.Options{}, e))
			*place(&with) = w
			return loss(with)
		}
		w := *place(&e)
		g := grad.Of(of)(w)
		along := func(step float64) float64 { return tensor.Item[float64](of(ops.Add(w, ops.Mul(g, step)))) }
		want := tensor.Item[float64](ops.Sum(ops.Square(g)))
		if got := (along(1e-6) - along(-1e-6)) / 2e-6; want == 0 || math.Abs(got-want) > 1e-6*want {
			t.Errorf("%s: the slope along the gradient is %v, want %v", name, got, want)
		}
	}
	fit, err := train.Fit(t.Context(), e, func(e features.Encoder, x *structured.Tensor, _ tensor.Tensor) tensor.Tensor { return loss(e) }, train.FitOptions[features.Encoder, *structured.Tensor]{
		Options: train.Options{Optimizer: train.SGD(1e-3)}, Epochs: 3,
		Data: train.Source[*structured.Tensor]{Batches: 1, At: func(context.Context, int) (*structured.Tensor, error) { return x, nil }},
	})
	if err != nil {
		t.Fatal(err)
	}
	if before, after := e.Root.Parts[4], fit.Params.Root.Parts[4]; before.Name != "total" || tensor.AllClose(before.Scaler.Factor, after.Scaler.Factor) != nil {
		t.Errorf("%s is scaled by %v, after training by %v", before.Name, before.Scaler.Factor, after.Scaler.Factor)
	}
	if before, after := e.Root.Parts[0].Parts[0].Table.Table, fit.Params.Root.Parts[0].Parts[0].Table.Table; tensor.AllClose(before, after) == nil {
		t.Errorf("the table is not trained: %v", after)
	}
	s := tenon.Must(nn.Summarize(e))
	text := s.String()
	for _, want := range []string{"Table", "Each.Kernel"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	trained := 0
	for _, l := range s {
		if l.Parameter {
			trained++
			if strings.Contains(l.Path, "Scaler") || strings.Contains(l.Path, "Words") {
				t.Errorf("%s is trained", l.Path)
			}
		}
	}
	if trained != 5 { // three tables, a kernel and a bias
		t.Errorf("%d parameters in\n%s", trained, text)
	}
}

// What the types of the house hold: dates, maps, unions, dictionaries, vectors, gaps in lists, numbers that are NaN.
func TestFieldsOfAllKinds(t *testing.T) {
	words := tenon.Must(structured.EncodeStrings([]string{"b", "a", "b"}))
	union := tenon.Must(structured.NewUnion(tensor.Of([]int8{0, 1, 0}), []structured.Field{{Name: "n", Value: tensor.Of([]float64{1, 9, 3})}, {Name: "s", Value: tensor.Of([]string{"?", "q", "?"})}}))
	x := tenon.Must(structured.FromFields([]structured.Field{
		{Name: "word", Value: words},
		{Name: "either", Value: union},
		{Name: "pixels", Value: tensor.Of([]float64{1, 2, 3, 4, 5, 6}, 3, 2)},
		{Name: "gappy", Value: tensor.Of([]float64{1, math.NaN(), 3})},
		{Name: "ok", Value: tensor.Of([]bool{true, false, true})},
		{Name: "code", Value: tensor.Of([]int32{7, 7, 9})},
		{Name: "pair", Value: tensor.Of([]string{"l", "r", "l", "l", "x", "r"}, 3, 2)},
	}, tensor.Of([]bool{true, true, true}).Shape(), structured.Options{}))
	e := tenon.Must(features.Fit(ops.RandomKey(1), x, features.Options{DType: dtype.Float64, Columns: map[string]features.Column{
		"word": {Kind: features.OneHot}, "either.s": {Kind: features.OneHot}, "pixels": {Scaling: nn.MaxAbs}, "gappy": {Scaling: nn.MinMax}, "either.n": {Scaling: nn.MinMax},
		"ok": {Scaling: nn.Unscaled}, "code": {Kind: features.OneHot, Words: nn.VocabularyOptions{Least: 2}}, "pair": {Kind: features.OneHot},
	}}))
	l := math.Log(3)
	want := []float64{
		0, 1, 0, 0, 1, 0, 0, 0, 1. / 5, 2. / 6, 0, 1, 1, 0, 1, 0, 0.5, 0.5, 0, l,
		0, 0, 1, 0, 0, 0, 1, 1, 3. / 5, 4. / 6, 0, 0, 0, 0, 1, 0, 1, 0, 0, l,
		0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0.5, 0.5, l,
	}
	if err := tensor.AllClose(e.Apply(x), tensor.Of(want, 3, 20)); err != nil {
		t.Errorf("%v\n%v", err, e.Apply(x))
	}
	f := function.New(features.Encoder.Apply, function.Options{})
	if err := tensor.AllClose(f.Call(e, x), tensor.Of(want, 3, 20)); err != nil {
		t.Errorf("traced: %v", err)
	}
	gaps := table(rec{"l": list{1, nil, 3}, "w": list{list{1, 2}, list{}}}, rec{"l": nil, "w": nil}, rec{"l": list{}, "w": list{list{4}}})
	g := tenon.Must(features.Fit(ops.RandomKey(1), gaps, features.Options{DType: dtype.Float64, Columns: map[string]features.Column{"l": {Scaling: nn.Unscaled}, "w": {Scaling: nn.Unscaled}}}))
	want = []float64{ // l: mean, share that is there, count, is there; w: mean of means, mean of counts, count, is there
		4. / 3, 2. / 3, math.Log(4), 1, 0.75, math.Log(3) / 2, math.Log(3), 1,
		0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 1, 4, math.Log(2), math.Log(2), 1,
	}
	if err := tensor.AllClose(g.Apply(gaps), tensor.Of(want, 3, 8)); err != nil {
		t.Errorf("%v\n%v", err, g.Apply(gaps))
	}
}

func TestWhatIsRefused(t *testing.T) {
	x := orders()
	spec := x.Spec().(*structured.Spec)
	e := tenon.Must(features.Fit(ops.RandomKey(1), x, features.Options{}))
	schema := func(o features.Options) error { _, err := features.NewSchema(spec, o); return err }
	kind := func(path string, k features.Kind) error {
		return schema(features.Options{Columns: map[string]features.Column{path: {Kind: k}}})
	}
	apply := func(x *structured.Tensor) error {
		_, err := tenon.Try(func() tensor.Tensor { return e.Apply(x) })
		return err
	}
	for name, c := range map[string]struct {
		err  error
		kind error
		text string
	}{
		"no such path":     {kind("items.cost", features.Number), tenon.ErrNotFound, "items.cost"},
		"words as numbers": {kind("at.city", features.Number), tenon.ErrUnsupported, "at.city"},
		"numbers as words": {kind("total", features.Category), tenon.ErrUnsupported, "total"},
		"an unknown kind":  {kind("total", "rank"), tenon.ErrUnsupported, "rank"},
		"nothing left":     {schema(features.Options{Columns: map[string]features.Column{"": {Kind: features.Skip}}}), tenon.ErrInvalid, "is left to encode"},
		"a field is gone":  {apply(x.Drop("at.city")), tenon.ErrNotFound, "at.city"},
		"another type":     {apply(x.With("total", x.Path("at.city"))), tenon.ErrDType, "total"},
		"lists of records": {func() error {
			_, err := features.NewSchema(tenon.Must(x.Field("items")).Spec().(*structured.Spec), features.Options{})
			return err
		}(), tenon.ErrShape, "rank 1"},
		"an update differs": {func() error { return tenon.Must(features.NewSchema(spec, features.Options{})).Update(x.Drop("total")) }(), tenon.ErrNotFound, "total"},
	} {
		if !errors.Is(c.err, c.kind) || !strings.Contains(fmt.Sprint(c.err), c.text) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
}
