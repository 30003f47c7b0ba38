package named_test

import (
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/spectest"
	"github.com/tenonml/tenon/tensor"
)

func TestLaws(t *testing.T) {
	x := count(Seq{}.Of(2), Rep{}.Of(3))
	deep := ragged.FromSlices([][]float32{{1, 2}, {}, {3}})
	spectest.Laws(t, spectest.Options{},
		x,
		named.Order(x, Rep{}, Seq{}),
		count(Seq{}.Of(3), Rep{}.Of(3)),
		count(Seq{}.Of(0)),
		count(),
		named.Zeros(dtype.Int32, named.Dynamic("a name of a file").Of(2)),
		named.Of([]string{"a", "b"}, Seq{}),
		named.Rename[Seq, named.Rows](x),
		named.Rename[Rep, named.Rows](x),
		named.Of(deep, Batch{}, Token{}),
	)
}

func TestSpec(t *testing.T) {
	inner := tensor.NewSpec(dtype.Float32, shape.Of(2, shape.Unknown))
	s, err := named.NewSpec(inner, Seq{}, Rep{})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.String(); got != "float32{Seq:2 Rep:?}" {
		t.Errorf("got %s", got)
	}
	for name, f := range map[string]func() error{
		"too few":     func() error { _, err := named.NewSpec(inner, Seq{}); return err },
		"twice":       func() error { _, err := named.NewSpec(inner, Seq{}, Seq{}); return err },
		"no tensor":   func() error { _, err := named.NewSpec(s, Seq{}, Rep{}); return err },
		"rank open":   func() error { _, err := named.NewSpec(tensor.NewSpec(dtype.Bool, shape.UnknownRank)); return err },
		"rows inside": func() error { _, err := named.NewSpec(inner, Seq{}, named.Rows{}); return err },
		"nil":         func() error { _, err := named.NewSpec(inner, nil, Seq{}); return err },
	} {
		if err := f(); err == nil {
			t.Errorf("%s: is accepted", name)
		}
	}
}

// Another order of storage is another Spec, but a cast leads from one to the other.
func TestOrderIsCast(t *testing.T) {
	x := count(Seq{}.Of(2), Rep{}.Of(3))
	y := named.Order(x, Rep{}, Seq{})
	a, b := x.Spec().(*named.Spec), y.Spec().(*named.Spec)
	if tenon.Equal(a, b) || tenon.Compatible(a, b) {
		t.Error("the order plays no part in Specs")
	}
	m, ok := a.CastSpec(b)
	if !ok || !tenon.Equal(m, a) {
		t.Errorf("the Spec to cast to is %v", m)
	}
	v, err := a.Cast(y)
	if err != nil || !tensor.Equal(v, x, tensor.EqualOptions{}) {
		t.Errorf("cast: %v, %v", v, err)
	}
	if _, err := a.Cast(tensor.Of([]float64{1})); err == nil {
		t.Error("a tensor without names is cast")
	}
	if _, ok := a.CastSpec(named.Rename[Rep, Foo](y).Spec()); ok {
		t.Error("other names are cast")
	}
}
