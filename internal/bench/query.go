package main

import (
	"cmp"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func init() { register("query", query) }

// A queryCase is a query over the events and their jets, and the numbers that tell its answer.
type queryCase struct {
	name  string
	jets  bool // it is about the jets, not the events
	run   func() any
	facts func(x any) []float64
}

func query(r *runner) {
	d, err := events(r.pick(1_000_000, 10_000, 1000))
	if r.fail(err) {
		return
	}
	ex := jetsOf(d)
	for _, c := range queryCases(d, ex) {
		items := floatOf(d.NRows())
		if c.jets {
			items = floatOf(ex.NRows())
		}
		r.run(benchCase{name: c.name, items: items, unit: "rows", check: c.facts}, c.run)
	}
}

// jetsOf returns a row for each jet: its position, the id and city of its event, cat, qty and pt.
func jetsOf(d *structured.Tensor) *structured.Tensor {
	flat := d.Select("id", "city", "jets['cat','qty','pt']").Flatten(structured.DropEmpty, "jets")
	fields := []structured.Field{{Name: "pos", Value: ops.Range(int64(0), ops.Cast(flat.NRows(), dtype.Int64), int64(1))}}
	for _, path := range []string{"id", "city", "jets.cat", "jets.qty", "jets.pt"} {
		names, _ := structured.ParsePath(path)
		fields = append(fields, structured.Field{Name: names[len(names)-1], Value: flat.Path(path)})
	}
	return tenon.Must(structured.FromFieldsAndRank(fields, 1, structured.Options{}))
}

func queryCases(d, ex *structured.Tensor) []queryCase {
	taxes := tenon.Must(structured.FromFieldsAndRank([]structured.Field{
		{Name: "cat", Value: tensor.Of(orderCats[:8])}, {Name: "tax", Value: tensor.Of([]float64{1, 2, 3, 4, 5, 6, 7, 8})}}, 1, structured.Options{}))
	times := d.Select("id", "time")
	sorted := []structured.By{{Path: []string{"city"}}, {Path: []string{"id"}, Descending: true}}
	keyedBy := func(key string, paths ...string) func(any) []float64 {
		return func(x any) []float64 { return keyed(x.(*structured.Tensor), key, paths...) }
	}
	return []queryCase{
		{"filter_flatten_group", false, func() any {
			return d.Filter("@.geo.lat > 0").Select("jets['cat','qty','pt']").Flatten(structured.DropEmpty, "jets").GroupBy("jets.cat").
				Aggregate(structured.Count(), structured.Sum("jets.qty"), structured.Mean("jets.pt"), structured.Max("jets.pt").As("top"))
		}, keyedBy("cat", "count", "qty", "pt", "top")},
		{"group_many_keys", true, func() any { return ex.GroupBy("id").Aggregate(structured.Sum("pt")) }, keyedBy("id", "pt")},
		{"join_ints", true, func() any {
			return ex.Join(times, structured.JoinOptions{On: []string{"id"}}).Compact()
		}, func(x any) []float64 {
			t := x.(*structured.Tensor)
			return keyed(t.With("time", ops.Mod(t.Path("time"), int64(1000003))), "pos", "time", "pt")
		}},
		{"join_strings_small", true, func() any {
			return ex.Join(taxes, structured.JoinOptions{Kind: structured.Left, On: []string{"cat"}}).Compact()
		}, keyedBy("pos", "tax", "pt")},
		{"sort_two_keys", false, func() any { return tenon.Must(d.Select("id", "city").Sort(0, sorted...)).Compact() },
			func(x any) []float64 { return rowed(x.(*structured.Tensor).Path("id")) }},
		{"running_sum_by_group", true, func() any { return ex.GroupBy("cat").Window(structured.Running("pt").As("run")) }, keyedBy("pos", "run")},
		{"median_by_group", true, func() any { return ex.GroupBy("city").Aggregate(structured.Quantile("pt", 0.5)) }, keyedBy("city", "pt")},
		{"count_distinct_by_group", true, func() any { return ex.GroupBy("city").Aggregate(structured.CountDistinct("pt")) }, keyedBy("city", "pt")},
		{"regex_upper", false, func() any {
			return ops.StringRegexFullMatch(ops.StringUpper(d.Path("city"), ops.UnitChar), ".*Y1.*9.*")
		},
			func(x any) []float64 { return rowed(x.(tensor.Tensor)) }},
		{"list_sum", false, func() any { return ops.Sum(d.Path("jets.pt"), 1) }, func(x any) []float64 { return rowed(x.(tensor.Tensor)) }},
		{"list_filter", false, func() any { return d.Path("jets[?@.pt > 50]").(*structured.Tensor).Compact() }, func(x any) []float64 {
			t := x.(*structured.Tensor)
			return rowed(t.RowPartitions()[0].RowLengths(), ops.Sum(t.Path("pt"), 1))
		}},
		{"explode", false, func() any { return d.Select("id", "city", "jets").Flatten(structured.DropEmpty, "jets").Compact() }, func(x any) []float64 {
			t := x.(*structured.Tensor)
			return rowed(t.Path("id"), t.Path("jets.qty"), t.Path("jets.pt"), t.Lengths("jets.hits"))
		}},
		{"pivot", true, func() any { return ex.Pivot("city", "cat", structured.Sum("pt"), structured.PivotOptions{}) }, func(x any) []float64 {
			p := x.(structured.Pivot)
			cells := make([]tensor.Tensor, p.Values.Shape().Dim(1))
			for i := range cells {
				cells[i] = ops.Gather(p.Values, int64(i), 1)
			}
			return rowed(cells...)
		}},
	}
}

// rowed returns the number of rows, and of each column its sum and that of its values times
// 1 + the row mod 31. What is missing counts 0.
func rowed(columns ...tensor.Tensor) []float64 {
	out := []float64{float64(columns[0].Shape().Dim(0))}
	for _, v := range columns {
		sum, weighed := 0.0, 0.0
		for i, x := range numbersOf(v) {
			sum, weighed = sum+x, weighed+x*float64(1+i%31)
		}
		out = append(out, sum, weighed)
	}
	return out
}

// keyed is rowed in the order of a key.
func keyed(t *structured.Tensor, key string, paths ...string) []float64 {
	columns := make([]tensor.Tensor, len(paths))
	at := tensor.Of(orderOf(t.Path(key)))
	for i, p := range paths {
		columns[i] = ops.Gather(tensor.Of(numbersOf(t.Path(p))), at, 0)
	}
	return rowed(columns...)
}

// orderOf returns the positions of keys in ascending order.
func orderOf(key tensor.Tensor) []int64 {
	order := make([]int64, key.Shape().Dim(0))
	for i := range order {
		order[i] = int64(i)
	}
	if s, ok := key.(*tensor.Strings); ok {
		words := s.Slice()
		slices.SortFunc(order, func(a, b int64) int { return cmp.Compare(words[a], words[b]) })
		return order
	}
	numbers := tensor.Data[int64](key)
	slices.SortFunc(order, func(a, b int64) int { return cmp.Compare(numbers[a], numbers[b]) })
	return order
}

// numbersOf returns the elements of a column as numbers, 0 for what is missing.
func numbersOf(v tensor.Tensor) []float64 {
	if m, ok := v.(interface{ Mask() tensor.Tensor }); ok {
		v = ops.Where(m.Mask(), leafOf(v), ops.Cast(0, v.DType()))
	}
	return tensor.Data[float64](ops.Cast(v, dtype.Float64))
}
