package ext_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Pair is a tensor that handles nothing by itself.
type Pair struct{ A, B tensor.Tensor }

func (x Pair) Spec() tenon.Spec   { return ext.SpecOf(x) }
func (x Pair) DType() dtype.DType { return x.A.DType() }
func (x Pair) Shape() shape.Shape { return x.A.Shape() }

// Triple refines Pair.
type Triple struct {
	Pair
	C tensor.Tensor
}

func (x Triple) Spec() tenon.Spec { return ext.SpecOf(x) }

func init() {
	ext.Register[Pair]("ext_test.Pair")
	ext.Register[Triple]("ext_test.Triple")
}

func pair(a, b float64) Pair { return Pair{tensor.Scalar(a), tensor.Scalar(b)} }

func lookup(name string) *op.Op {
	o, _ := op.Lookup(name)
	return o
}

func try(f func() tensor.Tensor) (tensor.Tensor, error) { return tenon.Try(f) }

func TestRefinement(t *testing.T) {
	x := Triple{pair(1, 2), tensor.Scalar(3.0)}
	s := x.Spec().(tenon.Refiner)
	if got := s.Refines(); len(got) != 1 || got[0] != "ext_test.Pair" {
		t.Errorf("refines %v", got)
	}
	p, ok := ext.As[Pair](x)
	if !ok || !tensor.Equal(p, x.Pair, tensor.EqualOptions{}) {
		t.Errorf("as a Pair it is %v, %v", p, ok)
	}
	if _, ok := ext.As[Triple](pair(1, 2)); ok {
		t.Error("a Pair is no Triple")
	}
	fields := x.Spec().Components()
	if len(fields) != 3 || fields[0].Name != "A" || fields[2].Name != "C" {
		t.Errorf("components %v", fields)
	}
	// A handler of the type that is refined answers, unless the refining type has one.
	remove := tenon.Must(ext.HandleUnary(func(c *op.Call, x Pair) (tenon.Value, error) {
		return Pair{op.Apply(c, x.A), op.Apply(c, x.B)}, nil
	}))
	if e := op.Explain(lookup("neg"), x); e.Err != nil || e.Answer != "ext_test.Pair" {
		t.Errorf("got %v", e)
	}
	removeOwn := tenon.Must(ext.Handle[Triple](lookup("neg"), func(c *op.Call) ([]tenon.Value, error) { return op.One(x.C) }))
	if e := op.Explain(lookup("neg"), x); e.Answer != "ext_test.Triple" {
		t.Errorf("got %v", e)
	}
	if e := op.Explain(lookup("abs"), x); e.Answer != "ext_test.Pair" && e.Err == nil {
		t.Errorf("got %v", e)
	}
	removeOwn()
	remove()
	if e := op.Explain(lookup("neg"), x); !errors.Is(e.Err, tenon.ErrDType) {
		t.Errorf("after the handlers were removed: %v", e)
	}
}

