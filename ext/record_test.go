package ext_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/spectest"
	"github.com/tenonml/tenon/tensor"
)

// schema is a struct type as a file might describe it.
func schema() reflect.Type {
	field := func(k int, t reflect.Type, tag string) reflect.StructField {
		return reflect.StructField{Name: fmt.Sprintf("F%d", k), Type: t, Tag: reflect.StructTag(`tenon:"` + tag + `"`)}
	}
	return reflect.StructOf([]reflect.StructField{
		field(0, reflect.TypeFor[tensor.Tensor](), "name=x,dtype=float"),
		field(1, reflect.TypeFor[[]string](), "name=axes"),
		field(2, reflect.TypeFor[float64](), "name=rate,default=0.5"),
		field(3, reflect.TypeFor[map[string]tensor.Tensor](), "name=labels,shape=[n ...]"),
		field(4, reflect.TypeFor[*int](), "name=limit"),
	})
}

func TestDeclaredTypes(t *testing.T) {
	typ, err := ext.Declare("ext_test.Declared", schema())
	if err != nil {
		t.Fatal(err)
	}
	defer typ.Forget()
	if typ.Name() != "ext_test.Declared" || !reflect.DeepEqual(typ.Fields(), []string{"x", "axes", "rate", "labels", "limit"}) {
		t.Errorf("%s has the fields %v", typ.Name(), typ.Fields())
	}
	x, err := typ.New(map[string]any{"x": []float64{1, 2}, "axes": []string{"a"}, "labels": map[string]any{"b": []int64{1}}, "limit": 3})
	if err != nil {
		t.Fatal(err)
	}
	want := `Declared(x=[1. 2.] float64[2], axes=["a"], rate=0.5, labels={b: [1] int64[1]}, limit=3)`
	if x.String() != want {
		t.Errorf("prints as %s, want %s", x, want)
	}
	if v, err := x.Field("rate"); v != 0.5 || err != nil {
		t.Errorf("rate is %v, %v", v, err)
	}
	if _, err := x.Field("none"); !errors.Is(err, tenon.ErrNotFound) {
		t.Errorf("no such field: %v", err)
	}
	other := tenon.Must(typ.Make(map[string]any{"x": 1.5, "axes": nil, "labels": nil}))
	spectest.Laws(t, spectest.Options{}, x, other)
	f := function.New(func(r *ext.Record) tensor.Tensor { return ops.Mul(tenon.Must(r.Field("x")), 2) })
	if got := f.Call(x); !tensor.Equal(got, tensor.Vector([]float64{2, 4}), tensor.EqualOptions{}) {
		t.Errorf("got %v", got)
	}

	good := func(with string, v any) map[string]any {
		m := map[string]any{"x": []float64{1}, "axes": []string{}, "labels": map[string]any{}}
		m[with] = v
		return m
	}
	for name, c := range map[string]struct {
		fields map[string]any
		where  string
	}{
		"an int is no float":   {good("rate", 1), "rate: got the int 1"},
		"a field too many":     {good("more", 1), "more: there is no such field"},
		"a field too few":      {map[string]any{"x": 1.5}, "axes: the field is missing"},
		"elements of a list":   {good("axes", []any{"a", 2}), "axes[1]: got the int 2"},
		"no list":              {good("axes", "a"), "axes: got the string a"},
		"elements of a map":    {good("labels", map[string]any{"k": struct{}{}}), `labels["k"]: got a struct {}`},
		"no map":               {good("labels", 1), "labels: got the int 1"},
		"behind a pointer":     {good("limit", "x"), "limit: got the string x"},
		"another element type": {good("x", []int64{1}), "x: is int64, want a float type"},
	} {
		_, err := typ.New(c.fields)
		var e *tenon.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.where) {
			t.Errorf("%s: got %v, want %q", name, err, c.where)
		}
	}
	if _, err := ext.Declare("ext_test.Declared", schema()); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("a name twice: %v", err)
	}
	if _, err := ext.Declare("ext_test.X", reflect.TypeFor[int]()); !errors.Is(err, tenon.ErrUnsupported) {
		t.Errorf("no struct: %v", err)
	}
}

// TestCustomSpec gives the Spec of a type methods of its own.
func TestCustomSpec(t *testing.T) {
	x := Wide{tensor.Vector([]float32{1, 2}), 7}
	s, ok := x.Spec().(WideSpec)
	if !ok || s.Width() != 2 || s.Scale() != 7 {
		t.Fatalf("got a %T", x.Spec())
	}
	batch, err := s.Batched(3)
	if err != nil {
		t.Fatal(err)
	}
	if b, ok := batch.(WideSpec); !ok || b.Tensor("A").Shape().String() != "[3, 2]" {
		t.Errorf("the batch is a %T, %v", batch, batch)
	}
	spectest.Laws(t, spectest.Options{}, x, Wide{tensor.Vector([]float32{1}), 7})
}

// Wide has a Spec with methods.
type Wide struct {
	A tensor.Tensor
	N int
}

func (x Wide) Spec() tenon.Spec { return ext.SpecOf(x) }

// WideSpec is the Spec of a Wide.
type WideSpec struct{ *ext.Spec }

func (s WideSpec) Width() int { return s.Tensor("A").Shape().Dim(-1) }

func (s WideSpec) Scale() int {
	n, _ := s.Static("N")
	return n.(int)
}

func init() {
	ext.Register[Wide]("ext_test.Wide", ext.Options{Spec: func(s *ext.Spec) tenon.Spec { return WideSpec{s} }})
}
