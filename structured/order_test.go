package structured_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

var towns = list{
	rec{"state": "b", "size": 3, "name": "v"},
	rec{"state": "a", "size": 1, "name": "w"},
	rec{"state": "b", "size": 1, "name": "x"},
	rec{"state": "a", "size": nil, "name": "y"},
	rec{"state": "a", "size": 2, "name": "z"},
}

func names(t *testing.T, v tenon.Value) string {
	t.Helper()
	return fmt.Sprint(nestedOf(t, tenon.Must(v.(*structured.Tensor).Field("name"))))
}

func TestSort(t *testing.T) {
	s := read(t, towns, structured.NestedOptions{Missing: structured.MissingMasked})
	by := func(path string, descending bool) structured.By {
		return structured.By{Path: []string{path}, Descending: descending}
	}
	for _, c := range []struct {
		by   []structured.By
		want string
	}{
		{[]structured.By{by("name", true)}, "[z y x w v]"},
		{[]structured.By{by("size", false)}, "[w x z v y]"},
		{[]structured.By{by("size", true)}, "[v z w x y]"},
		{[]structured.By{by("state", false), by("size", false)}, "[w z y x v]"},
		{[]structured.By{by("state", true), by("size", true)}, "[v x z w y]"},
	} {
		got, err := s.Sort(0, c.by...)
		if err != nil {
			t.Fatal(err)
		}
		if names(t, got) != c.want {
			t.Errorf("by %v: got %s, want %s", c.by, names(t, got), c.want)
		}
		order := tenon.Must(s.ArgSort(-1, c.by...))
		if x := names(t, ops.Gather(s, order, 0)); x != c.want {
			t.Errorf("by the positions of %v: got %s, want %s", c.by, x, c.want)
		}
	}

	pick := ops.Gather(s, tensor.Of([]int64{4, 0, 1, 2, 3, 1}, 2, 3), 0).(*structured.Tensor)
	same(t, "rows of a grid", names(t, tenon.Must(pick.Sort(1, by("size", false)))), "[[w z v] [x w y]]")
	same(t, "columns of a grid", names(t, tenon.Must(pick.Sort(0, by("size", false)))), "[[x v w] [z y w]]")
	groups := tenon.Must(s.Sort(0, by("state", false)))
	parted, err := structured.FromFields([]structured.Field{{Name: "name", Value: tenon.Must(groups.Field("name"))}}, shape.OfRank(1), structured.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows := tenon.Must(parted.PartitionOuterDimension(tenon.Must(ragged.PartitionFromRowLengths([]int{3, 2}, ragged.PartitionOptions{}))))
	same(t, "ragged rows", names(t, tenon.Must(rows.Sort(-1, by("name", true)))), "[[z y w] [x v]]")
	same(t, "by all fields", names(t, ops.Sort(rows, 1, ops.SortOptions{})), "[[w y z] [v x]]")

	if _, err := s.Sort(1, by("name", false)); !errors.Is(err, tenon.ErrAxis) {
		t.Errorf("an axis that is not there: got %v", err)
	}
	if _, err := s.Sort(0); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("no field: got %v", err)
	}
	if _, err := s.Sort(0, by("nom", false)); !errors.Is(err, tenon.ErrNotFound) {
		t.Errorf("an unknown field: got %v", err)
	}
	lists := nested(t, list{rec{"l": list{1, 2}}})
	if _, err := lists.Sort(0, by("l", false)); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("by lists: got %v", err)
	}
}

func TestShuffle(t *testing.T) {
	s := structOf(t, tensor.Of([]int64{0, 1, 2, 3, 4, 5, 6, 7}))
	a, err := s.Shuffle(ops.RandomKey(7))
	if err != nil {
		t.Fatal(err)
	}
	again := tenon.Must(s.Shuffle(ops.RandomKey(7)))
	other := tenon.Must(s.Shuffle(ops.RandomKey(8)))
	if !a.Equal(again) || a.Equal(other) || a.Equal(s) {
		t.Errorf("got %v, again %v, with another key %v", a, again, other)
	}
	if back := tenon.Must(a.Sort(0, structured.By{Path: []string{"id"}})); !back.Equal(s) {
		t.Errorf("sorted again it is %v", back)
	}
}

