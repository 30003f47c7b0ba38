package structured_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
	"pgregory.net/rapid"
)

// Each operation gives the same on data and in a graph.
var fieldCases = map[string]struct {
	f    func(s *structured.Tensor) tensor.Tensor
	want string
}{
	"select": {func(s *structured.Tensor) tensor.Tensor { return s.Select("name", "id") }, "[map[id:1 name:Ada] map[id:2 name:Bo] map[id:3 name:Cy]]"},
	"select nested": {func(s *structured.Tensor) tensor.Tensor {
		return s.Select("orders.qty", "geo.lat", "orders.cat").Path("$[2]")
	}, "map[geo:map[lat:0.5] orders:[map[cat:books qty:4]]]"},
	"select several": {func(s *structured.Tensor) tensor.Tensor { return s.Select("orders['qty','cat']").Path("$[2]") }, "map[orders:[map[cat:books qty:4]]]"},
	"select twice":   {func(s *structured.Tensor) tensor.Tensor { return s.Select("geo.lat", "geo").Path("$[1]") }, "map[geo:map[lat:-1 lon:0]]"},
	"drop": {func(s *structured.Tensor) tensor.Tensor {
		return s.Drop("orders", "tags", "geo.lat", "age").Path("$[0]")
	}, "map[active:true geo:map[lon:2] id:1 name:Ada]"},
	"rename": {func(s *structured.Tensor) tensor.Tensor {
		return s.Select("id", "geo").Rename("geo.lat", "y").Rename("id", "key").Path("$[0]")
	}, "map[geo:map[lon:2 y:1.5] key:1]"},
	"rename in lists": {func(s *structured.Tensor) tensor.Tensor { return s.Rename("orders.qty", "n").Path("orders.n") }, "[[2 5 1] [] [4]]"},
	"with": {func(s *structured.Tensor) tensor.Tensor {
		return s.Select("id").With("double", ops.Mul(s.Path("id"), 2))
	}, "[map[double:2 id:1] map[double:4 id:2] map[double:6 id:3]]"},
	"with in lists": {func(s *structured.Tensor) tensor.Tensor {
		return s.With("orders.total", ops.Mul(ops.Cast(s.Path("orders.qty"), s.Path("orders.price").DType()), s.Path("orders.price"))).Path("orders.total")
	}, "[[20 17.5 20] [] [32]]"},
	"apply": {func(s *structured.Tensor) tensor.Tensor {
		return s.Apply("orders.price", func(v tensor.Tensor) tensor.Tensor { return ops.Mul(v, 2.0) }).Path("orders.price")
	}, "[[20 7 40] [] [16]]"},
	"map": {func(s *structured.Tensor) tensor.Tensor { return doubled(s).Path("$[2]") }, "map[geo:map[lat:1 lon:14] id:6 orders:[map[price:16 qty:8]]]"},
	"broadcast": {func(s *structured.Tensor) tensor.Tensor {
		return s.Broadcast("id", "orders", "owner").Path("orders['owner','qty']")
	}, "[[map[owner:1 qty:2] map[owner:1 qty:5] map[owner:1 qty:1]] [] [map[owner:3 qty:4]]]"},
	"broadcast record": {func(s *structured.Tensor) tensor.Tensor {
		return s.Broadcast("geo", "orders", "at").Path("orders.at.lat")
	}, "[[1.5 1.5 1.5] [] [0.5]]"},
	"where": {func(s *structured.Tensor) tensor.Tensor {
		return s.Where(ops.Greater(s.Path("geo.lat"), 0.0)).Path("name")
	}, "[Ada Cy]"},
	"where missing": {func(s *structured.Tensor) tensor.Tensor { return s.Where(ops.Less(s.Path("age"), 28)).Path("id") }, "[3]"},
	"where any": {func(s *structured.Tensor) tensor.Tensor {
		return s.Where(ops.Any(ops.Greater(s.Path("orders.price"), 9.0), -1)).Path("id")
	}, "[1]"},
	"where in lists": {func(s *structured.Tensor) tensor.Tensor {
		return s.Path("orders").(*structured.Tensor).Where(ops.Greater(s.Path("orders.qty"), 1)).Path("cat")
	}, "[[toys books] [] [books]]"},
	"where lists": {func(s *structured.Tensor) tensor.Tensor {
		return s.Path("orders").(*structured.Tensor).Where(s.Path("active")).Path("qty")
	}, "[[2 5 1] [4]]"},
	"filter": {func(s *structured.Tensor) tensor.Tensor {
		return s.Filter("@.geo.lat > 0 && any(@.orders.qty == 4)").Path("name")
	}, "[Cy]"},
	"filter in lists": {func(s *structured.Tensor) tensor.Tensor {
		return s.Path("orders").(*structured.Tensor).Filter("@.qty > 1").Path("cat")
	}, "[[toys books] [] [books]]"},
	"flatten": {func(s *structured.Tensor) tensor.Tensor {
		return s.Select("id", "tags").Flatten(structured.DropEmpty, "tags")
	}, "[map[id:1 tags:new] map[id:1 tags:vip] map[id:3 tags:old]]"},
	"flatten keep": {func(s *structured.Tensor) tensor.Tensor {
		return s.Select("id", "tags").Flatten(structured.KeepEmpty, "tags")
	}, "[map[id:1 tags:new] map[id:1 tags:vip] map[id:2 tags:<nil>] map[id:3 tags:old]]"},
	"flatten records": {func(s *structured.Tensor) tensor.Tensor {
		return s.Flatten(structured.DropEmpty, "orders").Path("orders.cat")
	}, "[toys books toys books]"},
	"flatten optional": {func(s *structured.Tensor) tensor.Tensor {
		return s.Flatten(structured.KeepEmpty, "orders").Path("orders.price")
	}, "[10 3.5 20 <nil> 8]"},
	"flatten parents": {func(s *structured.Tensor) tensor.Tensor {
		return s.Flatten(structured.DropEmpty, "orders").Path("geo.lat")
	}, "[1.5 1.5 1.5 0.5]"},
	"flatten twice": {func(s *structured.Tensor) tensor.Tensor {
		return s.Flatten(structured.DropEmpty, "orders").Flatten(structured.DropEmpty, "orders.items").Path("orders.items")
	}, "[7 8 9 1]"},
	"flatten in lists": {func(s *structured.Tensor) tensor.Tensor {
		return s.Path("orders").(*structured.Tensor).Flatten(structured.DropEmpty, "items").Path("$[*]['cat','items']")
	}, "[[map[cat:toys items:7] map[cat:toys items:8] map[cat:toys items:9]] [] [map[cat:books items:1]]]"},
	"side by side": {func(s *structured.Tensor) tensor.Tensor {
		return s.With("copy", s.Path("tags")).Flatten(structured.DropEmpty, "tags", "copy").Path("$[*]['tags','copy']")
	}, "[map[copy:new tags:new] map[copy:vip tags:vip] map[copy:old tags:old]]"},
	"unflatten": {func(s *structured.Tensor) tensor.Tensor { return s.Select("id").Unflatten([]int{2, 0, 1}) }, "[[map[id:1] map[id:2]] [] [map[id:3]]]"},
	"zip": {func(s *structured.Tensor) tensor.Tensor {
		return structured.Zip(2, structured.Field{Name: "id", Value: s.Path("id")}, structured.Field{Name: "qty", Value: s.Path("orders.qty")})
	}, "[[map[id:1 qty:2] map[id:1 qty:5] map[id:1 qty:1]] [] [map[id:3 qty:4]]]"},
	"regrouped": {func(s *structured.Tensor) tensor.Tensor {
		return s.Select("id", "tags").Flatten(structured.DropEmpty, "tags").GroupBy("id").Aggregate(structured.List("tags"))
	}, "[map[id:1 tags:[new vip]] map[id:3 tags:[old]]]"},
	"group of orders": {func(s *structured.Tensor) tensor.Tensor {
		return s.Flatten(structured.DropEmpty, "orders").GroupBy("orders.cat").Aggregate(structured.Sum("orders.qty"))
	}, "[map[cat:toys qty:3] map[cat:books qty:9]]"},
}

