package structured

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// OrderBy returns the same groups with the records of each sorted by the field at a path. The sort
// is stable, and missing values come last. [First], [List], [Records], [Grouping.Groups] and window
// functions follow this order.
func (g *Grouping) OrderBy(path string, o ops.SortOptions) *Grouping {
	const fn = "structured.OrderBy"
	names := fieldPath(fn, path)
	v, mask := there(g.t.entry(fn, names))
	if v.Shape().Rank() != 1 || v.DType() == dtype.None {
		tenon.Throw(invalid(fn, PathString(names), "is %s, which has no order: want one value for each record", tenon.String(v.Spec())))
	}
	s := *g
	s.order = ops.ArgSort(v, 0, o)
	if mask != nil {
		s.order = ops.Gather(s.order, ops.ArgSort(ops.LogicalNot(ops.Gather(mask, s.order, 0)), 0, ops.SortOptions{}), 0)
	}
	return &s
}

// A WindowFunction gives each record a value that depends on the records of its group: an
// [Aggregation] gives each record that of the group, and a [Window] depends on the record's
// position.
type WindowFunction interface {
	over(fn string, g *Grouping) (name string, v tensor.Tensor)
}

func (a Aggregation) over(fn string, g *Grouping) (string, tensor.Tensor) {
	return a.name, taken(g.compute(fn, a), g.ids)
}

// A Window is a function of a record's position among those of its group, in the order of
// [Grouping.OrderBy] or, without one, in their original order.
type Window struct {
	name string
	path string
	f    func(fn string, g *Grouping, path string) tensor.Tensor
}

// As returns the function with the given name for its result.
func (w Window) As(name string) Window {
	w.name = name
	return w
}

func (w Window) over(fn string, g *Grouping) (string, tensor.Tensor) {
	if w.f == nil {
		tenon.Throw(invalid(fn, "", "a window function is the zero value: make one with a function such as Running"))
	}
	return w.name, w.f(fn, g, w.path)
}

func window(path string, f func(fn string, g *Grouping, path string) tensor.Tensor) Window {
	return Window{name: aggregation(path, nil).name, path: path, f: f}
}

// Window returns the records with a field for each function.
//
//	sales.With("share", …) of sales.GroupBy("cat").Window(Sum("amount").As("total"))
func (g *Grouping) Window(list ...WindowFunction) *Tensor {
	const fn = "structured.Window"
	cols := append([]column(nil), g.t.cols...)
	for _, w := range list {
		name, v := w.over(fn, g)
		cols = addColumn(fn, cols, name, v)
	}
	return newTensor(1, g.t.nrows, nil, cols, g.t.dtype)
}

// RowNumber is the position of each record in its group, counted from 0, as int64. Its name is
// "row_number".
func RowNumber() Window {
	return Window{name: "row_number", f: func(_ string, g *Grouping, _ string) tensor.Tensor {
		p, at := g.partition()
		return g.back(ops.Cast(p.OffsetsInRows(), dtype.Int64), at)
	}}
}

// back returns values in the order of the groups in the order of the records,
// whose numbers are at.
func (g *Grouping) back(v, at tensor.Tensor) tensor.Tensor {
	return ops.Gather(v, inverse(at), 0)
}

// Running is the running sum, in the type of [Sum], of the numbers at a path over the records of
// the group up to and including each record. Missing values stay missing and add nothing. Gradient:
// each record gets the sum of those of the records from it on.
func Running(path string) Window {
	return window(path, func(fn string, g *Grouping, path string) tensor.Tensor {
		names := fieldPath(fn, path)
		v, mask := there(g.t.entry(fn, names))
		c := &aggregated{Grouping: g, fn: fn, path: PathString(names), v: v, mask: mask, all: v}
		v = c.summands()
		if mask != nil {
			v = cleared(v, mask)
		}
		p, at := g.partition()
		sums := g.back(rows.CumSum(ops.Gather(v, at, 0), p.RowSplits(), rows.CumOptions{}), at)
		if mask == nil {
			return sums
		}
		return hidden(sums, mask)
	})
}

// Shifted is the value at a path of the record that is the given number of places earlier in the
// same group, or later if it is negative. The value may have any type; it is missing if there is no
// such record.
func Shifted(path string, places int) Window {
	return window(path, func(fn string, g *Grouping, path string) tensor.Tensor {
		v := g.t.entry(fn, fieldPath(fn, path))
		p, at := g.partition()
		place := ops.Cast(p.OffsetsInRows(), dtype.Int64)
		lengths := ops.Gather(ops.Cast(p.RowLengths(), dtype.Int64), p.ValueRowIDs(), 0)
		from := ops.Sub(place, int64(places))
		has := ops.LogicalAnd(ops.GreaterEqual(from, int64(0)), ops.Less(from, lengths))
		has = g.back(has, at)
		from = g.back(ops.Sub(upTo(sizeOf(at, dtype.Int64)), int64(places)), at)
		from = ops.Gather(at, ops.BooleanMask(from, has, 0), 0)
		return spread(ops.Gather(v, from, 0), has)
	})
}