func TestHandlersByClass(t *testing.T) {
	both := func(c *op.Call, x Pair) (tenon.Value, error) { return Pair{op.Apply(c, x.A), op.Apply(c, x.B)}, nil }
	var removers []func()
	add := func(remove func(), err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		removers = append(removers, remove)
	}
	add(ext.HandleUnary(both))
	add(ext.HandleReduction(both))
	add(ext.HandleBinary(func(c *op.Call, x, y Pair) (tenon.Value, error) {
		return Pair{op.Apply(c, x.A, y.A), op.Apply(c, x.B, y.B)}, nil
	}))
	add(ext.HandleBinary(func(c *op.Call, x Pair, y tensor.Tensor) (tenon.Value, error) {
		return Pair{op.Apply(c, x.A, y), op.Apply(c, x.B, y)}, nil
	}))
	add(ext.HandleBinary(func(c *op.Call, x tensor.Tensor, y Pair) (tenon.Value, error) {
		return Pair{op.Apply(c, x, y.A), op.Apply(c, x, y.B)}, nil
	}))
	x := pair(1, 4)
	for name, c := range map[string]struct {
		f    func() tensor.Tensor
		want Pair
	}{
		"unary":                   {func() tensor.Tensor { return ops.Sqrt(x) }, pair(1, 2)},
		"reduction":               {func() tensor.Tensor { return ops.Sum(x) }, pair(1, 4)},
		"two of the type":         {func() tensor.Tensor { return ops.Sub(x, pair(1, 1)) }, pair(0, 3)},
		"a constant on the right": {func() tensor.Tensor { return ops.Sub(x, 1.0) }, pair(0, 3)},
		"a tensor on the left":    {func() tensor.Tensor { return ops.Sub(tensor.Scalar(1.0), x) }, pair(0, -3)},
		"traced": {func() tensor.Tensor {
			return function.New(func(x Pair) tensor.Tensor { return ops.Sub(ops.Sqrt(x), 1.0) }).Call(x)
		}, pair(0, 1)},
	} {
		if got, err := try(c.f); err != nil || !tensor.Equal(got, c.want, tensor.EqualOptions{}) {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, c.want)
		}
	}
	if _, err := try(func() tensor.Tensor { return ops.Add(x, ragged.FromSlices([][]float64{{1}})) }); err == nil {
		t.Error("a type that no handler takes is accepted")
	}
	// Conflicts name both places.
	_, err := ext.HandleUnary(both)
	if !errors.Is(err, tenon.ErrInvalid) || strings.Count(err.Error(), "types_test.go") != 2 {
		t.Errorf("two handlers with the same claim: %v", err)
	}
	_, err = ext.HandleBinary(func(c *op.Call, x, y Pair) (tenon.Value, error) { return x, nil })
	if !errors.Is(err, tenon.ErrInvalid) || strings.Count(err.Error(), "types_test.go") != 2 {
		t.Errorf("two binary handlers with the same claim: %v", err)
	}
	for _, r := range removers {
		r()
	}
	add(ext.HandleBinary(func(c *op.Call, x, y Pair) (tenon.Value, error) { return x, nil }))
	removers[len(removers)-1]()
	if _, err := try(func() tensor.Tensor { return ops.Add(x, x) }); !errors.Is(err, tenon.ErrDType) {
		t.Errorf("after the handlers were removed: %v", err)
	}
}

func TestHandlersOfOtherTypes(t *testing.T) {
	r := ragged.FromSlices([][]float64{{1}, {2, 3}})
	remove, err := ext.Handle[*ragged.Tensor](lookup("neg"), func(c *op.Call) ([]tenon.Value, error) { return op.One(tensor.Scalar(7.0)) })
	if err != nil {
		t.Fatal(err)
	}
	if got := ops.Neg(r); tensor.Item[float64](got) != 7 {
		t.Errorf("got %v", got)
	}
	remove()
	if _, ok := ops.Neg(r).(*ragged.Tensor); !ok {
		t.Error("the type's own answer does not come back")
	}
	if _, err := ext.Handle[*tensor.Dense](lookup("neg"), func(c *op.Call) ([]tenon.Value, error) { return nil, op.NotHandled }); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("a handler for plain tensors: %v", err)
	}
	if _, err := ext.Handle[*tenon.OpaqueValue](lookup("neg"), func(c *op.Call) ([]tenon.Value, error) { return nil, op.NotHandled }); err == nil {
		t.Error("a type whose name is not known")
	}
	if _, err := ext.Handle[Pair](nil, func(c *op.Call) ([]tenon.Value, error) { return nil, op.NotHandled }); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("no operation: %v", err)
	}
}

