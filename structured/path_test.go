package structured_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// plainOf returns any value as nested Go data, nil where something is missing.
func plainOf(t testing.TB, v tensor.Tensor) any {
	t.Helper()
	switch x := v.(type) {
	case *structured.Tensor:
		if x.Rank() == 0 {
			m := rec{}
			for _, name := range x.FieldNames() {
				m[name] = plainOf(t, tenon.Must(x.Field(name)))
			}
			return m
		}
		out := make(list, known(x.NRows()))
		for i := range out {
			out[i] = plainOf(t, ops.Index(x, i))
		}
		return out
	case *masked.Tensor:
		values, mask := plainOf(t, x.Values()), plainOf(t, x.Mask())
		return hide(values, mask)
	case *ragged.Tensor:
		out := make(list, known(x.NRows()))
		splits, _ := x.Partition().Splits64()
		flat := plainOf(t, x.Values()).(list)
		for i := range out {
			out[i] = append(list{}, flat[splits[i]:splits[i+1]]...)
		}
		return out
	}
	if v.Shape().IsScalar() {
		return fmt.Sprint(scalarOf(v))
	}
	out := make(list, v.Shape().Dim(0))
	for i := range out {
		out[i] = plainOf(t, ops.Index(v, i))
	}
	return out
}

func hide(values, mask any) any {
	m, ok := mask.(list)
	if !ok {
		if mask == "true" {
			return values
		}
		return nil
	}
	out := list{}
	for i, v := range values.(list) {
		out = append(out, hide(v, m[i]))
	}
	return out
}

func known(n tensor.Tensor) int {
	c, _ := op.Known(n)
	v, _ := op.Ints(c)
	return v[0]
}

func scalarOf(v tensor.Tensor) any {
	switch x := v.(type) {
	case *tensor.Strings:
		return x.Slice()[0]
	case *tensor.Dense:
		switch x.DType() {
		case dtype.Float64:
			return tensor.Data[float64](x)[0]
		case dtype.Bool:
			return tensor.Data[bool](x)[0]
		case dtype.Float32:
			return tensor.Data[float32](x)[0]
		case dtype.Int8:
			return tensor.Data[int8](x)[0]
		case dtype.Int32:
			return tensor.Data[int32](x)[0]
		case dtype.Int64:
			return tensor.Data[int64](x)[0]
		}
	}
	return v
}

