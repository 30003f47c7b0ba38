package ext_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/spectest"
	"github.com/tenonml/tenon/tensor"
)

// Inner is static data inside of others.
type Inner struct {
	Names []string
	Note  string `tenon:"-"`
}

// Owner has static data of all kinds that a caller may change, and a field that belongs
// to one value only.
type Owner struct {
	V     tensor.Tensor
	Axes  []string
	Bytes []byte
	Table map[string]int
	P     *int
	Deep  []map[string][]Inner
	Pair  [2][]float64
	Parts []struct {
		W     tensor.Tensor
		Names []string
	}
	Note string `tenon:"-"`
}

func (x Owner) Spec() tenon.Spec { return ext.SpecOf(x) }

func init() { ext.Register[Owner]("ext_test.Owner") }

func owner(x float64, s string, n int) Owner {
	o := Owner{V: tensor.Of([]float64{x}), Axes: []string{s}, Bytes: []byte(s), Table: map[string]int{s: n}, P: &n,
		Deep: []map[string][]Inner{{s: {{Names: []string{s}}}}}, Pair: [2][]float64{{1}, {2}}}
	o.Parts = append(o.Parts, struct {
		W     tensor.Tensor
		Names []string
	}{tensor.Scalar(x), []string{s}})
	return o
}

func TestSpecsOwnTheirData(t *testing.T) {
	for name, change := range map[string]func(o Owner){
		"a slice":            func(o Owner) { o.Axes[0] = "other" },
		"bytes":              func(o Owner) { o.Bytes[0] ^= 1 },
		"a map":              func(o Owner) { o.Table["more"] = 1 },
		"a pointer":          func(o Owner) { *o.P++ },
		"a nested slice":     func(o Owner) { o.Deep[0]["x"][0].Names[0] = "other" },
		"a nested map":       func(o Owner) { o.Deep[0]["y"] = nil },
		"a slice in arrays":  func(o Owner) { o.Pair[1][0]++ },
		"beside a component": func(o Owner) { o.Parts[0].Names[0] = "other" },
	} {
		o := owner(1, "x", 1)
		s := o.Spec()
		text := tenon.Text(s)
		change(o)
		if got := tenon.Text(s); got != text {
			t.Errorf("%s that changes makes the Spec %s", name, got)
		}
		if tenon.Equal(o.Spec(), s) {
			t.Errorf("%s that changes leaves the value's Spec", name)
		}
		if fresh := owner(1, "x", 1).Spec(); !tenon.Equal(fresh, s) || tenon.Text(fresh) != text {
			t.Errorf("%s that changes makes an honest value's Spec %s", name, tenon.Text(fresh))
		}
	}
}

func TestValuesOwnTheirData(t *testing.T) {
	f := function.New(func(o Owner) Owner { o.V = ops.Neg(o.V); return o })
	first := f.Call(owner(1, "x", 1))
	first.Axes[0], first.Bytes[0], first.Table["more"], *first.P = "changed", 'c', 2, 7
	first.Deep[0]["x"][0].Names[0], first.Parts[0].Names[0] = "changed", "changed"
	second := f.Call(owner(1, "x", 1))
	if want := owner(-1, "x", 1); !tenon.Equal(second.Spec(), want.Spec()) {
		t.Errorf("what the owner of a result does to it reaches the next: %s", tenon.Text(second.Spec()))
	}
	spectest.Laws(t, spectest.Options{}, owner(1, "x", 1), owner(2, "y", 3))
}

