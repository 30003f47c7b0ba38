package nest_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// number returns a tensor that tests tell apart by its element.
func number(x int) tensor.Tensor { return tensor.Scalar(int64(x)) }

// plain prints a leaf.
func plain(x any) any {
	switch x := x.(type) {
	case *tensor.Dense:
		if x.Len() == 1 && x.DType() == dtype.Int64 {
			return int(tensor.Item[int64](x))
		}
		return x.Spec().(*tensor.Spec).String()
	case whole:
		return len(x.X)
	case tenon.Spec:
		return tenon.String(x)
	case tenon.Value:
		return x.Spec().TypeName()
	}
	return x
}

func plains(xs []any) []any {
	out := make([]any, len(xs))
	for i, x := range xs {
		out[i] = plain(x)
	}
	return out
}

type layer struct {
	W    tensor.Tensor
	B    tensor.Tensor `tenon:"name=bias"`
	Name string        `tenon:"static"`
	Mem  *int          `tenon:"-"`
	own  int
}

type model struct {
	layer  `tenon:"-"`
	Layers []*layer
	Scale  float64
	Steps  []int
	Extra  map[string]any
	Pair   [2]tenon.Value
}

type tuple []any

// couple is a Node with a static part.
type couple struct {
	l, r any
	tag  string
}

func (c couple) NestParts() []nest.Part {
	return []nest.Part{{Name: "left", Value: c.l}, {Value: c.r}}
}

func (c couple) NestPack(parts []any) (any, error) {
	if c.tag == "broken" {
		return nil, tenon.NewError(tenon.ErrUnsupported, "couple", "broken")
	}
	return couple{parts[0], parts[1], c.tag}, nil
}

type whole struct{ X []any }

func (whole) NestLeaf() {}

type names map[tag]tensor.Tensor
type tag string
type inner struct{ Embedded tensor.Tensor }
type Outer struct {
	inner `tenon:"-"`
}
type Shown struct{ X tensor.Tensor }
type embeds struct {
	Shown
	Y tensor.Tensor
}

