package ragged_test

import (
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// whatIsThere returns the values of a tensor, zeros in place of what is missing.
func whatIsThere(x T) T {
	m, ok := x.(*masked.Tensor)
	if !ok {
		return x
	}
	v := whatIsThere(m.Values())
	if m.Mask().Shape().Rank() < v.Shape().Rank() {
		return tenon.Must(ragged.DropMissing(tenon.Must(masked.New(v, m.Mask()))))
	}
	return ops.Where(m.Mask(), v, ops.ZerosLike(v))
}

// TestTracedMissing: what makes, finds, fills and removes missing entries, regroups and
// combines rows does the same in a graph, for any number of rows.
func TestTracedMissing(t *testing.T) {
	x := rag([]float64{1, 2, 3}, nil, []float64{4}, []float64{5, 6})
	must := func(x T, err error) T { return tenon.Must(x, err) }
	elems := func(x T) T { return must(ragged.Mask(x, ops.Greater(x, 1.5))) }
	rows := func(x T) T { return must(ragged.Mask(x, ops.Greater(ops.Sum(x, -1), 5.0))) }
	one := func(ts []T, err error) T { return tenon.Must(ts, err)[1] }
	at := []float64{1, 2, 3, 4, 5, 6}
	of := func(v T) T { return tenon.Must(ragged.FromRowSplits(v, []int{0, 3, 3, 4, 6})) }
	for name, f := range map[string]func(x T) T{
		"mask":           elems,
		"mask rows":      rows,
		"sum":            func(x T) T { return ops.Sum(elems(x), -1) },
		"mean down":      func(x T) T { return ops.Mean(elems(x), 0) },
		"drop":           func(x T) T { return must(ragged.DropMissing(elems(x))) },
		"drop rows":      func(x T) T { return must(ragged.DropMissing(rows(x))) },
		"fill":           func(x T) T { return must(ragged.FillMissing(elems(x), 7.0)) },
		"fill rows":      func(x T) T { return must(ragged.FillMissing(rows(x), []any{}, 0)) },
		"pad":            func(x T) T { return must(ragged.PadMissing(x, 2, 1, ragged.PadOptions{})) },
		"clip":           func(x T) T { return must(ragged.PadMissing(x, 2, 1, ragged.PadOptions{Clip: true})) },
		"pad outside":    func(x T) T { return must(ragged.PadMissing(x, 6, 0, ragged.PadOptions{})) },
		"firsts":         func(x T) T { return must(ragged.Firsts(x, 1)) },
		"singletons":     func(x T) T { return must(ragged.Singletons(must(ragged.Firsts(x, 1)), 0)) },
		"is missing":     func(x T) T { return must(ragged.IsMissing(elems(x), 1)) },
		"num":            func(x T) T { return must(ragged.Num(x, 1)) },
		"local index":    func(x T) T { return must(ragged.LocalIndex(x, 1)) },
		"run lengths":    func(x T) T { return must(ragged.RunLengths(x)) },
		"flatten":        func(x T) T { return must(ragged.Flatten(elems(x), 1)) },
		"unflatten":      func(x T) T { return must(ragged.Unflatten(x, []int64{1, 2, 1, 2}, 1)) },
		"from regular":   func(x T) T { return must(ragged.FromRegular(ops.ExpandDims(x, 1), 1)) },
		"combinations":   func(x T) T { return one(ragged.Combinations(x, 2, 1, ragged.CombinationOptions{})) },
		"cartesian":      func(x T) T { return one(ragged.Cartesian([]T{x, ops.Neg(x)}, 1, ragged.CartesianOptions{})) },
		"nested product": func(x T) T { return one(ragged.Cartesian([]T{x, x}, 1, ragged.CartesianOptions{Nested: true})) },
		"broadcast rows": func(x T) T { return one(ragged.BroadcastRows([]T{x, ops.Sum(x, -1)}, ragged.BroadcastRowsOptions{})) },
		"index": func(x T) T {
			return ops.Index(x, key.By(must(ragged.PadMissing(must(ragged.LocalIndex(x, 1)), 2, 1, ragged.PadOptions{}))))
		},
		"flat values": func(x T) T {
			return must(ragged.MapFlatValues(func(v ...T) T { return ops.CumSum(v[0], 0, ops.CumOptions{}) }, x))
		},
		"stitch": func(x T) T {
			return must(ragged.DynamicStitch([]T{tensor.Of([]int64{3, 0, 2, 1})}, []T{x}))
		},
		"embedding": func(x T) T {
			return must(ragged.EmbeddingLookup(tensor.Of([]float64{1, 2, 3}, 3, 1), ops.Mod(ops.Cast(x, dtype.Int64), 3).(*ragged.Tensor), ragged.EmbeddingOptions{Combiner: ragged.MeanRows}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := func(x T) T { return whatIsThere(f(x)) }
			traced(t, func(x, _ T) T { return g(x) }, x, tensor.Scalar(int64(0)))
			if y := g(x); y.DType().IsFloat() && name != "embedding" {
				differences(t, func(v T) T { return g(of(v)) }, at)
			}
		})
	}
}
