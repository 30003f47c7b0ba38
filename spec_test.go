package tenon_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// pair is a Value of two tensors and a unit, with the default rules for its Spec.
type pair struct {
	spec *pairSpec
	a, b tenon.Value
}

func (p *pair) Spec() tenon.Spec { return p.spec }

type pairSpec struct {
	a, b tenon.Spec
	unit string
}

const pairName = "tenon_test.Pair"

func (s *pairSpec) TypeName() string { return pairName }
func (s *pairSpec) Encode() tenon.Encoding {
	return tenon.Tuple{tenon.SpecOf{Spec: s.a}, tenon.SpecOf{Spec: s.b}, tenon.Str(s.unit)}
}
func (s *pairSpec) Components() []tenon.Field {
	return []tenon.Field{{Name: "a", Spec: s.a}, {Name: "b", Spec: s.b}}
}
func (s *pairSpec) Disassemble(v tenon.Value) ([]tenon.Value, error) {
	p, ok := v.(*pair)
	if !ok {
		return nil, tenon.NewError(tenon.ErrDType, pairName, "not a pair")
	}
	return []tenon.Value{p.a, p.b}, nil
}
func (s *pairSpec) Assemble(c []tenon.Value) (tenon.Value, error) {
	if err := tenon.CheckComponents(s, c); err != nil {
		return nil, err
	}
	return &pair{s, c[0], c[1]}, nil
}

func decodePair(e tenon.Encoding) (tenon.Spec, error) {
	t, err := tenon.Elems(e, 3)
	if err != nil {
		return nil, err
	}
	a, err := tenon.As[tenon.SpecOf](t[0])
	if err != nil {
		return nil, err
	}
	b, err := tenon.As[tenon.SpecOf](t[1])
	if err != nil {
		return nil, err
	}
	unit, err := tenon.As[tenon.Str](t[2])
	if err != nil {
		return nil, err
	}
	if a.Spec == nil || b.Spec == nil {
		return nil, errors.New("a pair has two parts")
	}
	return &pairSpec{a.Spec, b.Spec, string(unit)}, nil
}

// register makes the type known for the time of a test.
func register(t *testing.T) {
	tenon.Register(pairName, decodePair)
	t.Cleanup(func() {
		if err := tenon.Unregister(pairName); err != nil {
			t.Error(err)
		}
	})
}

func spec(dims ...int) tenon.Spec { return tensor.NewSpec(dtype.Float32, shape.Of(dims...)) }

func TestLatticeByEncoding(t *testing.T) {
	register(t)
	known, open := &pairSpec{spec(3), spec(2, 2), "m"}, &pairSpec{spec(-1), spec(2, 2), "m"}
	other, feet := &pairSpec{spec(4), spec(2, 2), "m"}, &pairSpec{spec(3), spec(2, 2), "ft"}
	for _, c := range []struct {
		name                      string
		a, b                      tenon.Spec
		equal, sub, compat, merge bool
	}{
		{"the same", known, &pairSpec{spec(3), spec(2, 2), "m"}, true, true, true, true},
		{"more is known", known, open, false, true, true, true},
		{"less is known", open, known, false, false, true, true},
		{"sizes differ", known, other, false, false, false, true},
		{"static data differ", known, feet, false, false, false, false},
		{"another type", known, spec(3), false, false, false, false},
		{"another type, turned round", spec(3), known, false, false, false, false},
		{"nil", known, nil, false, false, false, false},
		{"nil, turned round", nil, known, false, false, false, false},
		{"nil twice", nil, nil, true, true, true, false},
	} {
		_, merge := tenon.Merge(c.a, c.b)
		got := []bool{tenon.Equal(c.a, c.b), tenon.Subtype(c.a, c.b), tenon.Compatible(c.a, c.b), merge}
		if want := []bool{c.equal, c.sub, c.compat, c.merge}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: equal, subtype, compatible, merge are %v, want %v", c.name, got, want)
		}
	}
	m, ok := tenon.Merge(known, other, &pairSpec{spec(3), spec(2, 7), "m"})
	if !ok || !tenon.Equal(m, &pairSpec{spec(-1), spec(2, -1), "m"}) {
		t.Errorf("the merge is %v", tenon.String(m))
	}
	if _, ok := tenon.Merge(known, other, feet); ok {
		t.Error("three merge though the third has another unit")
	}
	if m, ok := tenon.Merge(known); !ok || m != tenon.Spec(known) {
		t.Error("one alone is not its own merge")
	}
	v := &pair{known, tensor.Of([]float32{1, 2, 3}), tensor.Of([]float32{1, 2, 3, 4}, 2, 2)}
	if !tenon.Belongs(v, open) || tenon.Belongs(v, other) || tenon.Belongs(nil, open) {
		t.Error("Belongs")
	}
}

