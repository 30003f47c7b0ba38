package main

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon/structured/gostruct"
)

// An event is a record of the events, as Go has it.
type event struct {
	ID   int64  `json:"id"`
	Time int64  `json:"time"`
	City string `json:"city"`
	Geo  *struct {
		Lat float64 `json:"lat"`
	} `json:"geo"`
	Jets []jet `json:"jets"`
}

type jet struct {
	Cat  string  `json:"cat"`
	Qty  int64   `json:"qty"`
	Pt   float64 `json:"pt"`
	Hits []int32 `json:"hits"`
}

// answer is rowed of columns of numbers, row by row.
func answer(rows [][]float64, columns int) []float64 {
	out := make([]float64, 1+2*columns)
	out[0] = float64(len(rows))
	for i, row := range rows {
		for k, x := range row {
			out[1+2*k] += x
			out[2+2*k] += x * float64(1+i%31)
		}
	}
	return out
}

// byKey is answer for the groups of a map, in the order of their keys.
func byKey[K cmp.Ordered, G any](groups map[K]G, columns int, f func(G) []float64) []float64 {
	var rows [][]float64
	for _, k := range slices.Sorted(maps.Keys(groups)) {
		rows = append(rows, f(groups[k]))
	}
	return answer(rows, columns)
}

// TestQuery compares the queries with loops over Go structs.
func TestQuery(t *testing.T) {
	d, err := events(700)
	if err != nil {
		t.Fatal(err)
	}
	list, err := gostruct.To[event](d)
	if err != nil {
		t.Fatal(err)
	}
	pts := func(js []jet) (sum float64) {
		for _, j := range js {
			sum += j.Pt
		}
		return sum
	}
	type of = map[string][]jet
	north, byID, byCity, cells := of{}, map[int64][]jet{}, of{}, map[string]map[string]float64{}
	running := map[string]float64{}
	var joined, taxed, runs, upper, sums, kept, exploded [][]float64
	for _, e := range list {
		matches := 0.0
		if _, rest, ok := strings.Cut(strings.ToUpper(e.City), "Y1"); ok && strings.Contains(rest, "9") {
			matches = 1
		}
		left := slices.DeleteFunc(slices.Clone(e.Jets), func(j jet) bool { return j.Pt <= 50 })
		upper, sums, kept = append(upper, []float64{matches}), append(sums, []float64{pts(e.Jets)}), append(kept, []float64{float64(len(left)), pts(left)})
		for _, j := range e.Jets {
			if e.Geo != nil && e.Geo.Lat > 0 {
				north[j.Cat] = append(north[j.Cat], j)
			}
			byID[e.ID], byCity[e.City] = append(byID[e.ID], j), append(byCity[e.City], j)
			if cells[e.City] == nil {
				cells[e.City] = map[string]float64{}
			}
			cells[e.City][j.Cat] += j.Pt
			running[j.Cat] += j.Pt
			tax := slices.Index(orderCats[:8], j.Cat) + 1
			joined = append(joined, []float64{float64(e.Time % 1000003), j.Pt})
			taxed = append(taxed, []float64{float64(tax), j.Pt})
			runs = append(runs, []float64{running[j.Cat]})
			exploded = append(exploded, []float64{float64(e.ID), float64(j.Qty), j.Pt, float64(len(j.Hits))})
		}
	}
	ordered := slices.Clone(list)
	slices.SortFunc(ordered, func(a, b event) int { return cmp.Or(cmp.Compare(a.City, b.City), cmp.Compare(b.ID, a.ID)) })
	var ids [][]float64
	for _, e := range ordered {
		ids = append(ids, []float64{float64(e.ID)})
	}
	cats := slices.Sorted(slices.Values(orderCats[:16]))
	want := map[string][]float64{
		"filter_flatten_group": byKey(north, 4, func(js []jet) []float64 {
			qty, top := 0.0, 0.0
			for _, j := range js {
				qty, top = qty+float64(j.Qty), max(top, j.Pt)
			}
			return []float64{float64(len(js)), qty, pts(js) / float64(len(js)), top}
		}),
		"group_many_keys": byKey(byID, 1, func(js []jet) []float64 { return []float64{pts(js)} }),
		"join_ints":       answer(joined, 2), "join_strings_small": answer(taxed, 2), "sort_two_keys": answer(ids, 1), "running_sum_by_group": answer(runs, 1),
		"median_by_group": byKey(byCity, 1, func(js []jet) []float64 {
			slices.SortFunc(js, func(a, b jet) int { return cmp.Compare(a.Pt, b.Pt) })
			return []float64{(js[(len(js)-1)/2].Pt + js[len(js)/2].Pt) / 2}
		}),
		"count_distinct_by_group": byKey(byCity, 1, func(js []jet) []float64 {
			different := map[float64]bool{}
			for _, j := range js {
				different[j.Pt] = true
			}
			return []float64{float64(len(different))}
		}),
		"regex_upper": answer(upper, 1), "list_sum": answer(sums, 1), "list_filter": answer(kept, 2), "explode": answer(exploded, 4),
		"pivot": byKey(cells, 16, func(m map[string]float64) []float64 {
			row := make([]float64, len(cats))
			for i, c := range cats {
				row[i] = m[c]
			}
			return row
		}),
	}
	for _, c := range queryCases(d, jetsOf(d)) {
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }
		if got := c.facts(c.run()); !slices.EqualFunc(got, want[c.name], near) {
			t.Errorf("%s: got %v, want %v", c.name, got, want[c.name])
		}
	}
}
