package rows

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/internal/kernel/sorting"
	"github.com/tenonml/tenon/internal/kernel/str"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// moving registers an operation that moves values within their rows.
func moving(o *op.Op, kernel func(c *op.Call, out, x *tensor.Dense, splits []int64)) *op.Op {
	o.Results = 1
	o.Shape = (*op.Call).OfRows
	o.Kernel = func(c *op.Call) ([]tensor.Tensor, error) {
		splits := rowSplits(c, 1, lead(c.Tensor(0)))
		return results(move.Apply(c.Tensor(0), func(x *tensor.Dense) *tensor.Dense {
			out := tensor.Uninit(x.DType(), x.Shape())
			if out.Len() > 0 {
				kernel(c, out, x, splits)
			}
			return out
		}))
	}
	return op.Register(o)
}

var reverseOp, rollOp *op.Op

func init() {
	reverseOp = moving(&op.Op{
		Name: "ragged.reverse", Statement: moves(op.Select, two), Doc: "Each row in reverse order.", Params: valuesParams,
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			return []tensor.Tensor{Reverse(ct[0], c.Value(1)), nil}
		},
	}, func(_ *op.Call, out, x *tensor.Dense, splits []int64) {
		moverOf(x).reverse(out, x, splits, innerSize(x))
	})
	rollOp = moving(&op.Op{
		Name: "ragged.roll", Statement: moves(op.Select, two), Doc: "Each row rotated.",
		Params: append(append([]op.Param{}, valuesParams...), op.Param{Name: "shift", Kind: op.Attr, Type: op.IntType}),
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			return []tensor.Tensor{Roll(ct[0], c.Value(1), -c.Int(2)), nil}
		},
	}, func(c *op.Call, out, x *tensor.Dense, splits []int64) {
		moverOf(x).roll(out, x, splits, innerSize(x), int64(c.Int(2)))
	})
}

// Reverse returns each row in reverse order.
//
//	values: [nvals, a], splits → [nvals, a], any element type. Gradient: the cotangent reversed.
func Reverse(values, splits any) tensor.Tensor { return op.Eval(reverseOp, values, splits) }

// Roll returns each row rotated by shift places: what moves beyond its end reappears at its
// beginning.
//
//	values: [nvals, a], splits → [nvals, a], any element type. Gradient: the cotangent rolled back.
func Roll(values, splits any, shift int) tensor.Tensor {
	return op.Eval(rollOp, values, splits, shift)
}

var orderParams = append(valuesOf(op.OrderedValues), op.Param{Name: "descending", Kind: op.Attr, Type: op.BoolType, Default: false})

// ordered returns values in the form in which they are sorted: booleans as bytes.
func ordered(x *tensor.Dense) *tensor.Dense {
	if x.DType().IsBool() {
		return tensor.Wrap(sorting.Bytes(tensor.Elems[bool](x)), x.Shape())
	}
	return x
}

var sortOp, argSortOp *op.Op

func init() {
	sortOp = op.Register(&op.Op{
		Name: "ragged.sort", Statement: op.Statement{Axes: op.Along, By: op.ByRows, Control: two, Missing: op.Last, Zero: keepsZero}, Doc: "Each row, sorted.", Params: orderParams, Results: 1,
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			splits := rowSplits(c, 1, lead(c.Tensor(0)))
			if s, ok := c.Tensor(0).(*tensor.Strings); ok {
				if innerSize(s) == 1 {
					return results(move.Tensor(str.SortRows(move.Column(s), splits, c.Bool(2)), s.Shape()))
				}
				at := orderStrings(s, splits, c.Bool(2))
				return results(move.Strings(s, tensor.Wrap(at, s.Shape())))
			}
			x := c.Dense(0)
			out := tensor.Uninit(x.DType(), x.Shape())
			if out.Len() > 0 {
				byType[ordered(x).DType()].sort(ordered(out), ordered(x), splits, innerSize(x), c.Bool(2))
			}
			return results(out)
		},
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			x, splits := c.Tensor(0), c.Value(1)
			starts := perRow(c, ops.Index(ops.Cast(splits, dtype.Int64), keyButLast))
			at := ops.Add(op.Eval(argSortOp, x, splits, c.Bool(2)), Repeat(starts, splits, x.Shape().Dim(0)))
			return []tensor.Tensor{ops.PutAlongAxis(ops.ZerosLike(ct[0]), at, ct[0], 0), nil}
		},
	})
	argSortOp = op.Register(&op.Op{
		Name: "ragged.argsort", Statement: op.Statement{Axes: op.Along, By: op.ByRows, Control: two, Missing: op.Last, Places: op.First}, Doc: "The positions of each row's values in sorted order.", Nondifferentiable: true, Params: orderParams, Results: 1,
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			splits := rowSplits(c, 1, lead(c.Tensor(0)))
			out := tensor.Uninit(dtype.Int64, c.Tensor(0).Shape())
			at := tensor.Elems[int64](out)
			if s, ok := c.Tensor(0).(*tensor.Strings); ok {
				if inner := innerSize(s); inner == 1 {
					str.ArgSortRows(at, move.Column(s), splits, c.Bool(2))
				} else {
					copy(at, orderStrings(s, splits, c.Bool(2)))
					inRows(at, splits, inner)
				}
				return results(out)
			}
			if x := ordered(c.Dense(0)); len(at) > 0 {
				byType[x.DType()].argSort(out, x, splits, innerSize(x), c.Bool(2))
			}
			return results(out)
		},
	})
}

// SortOptions says how to sort. The zero value means ascending order.
type SortOptions = ops.SortOptions