// shop has three customers: one without orders.
func shop(t testing.TB) *structured.Tensor {
	t.Helper()
	order := func(cat string, qty int, price float64, items ...any) rec {
		return rec{"cat": cat, "qty": qty, "price": price, "items": list(items)}
	}
	v, err := structured.FromNested(list{
		rec{"id": 1, "name": "Ada", "active": true, "geo": rec{"lat": 1.5, "lon": 2.0}, "tags": list{"new", "vip"},
			"orders": list{order("toys", 2, 10.0, 7, 8), order("books", 5, 3.5), order("toys", 1, 20.0, 9)}},
		rec{"id": 2, "name": "Bo", "active": false, "geo": rec{"lat": -1.0, "lon": 0.0}, "tags": list{}, "orders": list{}},
		rec{"id": 3, "name": "Cy", "active": true, "geo": rec{"lat": 0.5, "lon": 7.0}, "tags": list{"old"},
			"orders": list{order("books", 4, 8.0, 1)}},
	}, structured.NestedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := v.(*structured.Tensor)
	age := tenon.Must(masked.New([]int64{30, 0, 25}, []bool{true, false, true}))
	note := tenon.Must(masked.New(tensor.Of([]string{"fragile", "", "", "late"}), []bool{true, false, false, true}))
	orders := tenon.Must(s.Field("orders")).(*structured.Tensor)
	notes := tenon.Must(ragged.FromPartition(note, orders.RowPartitions()[0]))
	return tenon.Must(s.WithUpdates([]structured.Update{{Path: []string{"age"}, Value: age}, {Path: []string{"orders", "note"}, Value: notes}}))
}

var pathCases = []struct{ path, want string }{
	{"id", "[1 2 3]"},
	{"$.id", "[1 2 3]"},
	{"$[*].id", "[1 2 3]"},
	{"geo.lat", "[1.5 -1 0.5]"},
	{"geo['lat']", "[1.5 -1 0.5]"},
	{`"geo"."lat"`, "[1.5 -1 0.5]"},
	{"orders.price", "[[10 3.5 20] [] [8]]"},
	{"$[*].orders[*].price", "[[10 3.5 20] [] [8]]"},
	{"orders[0].price", "[10 <nil> 8]"},
	{"orders[-1].cat", "[toys <nil> books]"},
	{"orders[1].price", "[3.5 <nil> <nil>]"},
	{"orders[9].price", "[<nil> <nil> <nil>]"},
	{"orders[0].items", "[[7 8] <nil> [1]]"},
	{"orders[0].items[0]", "[7 <nil> 1]"},
	{"orders.items[0]", "[[7 <nil> 9] [] [1]]"},
	{"orders.items[-1]", "[[8 <nil> 9] [] [1]]"},
	{"orders[1:].price", "[[3.5 20] [] []]"},
	{"orders[::-1].price", "[[20 3.5 10] [] [8]]"},
	{"orders[-2:].items[:1]", "[[[] [9]] [] [[1]]]"},
	{"tags[0]", "[new <nil> old]"},
	{"tags[-1:]", "[[vip] [] [old]]"},
	{"age", "[30 <nil> 25]"},
	{"orders.note", "[[fragile <nil> <nil>] [] [late]]"},
	{"orders[0].note", "[fragile <nil> late]"},
	{"orders[2].note", "[<nil> <nil> <nil>]"},
	{"$[0].name", "Ada"},
	{"$[-1].orders.cat", "[books]"},
	{"$[0].orders[?@.qty > 1].cat", "[toys books]"},
	{"$[0].orders[0].cat", "toys"},
	{"$[1:].name", "[Bo Cy]"},
	{"$[::-1].name", "[Cy Bo Ada]"},
	{"$[::2].orders.qty", "[[2 5 1] [4]]"},
	{"$[?@.geo.lat > 0].name", "[Ada Cy]"},
	{"$[?@.geo.lat > 0 && @.name != 'Ada'].name", "[Cy]"},
	{"$[?@.id == 1 || @.id == 2].name", "[Ada Bo]"},
	{"$[?!(@.id == 1 || @.id == 2)].name", "[Cy]"},
	{"$[?@.active == true].id", "[1 3]"},
	{"$[?@.active].id", "[1 2 3]"},
	{"$[?@.age].id", "[1 3]"},
	{"$[?@.age == null].id", "[2]"},
	{"$[?@.age != null].id", "[1 3]"},
	{"$[?@.age < 40].id", "[1 3]"},
	{"$[?@.age != 30].id", "[2 3]"},
	{"$[?@.orders[?@.price > 9]].id", "[1]"},
	{"$[?@.orders].id", "[1 2 3]"},
	{"$[?@.orders[*]].id", "[1 3]"},
	{"$[?any(@.orders.price > 5)].id", "[1 3]"},
	{"$[?all(@.orders.price > 5)].id", "[2 3]"},
	{"$[?any(@.orders.items > 8)].id", "[1]"},
	{"$[?any(all(@.orders.qty >= 4))].id", "error"},
	{"$[?any(@.orders.qty == @.id)].id", "[1]"},
	{"$[?any(@.orders.price == @.orders.qty)].id", "[]"},
	{"$[?any(@.orders.price > @.orders.qty && @.active == true)].id", "[1 3]"},
	{"$[?length(@.orders) >= 1].id", "[1 3]"},
	{"$[?length(@.name) == 2].id", "[2 3]"},
	{"$[?count(@.orders[*]) == 3].id", "[1]"},
	{"$[?count(@.orders[?@.qty > 1]) == 2].id", "[1]"},
	{"$[?count(@.orders.items[*]) == 3].id", "[1]"},
	{"$[?match(@.name, '[AB].*')].id", "[1 2]"},
	{"$[?search(@.name, 'd')].id", "[1]"},
	{"$[?@.name >= 'Bo'].id", "[2 3]"},
	{"$[?@.orders[0].price == 10].id", "[1]"},
	{"$[?@.orders[0].price == null].id", "[2]"},
	{"$[?@.orders[0]].id", "[1 3]"},
	{"orders[?@.note].price", "[[10] [] [8]]"},
	{"orders[?@.note == 'late'].price", "[[] [] [8]]"},
	{"orders[?@.cat == 'toys'].items[*]", "[[[7 8] [9]] [] []]"},
	{"orders[?length(@.items) == 0].cat", "[[books] [] []]"},
	{"orders.items[?@ > 7]", "[[[8] [] [9]] [] [[]]]"},
	{"tags[?@ == 'vip']", "[[vip] [] []]"},
	{"orders['cat','qty']", "[[map[cat:toys qty:2] map[cat:books qty:5] map[cat:toys qty:1]] [] [map[cat:books qty:4]]]"},
	{"orders[?@.qty > 4]['cat','qty']", "[[map[cat:books qty:5]] [] []]"},
	{"$[?!@.age].id", "[2]"},
	{"$[?!any(@.orders.qty > 4)].id", "[2 3]"},
	{"$[?value(@.id) == 2].id", "[2]"},
	{"$[ ? @.id == 2 ] ['name']", "[Bo]"},
	{"orders[ 1 : 3 ].qty", "[[5 1] [] []]"},
	{"orders[?@.price >= 1e1].price", "[[10 20] [] []]"},
	{"orders[?@.price == 3.5].price", "[[3.5] [] []]"},
	{"orders[?@.qty != 4.5 && @.qty < 4.5].qty", "[[2 1] [] [4]]"},
	{"$[2].geo", "map[lat:0.5 lon:7]"},
	{"$[?@.id == 9].orders.price", "[]"},
	{" $ [ 0 ] . name ", "error"},
	{"$ [0] ['name']", "Ada"},
}

func TestPath(t *testing.T) {
	s := shop(t)
	for _, c := range pathCases {
		v, err := tenon.Try(func() tensor.Tensor { return s.Path(c.path) })
		if err != nil {
			if c.want != "error" {
				t.Errorf("%s: %v", c.path, err)
			}
			continue
		}
		if got := fmt.Sprint(plainOf(t, v)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.path, got, c.want)
		}
	}
}

