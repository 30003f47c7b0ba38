package structured_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/structured/gostruct"
	"github.com/tenonml/tenon/tensor"
	"pgregory.net/rapid"
)

// Records with nulls at every level, and a walk over them in plain Go for each thing that
// columns do: what is missing stays missing, and nothing else becomes so.

// whole is a record of the type of the others that lacks nothing.
var whole = rec{
	"k": 0, "m": list{1, 2}, "n": list{list{1}, list{2, 3}},
	"o": list{rec{"a": 1, "l": list{1, 2}}, rec{"a": 2, "l": list{}}},
	"r": rec{"b": 1, "p": list{rec{"a": 1}}},
}

// listsIn is how many lists a field is, one in the other.
var listsIn = map[string]int{"k": 0, "m": 1, "n": 2, "o": 1, "r": 0, "a": 0, "l": 1, "b": 0, "p": 1}

func drawNull(t *rapid.T, f func() any) any {
	if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
		return nil
	}
	return f()
}

func drawNumber(t *rapid.T) any {
	return drawNull(t, func() any { return rapid.Int64Range(0, 3).Draw(t, "number") })
}

func drawList(t *rapid.T, f func() any) any {
	return drawNull(t, func() any {
		out := list{}
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			out = append(out, drawNull(t, f))
		}
		return out
	})
}

func drawRecords(t *rapid.T) list {
	number := func() any { return drawNumber(t) }
	out := list{whole}
	for i := range rapid.IntRange(0, 5).Draw(t, "records") {
		out = append(out, rec{
			"k": i + 1, "m": drawList(t, number), "n": drawList(t, func() any { return drawList(t, number) }),
			"o": drawList(t, func() any { return rec{"a": drawNumber(t), "l": drawList(t, number)} }),
			"r": drawNull(t, func() any {
				return rec{"b": drawNumber(t), "p": drawList(t, func() any { return rec{"a": drawNumber(t)} })}
			}),
		})
	}
	return out
}

func columnsOfGaps(t *rapid.T, records list) *structured.Tensor {
	return tenon.Must(structured.FromNested(records, structured.NestedOptions{Missing: structured.MissingMasked})).(*structured.Tensor)
}