func TestUnique(t *testing.T) {
	n := tensor.Of([]int64{4, 1, 4, 3, 1, 1})
	values, inverse, counts, first := ops.Unique(structOf(t, n))
	want, wantInverse, wantCounts, wantFirst := ops.Unique(n)
	same(t, "values", plain(t, values), plain(t, structOf(t, want)))
	same(t, "inverse", tensor.Data[int64](inverse), tensor.Data[int64](wantInverse))
	same(t, "counts", tensor.Data[int64](counts), tensor.Data[int64](wantCounts))
	same(t, "first", tensor.Data[int64](first), tensor.Data[int64](wantFirst))
	// Lists differ by where they end, and what is missing differs from zero.
	odd := read(t, list{
		rec{"l": list{list{1}, list{2}}, "n": nil, "u": "1"}, rec{"l": list{list{1, 2}}, "n": nil, "u": "1"},
		rec{"l": list{list{1}, list{2}}, "n": 0, "u": "1"}, rec{"l": list{list{1}, list{2}}, "n": nil, "u": 1},
		rec{"l": list{list{1}, list{2}}, "n": nil, "u": "1"},
	}, structured.NestedOptions{Missing: structured.MissingMasked, Unions: true, Dictionaries: true})
	_, inverse, _, _ = ops.Unique(odd)
	same(t, "lists, gaps and unions", tensor.Data[int64](inverse), []int64{0, 1, 2, 3, 0})
	_, inverse, _, _ = ops.Unique(nested(t, list{rec{}, rec{}}))
	same(t, "no fields", tensor.Data[int64](inverse), []int64{0, 0})
	if _, err := tenon.Try(func() any { v, _, _, _ := ops.Unique(structOf(t, tensor.Of([]int64{1, 2}, 1, 2))); return v }); !errors.Is(err, tenon.ErrShape) {
		t.Errorf("a grid: got %v", err)
	}
}

func TestEqualOperation(t *testing.T) {
	for kind, n := range numbers(t) {
		other := n
		if !n.Shape().IsScalar() {
			other = ops.Reverse(n, -1)
		}
		a, b := structOf(t, n), structOf(t, other)
		same(t, kind, nestedOf(t, ops.Equal(a, b)), nestedOf(t, ops.Equal(n, other)))
		same(t, kind+", not", nestedOf(t, ops.NotEqual(a, b)), nestedOf(t, ops.NotEqual(n, other)))
		one := structOf(t, tensor.Scalar(int64(3)))
		same(t, kind+", one", nestedOf(t, ops.Equal(one, b)), nestedOf(t, ops.Equal(tensor.Scalar(int64(3)), other)))
		same(t, kind+", other way", nestedOf(t, ops.Equal(b, one)), nestedOf(t, ops.Equal(other, tensor.Scalar(int64(3)))))
	}
	nan := nested(t, list{rec{"x": list{math.NaN()}}, rec{"x": list{}}})
	same(t, "NaN", tensor.Data[bool](ops.Equal(nan, nan)), []bool{false, true})
	if _, err := tenon.Try(func() any { return ops.Equal(nan, nested(t, list{rec{"y": list{}}, rec{"y": list{}}})) }); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("other fields: got %v", err)
	}
	if _, err := tenon.Try(func() any { return ops.Equal(nan, ops.Index(nan, key.From(1))) }); err == nil {
		t.Error("other sizes: got no error")
	}
}

func TestPad(t *testing.T) {
	s := read(t, list{rec{"a": 1, "b": "x", "l": list{1}, "r": list{rec{"c": true}}, "m": nil}, rec{"a": 2, "b": "y", "l": list{}, "r": list{}, "m": 5}},
		structured.NestedOptions{Missing: structured.MissingMasked})
	zero := rec{"a": int64(0), "b": "", "l": list{}, "r": list{}, "m": nil}
	x, y := plain(t, ops.Index(s, 0)), plain(t, ops.Index(s, 1))
	same(t, "zeros", plain(t, ops.Pad(s, [][]int{{1, 2}}, ops.PadOptions{})), list{zero, x, y, zero, zero})
	same(t, "a record", plain(t, ops.Pad(s, [][]int{{0, 1}}, ops.PadOptions{Value: ops.Index(s, 0)})), list{x, y, x})
	same(t, "mirrored", plain(t, ops.Pad(s, [][]int{{0, 1}}, ops.PadOptions{Mode: ops.PadReflect})), list{x, y, x})
	grid := ops.Reshape(s, []int{1, 2})
	same(t, "a grid", plain(t, ops.Pad(grid, [][]int{{1, 0}, {0, 1}}, ops.PadOptions{})), list{list{zero, zero, zero}, list{x, y, zero}})
	if _, err := tenon.Try(func() any { return ops.Pad(s, [][]int{{0, 1}}, ops.PadOptions{Value: 3}) }); !errors.Is(err, tenon.ErrDType) {
		t.Errorf("a number: got %v", err)
	}
}
