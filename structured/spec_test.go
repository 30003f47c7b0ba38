package structured_test

import (
	"errors"
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

func TestSpecsMade(t *testing.T) {
	dense := func(dims ...int) tenon.Spec { return tensor.NewSpec(dtype.Int32, shape.Of(dims...)) }
	field := func(name string, s tenon.Spec) tenon.Field { return tenon.Field{Name: name, Spec: s} }
	for _, c := range []struct {
		name   string
		shape  shape.Shape
		fields []tenon.Field
		kind   error
		where  string
	}{
		{"an unknown rank", shape.UnknownRank, nil, tenon.ErrDType, ""},
		{"another number of rows", shape.Of(2), []tenon.Field{field("a", dense(2)), field("b", dense(3))}, tenon.ErrInvalid, "b"},
		{"another size", shape.Of(2, 3), []tenon.Field{field("a", dense(2, 4))}, tenon.ErrInvalid, "a"},
		{"too few dimensions", shape.Of(2, 3), []tenon.Field{field("a", dense(2))}, tenon.ErrInvalid, "a"},
		{"a name twice", shape.Of(2), []tenon.Field{field("a", dense(2)), field("a", dense(2))}, tenon.ErrInvalid, "a"},
		{"a name that is no text", shape.Of(2), []tenon.Field{field("\xff", dense(2))}, tenon.ErrInvalid, ""},
		{"no Spec", shape.Of(2), []tenon.Field{field("a", nil)}, tenon.ErrInvalid, ""},
	} {
		_, err := structured.NewSpec(c.shape, c.fields)
		var e *tenon.Error
		if !errors.As(err, &e) || !errors.Is(err, c.kind) || e.Where != c.where {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
	open := tenon.Must(structured.SpecFromFieldsAndRank([]tenon.Field{field("a", dense(-1, -1, 5))}, 2))
	s, err := open.WithShape(shape.Of(2, 3))
	if err != nil || s.Datashape() != "2 * 3 * {a: 5 * int32}" {
		t.Errorf("with a shape: got %v, %v", s, err)
	}
	if _, err := s.WithShape(shape.Of(2, 4)); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("with a shape that contradicts: got %v", err)
	}
	sizes := tenon.Must(ragged.ShapeFromLengths([]any{2, []int{3, 1}}, ragged.ShapeOptions{}))
	bare, err := structured.SpecFromShape(sizes.Spec().(*ragged.ShapeSpec))
	if err != nil || !tenon.Belongs(tenon.Must(structured.FromShape(sizes)), bare) {
		t.Errorf("of a shape: got %v, %v", bare, err)
	}
	same(t, "leaves", nested(t, rec{"a": rec{"b": 1, "c": list{}}, "d": "x"}).Spec().(*structured.Spec).Leaves()[1].Path, []string{"a", "c"})
	if _, err := structured.SpecOf(list{1, 2}); !errors.Is(err, tenon.ErrDType) {
		t.Errorf("of no records: got %v", err)
	}
	merged, ok := tenon.Merge(nested(t, list{rec{"a": 1}}).Spec(), nested(t, list{rec{"a": 1}, rec{"a": 2}}).Spec())
	if !ok || structured.Datashape(merged) != "? * {a: int64}" {
		t.Errorf("merged: got %v, %v", merged, ok)
	}
}