// asNested returns a value as nested data.
func asNested(t *rapid.T, v tensor.Tensor) any {
	s, err := structured.FromFields([]structured.Field{{Name: "v", Value: v}}, shape.Shape{}, structured.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tenon.Must(s.ToNested()).(rec)["v"]
}

// wide makes all numbers int64.
func wide(x any) any {
	switch x := x.(type) {
	case int:
		return int64(x)
	case list:
		out := make(list, len(x))
		for i, y := range x {
			out[i] = wide(y)
		}
		return out
	case rec:
		out := rec{}
		for name, y := range x {
			out[name] = wide(y)
		}
		return out
	}
	return x
}

// at applies f to what is below so many lists; what is missing stays missing.
func at(x any, depth int, f func(x any) any) any {
	if x == nil || depth == 0 {
		return f(x)
	}
	out := list{}
	for _, y := range x.(list) {
		out = append(out, at(y, depth-1, f))
	}
	return out
}

func atPresent(x any, depth int, f func(x any) any) any {
	if x == nil {
		return nil
	}
	if depth == 0 {
		return f(x)
	}
	out := list{}
	for _, y := range x.(list) {
		out = append(out, atPresent(y, depth-1, f))
	}
	return out
}

// A walked is a path as text and as a walk.
type walked struct {
	text  string
	f     func(x any) any
	depth int      // lists gone through from the records on
	open  int      // lists of each element that it has come to
	names []string // the fields of the records that it has come to
}

func fieldsAt(name string) []string {
	switch name {
	case "o":
		return []string{"a", "l"}
	case "r":
		return []string{"b", "p"}
	case "p":
		return []string{"a"}
	}
	return nil
}

// drawPath draws a path that begins at records of some fields.
func drawPath(t *rapid.T, start string, names []string, conditions int) walked {
	w := walked{text: start, names: names, f: func(x any) any { return x }}
	steps := rapid.IntRange(1, 4).Draw(t, "steps")
	for i := 0; i < steps && (w.open > 0 || w.names != nil); i++ {
		f, depth := w.f, w.depth
		kind := rapid.IntRange(0, 4).Draw(t, "step")
		if w.open == 0 || kind == 0 && w.names != nil {
			name := rapid.SampledFrom(w.names).Draw(t, "name")
			w.text += "." + name
			w.depth += w.open
			through := w.depth
			w.f = func(x any) any { return atPresent(f(x), through, func(x any) any { return x.(rec)[name] }) }
			w.open, w.names = listsIn[name], fieldsAt(name)
			continue
		}
		w.open--
		switch {
		case kind == 1:
			w.text += "[*]"
			w.depth++
		case kind == 2:
			i := rapid.IntRange(-2, 2).Draw(t, "index")
			w.text += fmt.Sprintf("[%d]", i)
			w.f = func(x any) any {
				return atPresent(f(x), depth, func(x any) any {
					l := x.(list)
					if i < -len(l) || i >= len(l) {
						return nil
					}
					return l[(i+len(l))%len(l)]
				})
			}
		case kind == 3 || conditions == 0:
			to := rapid.IntRange(0, 2).Draw(t, "to")
			w.text += fmt.Sprintf("[:%d]", to)
			w.f = func(x any) any {
				return atPresent(f(x), depth, func(x any) any { return x.(list)[:min(to, len(x.(list)))] })
			}
			w.depth++
		default:
			text, holds := drawElementCondition(t, w.names, w.open, conditions-1)
			w.text += "[?" + text + "]"
			w.f = func(x any) any {
				return atPresent(f(x), depth, func(x any) any {
					return slices.DeleteFunc(slices.Clone(x.(list)), func(y any) bool { return !holds(y) })
				})
			}
			w.depth++
		}
	}
	return w
}

// drawElementCondition draws a condition about elements: records of some fields, lists
// or numbers.
func drawElementCondition(t *rapid.T, names []string, open, conditions int) (string, func(x any) bool) {
	w := walked{text: "@", f: func(x any) any { return x }, open: open, names: names}
	if names != nil && open == 0 {
		w = drawPath(t, "@", names, conditions)
	}
	k := rapid.Int64Range(0, 3).Draw(t, "constant")
	depth, leaf := w.depth, w.names == nil
	flat := func(x any) list { // the values, through all lists
		out := list{}
		var add func(x any, depth int)
		add = func(x any, depth int) {
			if depth == 0 {
				out = append(out, x)
			} else if x != nil {
				for _, y := range x.(list) {
					add(y, depth-1)
				}
			}
		}
		add(w.f(x), depth+w.open)
		return out
	}
	compare := func(op string) func(x any) bool {
		return func(x any) bool {
			n, ok := x.(int64)
			if m, isInt := x.(int); isInt {
				n, ok = int64(m), true
			}
			switch op {
			case "==":
				return ok && n == k
			case "!=":
				return !ok || n != k
			}
			return ok && n > k
		}
	}
	null := func(x any) bool { return x == nil }
	kinds := []int{}
	if depth == 0 {
		kinds = append(kinds, 0, 1) // null, exists
	}
	if depth == 0 && w.open > 0 {
		kinds = append(kinds, 2) // length
	}
	if leaf && depth+w.open > 0 {
		kinds = append(kinds, 3, 4, 5) // any, all
	}
	if leaf && depth+w.open == 0 {
		kinds = append(kinds, 6, 6) // a comparison
	}
	if len(kinds) == 0 {
		return w.text, func(x any) bool { // a path that goes through lists selects something
			ok := false
			at(w.f(x), depth, func(y any) any { ok = ok || y != nil; return nil })
			return ok
		}
	}
	op := rapid.SampledFrom([]string{"==", "!=", ">"}).Draw(t, "op")
	holds := compare(op)
	switch rapid.SampledFrom(kinds).Draw(t, "condition") {
	case 0:
		return w.text + " == null", func(x any) bool { return null(w.f(x)) }
	case 1:
		return w.text, func(x any) bool { return !null(w.f(x)) }
	case 2:
		return fmt.Sprintf("length(%s) %s %d", w.text, op, k), func(x any) bool {
			y := w.f(x)
			if y == nil {
				return holds(nil)
			}
			return holds(int64(len(y.(list))))
		}
	case 3:
		return fmt.Sprintf("any(%s %s %d)", w.text, op, k), func(x any) bool { return slices.ContainsFunc(flat(x), holds) }
	case 4:
		return fmt.Sprintf("!all(%s %s %d)", w.text, op, k), func(x any) bool {
			return slices.ContainsFunc(flat(x), func(y any) bool { return !holds(y) })
		}
	case 5:
		return fmt.Sprintf("any(%s == null)", w.text), func(x any) bool { return slices.ContainsFunc(flat(x), null) }
	}
	return fmt.Sprintf("%s %s %d", w.text, op, k), func(x any) bool { return holds(w.f(x)) }
}

var topNames = []string{"m", "n", "o", "r"}

func TestPathsKeepWhatIsMissing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := drawRecords(t)
		s := columnsOfGaps(t, records)
		w := drawPath(t, "$[*]", topNames, 2)
		path := w.text[len("$[*]."):]
		want := wide(at(records, 1, w.f))
		for how, f := range map[string]func(*structured.Tensor) tensor.Tensor{
			"eager":  func(s *structured.Tensor) tensor.Tensor { return s.Path(path) },
			"traced": function.New(func(s *structured.Tensor) tensor.Tensor { return s.Path(path) }).Call,
		} {
			v, err := tenon.Try(func() tensor.Tensor { return f(s) })
			if err != nil {
				t.Fatalf("%s, %s of %v: %v", how, path, records, err)
			}
			if got := asNested(t, v); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s, %s of %v:\n got %v\nwant %v", how, path, records, got, want)
			}
		}
	})
}

