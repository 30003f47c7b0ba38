package main

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func init() { register("structured_select", structuredSelect) }

func structuredSelect(r *runner) {
	name, _ := r.ordersFile()
	if r.err != nil {
		return
	}
	t, err := readOrders(name)
	if r.fail(err) {
		return
	}
	items := float64(t.Shape().Dim(0))
	query := func(x any) []float64 {
		s := x.(*structured.Tensor)
		counts, totals := tensor.Data[int64](s.Path("count")), tensor.Data[float64](s.Path("total"))
		tops, parts := tensor.Data[float64](s.Path("price")), tensor.Data[int64](s.Path("items"))
		var out []float64
		for i := range counts {
			out = append(out, float64(counts[i]), totals[i], tops[i], float64(parts[i]))
		}
		return out
	}
	r.run(benchCase{name: "query", items: items, unit: "rows", check: query}, func() any { return ordersQuery(t) })
	answer := func(x any) []float64 {
		s := x.(*structured.Tensor)
		return []float64{floatOf(s.NRows()), floatOf(ops.Sum(s.Path("id"))), floatOf(ops.Sum(s.Path("orders.price")))}
	}
	// What is chosen waits until it is read, as a view does: project leaves that to the
	// check, as it is for the peers, and project_read reads while the clock runs.
	r.run(benchCase{name: "project", items: items, unit: "rows", check: answer}, func() any { return ordersProject(t) })
	r.run(benchCase{name: "project_read", items: items, unit: "rows", check: func(x any) []float64 { return x.([]float64) }},
		func() any { return answer(ordersProject(t)) })
}

// active returns where a user is active and in the north.
func active(t *structured.Tensor) tensor.Tensor {
	return ops.LogicalAnd(ops.Greater(t.Path("geo.lat"), 0.0), t.Path("active"))
}

// ordersQuery groups the orders of active users in the north by category.
func ordersQuery(t *structured.Tensor) *structured.Tensor {
	orders := t.Select("orders['cat','qty','price']").With("orders.items", t.Lengths("orders.items")).Where(active(t)).Path("orders")
	flat := tenon.Must(orders.(*structured.Tensor).MergeDims(0, 1))
	total := ops.Mul(ops.Cast(flat.Path("qty"), dtype.Float64), flat.Path("price"))
	return flat.With("total", total).GroupBy("cat").Sorted().
		Aggregate(structured.Count(), structured.Sum("total"), structured.Max("price"), structured.Sum("items"))
}

// ordersProject chooses the same users, and two fields of their orders.
func ordersProject(t *structured.Tensor) *structured.Tensor {
	return t.Select("id", "orders['cat','price']").Where(active(t))
}
