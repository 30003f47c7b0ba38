package structured_test

import (
	"errors"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// What a query would make is known before memory is asked for it.
func TestQueriesBeyondMemoryAreErrors(t *testing.T) {
	const n = 200_000
	equal, different := make([]int64, n), make([]int64, n)
	for i := range different {
		different[i] = int64(i)
	}
	s := tenon.Must(structured.FromFieldsAndRank([]structured.Field{{Name: "one", Value: tensor.Vector(equal)}, {Name: "id", Value: tensor.Vector(different)}}, 1, structured.Options{}))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 30))
	on := func(k structured.JoinKind, maxBytes int) func() any {
		return func() any {
			return s.Join(s, structured.JoinOptions{Kind: k, On: []string{"one"}, Suffix: "2", As: "all", MaxBytes: maxBytes})
		}
	}
	splits := []int64{0, n}
	list := tenon.Must(ragged.FromRowSplits(make([]int8, 10*n), []int64{0, 10 * n}))
	few := tenon.Must(ragged.FromRowLengths(make([]int8, 100), []int64{100}))
	for name, c := range map[string]struct {
		f    func() any
		op   string
		says string
	}{
		"inner join":          {on(structured.Inner, 0), "structured.Join", "40000000000 pairs"},
		"left join":           {on(structured.Left, 0), "structured.Join", "320 GB; the budget is 1.07 GB"},
		"nested join":         {on(structured.Nested, 0), "structured.Join", "40000000000 pairs"},
		"a budget for a join": {on(structured.Inner, 1<<20), "structured.Join", "the budget is 524 kB"},
		"pivot": {func() any { return s.Pivot("id", "id", structured.Count(), structured.PivotOptions{}) },
			"structured.Pivot", "200000 rows and 200000 columns takes 960 GB"},
		"a budget for a pivot": {func() any {
			return s.Filter("@.id < 100").Pivot("id", "id", structured.Count(), structured.PivotOptions{MaxBytes: 1 << 10})
		}, "structured.Pivot", "240 kB; the budget is 1.02 kB"},
		"combinations": {func() any { _, at := rows.Combinations(splits, 3, rows.CombinationOptions{}); return at },
			"ragged.Combinations", "1333313333400000 tuples"},
		"cartesian": {func() any {
			return tenon.Must(ragged.Cartesian([]tensor.Tensor{list, list}, 1, ragged.CartesianOptions{}))
		}, "ragged.Cartesian", "more than the budget"},
		"a budget for products": {func() any {
			return tenon.Must(ragged.ArgCartesian([]tensor.Tensor{few, few}, 1, ragged.CartesianOptions{MaxBytes: 1 << 10}))
		}, "ragged.ArgCartesian", "10000 tuples, whose positions take 160 kB, more than the budget of 1.02 kB"},
		"pairs of one row": {func() any { return tenon.Must(ragged.Combinations(list, 2, 1, ragged.CombinationOptions{})) },
			"ragged.Combinations", "1999999000000 tuples"},
		"triples with replacement": {func() any {
			return tenon.Must(ragged.Combinations(few, 3, 1, ragged.CombinationOptions{Replacement: true, MaxBytes: 1 << 20}))
		},
			"ragged.Combinations", "171700 tuples"},
	} {
		_, err := tenon.Try(c.f)
		var e *tenon.Error
		if !errors.As(err, &e) || !errors.Is(err, tenon.ErrInvalid) && !errors.Is(err, tenon.ErrShape) || c.op != "" && e.Op != c.op || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %s with %q", name, err, c.op, c.says)
		}
	}
	// What asks only for a partner makes no pairs.
	if k := s.Join(s, structured.JoinOptions{Kind: structured.Semi, On: []string{"one"}}).Shape().Dim(0); k != n {
		t.Errorf("a semi join keeps %d records", k)
	}
	if k := s.Join(s, structured.JoinOptions{Kind: structured.Anti, On: []string{"one"}}).Shape().Dim(0); k != 0 {
		t.Errorf("an anti join keeps %d records", k)
	}
}
