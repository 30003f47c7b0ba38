package structured_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
	"pgregory.net/rapid"
)

// A sale is a record as Go data, for references written with loops.
type sale struct {
	day    int64
	place  float64
	who    string // "-" for missing
	good   bool
	amount float64
	number int32 // negative for missing
}

func drawSales(t *rapid.T, most int) []sale {
	n := rapid.IntRange(0, most).Draw(t, "n")
	out := make([]sale, n)
	for i := range out {
		out[i] = sale{
			rapid.Int64Range(-1, 1).Draw(t, "day"),
			rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, math.NaN()}).Draw(t, "place"),
			rapid.SampledFrom([]string{"-", "", "a", "a longer name", "b"}).Draw(t, "who"),
			rapid.Bool().Draw(t, "good"),
			float64(rapid.IntRange(-8, 8).Draw(t, "amount")) / 4,
			rapid.Int32Range(-1, 3).Draw(t, "number"),
		}
	}
	return out
}

// salesTable returns the records as columns; who and number are optional.
func salesTable(list []sale) *structured.Tensor {
	n := len(list)
	day, place, who, good := make([]int64, n), make([]float64, n), make([]string, n), make([]bool, n)
	whoThere, amount, number, numberThere := make([]bool, n), make([]float64, n), make([]int32, n), make([]bool, n)
	for i, s := range list {
		day[i], place[i], who[i], good[i] = s.day, s.place, s.who, s.good
		whoThere[i], amount[i], number[i], numberThere[i] = s.who != "-", s.amount, s.number, s.number >= 0
		if s.who == "-" {
			who[i] = fmt.Sprint("filler ", i)
		}
	}
	geo := tenon.Must(structured.FromFields([]structured.Field{{Name: "place", Value: tensor.Of(place, n)}}, shape.Of(n), structured.Options{}))
	return tenon.Must(structured.FromFields([]structured.Field{
		{Name: "day", Value: tensor.Of(day, n)},
		{Name: "geo", Value: geo},
		{Name: "who", Value: tenon.Must(masked.New(tensor.Of(who, n), whoThere))},
		{Name: "good", Value: tensor.Of(good, n)},
		{Name: "amount", Value: tensor.Of(amount, n)},
		{Name: "number", Value: tenon.Must(masked.New(tensor.Of(number, n), numberThere))},
	}, shape.Of(n), structured.Options{}))
}

// keyText is the text of a key of a sale.
func (s sale) keyText(path string) string {
	switch path {
	case "day":
		return fmt.Sprint(s.day)
	case "geo.place":
		return fmt.Sprint(s.place + 0)
	case "who":
		if s.who == "-" {
			return "<nil>"
		}
		return s.who
	case "good":
		return fmt.Sprint(s.good)
	case "number":
		if s.number < 0 {
			return "<nil>"
		}
		return fmt.Sprint(s.number)
	}
	return ""
}

var keyPaths = []string{"day", "geo.place", "who", "good", "number"}

// groupsOf is GroupBy with a loop.
func groupsOf(list []sale, paths []string) (keys []string, groups [][]sale) {
	for _, s := range list {
		var words []string
		for _, p := range paths {
			words = append(words, s.keyText(p))
		}
		k := fmt.Sprint(words)
		i := slices.Index(keys, k)
		if i < 0 {
			i = len(keys)
			keys, groups = append(keys, k), append(groups, nil)
		}
		groups[i] = append(groups[i], s)
	}
	return keys, groups
}

func columnText(t testing.TB, s *structured.Tensor, path ...string) []string {
	t.Helper()
	var out []string
	for _, x := range plainOf(t, tenon.Must(s.Field(path...))).(list) {
		out = append(out, fmt.Sprint(x))
	}
	return out
}