func TestFiltersOfWhatIsMissing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := drawRecords(t)
		s := columnsOfGaps(t, records)
		text, holds := drawElementCondition(t, topNames, 0, 2)
		v, err := tenon.Try(func() *structured.Tensor { return s.Filter(text) })
		if err != nil {
			t.Fatalf("%s of %v: %v", text, records, err)
		}
		want := wide(slices.DeleteFunc(slices.Clone(records), func(x any) bool { return !holds(x) }))
		if got := tenon.Must(v.ToNested()); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s of %v:\n got %v\nwant %v", text, records, got, want)
		}
	})
}

// leaves maps the numbers below so many lists.
func leaves(x any, depth int, f func(n any) any) any {
	return atPresent(x, depth, func(x any) any { return f(x) })
}

func TestElementwiseKeepsWhatIsMissing(t *testing.T) {
	big := func(v tensor.Tensor) tensor.Tensor { return ops.Greater(v, int64(1)) }
	for name, c := range map[string]struct {
		f    func(v tensor.Tensor) tensor.Tensor
		want func(n int64) any
	}{
		"add":          {func(v tensor.Tensor) tensor.Tensor { return ops.Add(v, v) }, func(n int64) any { return 2 * n }},
		"where":        {func(v tensor.Tensor) tensor.Tensor { return ops.Where(big(v), v, ops.Neg(v)) }, func(n int64) any { return map[bool]int64{true: n, false: -n}[n > 1] }},
		"where scalar": {func(v tensor.Tensor) tensor.Tensor { return ops.Where(big(v), v, int64(-1)) }, func(n int64) any { return map[bool]int64{true: n, false: -1}[n > 1] }},
		"and":          {func(v tensor.Tensor) tensor.Tensor { return masked.And(big(v), ops.Less(v, int64(3))) }, func(n int64) any { return n == 2 }},
		"or":           {func(v tensor.Tensor) tensor.Tensor { return masked.Or(big(v), ops.Less(v, int64(1))) }, func(n int64) any { return n != 1 }},
		"not":          {func(v tensor.Tensor) tensor.Tensor { return masked.Not(big(v)) }, func(n int64) any { return n <= 1 }},
		"clip":         {func(v tensor.Tensor) tensor.Tensor { return ops.Clip(v, int64(1), int64(2)) }, func(n int64) any { return max(1, min(n, 2)) }},
	} {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			records := drawRecords(t)
			s := columnsOfGaps(t, records)
			path := rapid.SampledFrom([]string{"m", "n", "o.a", "o.l", "r.p.a"}).Draw(t, "path")
			depth := map[string]int{"m": 2, "n": 3, "o.a": 2, "o.l": 3, "r.p.a": 2}[path]
			v := s.Path(path)
			want := atPresent(asNested(t, v), depth, func(x any) any { return c.want(x.(int64)) })
			if got := asNested(t, c.f(v)); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s of %v:\n got %v\nwant %v", path, asNested(t, v), got, want)
			}
			filled := leaves(asNested(t, v), depth-1, func(x any) any {
				out := slices.Clone(x.(list))
				for i, n := range out {
					if n == nil {
						out[i] = int64(9)
					}
				}
				return out
			})
			if got := asNested(t, masked.Fill(v, int64(9))); !reflect.DeepEqual(got, filled) {
				t.Fatalf("%s of %v filled:\n got %v\nwant %v", path, asNested(t, v), got, filled)
			}
		}))
	}
}

