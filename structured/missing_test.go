package structured_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/spectest"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// gaps are records with fields of each kind that lack some.
var gaps = list{
	rec{"n": 1, "s": "x", "l": list{1, 2}, "r": rec{"a": 1.5, "b": list{true}}},
	rec{"n": nil, "l": nil},
	rec{"s": nil, "r": nil},
	rec{"n": 4, "s": "y", "l": list{}, "r": rec{"a": 2.5, "b": list{}}},
}

func read(t *testing.T, x any, o structured.NestedOptions) *structured.Tensor {
	t.Helper()
	v, err := structured.FromNested(x, o)
	if err != nil {
		t.Fatal(err)
	}
	return v.(*structured.Tensor)
}

func plain(t *testing.T, v tenon.Value) any {
	t.Helper()
	x, err := v.(*structured.Tensor).ToNested()
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// row returns a record as ToNested writes it.
func row(n, s, l, r any) rec { return rec{"n": n, "s": s, "l": l, "r": r} }

var (
	full0 = row(int64(1), "x", list{int64(1), int64(2)}, rec{"a": 1.5, "b": list{true}})
	full3 = row(int64(4), "y", list{}, rec{"a": 2.5, "b": list{}})
)

func TestMissing(t *testing.T) {
	m := read(t, gaps, structured.NestedOptions{Missing: structured.MissingMasked})
	want := list{full0, row(nil, nil, nil, nil), row(nil, nil, nil, nil), full3}
	same(t, "masked", plain(t, m), want)
	spectest.Laws(t, spectest.Options{}, m, ops.Index(m, 1))

	a := tenon.Must(m.Field("r", "a")).(*masked.Tensor)
	same(t, "the field of missing records", tensor.Data[bool](a.Mask()), []bool{true, false, false, true})
	n := tenon.Must(m.Field("n"))
	same(t, "the sum of what is there", tensor.Item[int64](ops.Sum(n)), int64(5))

	same(t, "gather", plain(t, ops.Gather(m, []int{3, 1}, 0)), list{want[3], want[1]})
	same(t, "concat", plain(t, ops.Concat([]tensor.Tensor{m, m}, 0)), append(append(list{}, want...), want...))
	same(t, "a row", plain(t, ops.Index(m, 2)), want[2])
	same(t, "rows", plain(t, ops.Index(m, key.Range(3, nil, -2))), list{want[3], want[1]})
	same(t, "stack", plain(t, ops.Stack([]tensor.Tensor{m, m}, 0)), list{want, want})
	same(t, "reshape", plain(t, ops.Reshape(m, []int{2, 2})), list{list{want[0], want[1]}, list{want[2], want[3]}})

	grid := ops.Reshape(m, []int{2, 2}).(*structured.Tensor)
	same(t, "a field of a grid", tensor.Data[bool](tenon.Must(grid.Field("n")).(*masked.Tensor).Mask()), []bool{true, false, false, true})
	same(t, "a row of a grid", plain(t, ops.Index(grid, 1)), list{want[2], want[3]})
	spectest.Laws(t, spectest.Options{}, grid)

	none := ops.Index(m, key.To(0))
	same(t, "records where there were none", tensor.Data[bool](tenon.Must(ragged.PadMissing(none, 2, 0, ragged.PadOptions{})).(*masked.Tensor).Mask()), []bool{false, false})
	if _, err := none.(*structured.Tensor).AtNumbers(tenon.Must(masked.New([]int64{0}, []bool{true}))); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("a record that there is not: got %v", err)
	}

	d := read(t, gaps, structured.NestedOptions{Missing: structured.MissingDefault, Defaults: map[string]any{"s": "none", "r.a": -1.0}})
	zero := row(int64(0), "none", list{}, rec{"a": -1.0, "b": list{}})
	zero["r"].(rec)["a"] = 0.0 // what a missing record holds is zero, whatever its fields' defaults are
	same(t, "defaults", plain(t, d), list{full0, row(int64(0), "none", list{}, zero["r"]), row(int64(0), "none", list{}, zero["r"]), full3})

	e := read(t, list{rec{"l": list{1}}, rec{"l": nil}, rec{}}, structured.NestedOptions{Missing: structured.MissingEmpty})
	same(t, "empty", plain(t, e), list{rec{"l": list{int64(1)}}, rec{"l": list{}}, rec{"l": list{}}})

	for _, o := range []structured.NestedOptions{{}, {Missing: structured.MissingEmpty}} {
		_, err := structured.FromNested(list{rec{"a": rec{"b": 1}}, rec{"a": rec{"b": nil}}}, o)
		var e *tenon.Error
		if !errors.As(err, &e) || !errors.Is(err, tenon.ErrInvalid) || e.Where != "a.b[1]" {
			t.Errorf("null: got %v", err)
		}
	}
}

