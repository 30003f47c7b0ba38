package ext_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/tensor"
)

type withChannel struct {
	A tensor.Tensor
	B struct{ Inner []chan int }
}

func (x withChannel) Spec() tenon.Spec { return ext.SpecOf(x) }

type withHidden struct{ hidden tensor.Tensor }

func (x withHidden) Spec() tenon.Spec { return x.hidden.Spec() }

type withIntKeys struct{ M map[int]tensor.Tensor }

func (x withIntKeys) Spec() tenon.Spec { return ext.SpecOf(x) }

type withComplex struct{ C complex128 }

func (x withComplex) Spec() tenon.Spec { return ext.SpecOf(x) }

type withAny struct{ X any }

func (x withAny) Spec() tenon.Spec { return ext.SpecOf(x) }

type withPointerValue struct{ G Graph }

func (x withPointerValue) Spec() tenon.Spec { return ext.SpecOf(x) }

type badTag[Tag any] struct{ A tensor.Tensor }

func (x badTag[T]) Spec() tenon.Spec { return ext.SpecOf(x) }

type badDefault struct {
	N int `tenon:"default=three"`
}

func (x badDefault) Spec() tenon.Spec { return ext.SpecOf(x) }

type unknownTag struct {
	N int `tenon:"optonal"`
}

func (x unknownTag) Spec() tenon.Spec { return ext.SpecOf(x) }

type unknownField struct {
	A tensor.Tensor `tenon:"shape=B"`
}

func (x unknownField) Spec() tenon.Spec { return ext.SpecOf(x) }

type sameName struct {
	A tensor.Tensor `tenon:"name=x"`
	B tensor.Tensor `tenon:"name=x"`
}

func (x sameName) Spec() tenon.Spec { return ext.SpecOf(x) }

// forgetful embeds a type and forgets the method.
type forgetful struct{ Masked }

type scalar int

func (scalar) Spec() tenon.Spec { return nil }

type good struct{ A tensor.Tensor }

func (x good) Spec() tenon.Spec { return ext.SpecOf(x) }

type wrongVersion struct{ A tensor.Tensor }

func (x wrongVersion) Spec() tenon.Spec { return ext.SpecOf(x) }

// thrown returns what f throws.
func thrown(f func()) error {
	_, err := tenon.Try(func() any { f(); return nil })
	return err
}

func TestRegistrationErrors(t *testing.T) {
	ext.Register[good]("ext_test.good")
	defer func() {
		if err := ext.Unregister[good](); err != nil {
			t.Error(err)
		}
	}()
	for name, c := range map[string]struct {
		f    func()
		kind error
		text []string
	}{
		"a channel":                 {func() { ext.Register[withChannel]("x.A") }, tenon.ErrUnsupported, []string{"B.Inner[]", "chan int", "register_test.go"}},
		"a field nobody sees":       {func() { ext.Register[withHidden]("x.A") }, tenon.ErrUnsupported, []string{"hidden", "exported"}},
		"keys of a map":             {func() { ext.Register[withIntKeys]("x.A") }, tenon.ErrUnsupported, []string{"M", "int"}},
		"a complex number":          {func() { ext.Register[withComplex]("x.A") }, tenon.ErrUnsupported, []string{"C", "complex128"}},
		"any":                       {func() { ext.Register[withAny]("x.A") }, tenon.ErrUnsupported, []string{"X", "static"}},
		"a pointer is the Value":    {func() { ext.Register[withPointerValue]("x.A") }, tenon.ErrUnsupported, []string{"G", "*ext_test.Graph"}},
		"no struct":                 {func() { ext.Register[scalar]("x.A") }, tenon.ErrUnsupported, []string{"not a struct"}},
		"a default of another kind": {func() { ext.Register[badDefault]("x.A") }, tenon.ErrInvalid, []string{"N", "three"}},
		"a tag that is not known":   {func() { ext.Register[unknownTag]("x.A") }, tenon.ErrInvalid, []string{"N", "optonal"}},
		"a field that is not there": {func() { ext.Register[unknownField]("x.A") }, tenon.ErrInvalid, []string{"A", "shape=B"}},
		"one name for two fields":   {func() { ext.Register[sameName]("x.A") }, tenon.ErrInvalid, []string{"x", "two fields"}},
		"no Spec method of its own": {func() { ext.Register[forgetful]("x.A") }, tenon.ErrInvalid, []string{"forgetful", "ext_test.Masked", "SpecOf"}},
		"a Spec method that panics": {func() { ext.Register[hasty]("x.A") }, tenon.ErrInvalid, []string{"hasty", "panics", "SpecOf"}},
		"a name of the library":     {func() { ext.Register[unknownTag2]("ragged.Tensor") }, tenon.ErrInvalid, []string{"already registered, by this module"}},
		"no name":                   {func() { ext.Register[unknownTag2]("noname") }, tenon.ErrInvalid, []string{"noname"}},
		"a name twice":              {func() { ext.Register[unknownTag2]("ext_test.good") }, tenon.ErrInvalid, []string{"already registered, at ext/register_test.go", "at ext/register_test.go"}},
		"a Go type twice":           {func() { ext.Register[good]("x.Other") }, tenon.ErrInvalid, []string{"already registered as \"ext_test.good\", at ext/register_test.go"}},
		"a migration that goes back": {func() {
			ext.Register[wrongVersion]("x.A", ext.Options{Version: 1, Migrations: map[int]ext.Migration{1: {To: 0}}})
		}, tenon.ErrInvalid, []string{"Migrations[1]"}},
	} {
		err := thrown(c.f)
		if !errors.Is(err, c.kind) {
			t.Errorf("%s: got %v, want %v", name, err, c.kind)
			continue
		}
		for _, text := range c.text {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %q is not in %v", name, text, err)
			}
		}
	}
	if tenon.Registered("x.A") || tenon.Registered("x.Other") {
		t.Error("a type that was refused is registered")
	}
	if err := ext.Unregister[badTag[int]](); !errors.Is(err, tenon.ErrNotFound) {
		t.Errorf("unregistered twice: %v", err)
	}
	if err := thrown(func() { badTag[int]{}.Spec() }); !errors.Is(err, tenon.ErrNotFound) {
		t.Errorf("a type that is not registered: %v", err)
	}
}

