package structured_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/spectest"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/structured/gostruct"
	"github.com/tenonml/tenon/tensor"
)

var packages = list{
	rec{"id": 1, "deps": rec{"a": "1.0", "": "0.1"}, "users": rec{"x y": rec{"age": 3, "tags": list{"t"}}}},
	rec{"id": 2, "deps": rec{}, "users": rec{"ann": rec{"age": 4, "tags": list{}}, "bo": rec{"age": nil, "tags": list{"u", "v"}}}},
	rec{"id": 3, "deps": nil, "users": rec{}},
}

func packageMaps(t *testing.T) *structured.Tensor {
	return read(t, packages, structured.NestedOptions{Maps: []string{"deps", "users"}, Missing: structured.MissingMasked})
}

// written returns a value as text, with what is missing as nil.
func written(t *testing.T, v tensor.Tensor) string {
	t.Helper()
	s := tenon.Must(structured.FromFields([]structured.Field{{Name: "v", Value: v}}, shape.Shape{}, structured.Options{}))
	return sprint(plain(t, s).(rec)["v"])
}

func TestMapsRoundTrip(t *testing.T) {
	s := packageMaps(t)
	same(t, "itself", sprint(plain(t, s)), sprint(packages))
	same(t, "type", s.Spec().(*structured.Spec).Datashape(),
		"3 * {deps: ?map[string, string], id: int64, users: map[string, {age: ?int64, tags: var * string}]}")
	spectest.Laws(t, spectest.Options{}, s, s.Path("users"), ops.Index(s.Path("users"), 1))
	again := read(t, packages, structured.NestedOptions{Spec: s.Spec()})
	same(t, "by its Spec", sprint(plain(t, again)), sprint(packages))
	one := tenon.Must(structured.FromNested(rec{"b": 2, "a": 1}, structured.NestedOptions{Maps: []string{"$"}})).(*structured.Map)
	same(t, "a single map", written(t, one), "map[a:1 b:2]")
	same(t, "its keys", tensor.Data[string](one.Keys()), []string{"a", "b"})
	same(t, "a key of it", written(t, one.Lookup("b")), "2")
	same(t, "a key that it lacks", written(t, one.Lookup("c")), "<nil>")
}

func TestMapsByKey(t *testing.T) {
	s := packageMaps(t)
	for path, want := range map[string]string{
		"deps.a":                "[1.0 <nil> <nil>]",
		`deps[""]`:              "[0.1 <nil> <nil>]",
		`users["x y"].age`:      "[3 <nil> <nil>]",
		"users.bo.tags":         "[<nil> [u v] <nil>]",
		"users[*].age":          "[[3] [4 <nil>] []]",
		"users[?@.age > 3].age": "[[] [4] []]",
		"users.bo":              "[<nil> map[age:<nil> tags:[u v]] <nil>]",
	} {
		same(t, path, written(t, s.Path(path)), want)
	}
	same(t, "filter", written(t, s.Filter(`@.deps.a == "1.0"`).Path("id")), "[1]")
	same(t, "filter by a value", written(t, s.Filter(`any(@.users[*].age == 4)`).Path("id")), "[2]")
	users := s.Path("users").(*structured.Map)
	same(t, "keys", written(t, users.Keys()), "[[x y] [ann bo] []]")
	same(t, "lengths", tensor.Data[int64](users.Lengths()), []int64{1, 2, 0})
	f := function.New(func(s *structured.Tensor) tensor.Tensor { return s.Path("users.bo.tags") })
	same(t, "traced", written(t, f.Call(s)), "[<nil> [u v] <nil>]")
	spec := tenon.Must(s.Spec().(*structured.Spec).Field("users", "bo", "age"))
	if v := s.Path("users.bo.age"); !tenon.Compatible(v.Spec(), spec) {
		t.Errorf("the Spec of a key's field is %v, the value is %v", tenon.String(spec), tenon.String(v.Spec()))
	}
}

func TestMapsMove(t *testing.T) {
	s := packageMaps(t)
	m := s.Path("users").(*structured.Map)
	for what, c := range map[string]struct {
		v    tensor.Tensor
		want string
	}{
		"gather":  {ops.Gather(m, []int{2, 0}, 0), "[map[] map[x y:map[age:3 tags:[t]]]]"},
		"reverse": {ops.Index(ops.Reverse(m, 0), 0), "map[]"},
		"concat":  {ops.Concat([]tensor.Tensor{m, m}, 0).(*structured.Map).Lengths(), "[1 2 0 1 2 0]"},
		"slice":   {ops.Index(m, key.From(2)), "[map[]]"},
		"stack":   {ops.Stack([]tensor.Tensor{m, m}, 0).(*structured.Map).Lengths(), "[[1 2 0] [1 2 0]]"},
		"expand":  {ops.ExpandDims(m, -1).(*structured.Map).Lengths(), "[[1] [2] [0]]"},
		"equal":   {ops.Equal(m, m), "[true true true]"},
	} {
		same(t, what, written(t, c.v), c.want)
	}
	p := tenon.Must(ragged.PartitionFromRowLengths([]int{2, 2}, ragged.PartitionOptions{}))
	a := tenon.Must(structured.NewMap(p, []string{"x", "y", "x", "y"}, []int{1, 2, 3, 4}))
	b := tenon.Must(structured.NewMap(p, []string{"y", "x", "x", "y"}, []int{2, 1, 3, 5}))
	same(t, "equal in another order", written(t, ops.Equal(a, b)), "[true false]")
	r := tenon.Must(structured.FromFieldsAndRank([]structured.Field{{Name: "m", Value: a}}, 1, structured.Options{}))
	same(t, "in records", written(t, r.Filter("@.m.y > 2")), "[map[m:map[x:3 y:4]]]")
	_, err := structured.NewMap(p, []string{"x", "x", "x", "y"}, []int{1, 2, 3, 4})
	var e *tenon.Error
	if !errors.As(err, &e) || !errors.Is(err, tenon.ErrInvalid) || e.Where != "[0]" {
		t.Errorf("a key that is there twice: got %v", err)
	}
	spec := tenon.Must(structured.NewMapSpec(shape.Of(2), tensor.NewSpec(dtype.Int64, shape.Shape{})))
	if !tenon.Belongs(a, spec) {
		t.Errorf("%v does not belong to %v", a.Spec(), spec)
	}
	same(t, "the Spec of a value", tenon.String(spec.Value()), "int64[]")
}