// changed returns records with those at a path replaced, which f is given a copy of.
func changed(x any, path []string, f func(r rec)) any {
	switch x := x.(type) {
	case list:
		out := list{}
		for _, y := range x {
			out = append(out, changed(y, path, f))
		}
		return out
	case rec:
		out := maps.Clone(x)
		if len(path) == 0 {
			f(out)
		} else {
			out[path[0]] = changed(out[path[0]], path[1:], f)
		}
		return out
	}
	return x
}

func TestChangesKeepWhatIsMissing(t *testing.T) {
	type S = *structured.Tensor
	for name, c := range map[string]struct {
		f    func(s S) tensor.Tensor
		want func(x list) any
	}{
		"select": {func(s S) tensor.Tensor { return s.Select("k", "o.a", "r.p.a") }, func(x list) any {
			x = changed(x, []string{"o"}, func(r rec) { delete(r, "l") }).(list)
			return changed(changed(x, []string{"r"}, func(r rec) { delete(r, "b") }), nil, func(r rec) { delete(r, "m"); delete(r, "n") })
		}},
		"drop": {func(s S) tensor.Tensor { return s.Drop("o.a", "r.p.a", "n") }, func(x list) any {
			x = changed(x, []string{"o"}, func(r rec) { delete(r, "a") }).(list)
			return changed(changed(x, []string{"r", "p"}, func(r rec) { delete(r, "a") }), nil, func(r rec) { delete(r, "n") })
		}},
		"rename": {func(s S) tensor.Tensor { return s.Rename("o.a", "z").Rename("r.p.a", "y") }, func(x list) any {
			x = changed(x, []string{"o"}, func(r rec) { r["z"] = r["a"]; delete(r, "a") }).(list)
			return changed(x, []string{"r", "p"}, func(r rec) { r["y"] = r["a"]; delete(r, "a") })
		}},
		"apply": {func(s S) tensor.Tensor {
			one := func(v tensor.Tensor) tensor.Tensor { return ops.Add(v, int64(1)) }
			return s.Apply("o.a", one).Apply("o.l", one)
		}, func(x list) any {
			one := func(x any) any { return x.(int64) + 1 }
			return changed(x, []string{"o"}, func(r rec) { r["a"], r["l"] = atPresent(r["a"], 0, one), atPresent(r["l"], 1, one) })
		}},
		"broadcast": {func(s S) tensor.Tensor { return s.Broadcast("k", "o", "kk").Broadcast("r.b", "r.p", "bb") }, func(x list) any {
			out := list{}
			for _, r := range x {
				k := r.(rec)["k"]
				r = changed(r, []string{"o"}, func(o rec) { o["kk"] = k })
				out = append(out, changed(r, []string{"r"}, func(o rec) { o["p"] = changed(o["p"], nil, func(p rec) { p["bb"] = o["b"] }) }))
			}
			return out
		}},
		"map fields": {func(s S) tensor.Tensor {
			return s.MapFields(func(path []string, v tensor.Tensor) tensor.Tensor {
				if len(path) == 1 && path[0] == "m" {
					return nil
				}
				return ops.Neg(v)
			})
		}, func(x list) any {
			var neg func(x any) any
			neg = func(x any) any {
				switch x := x.(type) {
				case int64:
					return -x
				case list:
					return at(x, 1, neg)
				case rec:
					out := rec{}
					for name, y := range x {
						out[name] = neg(y)
					}
					return out
				}
				return x
			}
			return changed(neg(x), nil, func(r rec) { delete(r, "m") })
		}},
		"gather": {func(s S) tensor.Tensor {
			return ops.Gather(ops.Concat([]tensor.Tensor{s, ops.Reverse(s, 0)}, 0), []int{-0, 1}, 0)
		}, func(x list) any {
			both := append(slices.Clone(x), x[len(x)-1])
			return both[:2]
		}},
		"where": {func(s S) tensor.Tensor {
			return ops.Where(ops.Equal(ops.Mod(s.Path("k"), int64(2)), int64(0)), s, ops.Reverse(s, 0))
		}, func(x list) any {
			out := slices.Clone(x)
			for i := range out {
				if x[i].(rec)["k"].(int64)%2 != 0 {
					out[i] = x[len(x)-1-i]
				}
			}
			return out
		}},
		"stack":   {func(s S) tensor.Tensor { return ops.Stack([]tensor.Tensor{s, s}, 0) }, func(x list) any { return list{x, x} }},
		"compact": {func(s S) tensor.Tensor { return s.Filter("@.k >= 0").Compact() }, func(x list) any { return x }},
		"groups": {func(s S) tensor.Tensor {
			return s.GroupBy("k").Aggregate(structured.First("o").As("o"), structured.List("m").As("m"))
		}, func(x list) any {
			out := list{}
			for _, r := range x {
				r := r.(rec)
				out = append(out, rec{"k": r["k"], "o": r["o"], "m": list{r["m"]}})
			}
			return out
		}},
		"left join": {func(s S) tensor.Tensor {
			return s.Select("k").Join(s.Filter("@.k != 1").Drop("r"), structured.JoinOptions{Kind: structured.Left, On: []string{"k"}})
		}, func(x list) any {
			return changed(x, nil, func(r rec) {
				delete(r, "r")
				if r["k"] == int64(1) {
					r["m"], r["n"], r["o"] = nil, nil, nil
				}
			})
		}},
		"equal": {func(s S) tensor.Tensor { return ops.Equal(s, s) }, func(x list) any { return at(x, 1, func(any) any { return true }) }},
	} {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			records := drawRecords(t)
			if name == "gather" && len(records) < 2 {
				records = append(records, changed(whole, nil, func(r rec) { r["k"] = 1 }))
			}
			s := columnsOfGaps(t, records)
			v, err := tenon.Try(func() tensor.Tensor { return c.f(s) })
			if err != nil {
				t.Fatalf("%v: %v", records, err)
			}
			want := c.want(wide(records).(list))
			if got := asNested(t, v); !reflect.DeepEqual(got, want) {
				t.Fatalf("%v:\n got %v\nwant %v", records, got, want)
			}
		}))
	}
}