type unknownTag2 struct{ N int }

func (x unknownTag2) Spec() tenon.Spec { return ext.SpecOf(x) }

// Config has a default of each kind.
type Config struct {
	Values tensor.Tensor `tenon:"default=1.5,dtype=float32"`
	Size   int           `tenon:"default=3,oneof=3|4"`
	Name   string        `tenon:"default=none"`
	Rate   float64       `tenon:"default=0.1"`
	Mode   any           `tenon:"static,default=7,oneof=int|string"`
	On     bool          `tenon:"default=true"`
}

func (x Config) Spec() tenon.Spec { return ext.SpecOf(x) }

// CSR has relations between fields.
type CSR struct {
	Values  tensor.Tensor   `tenon:"shape=[stored]"`
	Columns tensor.Tensor   `tenon:"dtype=integer,shape=[stored]"`
	Splits  tensor.Tensor   `tenon:"dtype=Columns,len=rows+1,rank=1"`
	Labels  []tensor.Tensor `tenon:"len=rows,shape=[Width ...]"`
	Width   int
	Axes    []string
	Extra   tensor.Tensor `tenon:"optional,rank=len(Axes),dtype=differentiable"`
}

func (x CSR) Spec() tenon.Spec { return ext.SpecOf(x) }

// Even wants an even number, unless it is symbolic.
type Even struct{ N int }

func (x Even) Spec() tenon.Spec { return ext.SpecOf(x) }

func (x Even) Validate() error {
	if x.N == 13 {
		tenon.Throw(errors.New("unlucky"))
	}
	if x.N%2 != 0 {
		return fmt.Errorf("%d is odd", x.N)
	}
	return nil
}

// Holder holds one.
type Holder struct{ Inner Even }

func (x Holder) Spec() tenon.Spec { return ext.SpecOf(x) }

func init() {
	ext.Register[Config]("ext_test.Config")
	ext.Register[CSR]("ext_test.CSR")
	ext.Register[Even]("ext_test.Even")
	ext.Register[Holder]("ext_test.Holder")
}

func TestDefaults(t *testing.T) {
	c, err := ext.New(Config{Name: "own", Size: 4})
	if err != nil {
		t.Fatal(err)
	}
	want := Config{tensor.Scalar(float32(1.5)), 4, "own", 0.1, 7, true}
	if !tensor.Equal(c, want, tensor.EqualOptions{}) {
		t.Errorf("got %v, want %v", ext.String(c), ext.String(want))
	}
}