func lastName(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

func TestAggregateAgainstLoops(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		sales := drawSales(rt, 30)
		paths := rapid.SliceOfNDistinct(rapid.SampledFrom(keyPaths), 1, 3, rapid.ID).Draw(rt, "keys")
		run := func(s *structured.Tensor) *structured.Tensor {
			return s.GroupBy(paths...).Aggregate(structured.Count(), structured.Sum("amount").As("total"), structured.Mean("amount").As("mean"),
				structured.Max("amount").As("most"), structured.Min("amount").As("least"), structured.First("who").As("one"), structured.List("amount").As("all"),
				structured.CountOf("number").As("numbers"), structured.Sum("number").As("sum"), structured.Min("number").As("lowest"),
				structured.CountDistinct("who").As("people"), structured.Max("who").As("last"), structured.Quantile("amount", 0.25).As("quarter"),
				structured.Max("good").As("any"), structured.Sum("good").As("good ones"))
		}
		table := salesTable(sales)
		for name, got := range map[string]*structured.Tensor{"eager": run(table), "traced": function.New(run).Call(table)} {
			keys, groups := groupsOf(sales, paths)
			want := map[string][]string{}
			for _, g := range groups {
				for field, text := range aggregates(g) {
					want[field] = append(want[field], text)
				}
			}
			var gotKeys []string
			var cols [][]string
			for _, p := range paths {
				cols = append(cols, columnText(t, got, lastName(p)))
			}
			for i := range groups {
				var words []string
				for _, c := range cols {
					words = append(words, c[i])
				}
				gotKeys = append(gotKeys, strings.ReplaceAll(fmt.Sprint(words), "-0", "0"))
			}
			if !slices.Equal(gotKeys, keys) {
				rt.Fatalf("%s: keys %q, want %q", name, gotKeys, keys)
			}
			for field, w := range want {
				if g := columnText(t, got, field); !slices.Equal(g, w) {
					rt.Fatalf("%s: %s is %v, want %v", name, field, g, w)
				}
			}
		}
	})
}

// aggregates are the aggregations of one group, with loops.
func aggregates(g []sale) map[string]string {
	var total, most, least float64 = 0, math.Inf(-1), math.Inf(1)
	var all []float64
	numbers, sum, lowest := 0, int32(0), int32(math.MaxInt32)
	people := map[string]bool{}
	last, any, good := "<nil>", false, 0
	for _, s := range g {
		total, most, least = total+s.amount, max(most, s.amount), min(least, s.amount)
		all = append(all, s.amount)
		if s.number >= 0 {
			numbers, sum, lowest = numbers+1, sum+s.number, min(lowest, s.number)
		}
		if s.who != "-" {
			people[s.who] = true
			if last == "<nil>" || s.who > last {
				last = s.who
			}
		}
		if s.good {
			any, good = true, good+1
		}
	}
	low := "<nil>"
	if numbers > 0 {
		low = fmt.Sprint(lowest)
	}
	sorted := slices.Sorted(slices.Values(all))
	at := 0.25 * float64(len(all)-1)
	lo := int(at)
	quarter := sorted[lo]
	if f := at - float64(lo); f > 0 {
		quarter += f * (sorted[lo+1] - sorted[lo])
	}
	return map[string]string{
		"count": fmt.Sprint(len(g)), "total": fmt.Sprint(total), "mean": fmt.Sprint(total / float64(len(g))), "most": fmt.Sprint(most), "least": fmt.Sprint(least),
		"one": g[0].keyText("who"), "all": fmt.Sprint(all), "numbers": fmt.Sprint(numbers), "sum": fmt.Sprint(sum), "lowest": low,
		"people": fmt.Sprint(len(people)), "last": last, "quarter": fmt.Sprint(quarter), "any": fmt.Sprint(any), "good ones": fmt.Sprint(good),
	}
}

func TestSortedGroups(t *testing.T) {
	s := salesTable([]sale{{day: 2, who: "b"}, {day: 1, who: "-"}, {day: 2, who: "a"}, {day: 1, who: "b"}, {day: 2, who: "a"}})
	g := s.GroupBy("day", "who").Sorted()
	got := g.Aggregate(structured.Count(), structured.Records("rows"))
	if a, b, c := columnText(t, got, "day"), columnText(t, got, "who"), columnText(t, got, "count"); fmt.Sprint(a, b, c) != "[1 1 2 2] [b <nil> a b] [1 1 2 1]" {
		t.Errorf("got %v %v %v", a, b, c)
	}
	if rows := got.Path("rows.day"); fmt.Sprint(plainOf(t, rows)) != "[[1] [1] [2 2] [2]]" {
		t.Errorf("got %v", rows)
	}
	if got := fmt.Sprint(plainOf(t, g.Groups().Path("day"))); got != "[[1] [1] [2 2] [2]]" {
		t.Errorf("got %v", got)
	}
	places := salesTable([]sale{{place: math.NaN()}, {place: 3}, {place: math.NaN()}, {place: -1}})
	if got := columnText(t, places.GroupBy("geo.place").Sorted().Keys(), "place"); fmt.Sprint(got) != "[-1 3 NaN]" {
		t.Errorf("got %v", got)
	}
}

