package main

import (
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// The operations of math/reduce that sort, search, count and reduce segments.
func init() {
	cases.Handle(map[string]cases.Func{
		"math.sort": one(func(c *cases.Case) any {
			return ops.Sort(c.Tensor(0), c.AttrInt("axis", -1), ops.SortOptions{Descending: c.AttrBool("descending", false)})
		}),
		"math.argsort": one(func(c *cases.Case) any {
			return ops.ArgSort(c.Tensor(0), c.AttrInt("axis", -1), ops.SortOptions{Descending: c.AttrBool("descending", false)})
		}),
		"math.top_k": one(func(c *cases.Case) any {
			values, at := ops.TopK(c.Tensor(0), c.AttrInt("k", 1))
			return []tensor.Tensor{values, at}
		}),
		"math.unique": one(func(c *cases.Case) any {
			values, inverse, counts, _ := ops.Unique(c.Tensor(0))
			return []tensor.Tensor{values, inverse, counts}
		}),
		"math.searchsorted": one(func(c *cases.Case) any {
			return ops.SearchSorted(c.Tensor(0), c.Tensor(1), c.AttrStr("side", "left") == "right")
		}),
		"math.bincount": one(func(c *cases.Case) any {
			o := ops.BinCountOptions{MinLength: c.Attrs["minlength"], MaxLength: c.Attrs["maxlength"]}
			if len(c.Args) > 1 {
				o.Weights = c.Tensor(1)
			}
			return ops.BinCount(c.Tensor(0), o)
		}),
		"math.histogram_fixed_width": one(func(c *cases.Case) any {
			ends := cases.List[any](c.Attrs["range"])
			return ops.Histogram(c.Tensor(0), []float64{cases.Float(ends[0]), cases.Float(ends[1])}, c.AttrInt("nbins", 100))
		}),
		"math.segment_sum":  segments(ops.SegmentSum),
		"math.segment_prod": segments(ops.SegmentProd),
		"math.segment_max":  segments(ops.SegmentMax),
		"math.segment_min":  segments(ops.SegmentMin),
		"math.segment_mean": segments(ops.SegmentMean),
	})
}

func segments(f func(data, ids, n any) tensor.Tensor) cases.Func {
	return one(func(c *cases.Case) any { return f(c.Tensor(0), c.Tensor(1), c.AttrInt("num_segments", 0)) })
}