// alike is a Spec whose text leaves its unit out.
type alike struct{ pairSpec }

func (*alike) String() string { return "pair" }

func TestSpecsThatPrintAlikeAreToldApart(t *testing.T) {
	x, y := tensor.NewSpec(dtype.Float32, shape.Of(2)), tensor.NewSpec(dtype.Float32, shape.Of(3))
	for _, c := range []struct {
		a, b tenon.Spec
		want string
	}{
		{x, y, ""},
		{x, x, ""},
		{&alike{pairSpec{x, x, "m"}}, &alike{pairSpec{x, x, "m"}}, ""},
		{&alike{pairSpec{x, x, "m"}}, &alike{pairSpec{x, x, "km"}}, `; they differ: one has "m", the other "km"`},
		{&alike{pairSpec{x, x, "m"}}, &pairSpec{x, x, "m"}, ""},
	} {
		if got := tenon.HiddenDifference(c.a, c.b); got != c.want {
			t.Errorf("%s and %s: %q, want %q", tenon.String(c.a), tenon.String(c.b), got, c.want)
		}
	}
}

func TestOpaqueLosesNothing(t *testing.T) {
	s := &pairSpec{spec(3), &pairSpec{spec(2), spec(1), "in"}, "m"}
	text, bin := tenon.Text(s), tenon.AppendBinary(nil, s)
	if _, err := tenon.ParseSpec(text); !errors.Is(err, tenon.ErrNotFound) || !strings.Contains(err.Error(), "import the package") {
		t.Errorf("text without components of an unknown type: %v", err)
	}
	got, rest, err := tenon.DecodeBinary(bin)
	if err != nil || len(rest) > 0 {
		t.Fatal(err)
	}
	o, ok := got.(*tenon.Opaque)
	if !ok || o.TypeName() != pairName || len(o.Components()) != 2 || o.Components()[1].Name != "b" {
		t.Fatalf("got %v", got)
	}
	if string(tenon.AppendBinary(nil, o)) != string(bin) {
		t.Error("it is written otherwise than it was read")
	}
	inner, err := o.Components()[1].Spec.Assemble([]tenon.Value{tensor.Of([]float32{1, 2}), tensor.Of([]float32{3})})
	if err != nil {
		t.Fatal(err)
	}
	v, err := o.Assemble([]tenon.Value{tensor.Of([]float32{1, 2, 3}), inner})
	if err != nil {
		t.Fatal(err)
	}
	parts, err := v.Spec().Disassemble(v)
	if err != nil || len(parts) != 2 || parts[1] != inner {
		t.Errorf("comes apart as %v, %v", parts, err)
	}
	for name, bad := range map[string][]tenon.Value{
		"one":     {inner},
		"nil":     {nil, inner},
		"another": {inner, inner},
	} {
		if x, err := o.Assemble(bad); err == nil {
			t.Errorf("%s: assembles as %v", name, x)
		}
	}
	if _, err := o.Disassemble(tensor.Scalar(1)); !errors.Is(err, tenon.ErrDType) {
		t.Errorf("of a tensor: %v", err)
	}
	if _, err := o.Disassemble(nil); !errors.Is(err, tenon.ErrDType) {
		t.Errorf("of nil: %v", err)
	}
	if _, err := o.Resolve(); !errors.Is(err, tenon.ErrNotFound) {
		t.Errorf("resolves though it is not known: %v", err)
	}
	if tenon.Equal(s, o) || tenon.Equal(o, s) {
		t.Error("an opaque Spec is equal to one of the type")
	}
	if !strings.HasPrefix(fmt.Sprint(v), pairName) {
		t.Errorf("prints as %v", v)
	}
	register(t)
	back, err := o.Resolve()
	if err != nil || tenon.Text(back) != text {
		t.Errorf("once known it is %v, %v", back, err)
	}
	if got, _, err := tenon.DecodeBinary(bin); err != nil || !tenon.Equal(got, s) {
		t.Errorf("once known it decodes as %v, %v", got, err)
	}
}