func TestWindowAgainstLoops(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		sales := drawSales(rt, 20)
		run := func(s *structured.Tensor) *structured.Tensor {
			return s.GroupBy("day").OrderBy("amount", ops.SortOptions{}).Window(structured.Sum("amount").As("total"), structured.RowNumber(),
				structured.Running("amount").As("so far"), structured.Shifted("amount", 1).As("before"), structured.Shifted("who", -1).As("after"),
				structured.First("amount").As("least"))
		}
		table := salesTable(sales)
		for name, got := range map[string]*structured.Tensor{"eager": run(table), "traced": function.New(run).Call(table)} {
			for i, s := range sales {
				var group []int
				for j, u := range sales {
					if u.day == s.day {
						group = append(group, j)
					}
				}
				slices.SortStableFunc(group, func(a, b int) int { return int(4 * (sales[a].amount - sales[b].amount)) })
				at := slices.Index(group, i)
				total, sofar := 0.0, 0.0
				for k, j := range group {
					total += sales[j].amount
					if k <= at {
						sofar += sales[j].amount
					}
				}
				before, after := "<nil>", "<nil>"
				if at > 0 {
					before = fmt.Sprint(sales[group[at-1]].amount)
				}
				if at < len(group)-1 {
					after = sales[group[at+1]].keyText("who")
				}
				for field, want := range map[string]string{"total": fmt.Sprint(total), "row_number": fmt.Sprint(at), "so far": fmt.Sprint(sofar), "before": before, "after": after, "least": fmt.Sprint(sales[group[0]].amount)} {
					if g := columnText(t, got, field)[i]; g != want {
						rt.Fatalf("%s: %s of record %d is %s, want %s", name, field, i, g, want)
					}
				}
			}
		}
	})
}

func TestPivot(t *testing.T) {
	s := salesTable([]sale{{day: 2, who: "b", amount: 1}, {day: 1, who: "a", amount: 2}, {day: 2, who: "b", amount: 4}, {day: 1, who: "b", amount: -1}})
	for name, c := range map[string]struct {
		a    structured.Aggregation
		o    structured.PivotOptions
		want string
	}{
		"sum":      {structured.Sum("amount"), structured.PivotOptions{}, "[[2 -1] [0 5]]"},
		"unsorted": {structured.Sum("amount"), structured.PivotOptions{Unsorted: true}, "[[5 0] [-1 2]]"},
		"count":    {structured.Count(), structured.PivotOptions{}, "[[1 1] [0 2]]"},
		"mean":     {structured.Mean("amount"), structured.PivotOptions{}, "[[2 -1] [NaN 2.5]]"},
		"max":      {structured.Max("amount"), structured.PivotOptions{}, "[[2 -1] [<nil> 4]]"},
		"filled":   {structured.Max("amount"), structured.PivotOptions{Fill: -9.0}, "[[2 -1] [-9 4]]"},
		"sum fill": {structured.Sum("amount"), structured.PivotOptions{Fill: -9.0}, "[[2 -1] [-9 5]]"},
		"first":    {structured.First("good"), structured.PivotOptions{}, "[[false false] [<nil> false]]"},
		"text":     {structured.Min("who"), structured.PivotOptions{}, "[[a b] [<nil> b]]"},
		"median":   {structured.Quantile("amount", 0.5), structured.PivotOptions{}, "[[2 -1] [<nil> 2.5]]"},
	} {
		run := func(s *structured.Tensor) structured.Pivot { return s.Pivot("day", "who", c.a, c.o) }
		for how, p := range map[string]structured.Pivot{"eager": run(s), "traced": function.New(run).Call(s)} {
			if got := fmt.Sprint(plainOf(t, p.Values)); got != c.want {
				t.Errorf("%s, %s: got %s, want %s", name, how, got, c.want)
			}
		}
	}
	if p := s.Pivot("day", "who", structured.Count(), structured.PivotOptions{}); fmt.Sprint(columnText(t, p.Rows, "day"), columnText(t, p.Columns, "who")) != "[1 2] [a b]" {
		t.Errorf("got %v, %v", p.Rows, p.Columns)
	}
}