func TestFlatten(t *testing.T) {
	var nothing *layer
	cases := []struct {
		name   string
		x      any
		leaves []any
		paths  []string
	}{
		{"nil", nil, []any{}, nil},
		{"a leaf", number(1), []any{1}, []string{""}},
		{"a scalar", 2.5, []any{2.5}, []string{""}},
		{"data", []any{[]float32{1, 2}, "s", [2]int{3, 4}}, []any{[]float32{1, 2}, "s", [2]int{3, 4}}, []string{"[0]", "[1]", "[2]"}},
		{"keys in the order of their bytes", map[string]any{"b": number(1), "B": number(2), "_": number(3), "": number(4)},
			[]any{4, 2, 3, 1}, []string{`[""]`, "B", "_", "b"}},
		{"named keys", names{"z": number(1), "y": number(2)}, []any{2, 1}, []string{"y", "z"}},
		{"integer keys by size", map[int8]tensor.Tensor{10: number(1), -3: number(2), 9: number(3)}, []any{2, 3, 1}, []string{"[-3]", "[9]", "[10]"}},
		{"unsigned keys", map[uint64]tensor.Tensor{math.MaxUint64: number(1), 3: number(2)}, []any{2, 1}, []string{"[3]", "[18446744073709551615]"}},
		{"slices of arrays", [][2]tensor.Tensor{{number(1), number(2)}, {nil, number(3)}}, []any{1, 2, 3}, []string{"[0][0]", "[0][1]", "[1][1]"}},
		{"nil", []any{nil, nothing, []tensor.Tensor(nil), (*tensor.Dense)(nil), number(1)}, []any{1}, []string{"[4]"}},
		{"a struct", layer{W: number(1), Name: "n", own: 3}, []any{1}, []string{"W"}},
		{"tags", &layer{W: number(1), B: number(2)}, []any{1, 2}, []string{"W", "bias"}},
		{"embedded", embeds{Shown{number(1)}, number(2)}, []any{1, 2}, []string{"Shown.X", "Y"}},
		{"embedded and left out", Outer{inner{number(1)}}, []any{}, nil},
		{"a model", model{Layers: []*layer{{W: number(1)}, nil, {B: number(2)}}, Scale: 3, Steps: []int{4}, Extra: map[string]any{"k v": number(5)}, Pair: [2]tenon.Value{number(6), nil}},
			[]any{1, 2, 3.0, []int{4}, 5, 6}, []string{"Layers[0].W", "Layers[2].bias", "Scale", "Steps", `Extra["k v"]`, "Pair[0]"}},
		{"a node", []any{couple{number(1), []any{number(2)}, "t"}}, []any{1, 2}, []string{"[0].left", "[0][1][0]"}},
		{"a declared leaf", []any{whole{[]any{number(1)}}}, []any{1}, []string{"[0]"}},
		{"specs", map[string]tenon.Spec{"s": tensor.NewSpec(dtype.Float32, shape.Of(2))}, []any{"float32[2]"}, []string{"s"}},
		{"a composite", []any{newPair(number(1), number(2), "p")}, []any{"nest_test.Pair"}, []string{"[0]"}},
	}
	for _, c := range cases {
		paths, leaves, err := nest.FlattenWithPaths(c.x, nest.Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if d := cmp.Diff(c.leaves, plains(leaves)); d != "" {
			t.Errorf("%s: leaves (-want +got)\n%s", c.name, d)
		}
		var texts []string
		for _, p := range paths {
			texts = append(texts, p.String())
		}
		if d := cmp.Diff(c.paths, texts); d != "" {
			t.Errorf("%s: paths (-want +got)\n%s", c.name, d)
		}
		again, err := nest.Flatten(c.x, nest.Options{})
		if err != nil || !reflect.DeepEqual(plains(again), plains(leaves)) {
			t.Errorf("%s: Flatten gives %v, %v", c.name, again, err)
		}
		back, err := nest.Pack(c.x, leaves, nest.Options{})
		if err != nil || !reflect.DeepEqual(back, c.x) {
			t.Errorf("%s: packed again it is %#v, %v", c.name, back, err)
		}
		if err := nest.Same(c.x, back, nest.Options{}); err != nil {
			t.Errorf("%s: not the same as itself: %v", c.name, err)
		}
	}
}

func TestPackKeepsTheTypeAndTheRest(t *testing.T) {
	mem := 7
	in := model{
		layer:  layer{own: 1, W: number(9)},
		Layers: []*layer{{W: number(1), Name: "a", Mem: &mem, own: 5}, nil},
		Scale:  2,
		Extra:  map[string]any{"n": nil, "l": tuple{number(3)}},
	}
	out, err := nest.Pack(in, []any{number(10), 0.5, []int(nil), number(30)}, nest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case out.own != 1 || out.W != in.W:
		t.Error("the embedded struct that is left out is not kept")
	case out.Layers[0] == in.Layers[0] || out.Layers[1] != nil:
		t.Error("pointers are not as in the template")
	case out.Layers[0].Name != "a" || out.Layers[0].Mem != &mem || out.Layers[0].own != 5:
		t.Error("static, ignored and unexported fields are not kept")
	case plain(out.Layers[0].W) != 10 || out.Scale != 0.5 || plain(out.Extra["l"].(tuple)[0]) != 30:
		t.Errorf("the leaves are not in place: %+v", out)
	}
	if x, ok := out.Extra["n"]; x != nil || !ok {
		t.Error("the key of nil is lost")
	}
	if plain(in.Layers[0].W) != 1 || in.Scale != 2 {
		t.Error("the template has changed")
	}
}

func TestPackAnyKeepsDynamicTypes(t *testing.T) {
	in := any(tuple{map[string]tensor.Tensor{"a": number(1)}, &Shown{number(2)}, [1]*Shown{{number(3)}}, 4})
	a, b, c := number(10), number(20), number(30)
	out, err := nest.Pack(in, []any{a, b, c, "forty"}, nest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := any(tuple{map[string]tensor.Tensor{"a": a}, &Shown{b}, [1]*Shown{{c}}, "forty"})
	if !reflect.DeepEqual(out, want) {
		t.Errorf("got %#v", out)
	}
}

func TestPackErrors(t *testing.T) {
	cases := []struct {
		name   string
		like   any
		leaves []any
		kind   error
		where  string
		text   string
	}{
		{"too few", []any{number(1), number(2)}, []any{number(1)}, tenon.ErrInvalid, "[1]", "only 1 leaves"},
		{"too many", []any{number(1)}, []any{number(1), number(2)}, tenon.ErrInvalid, "", "2 leaves, the structure has 1"},
		{"the wrong type in a field", map[string]Shown{"k": {number(1)}}, []any{3}, tenon.ErrDType, "k.X", "is a int"},
		{"the wrong type in a list", [][]tensor.Tensor{{number(0), number(1)}}, []any{number(1), 3}, tenon.ErrDType, "[0][1]", "int"},
		{"the wrong concrete type", []*tensor.Dense{number(1).(*tensor.Dense)}, []any{tensor.Of([]string{"s"})}, tenon.ErrDType, "[0]", "*tensor.Strings"},
		{"a node's own error", couple{number(1), number(2), "broken"}, []any{number(1), number(2)}, tenon.ErrUnsupported, "", "broken"},
		{"keys that have no order", map[float64]any{1: number(1)}, nil, tenon.ErrUnsupported, "", "float64"},
		{"a type inside that cannot be walked", []any{struct{ M map[bool]int }{}}, nil, tenon.ErrUnsupported, "[0].M", "bool"},
	}
	for _, c := range cases {
		_, err := nest.Pack(c.like, c.leaves, nest.Options{})
		var e *tenon.Error
		if !errors.As(err, &e) || e.Kind != c.kind || e.Where != c.where || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: got %v, want a %v at %q with %q", c.name, err, c.kind, c.where, c.text)
		}
	}
}

func TestSameErrors(t *testing.T) {
	one, two := any(number(1)), any(number(2))
	cases := []struct {
		name  string
		a, b  any
		o     nest.Options
		kind  error
		where string
	}{
		{"leaves of any kind", []any{one}, []any{"s"}, nest.Options{}, nil, ""},
		{"types of containers", []any{[]any{one}}, []any{tuple{one}}, nest.Options{}, tenon.ErrDType, "[0]"},
		{"types not checked", []any{[]any{one}}, []any{tuple{one}}, nest.Options{AnyTypes: true}, nil, ""},
		{"a list and a map", []any{one}, map[string]any{"a": one}, nest.Options{AnyTypes: true}, tenon.ErrDType, ""},
		{"lengths", map[string]any{"k": []any{one}}, map[string]any{"k": []any{one, two}}, nest.Options{}, tenon.ErrInvalid, "k"},
		{"keys", map[string]any{"a": one}, map[string]any{"b": one}, nest.Options{}, tenon.ErrInvalid, ""},
		{"more keys", map[string]any{"a": one}, map[string]any{"a": one, "b": two}, nest.Options{}, tenon.ErrInvalid, ""},
		{"deeper", []any{one}, []any{[]any{one}}, nest.Options{}, tenon.ErrInvalid, "[0]"},
		{"less deep", []any{[]any{one}}, []any{one}, nest.Options{}, tenon.ErrInvalid, "[0]"},
		{"nothing", []any{nil}, []any{one}, nest.Options{}, tenon.ErrInvalid, "[0]"},
		{"nothing in the second", []any{one}, []any{nil}, nest.Options{}, tenon.ErrInvalid, "[0]"},
		{"nothing in both", []any{nil}, []any{nil}, nest.Options{}, nil, ""},
		{"an array and a slice", [2]any{one, two}, []any{one, two}, nest.Options{AnyTypes: true}, nil, ""},
		{"static fields", layer{Name: "a"}, layer{Name: "b"}, nest.Options{}, tenon.ErrInvalid, "Name"},
		{"structs with the same fields", Shown{number(1)}, struct{ X any }{one}, nest.Options{AnyTypes: true}, nil, ""},
		{"structs with other fields", Shown{number(1)}, struct{ Z any }{one}, nest.Options{AnyTypes: true}, tenon.ErrDType, ""},
		{"a pointer and its struct", &Shown{number(1)}, Shown{number(1)}, nest.Options{AnyTypes: true}, nil, ""},
		{"nodes", couple{one, two, ""}, couple{one, []any{two}, ""}, nest.Options{}, tenon.ErrInvalid, "[1]"},
		{"composites", newPair(one, two, "p"), one, nest.Options{}, nil, ""},
		{"a composite and a tensor", newPair(one, two, "p"), one, nest.Options{Expand: true}, tenon.ErrInvalid, ""},
		{"composites with other static data", []any{newPair(one, two, "p")}, []any{newPair(one, two, "q")}, nest.Options{Expand: true}, tenon.ErrInvalid, "[0]"},
		{"composites whose shapes merge", newPair(one, two, "p"), newPair(one, tensor.Of([]int64{1}), "p"), nest.Options{Expand: true}, nil, ""},
		{"a composite and a Spec", newPair(one, two, "p"), newPair(one, two, "p").Spec(), nest.Options{Expand: true}, nil, ""},
	}
	for _, c := range cases {
		err := nest.Same(c.a, c.b, c.o)
		if c.kind == nil {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		var e *tenon.Error
		if !errors.As(err, &e) || e.Kind != c.kind || e.Where != c.where {
			t.Errorf("%s: got %v, want a %v at %q", c.name, err, c.kind, c.where)
		}
	}
}

func TestMap(t *testing.T) {
	add := func(l []any) (any, error) {
		return number(plain(l[0]).(int) + plain(l[1]).(int)), nil
	}
	a := map[string][]tensor.Tensor{"x": {number(1), number(2)}, "y": {number(3)}}
	b := map[string][]tensor.Tensor{"y": {number(30)}, "x": {number(10), number(20)}}
	got, err := nest.Map(add, nest.Options{}, a, b)
	if err != nil {
		t.Fatal(err)
	}
	if x := []any{plain(got["x"][0]), plain(got["x"][1]), plain(got["y"][0])}; !reflect.DeepEqual(x, []any{11, 22, 33}) {
		t.Errorf("got %v", x)
	}
	if _, err := nest.Map(add, nest.Options{}, a, map[string][]tensor.Tensor{"x": {number(1)}}); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("another structure: %v", err)
	}
	stop := errors.New("stop")
	if _, err := nest.Map(func([]any) (any, error) { return nil, stop }, nest.Options{}, a); err != stop {
		t.Errorf("the function's error became %v", err)
	}
}

func TestFlattenUpTo(t *testing.T) {
	shallow := map[string]any{"a": number(0), "b": []any{number(0)}}
	x := map[string]any{"a": []any{number(1), number(2)}, "b": []any{tuple{number(3)}}}
	got, err := nest.FlattenUpTo(shallow, x, nest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []any{x["a"], x["b"].([]any)[0]}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
	if _, err := nest.FlattenUpTo(shallow, []any{number(1)}, nest.Options{}); !errors.Is(err, tenon.ErrDType) {
		t.Errorf("a list below a map: %v", err)
	}
	if _, err := nest.FlattenUpTo([]any{number(1)}, []any{}, nest.Options{}); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("fewer elements: %v", err)
	}
	if _, err := nest.FlattenUpTo([]any{number(1)}, number(1), nest.Options{}); !errors.Is(err, tenon.ErrDType) {
		t.Errorf("a leaf where a list is: %v", err)
	}
}

func TestExpand(t *testing.T) {
	p := newPair(number(1), newPair(number(2), number(3), "in"), "out")
	x := map[string]any{"p": p, "a": number(0), "n": 5}
	paths, leaves, err := nest.FlattenWithPaths(x, nest.Options{Expand: true})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]any{0, 5, 1, 2, 3}, plains(leaves)); d != "" {
		t.Error(d)
	}
	if got := paths[3].String(); got != "p.b.a" {
		t.Errorf("the path to the second component's first is %s", got)
	}
	back, err := nest.Pack(x, []any{number(100), 50, number(10), number(20), number(30)}, nest.Options{Expand: true})
	if err != nil {
		t.Fatal(err)
	}
	q := back["p"].(*pair)
	if q.label != "out" || q.b.(*pair).label != "in" || plain(q.b.(*pair).b) != 30 || back["n"] != 50 {
		t.Errorf("got %+v", back)
	}
	specs := map[string]any{"p": p.Spec(), "a": tensor.NewSpec(dtype.Int64, shape.Of())}
	if back, err = nest.Pack(specs, []any{number(100), number(10), number(20), number(30)}, nest.Options{Expand: true}); err != nil {
		t.Fatal(err)
	}
	if q := back["p"].(*pair); plain(q.a) != 10 || q.label != "out" {
		t.Errorf("by Specs: got %+v", q)
	}
	flat, err := nest.Flatten(specs, nest.Options{Expand: true})
	if err != nil || len(flat) != 4 || plain(flat[2]) != "int64[]" {
		t.Errorf("the Specs of the components are %v, %v", flat, err)
	}
	_, err = nest.Pack(p, []any{number(1), number(2), tensor.Scalar("s")}, nest.Options{Expand: true})
	if !errors.Is(err, tenon.ErrDType) || !strings.Contains(err.Error(), "b: ") {
		t.Errorf("a component of a wrong type: %v", err)
	}
	if _, err = nest.Flatten([]any{tenon.Value((*pair)(nil)), broken{}}, nest.Options{Expand: true}); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("a value that comes apart wrongly: %v", err)
	}
}