// Sort returns each row in order. NaN is last in both directions, false comes before
// true, and strings are ordered by their bytes.
//
//	values: [nvals, a], splits → [nvals, a], real numbers, booleans and strings.
//	Gradient: each value gets the cotangent at its position in the result.
func Sort(values, splits any, o SortOptions) tensor.Tensor {
	return op.Eval(sortOp, values, splits, o.Descending)
}

// ArgSort returns the positions within the row of each row's values in sorted
// order; see [Sort]. The sort is stable.
//
//	values: [nvals, a], splits → int64[nvals, a]. No gradient.
func ArgSort(values, splits any, o SortOptions) tensor.Tensor {
	return op.Eval(argSortOp, values, splits, o.Descending)
}

// orderStrings returns the sorted positions, among all elements, of each row's
// strings. Each element of the items is sorted separately.
func orderStrings(s *tensor.Strings, splits []int64, descending bool) []int64 {
	inner := int64(innerSize(s))
	if inner == 1 {
		at := tensor.Elems[int64](tensor.Uninit(dtype.Int64, shape.Of(lead(s))))
		str.ArgSortRows(at, move.Column(s), splits, descending)
		for r, first := range splits[:len(splits)-1] {
			for i := first; i < splits[r+1]; i++ {
				at[i] += first
			}
		}
		return at
	}
	from, bounds := columns(splits, inner)
	col, err := str.Gather(move.Column(s), from)
	tenon.Throw(err)
	order, at := make([]int64, len(from)), make([]int64, len(from))
	str.ArgSortRows(order, col, bounds, descending)
	for b := range bounds[1:] {
		for i := bounds[b]; i < bounds[b+1]; i++ {
			at[from[i]] = from[bounds[b]+order[i]]
		}
	}
	return at
}

// columns returns the positions of all elements, grouped by row and, within each
// row, by element of the items, and the row splits of those groups.
func columns(splits []int64, inner int64) (at, bounds []int64) {
	for r := range splits[1:] {
		for e := range inner {
			bounds = append(bounds, int64(len(at)))
			for i := splits[r]; i < splits[r+1]; i++ {
				at = append(at, i*inner+e)
			}
		}
	}
	return at, append(bounds, int64(len(at)))
}

// inRows converts positions among all elements to positions of items in their
// rows.
func inRows(at, splits []int64, inner int) {
	for r := range splits[1:] {
		for i := splits[r] * int64(inner); i < splits[r+1]*int64(inner); i++ {
			at[i] = at[i]/int64(inner) - splits[r]
		}
	}
}

var topKOp = op.Register(&op.Op{
	Name: "ragged.top_k", Statement: op.Statement{Axes: op.Along, By: op.ByRows, Control: two | three, Missing: op.Last, Places: op.Second, Zero: keepsZero}, Doc: "The largest values of each row.",
	Params: append(valuesOf(op.OrderedValues), sizeParam("k")), Results: 3,
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		nrows := vectorRows(c)
		count(c, 2)
		return specs(like(c, 0, shape.Of(shape.Unknown)), positions(shape.Unknown), ends(c, 1, nrows))
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		splits := rowSplits(c, 1, lead(c.Tensor(0)))
		k, _ := c.ConstInts(2)
		out := make([]int64, len(splits))
		n := segment.TopKSplits(out, splits, int64(k[0]))
		at := make([]int64, n)
		t := splitsTensor(c, c.Tensor(1).DType(), out)
		if s, ok := c.Tensor(0).(*tensor.Strings); ok {
			return []tensor.Tensor{topStrings(s, at, out, splits), tensor.Vector(at), t}, nil
		}
		x := c.Dense(0)
		values := tensor.Uninit(x.DType(), shape.Of(int(n)))
		if n > 0 {
			byType[ordered(x).DType()].topK(ordered(values), at, ordered(x), out, splits)
		}
		return []tensor.Tensor{values, tensor.Vector(at), t}, nil
	},
	VJP: func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		return []tensor.Tensor{scattered(c, ct[0], Global(out[1], out[2], c.Value(1)))}
	},
})

// TopK returns the k largest values of each row in descending order, or all of a shorter row, their
// positions in the row, and the row splits of both. Of equal values the first comes first; NaN
// counts as less than everything. k is an integer or a scalar tensor.
//
//	values: [nvals], splits, k: int[] → [m], int64[m], int[rows+1], real numbers, booleans and strings.
//	Gradient: the selected values get their cotangents, the others 0.
func TopK(values, splits, k any) (top, positions, outSplits tensor.Tensor) {
	out := op.EvalN(topKOp, values, splits, k)
	return out[0], out[1], out[2]
}

func topStrings(s *tensor.Strings, at, outSplits, splits []int64) *tensor.Strings {
	all := orderStrings(s, splits, true)
	from := make([]int64, len(at))
	for r := range splits[1:] {
		for i := outSplits[r]; i < outSplits[r+1]; i++ {
			from[i] = all[splits[r]+i-outSplits[r]]
			at[i] = from[i] - splits[r]
		}
	}
	return move.Strings(s, tensor.Vector(from))
}

// Global converts positions in rows, a vector that is partitioned by positionSplits, to positions
// among all values of the partition given by splits, for use with ops.Gather.
//
//	positions: int64[m], positionSplits, splits: int[rows+1] → int64[m]. No gradient.
func Global(positions, positionSplits, splits any) tensor.Tensor {
	starts := ops.Index(ops.Cast(splits, dtype.Int64), keyButLast)
	n := shape.Unknown
	if t, ok := positions.(tensor.Tensor); ok {
		n = t.Shape().Dim(0)
	}
	return ops.Add(positions, Repeat(starts, positionSplits, n))
}