func doubled(s *structured.Tensor) *structured.Tensor {
	return s.MapFields(func(path []string, v tensor.Tensor) tensor.Tensor {
		if !v.DType().IsNumeric() || path[0] == "age" || path[len(path)-1] == "items" {
			return nil
		}
		return ops.Mul(v, 2)
	})
}

func TestFields(t *testing.T) {
	s := shop(t)
	for name, c := range fieldCases {
		for how, f := range map[string]func(*structured.Tensor) tensor.Tensor{"eager": c.f, "traced": function.New(c.f).Call} {
			v, err := tenon.Try(func() tensor.Tensor { return f(s) })
			if err != nil {
				t.Errorf("%s, %s: %v", name, how, err)
				continue
			}
			if got := fmt.Sprint(plainOf(t, v)); got != c.want {
				t.Errorf("%s, %s: got %s, want %s", name, how, got, c.want)
			}
		}
	}
}

func TestUntouchedFieldsAreShared(t *testing.T) {
	s := shop(t)
	for name, u := range map[string]*structured.Tensor{
		"select": s.Select("orders.price"), "drop": s.Drop("id"), "rename": s.Rename("orders.qty", "n"), "with": s.With("x", s.Path("id")),
		"broadcast": s.Broadcast("id", "orders", "owner"),
	} {
		a := s.Path("orders.price").(*ragged.Tensor)
		b := u.Path("orders.price").(*ragged.Tensor)
		if a.FlatValues() != b.FlatValues() || a.Partition() != b.Partition() {
			t.Errorf("%s copies the prices", name)
		}
	}
}