func TestGradientOfGroups(t *testing.T) {
	s := salesTable([]sale{{day: 1}, {day: 2}, {day: 1}, {day: 2}, {day: 1}})
	weights := tensor.Of([]float64{1, 10})
	for name, c := range map[string]struct {
		f    func(s *structured.Tensor) tensor.Tensor
		want []float64
	}{
		"sum": {func(s *structured.Tensor) tensor.Tensor {
			return s.GroupBy("day").Aggregate(structured.Sum("amount")).Path("amount")
		}, []float64{1, 10, 1, 10, 1}},
		"mean": {func(s *structured.Tensor) tensor.Tensor {
			return s.GroupBy("day").Aggregate(structured.Mean("amount")).Path("amount")
		}, []float64{1. / 3, 5, 1. / 3, 5, 1. / 3}},
		"max": {func(s *structured.Tensor) tensor.Tensor {
			return s.GroupBy("day").Aggregate(structured.Max("amount")).Path("amount")
		}, []float64{0, 0, 0, 10, 1}},
		"first": {func(s *structured.Tensor) tensor.Tensor {
			return s.GroupBy("day").Aggregate(structured.First("amount")).Path("amount")
		}, []float64{1, 10, 0, 0, 0}},
		"median": {func(s *structured.Tensor) tensor.Tensor {
			return s.GroupBy("day").Aggregate(structured.Quantile("amount", 0.5)).Path("amount")
		}, []float64{0, 5, 1, 5, 0}},
		"list": {func(s *structured.Tensor) tensor.Tensor {
			return ops.Sum(s.GroupBy("day").Aggregate(structured.List("amount")).Path("amount"), 1)
		}, []float64{1, 10, 1, 10, 1}},
		"filter": {func(s *structured.Tensor) tensor.Tensor { return s.Path("$[?@.amount > 2].amount") }, []float64{0, 0, 0, 1, 10}},
		"running": {func(s *structured.Tensor) tensor.Tensor {
			return s.GroupBy("day").Window(structured.Running("amount").As("r")).Path("$[3:].r")
		}, []float64{10, 1, 10, 1, 10}},
		"pivot": {func(s *structured.Tensor) tensor.Tensor {
			return ops.Reshape(s.Pivot("day", "good", structured.Sum("amount"), structured.PivotOptions{}).Values, []int{2})
		}, []float64{1, 10, 1, 10, 1}},
	} {
		loss := func(amount tensor.Tensor) tensor.Tensor {
			out := c.f(s.With("amount", amount))
			if m, ok := out.(*masked.Tensor); ok {
				out = m.Values()
			}
			return ops.Sum(ops.Mul(out, weights))
		}
		g, err := tenon.Try(func() tensor.Tensor { return grad.Of(loss)(tensor.Of([]float64{0, 1, 2, 3, 4})) })
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, x := range tensor.Data[float64](g) {
			if math.Abs(x-c.want[i]) > 1e-12 {
				t.Errorf("%s: got %v, want %v", name, g, c.want)
				break
			}
		}
	}
}

func TestGroupErrors(t *testing.T) {
	s := shop(t)
	for name, c := range map[string]struct {
		f    func() any
		kind error
		says string
	}{
		"no key":         {func() any { return s.GroupBy() }, tenon.ErrInvalid, "are empty"},
		"unknown key":    {func() any { return s.GroupBy("x") }, tenon.ErrNotFound, `"geo"`},
		"a list":         {func() any { return s.GroupBy("tags") }, tenon.ErrInvalid, "cannot be a key"},
		"through a list": {func() any { return s.GroupBy("orders.cat") }, tenon.ErrInvalid, "list for each record"},
		"through a leaf": {func() any { return s.GroupBy("id.x") }, tenon.ErrInvalid, "not a structured field"},
		"same name":      {func() any { return s.GroupBy("id", "id") }, tenon.ErrInvalid, "second key"},
		"clash":          {func() any { return s.GroupBy("id").Aggregate(structured.Sum("id")) }, tenon.ErrInvalid, "two fields"},
		"sum of text":    {func() any { return s.GroupBy("id").Aggregate(structured.Sum("name")) }, tenon.ErrInvalid, "does not have a sum"},
		"sum of lists":   {func() any { return s.GroupBy("id").Aggregate(structured.Sum("tags").As("t")) }, tenon.ErrInvalid, "does not have a sum"},
		"quantile":       {func() any { return s.GroupBy("id").Aggregate(structured.Quantile("geo.lat", 2)) }, tenon.ErrInvalid, "want 0 to 1"},
		"rank 2":         {func() any { return s.Path("orders").(*structured.Tensor).GroupBy("cat") }, tenon.ErrInvalid, "merge"},
		"single":         {func() any { return s.Path("$[0]").(*structured.Tensor).GroupBy("id") }, tenon.ErrInvalid, "rank 0"},
		"zero":           {func() any { return s.GroupBy("id").Aggregate(structured.Aggregation{}) }, tenon.ErrInvalid, "zero value"},
		"order by lists": {func() any { return s.GroupBy("id").OrderBy("tags", ops.SortOptions{}) }, tenon.ErrInvalid, "no order"},
		"pivot of lists": {func() any { return s.Pivot("id", "name", structured.List("id"), structured.PivotOptions{}) }, tenon.ErrInvalid, "cannot be an entry"},
	} {
		_, err := tenon.Try(c.f)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %v with %q", name, err, c.kind, c.says)
		}
	}
}