func TestChangesOfWhatMayBeMissing(t *testing.T) {
	s := read(t, list{
		rec{"r": rec{"a": 1, "l": list{rec{"x": list{1, 2}}, rec{"x": list{3}}}}}, rec{"r": nil}, rec{"r": rec{"a": 3, "l": list{}}},
	}, structured.NestedOptions{Missing: structured.MissingMasked})
	up := tenon.Must(s.WithUpdates([]structured.Update{
		{Path: []string{"r", "a"}, Func: func(x tensor.Tensor) (tensor.Tensor, error) { return ops.Mul(x, 10), nil }},
		{Path: []string{"r", "l"}},
	}))
	same(t, "updates", plain(t, up), list{rec{"r": rec{"a": int64(10)}}, rec{"r": nil}, rec{"r": rec{"a": int64(30)}}})
	all := tenon.Must(s.Promote([]string{"r", "l", "x"}, "xs"))
	r := plain(t, all).(list)
	same(t, "promoted", r[0].(rec)["r"].(rec)["xs"], list{int64(1), int64(2), int64(3)})
	same(t, "promoted from what is missing", r[1].(rec)["r"], nil)
	out := tenon.Must(s.Promote([]string{"r", "a"}, "a"))
	same(t, "promoted through what is missing", plain(t, out.At(1)).(rec)["a"], nil)
	same(t, "promoted through what is there", plain(t, out.At(2)).(rec)["a"], int64(3))
}

func TestNullsInLists(t *testing.T) {
	v, err := structured.FromNested(list{list{1, nil}, list{}, list{3}}, structured.NestedOptions{Missing: structured.MissingMasked})
	if err != nil {
		t.Fatal(err)
	}
	m, ok := v.(*masked.Tensor)
	if !ok {
		t.Fatalf("got the %T %v", v, v)
	}
	same(t, "sums", tensor.Data[int64](ops.Sum(m, 1)), []int64{1, 0, 3})
	all := read(t, list{rec{"a": nil}, rec{"a": nil}}, structured.NestedOptions{Missing: structured.MissingMasked})
	same(t, "nothing but nulls", plain(t, all), list{rec{"a": nil}, rec{"a": nil}})
}

func TestUnions(t *testing.T) {
	data := list{
		rec{"v": 1, "w": list{"a", 2}},
		rec{"v": "one", "w": list{}},
		rec{"v": list{true, false}, "w": list{rec{"x": 1}}},
		rec{"v": 2, "w": list{nil}},
	}
	if _, err := structured.FromNested(data, structured.NestedOptions{}); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("without unions: got %v", err)
	}
	u := read(t, data, structured.NestedOptions{Unions: true, Missing: structured.MissingMasked})
	want := list{
		rec{"v": int64(1), "w": list{"a", int64(2)}},
		rec{"v": "one", "w": list{}},
		rec{"v": list{true, false}, "w": list{rec{"x": int64(1)}}},
		rec{"v": int64(2), "w": list{nil}},
	}
	same(t, "itself", plain(t, u), want)
	same(t, "gather", plain(t, ops.Gather(u, []int{2, 0}, 0)), list{want[2], want[0]})
	same(t, "concat", plain(t, ops.Concat([]tensor.Tensor{u, u}, 0)), append(append(list{}, want...), want...))
	same(t, "a row", plain(t, ops.Index(u, -1)), want[3])
	v := tenon.Must(u.Field("v")).(*structured.Union)
	same(t, "variants", v.Variants(), []string{"number", "string", "list"})
	same(t, "tags", tensor.Data[int8](v.Tags()), []int8{0, 1, 2, 0})
	numbers := tenon.Must(v.Variant("number"))
	same(t, "the sum of the numbers", tensor.Item[int64](ops.Sum(numbers)), int64(3))
	spectest.Laws(t, spectest.Options{}, u, v)
	if _, err := structured.NewUnion([]int{0, 2}, []structured.Field{{Name: "a", Value: tensor.Of([]int64{1, 2})}}); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("a tag without a variant: got %v", err)
	}
}

