package structured_test

import (
	"fmt"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// After a few calls with other numbers of rows a function is traced with sizes that
// are not known: all queries have to work then, down to no rows at all.
func TestQueriesOfUnknownSizes(t *testing.T) {
	all := shop(t)
	tables := []*structured.Tensor{all, ops.Index(all, tensor.Of([]int64{0, 2})).(*structured.Tensor)}
	for n := range 7 {
		var parts []tensor.Tensor
		for range n {
			parts = append(parts, all)
		}
		if n > 0 {
			tables = append(tables, ops.Concat(parts, 0).(*structured.Tensor))
		}
	}
	tables = append(tables, all.Filter("@.id > 9"), all.Filter("@.id == 2"))
	queries := map[string]func(s *structured.Tensor) tensor.Tensor{
		"group": func(s *structured.Tensor) tensor.Tensor {
			return s.GroupBy("geo.lat", "age").Sorted().Aggregate(structured.Count(), structured.Mean("id"), structured.Quantile("id", 0.5).As("median"), structured.List("orders"),
				structured.Max("name").As("last"), structured.CountDistinct("name").As("names"), structured.Records("rows"))
		},
		"window": func(s *structured.Tensor) tensor.Tensor {
			return s.GroupBy("active").OrderBy("geo.lon", ops.SortOptions{Descending: true}).Window(structured.RowNumber(), structured.Running("id").As("sum"), structured.Shifted("orders", 1).As("before"), structured.First("name").As("first"))
		},
		"join": func(s *structured.Tensor) tensor.Tensor {
			return s.Join(s.Select("id", "tags").Filter("@.id < 3"), structured.JoinOptions{Kind: structured.Left, On: []string{"id"}, Suffix: "2"})
		},
		"nested join": func(s *structured.Tensor) tensor.Tensor {
			return s.Select("id").Join(s, structured.JoinOptions{Kind: structured.Nested, On: []string{"id"}, As: "all"})
		},
		"pivot": func(s *structured.Tensor) tensor.Tensor {
			return s.Pivot("name", "active", structured.Sum("id"), structured.PivotOptions{}).Values
		},
		"flatten": func(s *structured.Tensor) tensor.Tensor {
			return s.Flatten(structured.KeepEmpty, "orders").Flatten(structured.KeepEmpty, "tags")
		},
		"zip": func(s *structured.Tensor) tensor.Tensor { return s.Broadcast("name", "orders", "who").Path("orders") },
	}
	for _, c := range pathCases[:40] {
		queries[c.path] = func(s *structured.Tensor) tensor.Tensor { return s.Path(c.path) }
	}
	for name, f := range queries {
		traced := function.New(f)
		for i, s := range tables {
			want, wrong := tenon.Try(func() tensor.Tensor { return f(s) })
			got, err := tenon.Try(func() tensor.Tensor { return traced.Call(s) })
			if (err != nil) != (wrong != nil) {
				t.Errorf("%s, table %d: got the error %v, want %v", name, i, err, wrong)
			} else if err == nil && fmt.Sprint(plainOf(t, got)) != fmt.Sprint(plainOf(t, want)) {
				t.Errorf("%s, table %d: got %v, want %v", name, i, plainOf(t, got), plainOf(t, want))
			}
		}
	}
}