// A gradient for records has their floating fields.
func TestGradientOfRecords(t *testing.T) {
	s := shop(t)
	loss := func(s *structured.Tensor) tensor.Tensor {
		orders := s.Flatten(structured.DropEmpty, "orders")
		g := orders.GroupBy("orders.cat").Aggregate(structured.Mean("orders.price"))
		return ops.Sum(ops.Mul(g.Path("price"), tensor.Of([]float64{1, 10})))
	}
	for how, f := range map[string]func(*structured.Tensor) *structured.Tensor{
		"eager": func(s *structured.Tensor) *structured.Tensor { return grad.Of(loss)(s) },
		"traced": function.New(func(s *structured.Tensor) *structured.Tensor {
			return grad.Of(loss)(s)
		}).Call,
	} {
		d, err := tenon.Try(func() *structured.Tensor { return f(s) })
		if err != nil {
			t.Errorf("%s: %v", how, err)
			continue
		}
		if got := fmt.Sprint(plainOf(t, d.Path("orders.price")), plainOf(t, d.Path("geo.lat"))); got != "[[0.5 5 0.5] [] [5]] [0 0 0]" {
			t.Errorf("%s: got %s", how, got)
		}
	}
}

// Keys that wait to be gathered give the groups that those give which are there.
func TestGroupByFieldsOfChosenRecords(t *testing.T) {
	cat := []string{"b", "a", "a long name of a category", "b", "", "a", "a long name of a category", "eight888", "b"}
	shop := []string{"x", "y", "x", "x", "y", "x", "x", "y", "y"}
	n := []int64{0, 1, 2, 3, 4, 5, 6, 7, 8}
	s := tenon.Must(structured.FromFieldsAndRank([]structured.Field{
		{Name: "cat", Value: tensor.Of(cat)}, {Name: "shop", Value: tensor.Of(shop)}, {Name: "n", Value: tensor.Of(n)},
		{Name: "geo", Value: tenon.Must(structured.FromFieldsAndRank([]structured.Field{{Name: "place", Value: tensor.Of(shop)}}, 1, structured.Options{}))},
	}, 1, structured.Options{}))
	at := []int{8, 2, 5, 2, 6, 1, 0, 7, 4}
	for _, keys := range [][]string{{"cat"}, {"cat", "shop"}, {"shop", "n"}, {"geo.place"}, {"geo.place", "cat"}} {
		for _, sorted := range []bool{false, true} {
			summary := func(s *structured.Tensor) any {
				g := s.GroupBy(keys...)
				if sorted {
					g = g.Sorted()
				}
				aggregations := []structured.Aggregation{structured.Count(), structured.Sum("n").As("sum"), structured.First("n").As("first"), structured.List("n").As("list"),
					structured.CountDistinct("shop").As("shops"), structured.Quantile("n", 0.5).As("median"), structured.Records("records")}
				return []any{plain(t, g.Aggregate(aggregations...)), tensor.Data[int64](g.IDs()), plain(t, g.Groups()), plain(t, g.Window(structured.Sum("n").As("total"), structured.RowNumber()))}
			}
			chosen := ops.Gather(s, at, 0).(*structured.Tensor)
			same(t, fmt.Sprint(keys, sorted), summary(chosen), summary(chosen.Compact()))
		}
	}
}