func TestCyclesAndDepth(t *testing.T) {
	type node struct{ Next *node }
	loop := &node{}
	loop.Next = loop
	self := []any{nil}
	self[0] = self
	deep := any(number(1))
	for range 250 {
		deep = []any{deep}
	}
	for _, x := range []any{loop, self, deep} {
		_, err := nest.Flatten(x, nest.Options{})
		if !errors.Is(err, tenon.ErrInvalid) {
			t.Errorf("Flatten: %v", err)
		}
		if _, err = nest.Pack(x, []any{number(1)}, nest.Options{}); !errors.Is(err, tenon.ErrInvalid) {
			t.Errorf("Pack: %v", err)
		}
		if err = nest.Same(x, x, nest.Options{}); !errors.Is(err, tenon.ErrInvalid) {
			t.Errorf("Same: %v", err)
		}
		if len(err.Error()) > 400 {
			t.Errorf("the message is long: %d", len(err.Error()))
		}
	}
	chain := &node{}
	for range 50 {
		chain = &node{chain}
	}
	if out, err := nest.Pack(chain, nil, nest.Options{}); err != nil || !reflect.DeepEqual(out, chain) {
		t.Errorf("a recursive type: %v", err)
	}
}

func TestValueByPointerOnly(t *testing.T) {
	_, err := nest.Flatten(struct{ D tensor.Dense }{}, nest.Options{})
	if !errors.Is(err, tenon.ErrDType) || !strings.Contains(err.Error(), "hold a *tensor.Dense") {
		t.Errorf("got %v", err)
	}
}