func TestUnzip(t *testing.T) {
	s := shop(t)
	fields := s.Unzip()
	if len(fields) != len(s.FieldNames()) {
		t.Fatalf("got %d fields", len(fields))
	}
	orders := s.Path("orders").(*structured.Tensor)
	if again := structured.Zip(2, orders.Unzip()...); fmt.Sprint(plainOf(t, again)) != fmt.Sprint(plainOf(t, orders)) {
		t.Errorf("got %v", again)
	}
}

func TestFieldErrors(t *testing.T) {
	s := shop(t)
	two := structured.Field{Name: "x", Value: tensor.Of([]int64{1, 2})}
	three := structured.Field{Name: "y", Value: tensor.Of([]int64{1, 2, 3})}
	for name, c := range map[string]struct {
		f    func() any
		kind error
		says string
	}{
		"select":          {func() any { return s.Select("x") }, tenon.ErrNotFound, `"geo"`},
		"select below":    {func() any { return s.Select("id.x") }, tenon.ErrInvalid, "not a structured field"},
		"select elements": {func() any { return s.Select("orders[0].qty") }, tenon.ErrInvalid, "names"},
		"select nothing":  {func() any { return s.Select("$") }, tenon.ErrInvalid, "not a path"},
		"drop":            {func() any { return s.Drop("x") }, tenon.ErrInvalid, "no such field"},
		"rename":          {func() any { return s.Rename("id", "name") }, tenon.ErrInvalid, "already"},
		"rename unknown":  {func() any { return s.Rename("geo.x", "y") }, tenon.ErrNotFound, `"lat"`},
		"with":            {func() any { return s.With("x", []int{1, 2}) }, tenon.ErrInvalid, "2 rows"},
		"with below":      {func() any { return s.With("id.x", []int{1, 2, 3}) }, tenon.ErrInvalid, "not a structured field"},
		"apply throws": {func() any {
			return s.Apply("id", func(v tensor.Tensor) tensor.Tensor { return ops.Reshape(v, []int{7}) })
		}, tenon.ErrShape, ""},
		"broadcast up":    {func() any { return s.Broadcast("orders.qty", "geo", "x") }, tenon.ErrInvalid, "not below"},
		"broadcast leaf":  {func() any { return s.Broadcast("id", "tags", "x") }, tenon.ErrInvalid, "not a structured field"},
		"broadcast clash": {func() any { return s.Broadcast("id", "orders", "qty") }, tenon.ErrInvalid, "already"},
		"flatten":         {func() any { return s.Flatten(0, "tags") }, tenon.ErrInvalid, "DropEmpty or KeepEmpty"},
		"flatten leaf":    {func() any { return s.Flatten(structured.DropEmpty, "id") }, tenon.ErrInvalid, "does not contain lists"},
		"flatten unlike":  {func() any { return s.Flatten(structured.DropEmpty, "tags", "orders") }, tenon.ErrInvalid, "row 0"},
		"unflatten":       {func() any { return s.Unflatten([]int{1, 1}) }, tenon.ErrInvalid, "divides 2 rows"},
		"where":           {func() any { return s.Where([]bool{true}) }, tenon.ErrShape, ""},
		"filter":          {func() any { return s.Filter("@.id >") }, tenon.ErrInvalid, "want a value"},
		"zip":             {func() any { return structured.Zip(1, two, three) }, tenon.ErrInvalid, "y"},
		"zip rank":        {func() any { return structured.Zip(2, two) }, tenon.ErrInvalid, "rank 2"},
	} {
		_, err := tenon.Try(c.f)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %v with %q", name, err, c.kind, c.says)
		}
	}
}