func TestResolveValue(t *testing.T) {
	s := &pairSpec{spec(1), spec(1), "m"}
	got, _, err := tenon.DecodeBinary(tenon.AppendBinary(nil, s))
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.Of([]float32{1})
	v, err := got.Assemble([]tenon.Value{x, x})
	if err != nil {
		t.Fatal(err)
	}
	outer, _, err := tenon.DecodeBinary(tenon.AppendBinary(nil, &pairSpec{s, spec(1), "out"}))
	if err != nil {
		t.Fatal(err)
	}
	w, err := outer.Assemble([]tenon.Value{v, x})
	if err != nil {
		t.Fatal(err)
	}
	register(t)
	p, err := w.(*tenon.OpaqueValue).Resolve()
	if err != nil || p.(*pair).a.(*pair).a != x || p.(*pair).a.(*pair).spec.unit != "m" || p.(*pair).spec.unit != "out" {
		t.Errorf("got %v, %v", p, err)
	}
}

func TestRegister(t *testing.T) {
	register(t)
	if !tenon.Registered(pairName) || !slices.Contains(tenon.TypeNames(), pairName) || !slices.IsSorted(tenon.TypeNames()) {
		t.Errorf("the names are %v", tenon.TypeNames())
	}
	again := func(name string, d tenon.Decoder) error {
		_, err := tenon.Try(func() int { tenon.Register(name, d); return 0 })
		return err
	}
	if err := again(pairName, decodePair); !errors.Is(err, tenon.ErrInvalid) || !regexp.MustCompile(`already registered, at \S*spec_test\.go:\d+ `).MatchString(err.Error()) {
		t.Errorf("registered twice: %v", err)
	}
	for _, name := range []string{"", "Pair", ".Pair", "a.", "a b.C", "a.9", "a.b>"} {
		if err := again(name, decodePair); !errors.Is(err, tenon.ErrInvalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := again("tenon_test.Nil", nil); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("no decoder: %v", err)
	}
	if err := tenon.Unregister("tenon_test.Nobody"); !errors.Is(err, tenon.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if s, err := tenon.Decode(pairName, tenon.Tuple{tenon.SpecOf{}, tenon.SpecOf{}, tenon.Str("")}); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("the decoder's error: %v, %v", s, err)
	}
}

// Specs are their canonical text in JSON, and errors the one line that they are elsewhere.
func TestTextForms(t *testing.T) {
	type request struct{ Input, None tenon.SpecOf }
	want := request{Input: tenon.SpecOf{Spec: tensor.NewSpec(dtype.Float32, shape.Of(2, shape.Unknown))}}
	b, err := json.Marshal(want)
	var text struct{ Input, None string }
	if err := errors.Join(err, json.Unmarshal(b, &text)); err != nil || text.Input != "<tensor.Tensor (float32, shape[2, ?])>" || text.None != "" {
		t.Errorf("%s, %v", b, err)
	}
	var back request
	if err := json.Unmarshal(b, &back); err != nil || !tenon.Equal(back.Input.Spec, want.Input.Spec) || back.None.Spec != nil {
		t.Errorf("got back %v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"Input": "<tensor.Tensor"}`), &back); err == nil {
		t.Error("half of a Spec is read")
	}
	var log strings.Builder
	e := &tenon.Error{Kind: tenon.ErrShape, Op: "a.B", Msg: "is empty", Line: "a/b.go:3", Hint: "fill it"}
	slog.New(slog.NewTextHandler(&log, nil)).Error("failed", "err", e)
	slog.New(slog.NewJSONHandler(&log, nil)).Error("failed", "err", e)
	if got := log.String(); strings.Count(got, "\n") != 2 || strings.Count(got, "a.B: is empty (at a/b.go:3); fill it") != 2 {
		t.Errorf("logs have %s", got)
	}
}

func TestErrorText(t *testing.T) {
	cause := errors.New("the cause")
	for _, c := range []struct {
		e    tenon.Error
		want string
	}{
		{tenon.Error{Kind: tenon.ErrShape, Op: "ops.MatMul", Args: []string{"float32[?, 64]", "float32[32, 16]"}, Msg: "inner sizes 64 and 32 differ", Line: "search/model.go:41", Hint: "did you mean the second operand transposed?"},
			"ops.MatMul(float32[?, 64], float32[32, 16]): inner sizes 64 and 32 differ (at search/model.go:41); did you mean the second operand transposed?"},
		{tenon.Error{Op: "a.B", Msg: "the names differ\n  left   {X}\n  right  {Y}", Hint: "rename\n  one"}, "a.B: the names differ; left   {X}; right  {Y}; rename; one"},
		{tenon.Error{Op: "a.B", Where: "row 3", Msg: "is empty", Err: cause}, "a.B: row 3: is empty: the cause"},
		{tenon.Error{Kind: tenon.ErrAxis}, "axis error"},
		{tenon.Error{Msg: "just this"}, "just this"},
		{tenon.Error{}, ""},
	} {
		if got := c.e.Error(); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
	inner := &tenon.Error{Op: "a.B", Msg: "is empty", Line: "a/b.go:3"}
	outer := &tenon.Error{Op: "c.D", Err: inner, Line: "c/d.go:4", Hint: "fill it"}
	if got, want := fmt.Sprintf("%+v", outer), "c.D: a.B: is empty\n  at a/b.go:3\n  at c/d.go:4\n  fill it"; got != want {
		t.Errorf("the long form is\n%s\nwant\n%s", got, want)
	}
	if got, want := fmt.Sprintf("%v|%s|%q", outer, outer, inner), "c.D: a.B: is empty (at a/b.go:3) (at c/d.go:4); fill it|c.D: a.B: is empty (at a/b.go:3) (at c/d.go:4); fill it|\"a.B: is empty (at a/b.go:3)\""; got != want {
		t.Errorf("the short form is\n%s\nwant\n%s", got, want)
	}
	e := &tenon.Error{Kind: tenon.ErrRange, Err: cause}
	if !errors.Is(e, tenon.ErrRange) || !errors.Is(e, cause) || errors.Is(e, tenon.ErrShape) {
		t.Error("errors.Is does not find the kind and the cause")
	}
	if tenon.AsError(nil) != nil || tenon.AsError(e) != e {
		t.Error("AsError of nil and of an *Error")
	}
	if w := tenon.AsError(fmt.Errorf("outside: %w", e)); w.Kind != tenon.ErrRange || !strings.HasPrefix(w.Error(), "outside: ") {
		t.Errorf("a wrapped *Error is %v", w)
	}
	if w := tenon.AsError(cause); w.Kind != tenon.ErrInvalid || !errors.Is(w, cause) {
		t.Errorf("another error is %v", w)
	}
}

func TestTry(t *testing.T) {
	want := tenon.NewError(tenon.ErrShape, "a.B", "no")
	if v, err := tenon.Try(func() int { tenon.Throw(nil); return 3 }); v != 3 || err != nil {
		t.Errorf("got %v, %v", v, err)
	}
	if _, err := tenon.Try(func() int { tenon.Throw(want); return 3 }); err != error(want) {
		t.Errorf("got %v", err)
	}
	if _, err := tenon.Try(func() int { return tenon.Must(1, errors.New("plain")) }); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("got %v", err)
	}
	func() {
		defer func() {
			if r := recover(); r != "mine" {
				t.Errorf("another panic became %v", r)
			}
		}()
		_, _ = tenon.Try(func() int { panic("mine") })
	}()
	if !strings.Contains(want.Line, "spec_test.go:") {
		t.Errorf("the line is %q", want.Line)
	}
	nested := func() (err error) {
		defer tenon.Catch(&err)
		_, err = tenon.Try(func() int { tenon.Throw(want); return 0 })
		tenon.Throw(err)
		return nil
	}
	if err := nested(); err != error(want) {
		t.Errorf("thrown again it is %v", err)
	}
}

func TestMapSpecs(t *testing.T) {
	e := tenon.NamedTuple{Name: "n", Fields: []tenon.Entry{{Name: "s", Value: tenon.SpecOf{Spec: spec(2)}}, {Name: "d", Value: tenon.NewDict(map[string]tenon.Encoding{
		"k": tenon.List{tenon.Shape{Shape: shape.Of(3)}, tenon.Tuple{tenon.Int(1)}}})}}}
	got, err := tenon.MapSpecs(e,
		func(s tenon.Spec) (tenon.Spec, error) { return s.(tenon.Batcher).Batched(5) },
		func(s shape.Shape) (shape.Shape, error) { return s.Insert(0, 5), nil })
	want := "%n(s: <tensor.Tensor (float32, shape[5, 2])>, d: {k: [shape[5, 3], (1)]})"
	if err != nil || tenon.EncodingText(got) != want {
		t.Errorf("got %s, %v", tenon.EncodingText(got), err)
	}
	if same, err := tenon.MapSpecs(e, nil, nil); err != nil || !tenon.EqualEncoding(same, e) {
		t.Errorf("with no functions: %v, %v", same, err)
	}
	stop := errors.New("stop")
	if _, err := tenon.MapSpecs(e, nil, func(shape.Shape) (shape.Shape, error) { return shape.Shape{}, stop }); err != stop {
		t.Errorf("got %v", err)
	}
}