func TestValidation(t *testing.T) {
	v3, i3, i2 := tensor.Vector([]float32{1, 2, 3}), tensor.Vector([]int64{0, 1, 2}), tensor.Vector([]int64{0, 3})
	label := []tensor.Tensor{tensor.Vector([]float32{1, 2})}
	ok := CSR{v3, i3, i2, label, 2, nil, nil}
	if _, err := ext.New(ok); err != nil {
		t.Fatal(err)
	}
	with := func(f func(*CSR)) error {
		x := ok
		f(&x)
		_, err := ext.New(x)
		return err
	}
	for name, c := range map[string]struct {
		err  error
		kind error
		text string
	}{
		"a size that two fields share": {with(func(x *CSR) { x.Columns = i2 }), tenon.ErrInvalid, "Columns: axis 0 has size 2, want stored = 3, as Values has it"},
		"a class of element types":     {with(func(x *CSR) { x.Columns = v3 }), tenon.ErrInvalid, "Columns: is float32, want a integer type"},
		"another field's type":         {with(func(x *CSR) { x.Splits = tensor.Vector([]int32{0, 3}) }), tenon.ErrInvalid, "Splits: is int32, Columns is int64"},
		"rows plus one":                {with(func(x *CSR) { x.Labels = nil }), tenon.ErrInvalid, "Labels: has 0 elements, want rows = 1"},
		"a static size":                {with(func(x *CSR) { x.Width = 5 }), tenon.ErrInvalid, "Labels[0]: axis 0 has size 2, want Width = 5"},
		"a rank":                       {with(func(x *CSR) { x.Splits = tensor.Scalar(int64(1)) }), tenon.ErrInvalid, "Splits: has shape [], of rank 0"},
		"as many axes as names":        {with(func(x *CSR) { x.Extra = v3 }), tenon.ErrInvalid, "Extra: has shape [3], of rank 1; want rank 0"},
		"a field that is missing":      {with(func(x *CSR) { x.Values = nil }), tenon.ErrDType, "Values: there is no Value"},
		"an element that is missing":   {with(func(x *CSR) { x.Labels = []tensor.Tensor{nil} }), tenon.ErrDType, "Labels[0]: there is no Value"},
		"a nil pointer":                {with(func(x *CSR) { x.Values = (*tensor.Dense)(nil) }), tenon.ErrDType, "Values: there is no Value"},
		"below zero":                   {with(func(x *CSR) { x.Splits, x.Labels = tensor.Vector([]int64{}), nil }), tenon.ErrInvalid, "leaves rows below 0"},
	} {
		if !errors.Is(c.err, c.kind) || !strings.Contains(c.err.Error(), c.text) {
			t.Errorf("%s: got %v, want %q", name, c.err, c.text)
		}
	}
	if _, err := ext.New(Config{Size: 5}); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("none of those allowed: %v", err)
	}
	if _, err := ext.New(Config{Mode: 1.5}); !errors.Is(err, tenon.ErrDType) {
		t.Errorf("none of the kinds allowed: %v", err)
	}
	if _, err := ext.New(Config{Mode: []int{1}}); !errors.Is(err, tenon.ErrDType) {
		t.Errorf("not static: %v", err)
	}
	var none *Graph
	if _, err := ext.New(none); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("nil: %v", err)
	}
}

func TestHook(t *testing.T) {
	for n, want := range map[int]string{2: "", 3: "3 is odd", 13: "unlucky"} {
		_, err := ext.New(Even{n})
		var e *tenon.Error
		if want == "" != (err == nil) || err != nil && (!errors.As(err, &e) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d: got %v", n, err)
		}
	}
	// What arrives is checked, inside other values too.
	v, err := Holder{Even{3}}.Spec().Assemble([]tenon.Value{Even{3}})
	if err != nil {
		t.Fatal(err)
	}
	if err := ext.Check(v); err == nil || !strings.Contains(err.Error(), "Inner: 3 is odd") {
		t.Errorf("got %v", err)
	}
	if err := ext.Check(nil); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("nil: %v", err)
	}
}

func TestNilFieldsAreErrors(t *testing.T) {
	x := Masked{} // a literal that nobody checked
	if _, err := x.Spec().Disassemble(Masked{tensor.Scalar(1.0), tensor.Scalar(true)}); err == nil {
		t.Error("a Value where the Spec has none")
	}
	full := Masked{tensor.Scalar(1.0), tensor.Scalar(true)}
	if _, err := full.Spec().Disassemble(x); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("got %v", err)
	}
	if _, err := tenon.Decode("ext_test.Masked", x.Spec().Encode()); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}

// hasty has a Spec method that does not expect a zero value.
type hasty struct{ X tensor.Tensor }

func (h hasty) Spec() tenon.Spec { return tensor.NewSpec(h.X.DType(), h.X.Shape()) }
