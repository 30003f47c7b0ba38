package structured_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

type (
	rec  = map[string]any
	list = []any
)

func people(t *testing.T) *structured.Tensor {
	t.Helper()
	return nested(t, list{
		rec{"name": "Ada", "pets": list{rec{"age": 3}, rec{"age": 5}}},
		rec{"name": "Bo", "pets": list{}},
		rec{"name": "Cy", "pets": list{rec{"age": 7}}},
	})
}

func nested(t *testing.T, x any) *structured.Tensor {
	t.Helper()
	v, err := structured.FromNested(x, structured.NestedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return v.(*structured.Tensor)
}

func wantNested(t *testing.T, what string, got any, want any) {
	t.Helper()
	s, ok := got.(*structured.Tensor)
	if !ok {
		t.Fatalf("%s: got a %T", what, got)
	}
	x, err := s.ToNested()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if w := tenon.Must(nested(t, want).ToNested()); !reflect.DeepEqual(x, w) {
		t.Errorf("%s: got %v, want %v", what, x, w)
	}
}

func TestOperations(t *testing.T) {
	p := people(t)
	ada := rec{"name": "Ada", "pets": list{rec{"age": 3}, rec{"age": 5}}}
	bo := rec{"name": "Bo", "pets": list{}}
	cy := rec{"name": "Cy", "pets": list{rec{"age": 7}}}
	wantNested(t, "itself", p, list{ada, bo, cy})
	wantNested(t, "gather", ops.Gather(p, []int{2, 0}, 0), list{cy, ada})
	wantNested(t, "reverse", ops.Reverse(p, 0), list{cy, bo, ada})
	wantNested(t, "concat", ops.Concat([]tensor.Tensor{p, p}, 0), list{ada, bo, cy, ada, bo, cy})
	wantNested(t, "index", ops.Index(p, key.From(1)), list{bo, cy})
	wantNested(t, "at", ops.Index(p, -1), cy)
	wantNested(t, "expand", ops.ExpandDims(p, 1), list{list{ada}, list{bo}, list{cy}})
}

func TestPartitionsAreShared(t *testing.T) {
	p := people(t)
	pets := tenon.Must(p.Field("pets")).(*structured.Tensor)
	age := tenon.Must(p.Field("pets", "age")).(*ragged.Tensor)
	if pets.RowPartitions()[0] != age.Partition() {
		t.Error("the field has a partition of its own")
	}
	up, err := p.Promote([]string{"pets", "age"}, "ages")
	if err != nil {
		t.Fatal(err)
	}
	got := tenon.Must(tenon.Must(up.Field("ages")).(*ragged.Tensor).Nested())
	if want := (list{list{int64(3), int64(5)}, list{}, list{int64(7)}}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSpecRoundTrip(t *testing.T) {
	for _, v := range []*structured.Tensor{people(t), tenon.Must(people(t).Field("pets")).(*structured.Tensor), nested(t, rec{"a": 1}), nested(t, list{rec{}, rec{}})} {
		s := v.Spec()
		back, err := tenon.Decode(s.TypeName(), s.Encode())
		if err != nil || !tenon.Equal(s, back) {
			t.Errorf("%v came back as %v, %v", s, back, err)
		}
		parts, err := s.Disassemble(v)
		if err != nil {
			t.Fatal(err)
		}
		again, err := s.Assemble(parts)
		if err != nil {
			t.Fatal(err)
		}
		if !again.(*structured.Tensor).Equal(v) {
			t.Errorf("got %v, want %v", again, v)
		}
	}
}

func TestErrors(t *testing.T) {
	two := structured.Field{Name: "x", Value: tensor.Of([]int64{1, 2})}
	three := structured.Field{Name: "y", Value: tensor.Of([]int64{1, 2, 3})}
	_, disagree := structured.FromFields([]structured.Field{two, three}, shape.OfRank(1), structured.Options{})
	_, missing := structured.FromNested(list{rec{"a": 1}, rec{}}, structured.NestedOptions{})
	_, null := structured.FromNested(list{rec{"a": nil}}, structured.NestedOptions{})
	_, absent := people(t).Field("pets", "size")
	_, clash := people(t).WithUpdates([]structured.Update{{Path: []string{"pets"}}, {Path: []string{"pets", "age"}}})
	for _, c := range []struct {
		name string
		err  error
		kind error
	}{
		{"fields of different lengths", disagree, tenon.ErrInvalid},
		{"a missing field", missing, tenon.ErrNotFound},
		{"null", null, tenon.ErrInvalid},
		{"an unknown path", absent, tenon.ErrNotFound},
		{"a parent and its child", clash, tenon.ErrInvalid},
	} {
		if !errors.Is(c.err, c.kind) {
			t.Errorf("%s: got %v, want %v", c.name, c.err, c.kind)
		}
	}
}