// TestBadHandlers has handlers that misbehave.
func TestBadHandlers(t *testing.T) {
	for name, c := range map[string]struct {
		f    op.HandlerFunc
		text string
	}{
		"declines":      {func(c *op.Call) ([]tenon.Value, error) { return nil, op.NotHandled }, "asked and declined: ext_test.Pair"},
		"too many":      {func(c *op.Call) ([]tenon.Value, error) { return []tenon.Value{pair(1, 1), pair(1, 1)}, nil }, "2 results"},
		"none":          {func(c *op.Call) ([]tenon.Value, error) { return nil, nil }, "0 results"},
		"nil":           {func(c *op.Call) ([]tenon.Value, error) { return []tenon.Value{nil}, nil }, "nil"},
		"not a tensor":  {func(c *op.Call) ([]tenon.Value, error) { return op.One(Static{1}) }, "no element type and shape"},
		"calls itself":  {func(c *op.Call) ([]tenon.Value, error) { return c.Do() }, "without end"},
		"panics":        {func(c *op.Call) ([]tenon.Value, error) { return c.Values()[len(c.Values()):][:9], nil }, "panicked"},
		"its own error": {func(c *op.Call) ([]tenon.Value, error) { return nil, errors.New("no way") }, "no way"},
	} {
		remove, err := ext.Handle[Pair](lookup("neg"), c.f)
		if err != nil {
			t.Fatal(err)
		}
		_, err = try(func() tensor.Tensor { return ops.Neg(pair(1, 2)) })
		var e *tenon.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: got %v, want %q", name, err, c.text)
		}
		remove()
	}
}