// In a graph of records of any number the paths select the same.
func TestPathInGraphs(t *testing.T) {
	s := shop(t)
	for _, c := range pathCases {
		if c.want == "error" {
			continue
		}
		f := function.New(func(s *structured.Tensor) tensor.Tensor { return s.Path(c.path) })
		v, err := tenon.Try(func() tensor.Tensor { return f.Call(s) })
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		if got := fmt.Sprint(plainOf(t, v)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.path, got, c.want)
		}
	}
}

func TestPathErrors(t *testing.T) {
	s := shop(t)
	for path, c := range map[string]struct {
		kind error
		says string
	}{
		"nothing":                        {tenon.ErrNotFound, "nothing"},
		"orders[0].nothing":              {tenon.ErrNotFound, `no field "nothing"`},
		"":                               {tenon.ErrInvalid, ""},
		"$..price":                       {tenon.ErrInvalid, "descendants"},
		"id.x":                           {tenon.ErrNotFound, "not a structured field"},
		"id[0].x":                        {tenon.ErrInvalid, "not a list"},
		"id[0]":                          {tenon.ErrInvalid, "not a list"},
		"orders[0,1]":                    {tenon.ErrInvalid, "only names"},
		"orders['cat','cat']":            {tenon.ErrInvalid, "twice"},
		"orders[01]":                     {tenon.ErrInvalid, "not an index"},
		"orders[::0]":                    {tenon.ErrInvalid, "step"},
		"orders[":                        {tenon.ErrInvalid, "character 8"},
		"orders[?]":                      {tenon.ErrInvalid, "want a constant"},
		"orders[?@.qty]x":                {tenon.ErrInvalid, "unexpected"},
		"orders[?3]":                     {tenon.ErrInvalid, "not a condition"},
		"orders[?3 == 3]":                {tenon.ErrInvalid, "two constants"},
		"orders[?@.cat == 3]":            {tenon.ErrInvalid, "compared with"},
		"orders[?@ == 3]":                {tenon.ErrInvalid, "record"},
		"$[?@.orders.price > 1]":         {tenon.ErrInvalid, "any("},
		"$[?any(@.id > 1)]":              {tenon.ErrInvalid, "no lists here"},
		"$[?$.id == 1]":                  {tenon.ErrInvalid, "begin with @"},
		"$[?@.name == 'x]":               {tenon.ErrInvalid, "not terminated"},
		"$[?@.name == '\\q']":            {tenon.ErrInvalid, "not an escape"},
		"$[?@.active > false]":           {tenon.ErrInvalid, "no order"},
		"$[?match(@.id, 'x')]":           {tenon.ErrInvalid, "strings"},
		"$[7].id":                        {tenon.ErrRange, ""},
		"$[?!@.id == 1]":                 {tenon.ErrInvalid, "parentheses"},
		"$[?!!@.id]":                     {tenon.ErrInvalid, "parentheses"},
		"$[?value(@.id)]":                {tenon.ErrInvalid, "compare it"},
		"$[?length(@.id)]":               {tenon.ErrInvalid, "compare it"},
		"$[?length(@.id) == 1]":          {tenon.ErrInvalid, "lists and strings"},
		"$[?length (@.id) == 1]":         {tenon.ErrInvalid, "want a constant"},
		"$[?match(@.name, '[')]":         {tenon.ErrInvalid, ""},
		"$[?@.id == 1 == 2]":             {tenon.ErrInvalid, "want \"]\""},
		"$[?(@.id) == 1]":                {tenon.ErrInvalid, "want \"]\""},
		"$[?@.name == 'a\tb']":           {tenon.ErrInvalid, "control"},
		"$[?@.name == '\\\"']":           {tenon.ErrInvalid, "not an escape"},
		"$[-0].id":                       {tenon.ErrInvalid, "not an index"},
		"$[9007199254740992].id":         {tenon.ErrInvalid, "not an index"},
		"$[- 1].id":                      {tenon.ErrInvalid, "not an index"},
		"$. id":                          {tenon.ErrInvalid, "want a name"},
		"$id":                            {tenon.ErrInvalid, "unexpected"},
		"$[].id":                         {tenon.ErrInvalid, "want a name"},
		"$[?@.id == 1.]":                 {tenon.ErrInvalid, "not a number"},
		"$[?" + strings.Repeat("(", 200): {tenon.ErrInvalid, "nested deeper"},
	} {
		_, err := tenon.Try(func() tensor.Tensor { return s.Path(path) })
		if !errors.Is(err, c.kind) && path != "" || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %v with %q", path, err, c.kind, c.says)
		}
	}
}