func TestMissingListsOfStructs(t *testing.T) {
	type item struct {
		A *int64   `json:"a"`
		L []*int64 `json:"l"`
	}
	type row struct {
		K int64      `json:"k"`
		M []*int64   `json:"m"`
		N [][]*int64 `json:"n"`
		O []*item    `json:"o"`
	}
	records := list{whole, rec{"k": 1, "m": nil, "n": list{nil, list{nil}}, "o": list{nil, rec{"a": nil, "l": nil}}, "r": nil}}
	s := tenon.Must(structured.FromNested(records, structured.NestedOptions{Missing: structured.MissingMasked})).(*structured.Tensor)
	rows := tenon.Must(gostruct.To[row](s))
	r := rows[1]
	if r.M != nil || len(r.N) != 2 || r.N[0] != nil || len(r.N[1]) != 1 || r.N[1][0] != nil || len(r.O) != 2 || r.O[0] != nil || r.O[1].A != nil || r.O[1].L != nil {
		t.Errorf("got %+v", r)
	}
	if r := rows[0]; *r.M[1] != 2 || *r.N[1][1] != 3 || *r.O[0].L[0] != 1 || r.O[1].L == nil {
		t.Errorf("got %+v", r)
	}
	type strict struct {
		M []int64 `json:"m"`
	}
	if _, err := gostruct.To[strict](s.Select("m").Filter("@.m")); err != nil {
		t.Errorf("lists without gaps: %v", err)
	}
}