func TestDictionaries(t *testing.T) {
	data := list{rec{"c": "red", "l": list{"a", "b"}}, rec{"c": "blue", "l": list{}}, rec{"c": "red", "l": list{"b"}}}
	s := read(t, data, structured.NestedOptions{Dictionaries: true})
	same(t, "itself", plain(t, s), data)
	c := tenon.Must(s.Field("c")).(*structured.Dictionary)
	same(t, "codes", tensor.Data[int32](c.Codes()), []int32{0, 1, 0})
	same(t, "equal", tensor.Data[bool](ops.Equal(c, "red")), []bool{true, false, true})
	same(t, "gather", plain(t, ops.Gather(s, []int{1, 2}, 0)), list{data[1], data[2]})
	same(t, "concat", plain(t, ops.Concat([]tensor.Tensor{s, s}, 0)), append(append(list{}, data...), data...))
	same(t, "data", tensor.Data[string](c), []string{"red", "blue", "red"})
	spectest.Laws(t, spectest.Options{}, s, c)
	if _, err := structured.NewDictionary([]int{0, 3}, []string{"a"}); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("a code without a word: got %v", err)
	}
}

// What is moved of several dictionaries has the words of all; a Spec does not say how many there are.
func TestDictionariesOfOtherWords(t *testing.T) {
	of := func(words ...string) *structured.Dictionary {
		return tenon.Must(structured.EncodeStrings(tensor.Of(words, len(words))))
	}
	a, b, none := of("x", "y", "x"), of("z", "y"), of()
	for _, c := range []struct {
		got   tensor.Tensor
		words []string
		data  []string
	}{
		{ops.Concat([]tensor.Tensor{a, none, b}, 0), []string{"x", "y", "z"}, []string{"x", "y", "x", "z", "y"}},
		{ops.Stack([]tensor.Tensor{b, of("y", "y")}, 0), []string{"z", "y"}, []string{"z", "y", "y", "y"}},
		{ops.Where([]bool{true, false, true}, a, of("q", "r", "s")), []string{"x", "y", "q", "r", "s"}, []string{"x", "r", "x"}},
	} {
		d, ok := c.got.(*structured.Dictionary)
		if !ok {
			t.Errorf("%v is no dictionary", c.got)
			continue
		}
		same(t, "words", tensor.Data[string](d.Words()), c.words)
		same(t, "data", tensor.Data[string](d), c.data)
	}
	if one, other := of("x", "y").Spec(), of("z", "z").Spec(); !tenon.Equal(one, other) {
		t.Errorf("the Specs %v and %v differ", one, other)
	}
}

func TestOrderOfFields(t *testing.T) {
	s := read(t, list{structured.Record{{"z", 1}, {"a", 2}}, structured.Record{{"a", 3}, {"z", 4}}}, structured.NestedOptions{})
	same(t, "names", s.FieldNames(), []string{"z", "a"})
	same(t, "values", plain(t, s), list{rec{"z": int64(1), "a": int64(2)}, rec{"z": int64(4), "a": int64(3)}})
}

func TestOptionalFieldsOfASpec(t *testing.T) {
	opt := tenon.Must(masked.NewSpec(tensor.NewSpec(dtype.Int32, shape.Of(-1)), -1))
	words := structured.NewDictionarySpec(shape.Of(-1))
	spec, err := structured.NewSpec(shape.Of(-1), []tenon.Field{{Name: "n", Spec: opt}, {Name: "w", Spec: words}})
	if err != nil {
		t.Fatal(err)
	}
	s := read(t, list{rec{"n": 1, "w": "a"}, rec{"n": nil, "w": "b"}, rec{"w": "a"}}, structured.NestedOptions{Spec: spec})
	same(t, "read", plain(t, s), list{rec{"n": int32(1), "w": "a"}, rec{"n": nil, "w": "b"}, rec{"n": nil, "w": "a"}})
	if !tenon.Belongs(s, spec) {
		t.Errorf("%v does not belong to %v", s.Spec(), spec)
	}
	_, err = structured.FromNested(list{rec{"n": 1, "w": nil}}, structured.NestedOptions{Spec: spec})
	if !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("a null in a field that is not optional: got %v", err)
	}
}