func TestCasts(t *testing.T) {
	toPair := func(x tensor.Tensor) (Pair, error) { return Pair{x, ops.ZerosLike(x)}, nil }
	remove, err := ext.Cast(toPair, ext.CastOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	if _, err := ext.Cast(toPair, ext.CastOptions{}); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("a cast twice: %v", err)
	}
	if _, err := ext.Cast(func(x *ragged.Tensor) (tensor.Tensor, error) { return x, nil }, ext.CastOptions{}); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("between types of others: %v", err)
	}
	removeBack := tenon.Must(ext.Cast(func(x Pair) (tensor.Tensor, error) { return x.A, nil }, ext.CastOptions{Explicit: true}))
	defer removeBack()

	x := tensor.Scalar(1.5)
	want := Pair{x, tensor.Scalar(0.0)}
	if got, err := ext.Convert[Pair](x); err != nil || !tensor.Equal(got, want, tensor.EqualOptions{}) {
		t.Errorf("converted %v, %v", got, err)
	}
	if got, err := ext.Convert[tensor.Tensor](pair(3, 4)); err != nil || tensor.Item[float64](got) != 3 {
		t.Errorf("converted back %v, %v", got, err)
	}
	if got, err := tenon.Cast(x, want.Spec()); err != nil || !tensor.Equal(got, want, tensor.EqualOptions{}) {
		t.Errorf("cast %v, %v", got, err)
	}
	for name, err := range map[string]error{
		"loses":           second(tenon.Cast(pair(3, 4), x.Spec())),
		"is not declared": second(ext.Convert[Masked](x)),
		"is nil":          second(ext.Convert[Masked](nil)),
	} {
		var e *tenon.Error
		if !errors.As(err, &e) {
			t.Errorf("a cast that %s: %v", name, err)
		}
	}
	f := function.New(func(x Pair) tensor.Tensor { return x.A }, function.Options{Signature: []any{want.Spec()}})
	if out, err := f.CallContext(t.Context(), x); err != nil || tensor.Item[float64](out[0].(tensor.Tensor)) != 1.5 {
		t.Errorf("an argument that is cast: %v, %v", out, err)
	}
	if _, err := f.CallContext(t.Context(), tensor.Scalar("text")); !errors.Is(err, tenon.ErrDType) {
		t.Errorf("an argument that cannot be: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestCastFromOwn casts a type's own values to a type that knows nothing of it.
func TestCastFromOwn(t *testing.T) {
	remove := tenon.Must(ext.Cast(func(x Pair) (tensor.Tensor, error) { return ops.Add(x.A, x.B), nil }, ext.CastOptions{}))
	defer remove()
	f := function.New(func(p tensor.Tensor, a Pair, b tensor.Tensor) tensor.Tensor {
		return control.Cond(p, func() tensor.Tensor { return a }, func() tensor.Tensor { return b })
	})
	for p, want := range map[bool]float64{true: 3, false: 9} {
		if got := f.Call(tensor.Scalar(p), pair(1, 2), tensor.Scalar(9.0)); tensor.Item[float64](got) != want {
			t.Errorf("%v: got %v, want %v", p, got, want)
		}
	}
}

func TestBranchesThatDoNotMerge(t *testing.T) {
	f := function.New(func(p tensor.Tensor, a, b tenon.Value) tenon.Value {
		return control.Cond(p, func() tenon.Value { return a }, func() tenon.Value { return b })
	})
	for name, c := range map[string][2]tenon.Value{
		"static data differ": {Static{1}, Static{2}}, "types differ": {Static{1}, pair(1, 2)},
		"keys differ": {&Graph{Source: tensor.Vector([]int64{}), Target: tensor.Vector([]int64{}), Nodes: map[string]tensor.Tensor{"a": tensor.Scalar(1.0)}},
			&Graph{Source: tensor.Vector([]int64{}), Target: tensor.Vector([]int64{}), Nodes: map[string]tensor.Tensor{"b": tensor.Scalar(1.0)}}},
	} {
		_, err := tenon.Try(func() tenon.Value { return f.Call(tensor.Scalar(true), c[0], c[1]) })
		if !errors.Is(err, tenon.ErrDType) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// Kept has a field that all rows share, Whole has no batches.
type Kept struct {
	Rows  tensor.Tensor
	Scale tensor.Tensor `tenon:"batch=keep"`
	Size  shape.Shape   `tenon:"batch=keep"`
	Sizes []shape.Shape
}

func (x Kept) Spec() tenon.Spec { return ext.SpecOf(x) }

type Whole struct {
	A tensor.Tensor `tenon:"batch=none"`
}

func (x Whole) Spec() tenon.Spec { return ext.SpecOf(x) }

func init() {
	ext.Register[Kept]("ext_test.Kept")
	ext.Register[Whole]("ext_test.Whole")
}

func TestBatchPolicies(t *testing.T) {
	scale := tensor.Scalar(2.0)
	a := Kept{tensor.Vector([]float64{1, 2}), scale, shape.Of(3), []shape.Shape{shape.Of(4)}}
	b := a
	b.Rows = tensor.Vector([]float64{3, 4})
	both, err := ext.Stack(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if both.Rows.Shape().String() != "[2, 2]" || !both.Scale.Shape().IsScalar() || both.Size.String() != "[3]" || both.Sizes[0].String() != "[2, 4]" {
		t.Errorf("got %v", both.Spec())
	}
	for i, want := range []Kept{a, b} {
		if got, err := ext.Row(both, i); err != nil || !tensor.Equal(got, want, tensor.EqualOptions{}) {
			t.Errorf("row %d is %v, %v", i, got, err)
		}
	}
	four := tenon.Must(ext.Concat(both, both))
	if n, err := ext.Rows(four); n != 4 || err != nil {
		t.Errorf("there are %d rows, %v", n, err)
	}
	middle := tenon.Must(ext.Slice(four, 1, 3))
	picked := tenon.Must(ext.Gather(four, []int64{1, 2}))
	if !tensor.Equal(middle, picked, tensor.EqualOptions{}) || tensor.Data[float64](middle.Rows)[0] != 3 {
		t.Errorf("got %v and %v", middle, picked)
	}
	b.Scale = tensor.Scalar(9.0)
	for name, err := range map[string]error{
		"a shared field differs": second(ext.Stack(a, b)),
		"no values":              second(ext.Stack[Kept]()),
		"no batches":             second(ext.Stack(Whole{scale}, Whole{scale})),
		"no rows":                second(ext.Unstack(pair(1, 2))),
		"a row too far":          second(ext.Row(both, 2)),
		"numbers of rows differ": second(ext.Unstack(Pair{tensor.Vector([]float64{1}), tensor.Vector([]float64{1, 2})})),
		"Specs do not merge":     second(ext.Stack(tenon.Value(Static{1}), tenon.Value(Static{2}))),
	} {
		var e *tenon.Error
		if !errors.As(err, &e) || e.Kind == nil {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestBoxedValuesStack(t *testing.T) {
	a, b := pair(1, 2), pair(3, 4)
	s := a.Spec().(tenon.Boxer)
	x, y := tenon.Must(s.Box(a, 0)), tenon.Must(s.Box(b, 0))
	stacked := make([]tenon.Value, len(x))
	for i := range x {
		stacked[i] = ops.Stack([]tenon.Value{x[i], y[i]}, 0)
	}
	batch := tenon.Must(tenon.Must(a.Spec().(tenon.Batcher).Batched(2)).(tenon.Boxer).Unbox(stacked))
	if want := tenon.Must(ext.Stack(a, b)); !tensor.Equal(batch, want, tensor.EqualOptions{}) {
		t.Errorf("got %v, want %v", batch, want)
	}
}

// What all rows share is repeated in the boxed form, so that it goes the way of the rest.
func TestBoxedSharedFields(t *testing.T) {
	scale := tensor.Vector([]float64{2, 5})
	a := Kept{tensor.Vector([]float64{1, 2}), scale, shape.Of(3), nil}
	b := a
	b.Rows = tensor.Vector([]float64{3, 4})
	batch := tenon.Must(ext.Stack(a, b))
	unbox := func(s tenon.Spec, ts []tenon.Value) tenon.Value { return tenon.Must(s.(tenon.Boxer).Unbox(ts)) }

	boxes := [][]tenon.Value{tenon.Must(a.Spec().(tenon.Boxer).Box(a, 0)), tenon.Must(b.Spec().(tenon.Boxer).Box(b, 0))}
	stacked := make([]tenon.Value, len(boxes[0]))
	for i := range stacked {
		stacked[i] = ops.Stack([]tenon.Value{boxes[0][i], boxes[1][i]}, 0)
	}
	if got := unbox(batch.Spec(), stacked); !tensor.Equal(got, batch, tensor.EqualOptions{}) {
		t.Errorf("got %v, want %v", got, batch)
	}

	whole := tenon.Must(batch.Spec().(tenon.Boxer).Box(batch, 1))
	for i, want := range []Kept{a, b} {
		row := make([]tenon.Value, len(whole))
		for k, x := range whole {
			row[k] = ops.Index(x, i)
		}
		if got := unbox(a.Spec(), row); !tensor.Equal(got, want, tensor.EqualOptions{}) {
			t.Errorf("row %d: got %v, want %v", i, got, want)
		}
	}
	if got := unbox(batch.Spec(), whole); !tensor.Equal(got, batch, tensor.EqualOptions{}) {
		t.Errorf("got %v, want %v", got, batch)
	}
	w := Whole{scale}
	if _, err := w.Spec().(tenon.Boxer).Box(w, 1); !errors.Is(err, tenon.ErrUnsupported) {
		t.Errorf("rows of what has none: %v", err)
	}
}

func TestMigrations(t *testing.T) {
	old := tenon.Tuple{tenon.Int(0), tenon.NamedTuple{Name: "Versioned", Fields: []tenon.Entry{
		{Name: "Data", Value: tenon.List{tenon.SpecOf{Spec: tensor.NewSpec(dtype.Float64, shape.Of(2))}, tenon.SpecOf{Spec: tensor.NewSpec(dtype.Float64, shape.Of())}}},
		{Name: "Mode", Value: tenon.Str("fast")},
	}}}
	v := tensor.Vector([]float64{1, 2})
	spec, err := tenon.Decode("ext_test.Versioned", old)
	if err != nil {
		t.Fatal(err)
	}
	back, _, err := tenon.DecodeBinary(tenon.AppendBinary(nil, spec))
	if err != nil || !tenon.Equal(back, spec) || tenon.Equal(spec, Versioned{A: v, B: tensor.Scalar(1.0)}.Spec()) {
		t.Errorf("the older Spec reads back as %v, %v", back, err)
	}
	got, err := nest.Pack[any](spec, []any{v, tensor.Scalar(3.0)}, nest.Options{Expand: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := (Versioned{A: v, B: tensor.Scalar(3.0), Level: 9}); !tensor.Equal(got.(Versioned), want, tensor.EqualOptions{}) {
		t.Errorf("got %v", got)
	}
	parts, err := spec.Disassemble(got.(tenon.Value))
	if err != nil || !tensor.Equal(parts[0], v) || !tensor.Equal(parts[1], tensor.Scalar(3.0)) {
		t.Errorf("taken apart as it was stored: %v, %v", parts, err)
	}
	for name, x := range map[string]tenon.Value{
		"another level": Versioned{A: v, B: tensor.Scalar(3.0), Level: 1}, "what a migration refuses": Versioned{A: v, B: tensor.Scalar(-3.0), Level: 9},
		"another size": Versioned{A: tensor.Scalar(1.0), B: tensor.Scalar(3.0), Level: 9}, "a tensor": v, "nothing": nil,
	} {
		if parts, err := spec.Disassemble(x); !errors.Is(err, tenon.ErrUnsupported) {
			t.Errorf("%s: got %v, %v", name, parts, err)
		}
	}
	for name, e := range map[string]tenon.Encoding{
		"a version of the future": tenon.Tuple{tenon.Int(5), old[1]}, "a version without a migration": tenon.Tuple{tenon.Int(-1), old[1]},
		"a huge version": tenon.Tuple{tenon.Int(1 << 40), old[1]},
	} {
		if _, err := tenon.Decode("ext_test.Versioned", e); !errors.Is(err, tenon.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := spec.Assemble([]tenon.Value{v, tensor.Scalar(-3.0)}); err == nil || !strings.Contains(err.Error(), "migration from version 1: negative") {
		t.Errorf("a migration that fails: %v", err)
	}
	if _, err := spec.Assemble([]tenon.Value{v}); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("a component too few: %v", err)
	}
}

// Versioned has had two other forms.
type Versioned struct {
	A, B  tensor.Tensor
	Level int
}

func (x Versioned) Spec() tenon.Spec { return ext.SpecOf(x) }

func init() {
	ext.Register[Versioned]("ext_test.Versioned", ext.Options{Version: 2, Migrations: map[int]ext.Migration{
		0: {To: 1, Do: func(f map[string]any) (map[string]any, error) {
			l := f["Data"].([]any)
			level := 1
			if f["Mode"] == "fast" {
				level = 9
			}
			return map[string]any{"First": l[0], "Second": l[1], "Level": level}, nil
		}},
		1: {To: 2, Do: func(f map[string]any) (map[string]any, error) {
			if tensor.Item[float64](f["Second"].(tensor.Tensor)) < 0 {
				return nil, errors.New("negative")
			}
			return map[string]any{"A": f["First"], "B": f["Second"], "Level": f["Level"]}, nil
		}},
	}})
}

// TestUnknownTypeIsReinterpreted stores a value inside another one, reads it where the
// type is not known, and makes the real value later.
func TestUnknownTypeIsReinterpreted(t *testing.T) {
	ext.Register[late]("ext_test.late")
	x := late{tensor.Vector([]float64{1, 2}), 3}
	b := tenon.AppendBinary(nil, x.Spec())
	parts := tenon.Must(nest.Flatten(x, nest.Options{Expand: true}))
	if err := ext.Unregister[late](); err != nil {
		t.Fatal(err)
	}
	s, _, err := tenon.DecodeBinary(b)
	if err != nil {
		t.Fatal(err)
	}
	v := tenon.Must(nest.Pack[any](s, parts, nest.Options{Expand: true})).(tenon.Value)
	if text := tenon.AppendBinary(nil, v.Spec()); string(text) != string(b) {
		t.Error("what was stored changes")
	}
	if _, err := ext.Resolve(v); !errors.Is(err, tenon.ErrNotFound) {
		t.Errorf("resolved before the type is known: %v", err)
	}
	ext.Register[late]("ext_test.late")
	defer ext.Unregister[late]()
	if got, err := ext.Resolve(v); err != nil || !tensor.Equal(got, x, tensor.EqualOptions{}) {
		t.Errorf("got %v, %v", got, err)
	}
}

type late struct {
	A tensor.Tensor
	N int
}

func (x late) Spec() tenon.Spec { return ext.SpecOf(x) }