func TestStructsWithMaps(t *testing.T) {
	type inner struct{ N int64 }
	type row struct {
		M map[string]inner
		K map[int]string
	}
	rows := []row{{map[string]inner{"b": {2}, "a": {1}}, map[int]string{3: "x"}}, {map[string]inner{}, map[int]string{}}}
	s := tenon.Must(gostruct.From(rows))
	same(t, "type", s.Spec().(*structured.Spec).Datashape(), "2 * {M: map[string, {N: int64}], K: map[int64, string]}")
	same(t, "back", tenon.Must(gostruct.To[row](s)), rows)
	// Lists of entries are read as maps too.
	same(t, "entries", tenon.Must(gostruct.To[row](s.With("M", s.Path("M").(*structured.Map).Entries()))), rows)
}

func TestFieldsWithoutAName(t *testing.T) {
	s := read(t, list{rec{"": 1, "a": rec{"": "x"}}, rec{"": 2, "a": rec{"": "y"}}}, structured.NestedOptions{})
	same(t, "fields", s.FieldNames(), []string{"", "a"})
	same(t, "a field", written(t, s.Path(`a[""]`)), "[x y]")
	same(t, "updates", plain(t, s.Rename(`""`, "n").With(`a[""]`, []int{5, 6}).Drop("n")), list{rec{"a": rec{"": int64(5)}}, rec{"a": rec{"": int64(6)}}})
	same(t, "path", structured.PathString([]string{"a", ""}), `a.""`)
	spectest.Laws(t, spectest.Options{}, s)
}

func sprint(x any) string { return fmt.Sprint(x) }

// Keys may be of any type whose values are single ones: such maps are lists of entries as plain data, and obey the laws of all Values.
func TestMapsWithKeysOfAnyType(t *testing.T) {
	parse := func(typ element.Type, texts ...string) tensor.Tensor { return tenon.Must(element.Parse(texts, typ)) }
	for name, keys := range map[string]tensor.Tensor{
		"int32":     tensor.Of([]int32{3, 1, 3}),
		"float64":   tensor.Of([]float64{0.5, -1, 0.5}),
		"bool":      tensor.Of([]bool{true, false, true}),
		"date":      parse(element.DateType, "2024-02-29", "1970-01-01", "2024-02-29"),
		"timestamp": parse(element.TimestampOf(time.Millisecond, "UTC"), "2024-02-29T10:11:12.001Z", "1970-01-01T00:00:00Z", "2024-02-29T10:11:12.001Z"),
		"decimal":   parse(element.DecimalOf(30, 2), "1.50", "-0.05", "1.50"),
		"uuid":      parse(element.UUIDType, "00000000-0000-4000-8000-000000000001", "00000000-0000-0000-0000-000000000000", "00000000-0000-4000-8000-000000000001"),
		"fixed[2]":  parse(element.FixedOf(2), "AAE=", "//8=", "AAE="),
		"string":    tensor.Of([]string{"a", "b", "a"}),
	} {
		p := tenon.Must(ragged.PartitionFromRowSplits([]int64{0, 2, 2, 3}, ragged.PartitionOptions{}))
		m, err := structured.NewMap(p, keys, []int64{10, 20, 30})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s := tenon.Must(structured.FromFields([]structured.Field{{Name: "m", Value: m}}, shape.Of(3), structured.Options{}))
		spectest.Laws(t, spectest.Options{}, s, m, ops.Index(m, 0))
		if _, ok := keys.(element.Tensor); !ok { // plain data are no elements
			again := read(t, plain(t, s), structured.NestedOptions{Spec: s.Spec()})
			same(t, name, sprint(plain(t, again)), sprint(plain(t, s)))
			same(t, name+": equal", tenon.Equal(again.Spec(), s.Spec()), true)
		}
		found := m.Lookup(ops.Index(keys, 0))
		same(t, name+": lookup", written(t, found), "[10 <nil> 30]")
		twice := tenon.Must(ragged.PartitionFromRowSplits([]int64{0, 3}, ragged.PartitionOptions{}))
		if _, err := structured.NewMap(twice, keys, []int64{10, 20, 30}); !errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), "2 times") {
			t.Errorf("%s: a key that stands twice: %v", name, err)
		}
		path := fmt.Sprintf("m[%q]", map[string]string{"int32": "3", "float64": "0.5", "bool": "true", "string": "a", "decimal": "1.50", "date": "2024-02-29",
			"timestamp": "2024-02-29T10:11:12.001Z", "uuid": "00000000-0000-4000-8000-000000000001", "fixed[2]": "AAE="}[name])
		if name == "fixed[2]" { // are compared as the bytes that they are
			continue
		}
		same(t, name+": path", written(t, s.Path(path)), "[10 <nil> 30]")
		if _, err := tenon.Try(func() tensor.Tensor { return s.Path("m.word") }); name != "string" && err == nil {
			t.Errorf("%s: a path to no key", name)
		}
	}
}
