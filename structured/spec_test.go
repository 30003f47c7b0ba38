package structured_test

import (
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/spectest"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func TestLaws(t *testing.T) {
	grid, err := structured.FromFields([]structured.Field{
		{Name: "x", Value: tensor.Of([]int64{1, 2, 3, 4, 5, 6}, 2, 3)},
		{Name: "y", Value: tensor.Of([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 2, 3, 2)},
	}, shape.Of(2, 3), structured.Options{})
	if err != nil {
		t.Fatal(err)
	}
	spectest.Laws(t, spectest.Options{},
		people(t), tenon.Must(people(t).Field("pets")), nested(t, rec{"a": 1, "b": list{1, 2}}), grid,
		nested(t, list{rec{}, rec{}}), nested(t, rec{}), nested(t, list{list{rec{"a": 1}}, list{}}), nested(t, list{rec{"b": rec{"c": "d"}}}))
}

func TestSpecFields(t *testing.T) {
	line := func(s tenon.Spec, err error) string {
		if err != nil {
			return err.Error()
		}
		return tenon.String(s)
	}
	dense := func(dims ...int) tenon.Spec { return tensor.NewSpec(dtype.Int32, shape.Of(dims...)) }
	rows := func(rank int, dims ...int) tenon.Spec {
		return tenon.Must(ragged.NewSpec(dtype.Int32, shape.Of(dims...), rank, dtype.Int64))
	}
	of := func(s shape.Shape, fields ...tenon.Field) (*structured.Spec, error) {
		return structured.NewSpec(s, fields)
	}
	for _, c := range []struct {
		name  string
		field tenon.Spec
		shape shape.Shape
		want  string // of the field, as the Spec has it
	}{
		{"a single record", dense(3), shape.Of(), "int32[3]"},
		{"rows", dense(-1, 2), shape.Of(4), "int32[4, 2]"},
		{"rows that the field knows", dense(4, 2), shape.Of(-1), "int32[4, 2]"},
		{"ragged records", rows(1, 2, -1, 5), shape.Of(2, -1), "int32[2, ~, 5]"},
		{"ragged below the records", rows(2, -1, -1, -1), shape.Of(2, -1), "int32[2, ~, ~]"},
		{"a grid", dense(2, 3, 4), shape.Of(-1, -1), "int32[2, 3, 4]"},
		{"a grid of unknown size", dense(-1, -1, 4), shape.Of(-1, 3), "int32[?, 3, 4]"},
		{"ragged rows of a grid", rows(1, 2, -1, 3), shape.Of(2, -1, 3), "int32[2, ~, 3]"},
	} {
		s, err := of(c.shape, tenon.Field{Name: "f", Spec: c.field})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := line(s.Field("f")); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		again, err := structured.NewSpec(s.Shape(), s.Fields())
		if err != nil || !tenon.Equal(s, again) {
			t.Errorf("%s: made again it is %v, %v; want %v", c.name, again, err, s)
		}
	}
}

func TestSpecsWithoutRegardToOrder(t *testing.T) {
	ab := nested(t, list{rec{"a": 1, "b": "x"}})
	ba, err := structured.FromFields([]structured.Field{{Name: "b", Value: tenon.Must(ab.Field("b"))}, {Name: "a", Value: tenon.Must(ab.Field("a"))}}, shape.OfRank(1), structured.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !tenon.Subtype(ba.Spec(), ab.Spec()) || !tenon.Compatible(ba.Spec(), ab.Spec()) {
		t.Errorf("%v and %v are not related", ba.Spec(), ab.Spec())
	}
	parts, err := ab.Spec().Disassemble(ba)
	if err != nil {
		t.Fatal(err)
	}
	v, err := ab.Spec().Assemble(parts)
	if err != nil || !v.(*structured.Tensor).Equal(ab) {
		t.Errorf("got %v, %v", v, err)
	}
}
