package structured_test

import (
	"fmt"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// Queries of the lists of each record, whose results differ in length.
func TestQueriesInMap(t *testing.T) {
	s := orders(t)
	items := func(r *structured.Tensor) *structured.Tensor { return r.Path("items").(*structured.Tensor) }
	one := func(n int64, price float64) rec { return rec{"n": n, "price": price} }
	for name, c := range map[string]struct {
		f    func(r *structured.Tensor) tensor.Tensor
		want any
	}{
		"path":   {func(r *structured.Tensor) tensor.Tensor { return ops.Sum(r.Path("items[?@.price > 1].price")) }, list{3.0, 0.0, 5.0}},
		"select": {func(r *structured.Tensor) tensor.Tensor { return r.Select("items.n") }, list{rec{"items": list{rec{"n": int64(2)}, rec{"n": int64(1)}}}, rec{"items": list{}}, rec{"items": list{rec{"n": int64(3)}}}}},
		"filter": {func(r *structured.Tensor) tensor.Tensor { return items(r).Filter("@.price > 1") }, list{list{one(2, 3)}, list{}, list{one(3, 5)}}},
		"where": {func(r *structured.Tensor) tensor.Tensor {
			return items(r).Where(ops.Less(items(r).Path("price"), 4.0))
		}, list{list{one(2, 3), one(1, 1)}, list{}, list{}}},
		"sort": {func(r *structured.Tensor) tensor.Tensor {
			return tenon.Must(items(r).Sort(0, structured.By{Path: []string{"price"}}))
		}, list{list{one(1, 1), one(2, 3)}, list{}, list{one(3, 5)}}},
		"group": {func(r *structured.Tensor) tensor.Tensor {
			return items(r).GroupBy("n").Sorted().Aggregate(structured.Sum("price"))
		}, list{list{one(1, 1), one(2, 3)}, list{}, list{one(3, 5)}}},
		"join": {func(r *structured.Tensor) tensor.Tensor {
			return items(r).Join(items(r).Filter("@.n > 1").Select("n"), structured.JoinOptions{On: []string{"n"}})
		}, list{list{one(2, 3)}, list{}, list{one(3, 5)}}},
	} {
		for _, traced := range []bool{false, true} {
			f := func(s *structured.Tensor) tensor.Tensor { return control.Map(c.f, s) }
			if traced {
				f = function.New(f).Call
			}
			got, err := tenon.Try(func() tensor.Tensor { return f(s) })
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			same(t, name, fmt.Sprint(plainOf(t, got)), fmt.Sprint(c.want))
		}
	}
}

// The gradient of a query with filter, groups and join, computed in a graph.
func TestGradientOfAQueryInAGraph(t *testing.T) {
	f := function.New(func(s *structured.Tensor) *structured.Tensor {
		return grad.Of(func(s *structured.Tensor) tensor.Tensor {
			flat := s.Flatten(structured.DropEmpty, "items").Filter("@.items.price > 1")
			g := flat.With("p", ops.Square(flat.Path("items.price"))).GroupBy("items.n").Sorted().Aggregate(structured.Sum("p"), structured.Max("rate"))
			j := flat.Join(g, structured.JoinOptions{LeftOn: []string{"items.n"}, RightOn: []string{"n"}, Suffix: "2"})
			return ops.Add(ops.Sum(j.Path("p")), ops.Sum(j.Path("rate")))
		})(s)
	})
	g := f.Call(orders(t))
	same(t, "by the rates", tensor.Data[float64](get(g, "rate")), []float64{1, 0, 1})
	same(t, "by the prices", fmt.Sprint(plainOf(t, get(g, "items", "price"))), "[[6 0] [] [10]]")
}

func TestFlattenThroughOptionalRecords(t *testing.T) {
	s := read(t, list{rec{"o": rec{"l": list{1, 2}, "m": "a"}, "k": 1}, rec{"o": nil, "k": 2}, rec{"o": rec{"l": list{3}, "m": "b"}, "k": 3}}, structured.NestedOptions{Missing: structured.MissingMasked})
	row := func(k int64, l any, m string) rec { return rec{"k": k, "o": rec{"l": l, "m": m}} }
	same(t, "drop", plain(t, s.Flatten(structured.DropEmpty, "o.l")), list{row(1, int64(1), "a"), row(1, int64(2), "a"), row(3, int64(3), "b")})
	same(t, "keep", plain(t, s.Flatten(structured.KeepEmpty, "o.l")), list{row(1, int64(1), "a"), row(1, int64(2), "a"), rec{"k": int64(2), "o": nil}, row(3, int64(3), "b")})
}

// Single records stack, whatever the lengths of their lists, and so do lists of records.
func TestStackOfDifferentLengths(t *testing.T) {
	s := orders(t)
	same(t, "records", plain(t, ops.Stack([]tensor.Tensor{s.At(2), s.At(0), s.At(1)}, 0)), plain(t, ops.Gather(s, []int{2, 0, 1}, 0)))
	ids := s.Select("id")
	two := ops.Stack([]tensor.Tensor{ids, ids.Where([]bool{true, false, false}), ids.Where([]bool{false, false, false})}, 0)
	r := func(i int64) rec { return rec{"id": i} }
	same(t, "lists", plain(t, two), list{list{r(1), r(2), r(3)}, list{r(1)}, list{}})
}