func TestJoinAgainstLoops(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		left, right := drawSales(rt, 12), drawSales(rt, 12)
		paths := rapid.SliceOfNDistinct(rapid.SampledFrom(keyPaths), 1, 2, rapid.ID).Draw(rt, "keys")
		equal := func(a, b sale) bool {
			for _, p := range paths {
				x, y := a.keyText(p), b.keyText(p)
				if x != y || x == "<nil>" {
					return false
				}
			}
			return true
		}
		want := map[string][]string{}
		add := func(kind string, text ...any) { want[kind] = append(want[kind], fmt.Sprint(text...)) }
		for _, a := range left {
			var partners []float64
			for _, b := range right {
				if equal(a, b) {
					partners = append(partners, b.amount)
					add("inner", a.amount, " ", b.amount)
					add("left", a.amount, " ", b.amount)
				}
			}
			if partners == nil {
				add("left", a.amount, " ", "<nil>")
				add("anti", a.amount)
			} else {
				add("semi", a.amount)
			}
			add("nested", partners)
		}
		l, r := salesTable(left), salesTable(right).Rename("amount", "other")
		l, r = l.Select(append([]string{"amount"}, paths...)...), r.Select(append([]string{"other"}, paths...)...)
		for kind, o := range map[string]structured.JoinOptions{
			"inner": {Kind: structured.Inner}, "left": {Kind: structured.Left}, "semi": {Kind: structured.Semi}, "anti": {Kind: structured.Anti},
			"nested": {Kind: structured.Nested, As: "partners"},
		} {
			o.On, o.Suffix = paths, "2"
			run := func(l, r *structured.Tensor) *structured.Tensor { return l.Join(r, o) }
			for how, got := range map[string]*structured.Tensor{"eager": run(l, r), "traced": function.New(run).Call(l, r)} {
				var text []string
				switch kind {
				case "inner", "left":
					other := columnText(t, got, "other")
					for i, a := range columnText(t, got, "amount") {
						text = append(text, a+" "+other[i])
					}
				case "semi", "anti":
					text = columnText(t, got, "amount")
				case "nested":
					text = columnText(t, got, "partners", "other")
				}
				if fmt.Sprint(text) != fmt.Sprint(want[kind]) {
					rt.Fatalf("%s, %s: got %v, want %v", kind, how, text, want[kind])
				}
			}
		}
	})
}