func TestReusedSliceIsAnotherSignature(t *testing.T) {
	f := function.New(func(o Owner) tensor.Tensor {
		if o.Axes[0] == "neg" {
			return ops.Neg(o.V)
		}
		return o.V
	})
	names := make([]string, 1)
	for _, c := range []struct {
		name string
		want float64
	}{{"neg", -1}, {"pos", 1}, {"neg", -1}} {
		names[0] = c.name
		if got := tensor.Data[float64](f.Call(Owner{V: tensor.Of([]float64{1}), Axes: names}))[0]; got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestIgnoredFieldStaysWithItsValue(t *testing.T) {
	secret := owner(1, "x", 1)
	secret.Note, secret.Deep[0]["x"][0].Note = "secret", "secret"
	secret.Spec()
	plain := owner(2, "x", 1)
	f := function.New(func(o Owner) Owner { o.V = ops.Neg(o.V); return o })
	got := f.Call(plain)
	g := grad.Of(func(o Owner) tensor.Tensor { return ops.Sum(o.V) })(plain)
	st := tenon.Must(ext.Stack(secret, plain))
	for name, o := range map[string]Owner{"a function": got, "a gradient": g, "a batch": st, "a row": tenon.Must(ext.Row(st, 1))} {
		if o.Note != "" || o.Deep[0]["x"][0].Note != "" {
			t.Errorf("%s: the note of another value is %q, %q", name, o.Note, o.Deep[0]["x"][0].Note)
		}
	}
}

type kids struct {
	X    tensor.Tensor
	Kids []kids
	More map[string]kids
}

// Grove holds structs that hold themselves in slices and maps.
type Grove struct{ Root kids }

func (x Grove) Spec() tenon.Spec { return ext.SpecOf(x) }

// Node and Self hold Values that may be themselves.
type Node struct {
	X    tensor.Tensor
	Next *Node `tenon:"optional"`
}

func (x *Node) Spec() tenon.Spec { return ext.SpecOf(x) }

type Self struct {
	X    tensor.Tensor
	Kids []tenon.Value
}

func (x Self) Spec() tenon.Spec { return ext.SpecOf(x) }

type loop struct{ Next *loop }

type Looped struct {
	X tensor.Tensor
	L *loop
}

func (x Looped) Spec() tenon.Spec { return ext.SpecOf(x) }

func init() {
	ext.Register[Grove]("ext_test.Grove")
	ext.Register[*Node]("ext_test.Node")
	ext.Register[Self]("ext_test.Self")
	ext.Register[Looped]("ext_test.Looped")
}

func TestRecursiveTypes(t *testing.T) {
	x := tensor.Tensor(tensor.Of([]float64{1}))
	tree := Grove{kids{x, []kids{{X: x}, {X: x, Kids: []kids{{X: x}}}}, map[string]kids{"a": {X: x}}}}
	node := &Node{x, &Node{x, &Node{X: x}}}
	spectest.Laws(t, spectest.Options{}, tree, Grove{kids{X: x}}, node, &Node{X: x}, Self{x, []tenon.Value{Self{X: x}, node}}, Looped{x, &loop{&loop{}}})
	if got := tree.Spec().Components(); len(got) != 5 || got[2].Name != "Root.Kids[1].X" {
		t.Errorf("got %v", got)
	}
}

func TestCyclicValuesAreRefused(t *testing.T) {
	x := tensor.Tensor(tensor.Of([]float64{1}))
	ring := &Node{X: x}
	ring.Next = ring
	list := make([]tenon.Value, 1)
	self := Self{x, list}
	list[0] = self
	l := &loop{}
	l.Next = l
	many := make([]kids, 1)
	many[0] = kids{X: x, Kids: many}
	for name, c := range map[string]struct {
		v    tenon.Value
		path string
	}{
		"a pointer to itself":     {ring, "Next.Next"},
		"a slice that has itself": {self, "Kids[0].Kids[0]"},
		"static data":             {Looped{x, l}, "L.Next"},
		"structs":                 {Grove{kids{X: x, Kids: many}}, "Root.Kids[0]"},
	} {
		_, err := tenon.Try(func() tenon.Spec { return c.v.Spec() })
		var e *tenon.Error
		if !errors.As(err, &e) || !errors.Is(err, tenon.ErrInvalid) || !strings.HasPrefix(e.Where, c.path) || !strings.Contains(e.Msg, "contains itself") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// The Spec of a value that is nested 150 deep is made in the time of its size, whatever holds
// the inner ones.
func TestSpecIsLinear(t *testing.T) {
	x := tensor.Tensor(tensor.Of([]float64{1}))
	const depth = 150
	deep := map[string]tenon.Value{}
	self, node := Self{X: x}, &Node{X: x}
	for range depth {
		self, node = Self{x, []tenon.Value{self}}, &Node{x, node}
	}
	deep["in slices of Values"], deep["behind pointers"] = self, node
	for name, v := range deep {
		start := time.Now()
		for range 3 {
			v.Spec()
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s: three Specs take %v", name, took)
		}
	}
}

// Pointed has pointers to Values, which may point to nothing.
type Pointed struct {
	X    tensor.Tensor
	R    *ragged.Tensor `tenon:"optional"`
	Left *Pointed
	N    *Self
}

func (x Pointed) Spec() tenon.Spec { return ext.SpecOf(x) }

func init() { ext.Register[Pointed]("ext_test.Pointed") }

func TestNilPointersInSpecsAreReadBack(t *testing.T) {
	x := tensor.Tensor(tensor.Of([]float64{1}))
	r := ragged.FromSlices([][]float64{{1}, {2, 3}})
	for _, v := range []Pointed{{X: x}, {X: x, R: r}, {X: x, N: &Self{X: x}}, {x, r, &Pointed{X: x, Left: &Pointed{X: x}}, &Self{X: x}}} {
		back, err := tenon.ParseSpec(tenon.Text(v.Spec()))
		if err != nil || !tenon.Equal(back, v.Spec()) {
			t.Errorf("%v is read as %v, %v", tenon.Text(v.Spec()), back, err)
		}
		spectest.Laws(t, spectest.Options{}, v)
	}
}