func TestPlansAreSafeForConcurrentUse(t *testing.T) {
	type local struct {
		A []map[string]*local
		T tensor.Tensor
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			x := local{A: []map[string]*local{{"k": {T: number(1)}}}, T: number(2)}
			l, err := nest.Flatten(x, nest.Options{})
			if err != nil || len(l) != 2 {
				t.Errorf("got %v, %v", l, err)
			}
		})
	}
	wg.Wait()
}

// pair is a Value of two Values and a label.
type pair struct {
	a, b  tenon.Value
	label string
}

func newPair(a, b any, label string) *pair { return &pair{a.(tenon.Value), b.(tenon.Value), label} }

func (p *pair) Spec() tenon.Spec { return &pairSpec{p.a.Spec(), p.b.Spec(), p.label} }

type pairSpec struct {
	a, b  tenon.Spec
	label string
}

func (s *pairSpec) TypeName() string { return "nest_test.Pair" }
func (s *pairSpec) Encode() tenon.Encoding {
	return tenon.Tuple{tenon.SpecOf{Spec: s.a}, tenon.SpecOf{Spec: s.b}, tenon.Str(s.label)}
}
func (s *pairSpec) Components() []tenon.Field {
	return []tenon.Field{{Name: "a", Spec: s.a}, {Name: "b", Spec: s.b}}
}
func (s *pairSpec) Disassemble(v tenon.Value) ([]tenon.Value, error) {
	p := v.(*pair)
	return []tenon.Value{p.a, p.b}, nil
}
func (s *pairSpec) Assemble(c []tenon.Value) (tenon.Value, error) {
	if err := tenon.CheckComponents(s, c); err != nil {
		return nil, err
	}
	return &pair{c[0], c[1], s.label}, nil
}

func init() {
	tenon.Register("nest_test.Pair", func(e tenon.Encoding) (tenon.Spec, error) {
		t, err := tenon.Elems(e, 3)
		if err != nil {
			return nil, err
		}
		return &pairSpec{t[0].(tenon.SpecOf).Spec, t[1].(tenon.SpecOf).Spec, string(t[2].(tenon.Str))}, nil
	})
}

// broken is a Value that comes apart into more than its Spec says.
type broken struct{}

func (b broken) Spec() tenon.Spec { return brokenSpec{&pairSpec{}} }

type brokenSpec struct{ *pairSpec }

func (brokenSpec) Components() []tenon.Field { return nil }
func (brokenSpec) Disassemble(tenon.Value) ([]tenon.Value, error) {
	return []tenon.Value{number(1)}, nil
}
func (brokenSpec) TypeName() string { return "nest_test.Broken" }