func TestJoin(t *testing.T) {
	s := shop(t)
	more := nested(t, list{
		rec{"id": 3, "name": "Cyril", "extra": rec{"a": 1}, "list": list{1, 2}, "records": list{rec{"b": 5}}},
		rec{"id": 1, "name": "Adele", "extra": rec{"a": 2}, "list": list{3}, "records": list{}},
	})
	got := s.Select("id", "name").Join(more, structured.JoinOptions{Kind: structured.Left, On: []string{"id"}, Suffix: "_more"})
	want := "[map[extra:map[a:2] id:1 list:[3] name:Ada name_more:Adele records:[]] map[extra:<nil> id:2 list:<nil> name:Bo name_more:<nil> records:<nil>] map[extra:map[a:1] id:3 list:[1 2] name:Cy name_more:Cyril records:[map[b:5]]]]"
	if text := fmt.Sprint(plainOf(t, got)); text != want {
		t.Errorf("got %s, want %s", text, want)
	}
	if text := fmt.Sprint(plainOf(t, got.Path("extra.a"))); text != "[2 <nil> 1]" {
		t.Errorf("got %s", text)
	}
	// int64 and float64, under other names
	lat := s.Select("name", "geo").Join(nested(t, list{rec{"y": 1.5, "z": 7}}), structured.JoinOptions{LeftOn: []string{"geo.lat"}, RightOn: []string{"y"}})
	if text := fmt.Sprint(plainOf(t, lat)); text != "[map[geo:map[lat:1.5 lon:2] name:Ada z:7]]" {
		t.Errorf("got %s", text)
	}
	// a dictionary, against plain strings
	names := tenon.Must(structured.EncodeStrings(s.Path("name")))
	d := s.Select("id").With("name", names).Join(nested(t, list{rec{"name": "Cy", "n": 1}}), structured.JoinOptions{On: []string{"name"}})
	if text := fmt.Sprint(plainOf(t, d.Path("id"))); text != "[3]" {
		t.Errorf("got %s", text)
	}
	if text := fmt.Sprint(columnText(t, s.With("name", names).GroupBy("name").Aggregate(structured.Sum("id")), "id")); text != "[1 2 3]" {
		t.Errorf("got %s", text)
	}
}

func TestGradientOfJoin(t *testing.T) {
	left := nested(t, list{rec{"k": 1, "x": 1.0}, rec{"k": 2, "x": 1.0}, rec{"k": 1, "x": 1.0}})
	right := nested(t, list{rec{"k": 1, "y": 0.0}, rec{"k": 3, "y": 0.0}})
	loss := func(y tensor.Tensor) tensor.Tensor {
		j := left.Join(right.With("y", y), structured.JoinOptions{Kind: structured.Left, On: []string{"k"}})
		return ops.Sum(ops.Mul(masked.Fill(j.Path("y"), 0.0), ops.Cast(tensor.Of([]float64{1, 10, 100}), y.DType())))
	}
	g := grad.Of(loss)(tensor.Of([]float64{2, 3}))
	if got := fmt.Sprint(tensor.Data[float64](g)); got != "[101 0]" {
		t.Errorf("got %s", got)
	}
}

func TestJoinErrors(t *testing.T) {
	s := shop(t)
	for name, c := range map[string]struct {
		o    structured.JoinOptions
		kind error
		says string
	}{
		"no key":  {structured.JoinOptions{}, tenon.ErrInvalid, "at least one"},
		"both":    {structured.JoinOptions{On: []string{"id"}, LeftOn: []string{"id"}}, tenon.ErrInvalid, "together with"},
		"number":  {structured.JoinOptions{LeftOn: []string{"id"}, RightOn: []string{"id", "name"}}, tenon.ErrInvalid, "1 keys"},
		"unknown": {structured.JoinOptions{On: []string{"x"}}, tenon.ErrNotFound, "x"},
		"lists":   {structured.JoinOptions{On: []string{"tags"}}, tenon.ErrInvalid, "cannot be a key"},
		"types":   {structured.JoinOptions{LeftOn: []string{"id"}, RightOn: []string{"name"}}, tenon.ErrDType, "string"},
		"clash":   {structured.JoinOptions{On: []string{"id"}}, tenon.ErrInvalid, "two fields"},
		"kind":    {structured.JoinOptions{On: []string{"id"}, Kind: 9}, tenon.ErrInvalid, "not a kind"},
		"no name": {structured.JoinOptions{On: []string{"id"}, Kind: structured.Nested}, tenon.ErrInvalid, "needs a name"},
		"taken":   {structured.JoinOptions{On: []string{"id"}, Kind: structured.Nested, As: "geo"}, tenon.ErrInvalid, "two fields"},
	} {
		_, err := tenon.Try(func() any { return s.Join(s, c.o) })
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %v with %q", name, err, c.kind, c.says)
		}
	}
}
