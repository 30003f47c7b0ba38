package structured

import (
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// An Aggregation computes one value from the records of a group. Missing values are ignored. If a
// group has no others, the sum is 0, the mean NaN, and an extreme or a quantile missing.
type Aggregation struct {
	name  string
	path  string
	f     func(c *aggregated) tensor.Tensor
	lists bool // the result is a list of all records of each group
}

// As returns the aggregation with the given name for its result instead of the last name of its
// path.
func (a Aggregation) As(name string) Aggregation {
	a.name = name
	return a
}

// aggregated is what an aggregation is computed from: the entries of a column, and the group of
// each, negative for missing ones.
type aggregated struct {
	*Grouping
	fn   string
	path string
	v    tensor.Tensor // without its mask
	mask tensor.Tensor // nil: nothing is missing
	all  tensor.Tensor // the column with its mask
	ids  tensor.Tensor
}

func (g *Grouping) compute(fn string, a Aggregation) tensor.Tensor {
	if a.f == nil {
		tenon.Throw(invalid(fn, "", "an aggregation is the zero value: make one with a function such as Sum"))
	}
	c := &aggregated{Grouping: g, fn: fn, path: a.path, ids: g.ids}
	if a.path != "" {
		names := fieldPath(fn, a.path)
		c.path = PathString(names)
		c.all = g.t.entry(fn, names)
		if c.v, c.mask = there(c.all); c.mask != nil {
			c.ids = ops.Where(c.mask, g.ids, int64(-1))
		}
	}
	return a.f(c)
}

func aggregation(path string, f func(c *aggregated) tensor.Tensor) Aggregation {
	name := path
	if names, err := ParsePath(path); err == nil && len(names) > 0 {
		name = names[len(names)-1]
	}
	return Aggregation{name: name, path: path, f: f}
}

// Count counts the records of each group. Its name is "count".
func Count() Aggregation {
	return Aggregation{name: "count", f: func(c *aggregated) tensor.Tensor { return c.counts(c.ids) }}
}

// counts returns the number of records with the id of each group.
func (c *aggregated) counts(ids tensor.Tensor) tensor.Tensor {
	if c.sizes != nil && ids == c.Grouping.ids {
		return c.sizes
	}
	return ops.SegmentSum(ops.OnesLike(ids), ids, c.n)
}

// CountOf counts the records of each group in which the field at a path is
// present.
func CountOf(path string) Aggregation {
	return aggregation(path, func(c *aggregated) tensor.Tensor { return c.counts(c.ids) })
}

// CountDistinct counts the distinct values of the field at a path in each group. They may have any
// type: lists are equal if their lengths and elements are. Missing values are not counted; all NaNs
// count as one value.
func CountDistinct(path string) Aggregation {
	return aggregation(path, func(c *aggregated) tensor.Tensor {
		_, first, _ := rows.Group(append([]any{c.ids}, anys(identities(c.v))...)...)
		return c.counts(ops.Gather(c.ids, first, 0))
	})
}

// numbers returns the entries as numbers, with booleans as 0 and 1.
func (c *aggregated) numbers(what string) tensor.Tensor {
	d := c.v.DType()
	if s := c.v.Shape(); s.Rank() < 1 || !d.IsNumeric() && !d.IsBool() || !isPlain(c.v) {
		e := invalid(c.fn, c.path, "is %s, which does not have a %s", tenon.String(c.all.Spec()), what)
		e.Hint = "flatten lists first, or reduce each list to one value"
		tenon.Throw(e)
	}
	if d.IsBool() {
		return ops.Cast(c.v, dtype.Int64)
	}
	return c.v
}

// isPlain reports whether entries are a tensor that has only axes.
func isPlain(v tensor.Tensor) bool {
	switch v.(type) {
	case *Tensor, divided:
		return false
	}
	_, _, composed := pieces(v)
	return !composed
}

// Sum adds up the numbers at a path: integers of fewer than 64 bits as int64 or, if they are
// unsigned, as uint64, and other numbers in their own type. Booleans count as 0 and 1. 64-bit sums
// wrap. Entries may be vectors. Gradient: each record gets that of its group.
func Sum(path string) Aggregation {
	return aggregation(path, func(c *aggregated) tensor.Tensor { return ops.SegmentSum(c.summands(), c.ids, c.n) })
}

// summands returns the entries as numbers of the type of their sums.
func (c *aggregated) summands() tensor.Tensor {
	v := c.numbers("sum")
	if d := v.DType(); d.IsInteger() && d != wideInteger(d) {
		return ops.Cast(v, wideInteger(d))
	}
	return v
}

// Mean is the mean of the numbers at a path, in float64 for integers. Gradient:
// each record gets that of its group, divided by the number of records.
func Mean(path string) Aggregation {
	return aggregation(path, func(c *aggregated) tensor.Tensor { return ops.SegmentMean(c.numbers("mean"), c.ids, c.n) })
}

// Max is the largest of the values at a path: numbers (NaN wins), booleans or strings. Gradient,
// for numbers: the records with the largest value share that of the group.
func Max(path string) Aggregation {
	return aggregation(path, func(c *aggregated) tensor.Tensor { return c.extreme(ops.SegmentMax) })
}

// Min is the smallest of the values at a path; see [Max].
func Min(path string) Aggregation {
	return aggregation(path, func(c *aggregated) tensor.Tensor { return c.extreme(ops.SegmentMin) })
}

func (c *aggregated) extreme(segment func(data, ids, n any) tensor.Tensor) tensor.Tensor {
	var out tensor.Tensor
	switch d := c.v.DType(); {
	case d.IsString() && c.v.Shape().Rank() == 1:
		out = c.extremeText(segment)
	case d.IsBool():
		out = ops.Cast(segment(ops.Cast(c.numbers("extreme"), dtype.Int8), c.ids, c.n), dtype.Bool)
	case d.IsComplex():
		tenon.Throw(invalid(c.fn, c.path, "is complex, which has no order"))
	default:
		out = segment(c.numbers("extreme"), c.ids, c.n)
	}
	return c.orMissing(out)
}

// orMissing masks the results of groups without values, if there can be any.
func (c *aggregated) orMissing(out tensor.Tensor) tensor.Tensor {
	if c.mask == nil && c.first != nil {
		return out
	}
	return hidden(out, ops.Greater(c.counts(c.ids), int64(0)))
}

// extremeText compares strings by their ranks.
func (c *aggregated) extremeText(segment func(data, ids, n any) tensor.Tensor) tensor.Tensor {
	order := ops.ArgSort(c.v, 0, ops.SortOptions{})
	best := segment(inverse(order), c.ids, c.n)
	last := ops.Sub(sizeOf(order, dtype.Int64), int64(1))
	best = ops.Maximum(ops.Minimum(best, last), int64(0)) // for groups without a value
	return ops.Gather(c.v, ops.Gather(order, best, 0), 0)
}

// First is the value at a path in the first record of each group. It may have any type and may be
// missing.
func First(path string) Aggregation {
	return aggregation(path, func(c *aggregated) tensor.Tensor {
		if c.first != nil && c.order == nil {
			return taken(c.all, c.first)
		}
		splits, at := c.collected(c.Grouping.ids)
		lengths := rows.Lengths(splits)
		has := ops.Greater(lengths, int64(0))
		at = ops.Gather(at, ops.BooleanMask(starts(splits), has, 0), 0)
		if c.first != nil {
			return taken(c.all, at)
		}
		return spread(ops.Gather(c.all, at, 0), has)
	})
}

// List is the list of the values at a path in the records of each group, in order. They may have
// any type and may be missing. Gradient: each record gets its part.
func List(path string) Aggregation {
	a := aggregation(path, func(c *aggregated) tensor.Tensor {
		p, at := c.partition()
		return grouped(gatherRows(c.all, at), p)
	})
	a.lists = true
	return a
}

// Quantile is the q-quantile of the numbers at a path, 0 ≤ q ≤ 1; 0.5 is the median. Between two
// records it is interpolated linearly, as in NumPy and definition 7 of Hyndman and Fan ("Sample
// quantiles in statistical packages", 1996). Integers give float64. The quantile of a group with
// NaN is NaN. Gradient: the one or two records from which it is computed share it.
func Quantile(path string, q float64) Aggregation {
	return aggregation(path, func(c *aggregated) tensor.Tensor {
		if !(q >= 0 && q <= 1) {
			tenon.Throw(invalid(c.fn, c.path, "has no quantile %v: want 0 to 1", q))
		}
		v := c.numbers("quantile")
		if v.DType().IsComplex() || v.Shape().Rank() != 1 {
			tenon.Throw(invalid(c.fn, c.path, "is %s, which has no quantile", tenon.String(c.all.Spec())))
		}
		if v.DType().IsInteger() {
			v = ops.Cast(v, dtype.Float64)
		}
		splits, at := c.collected(c.ids)
		return c.orMissing(quantile(rows.Sort(ops.Gather(v, at, 0), splits, rows.SortOptions{}), splits, q))
	})
}

// quantile returns the q-quantile of each row of sorted values, and NaN for an empty row.
func quantile(v, splits tensor.Tensor, q float64) tensor.Tensor {
	d := v.DType()
	lengths := rows.Lengths(splits)
	has := ops.Greater(lengths, int64(0))
	last := ops.Sub(lengths, int64(1))
	at := ops.Mul(ops.Cast(last, dtype.Float64), q)
	low := ops.Floor(at)
	part := ops.Cast(ops.Sub(at, low), d)
	none := sizeOf(v, dtype.Int64) // the position of NaN, after the values
	v = ops.Concat([]tensor.Tensor{v, ops.Cast(ops.Reshape(nan, []int{1}), d)}, 0)
	first := starts(splits)
	lo := ops.Cast(low, dtype.Int64)
	hi := ops.Minimum(ops.Add(lo, int64(1)), last)
	value := func(i tensor.Tensor) tensor.Tensor {
		return ops.Gather(v, ops.Where(has, ops.Add(first, i), none), 0)
	}
	a, b := value(lo), value(hi)
	out := ops.Where(ops.Equal(part, ops.Cast(0, d)), a, ops.Add(a, ops.Mul(part, ops.Sub(b, a))))
	return ops.Where(ops.IsNaN(value(last)), ops.Cast(nan, d), out)
}

// nan is NaN as a scalar.
var nan = tensor.Scalar(math.NaN())

// Records is the list of the records of each group, with all their fields, under the given name. It
// is the inverse of flattening.
func Records(name string) Aggregation {
	return Aggregation{name: name, lists: true, f: func(c *aggregated) tensor.Tensor {
		p, at := c.partition()
		return grouped(byNumbers(c.t.cols, at, c.t.dtype), p)
	}}
}