func TestParsePath(t *testing.T) {
	for text, want := range map[string][]string{
		"":                          nil,
		"a":                         {"a"},
		"$.a.b":                     {"a", "b"},
		`a."b c"["d\"e"]['\u00e9']`: {"a", "b c", `d"e`, "é"},
		`["\ud83d\ude00"]`:          {"😀"},
		`a.""[""]`:                  {"a", "", ""},
		"größe.x_1":                 {"größe", "x_1"},
	} {
		got, err := structured.ParsePath(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"a[0]", "a[*]", "['a','b']", "a.", ".", "a b", `"\ud83d"`, "\xff"} {
		if got, err := structured.ParsePath(text); !errors.Is(err, tenon.ErrInvalid) {
			t.Errorf("%s: got %q, %v", text, got, err)
		}
	}
}

func FuzzPath(f *testing.F) {
	for _, c := range pathCases {
		f.Add(c.path)
	}
	f.Add(`$[?@.a == "\u00e9\ud83d\ude00" && !(@.b <= -1.5e-3)]['x', "y"]`)
	s := shop(f)
	f.Fuzz(func(t *testing.T, text string) {
		if names, err := structured.ParsePath(text); err == nil {
			again, err := structured.ParsePath(structured.PathString(names))
			if err != nil || !slices.Equal(names, again) {
				t.Errorf("%q: %q comes back as %q, %v", text, names, again, err)
			}
		}
		v, err := tenon.Try(func() tensor.Tensor { return s.Path(text) })
		if (v == nil) == (err == nil) {
			t.Errorf("%q: got %v and %v", text, v, err)
		}
		if err == nil && reflect.ValueOf(v).IsNil() {
			t.Errorf("%q: nil", text)
		}
	})
}

// With $ in front the dimensions of the records are lists like others.
func TestPathOfListsOfLists(t *testing.T) {
	orders := shop(t).Path("orders").(*structured.Tensor)
	for path, want := range map[string]string{
		"cat": "[[toys books toys] [] [books]]", "$.cat": "[[toys books toys] [] [books]]", "$[0].cat": "[toys books toys]", "$[0][1].cat": "books",
		"$[0][1:].qty": "[5 1]", "$[*][0].qty": "[2 <nil> 4]", "$[*][?@.qty > 1].cat": "[[toys books] [] [books]]", "$[2:][*].qty": "[[4]]",
		"$[0][?@.qty > 1][0].cat": "error", "$[0][-1].items[0]": "9", "$[?length(@) > 0].qty": "[[2 5 1] [4]]",
	} {
		v, err := tenon.Try(func() tensor.Tensor { return orders.Path(path) })
		if err != nil {
			if want != "error" {
				t.Errorf("%s: %v", path, err)
			}
			continue
		}
		if got := fmt.Sprint(plainOf(t, v)); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// Axes of a field stay axes, unless the path goes into them.
func TestPathOfVectors(t *testing.T) {
	s := columnOf(tensor.Of([]int64{1, 2, 3})).With("v", tensor.Of([]float64{1, 2, 3, 4, 5, 6}, 3, 2)).
		With("m", tenon.Must(masked.New(tensor.Of([]float64{1, 2, 3, 4, 5, 6}, 3, 2), []bool{true, false, true})))
	for path, want := range map[string]string{
		"$[?@.k > 1].v": "[[3 4] [5 6]] float64[2, 2]", "$[?any(@.v > 4)].k": "[3] int64[1]", "v[0]": "[1 3 5]", "v[1:]": "[[2] [4] [6]]", "$[?@.v[1] == 4].k": "[2] int64[1]",
		"$[?length(@.v) == 2].k": "[1 2 3] int64[3]", "$[?count(@.v[*]) == 2].k": "[1 2 3] int64[3]", "$[?@.m].k": "[1 3] int64[2]", "$[?@.k < 3].m": "[[1 2] <nil>]",
	} {
		for how, f := range map[string]func(*structured.Tensor) tensor.Tensor{
			"eager":  func(s *structured.Tensor) tensor.Tensor { return s.Path(path) },
			"traced": function.New(func(s *structured.Tensor) tensor.Tensor { return s.Path(path) }).Call,
		} {
			v, err := tenon.Try(func() tensor.Tensor { return f(s) })
			if err != nil {
				t.Errorf("%s, %s: %v", path, how, err)
				continue
			}
			got := fmt.Sprint(plainOf(t, v))
			if d, ok := v.(*tensor.Dense); ok && strings.Contains(want, "64") {
				got += " " + tenon.String(d.Spec())
			}
			if got != want {
				t.Errorf("%s, %s: got %s, want %s", path, how, got, want)
			}
		}
	}
}
