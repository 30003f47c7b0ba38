package rows

import (
	"fmt"
	"slices"
	"sync"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/internal/kernel/str"
	"github.com/tenonml/tenon/internal/memory"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// indexResults returns splits and n vectors of positions as results.
func indexResults(c *op.Call, splits []int64, at [][]int64) ([]tensor.Tensor, error) {
	out := []tensor.Tensor{splitsTensor(c, outType(c, 0), splits)}
	for _, a := range at {
		out = append(out, tensor.Vector(a))
	}
	return out, nil
}

// indexSpecs returns the Specs of row splits of type d and of n vectors of positions.
func indexSpecs(d dtype.DType, nrows, n int) ([]tenon.Spec, error) {
	out := slices.Repeat([]tenon.Spec{positions(shape.Unknown)}, n+1)
	out[0] = spec(d, shape.Of(plusOne(nrows)))
	return out, nil
}

// tuples allocates n vectors of positions.
func tuples(c *op.Call, n int, total int64) [][]int64 {
	if size, budget := memory.Times(total, int64(n), 8), memory.Budget(); size > budget {
		tenon.Throw(c.Errorf(tenon.ErrInvalid, "there are %d tuples, whose positions take %s, more than the budget of %s", total, memory.Size(size), memory.Size(budget)).
			WithHint("drop items beforehand; debug.SetMemoryLimit and GOMEMLIMIT change the budget"))
	}
	at := make([][]int64, n)
	for i := range at {
		at[i] = make([]int64, total)
	}
	return at
}

// localParam says whether positions are counted within rows.
var localParam = op.Param{Name: "local", Kind: op.Attr, Type: op.BoolType, Default: false}

var combinationsOp = op.Register(&op.Op{
	Name: "ragged.combinations", Statement: makes(op.First, 0), Doc: "The ways to choose several items of each row, as an index.",
	Params: []op.Param{splitsParam, {Name: "n", Kind: op.Attr, Type: op.IntType},
		{Name: "replacement", Kind: op.Attr, Type: op.BoolType, Default: false}, localParam}, Results: -1,
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		nrows, _ := partition(c, 0)
		if n := c.Int(1); n < 1 || n > 64 {
			return nil, c.Errorf(tenon.ErrInvalid, "n is %d, want 1 to 64", n)
		}
		return indexSpecs(c.Tensor(0).DType(), nrows, c.Int(1))
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		splits := rowSplits(c, 0, -1)
		out := make([]int64, len(splits))
		total, err := segment.CombinationsSplits(out, splits, c.Int(1), c.Bool(2))
		tenon.Throw(rowError(c, "row", err))
		at := tuples(c, c.Int(1), total)
		segment.Combinations(at, out, splits, c.Bool(2), c.Bool(3))
		return indexResults(c, out, at)
	},
})

// CombinationOptions says which combinations are made, and how their items are given. With the zero
// value, each item is chosen at most once, and positions count among all values.
type CombinationOptions struct {
	Replacement bool // an item may be chosen more than once
	Local       bool // items are given by their position in the row
}

// Combinations returns the row splits of the ways to choose n items of each row, in
// lexicographic order of positions, and for each of the n the positions of the chosen items.
//
//	splits → int[rows+1], n of int64[m]. No gradient.
func Combinations(splits any, n int, o CombinationOptions) (outSplits tensor.Tensor, index []tensor.Tensor) {
	out := op.EvalN(combinationsOp, splits, n, o.Replacement, o.Local)
	return out[0], out[1:]
}

var cartesianOp = op.Register(&op.Op{
	Name: "ragged.cartesian", Statement: makes(op.First, 0), Doc: "The product of the rows of several partitions, as an index.",
	Params: []op.Param{splitsList, localParam}, Results: -1,
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		nrows, _ := partitions(c, 0)
		return indexSpecs(c.List(0)[0].(tensor.Tensor).DType(), sameRows(c, nrows), len(nrows))
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		parts := partitionsOf(c, 0)
		out := make([]int64, len(parts[0]))
		total, err := segment.CartesianSplits(out, parts...)
		tenon.Throw(partsError(c, err))
		at := tuples(c, len(parts), total)
		segment.Cartesian(at, out, c.Bool(1), parts...)
		return indexResults(c, out, at)
	},
})

// Cartesian returns the row splits of the Cartesian products of the rows of several partitions,
// with the items of the last partition changing fastest. For each partition it returns the
// positions of the items, within the row if local is true, and otherwise among all values.
//
//	splits: int[rows+1] each → int[rows+1], as many of int64[m]. No gradient.
func Cartesian(splits any, local bool) (outSplits tensor.Tensor, index []tensor.Tensor) {
	out := op.EvalN(cartesianOp, splits, local)
	return out[0], out[1:]
}

// Cross returns, for each row, a string for each way to choose one value of each tensor: their
// texts joined by a separator ("_X_" if it is empty). Integers are written in decimal.
//
//	values: [nvalsₖ] and splits: int[rows+1] each → string[m], int[rows+1]. No gradient.
func Cross(values, splits []tensor.Tensor, separator string) (outValues, outSplits tensor.Tensor) {
	if len(values) == 0 || len(values) != len(splits) {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, "ragged.Cross", fmt.Sprintf("there are %d tensors of values and %d of row splits", len(values), len(splits))))
	}
	if separator == "" {
		separator = "_X_"
	}
	if v, s := crossed(values, splits, separator); v != nil {
		return v, s
	}
	outSplits, index := Cartesian(splits, false)
	parts := make([]tensor.Tensor, len(values))
	for k, v := range values {
		if !v.DType().IsString() {
			v = ops.AsString(v, ops.FormatOptions{})
		}
		parts[k] = ops.Gather(v, index[k], 0)
	}
	return ops.StringJoin(parts, separator), outSplits
}

// crossed is a fast path of [Cross] for tensors in memory. It returns nil if the general path must
// be taken, which also reports errors.
func crossed(values, splits []tensor.Tensor, separator string) (outValues, outSplits tensor.Tensor) {
	x, ends := crossing(values, splits, separator)
	if x == nil {
		return nil, nil
	}
	defer freeCrossing(x)
	c, ok := x.Strings()
	if !ok {
		return nil, nil
	}
	return move.Tensor(c, shape.Of(c.Len())), ends
}

// CrossHashed is [Cross] with each string replaced by the number of a bucket, as computed by
// ops.StringHash.
//
//	values: [nvalsₖ] and splits: int[rows+1] each → int64[m], int[rows+1]. No gradient.
func CrossHashed(values, splits []tensor.Tensor, separator string, buckets int, o ops.HashOptions) (hashes, outSplits tensor.Tensor) {
	x, ends := crossing(values, splits, separator)
	if x == nil || buckets < 1 {
		v, s := Cross(values, splits, separator)
		return ops.StringHash(v, buckets, o), s
	}
	defer freeCrossing(x)
	out := tensor.Uninit(dtype.Int64, shape.Of(int(x.OutSplits[len(x.OutSplits)-1])))
	hash := move.Words[uint64](out) // in the memory of the result
	x.Hashes(hash, o.Key)
	str.Buckets(hash, uint64(buckets))
	return out, ends
}

// crossings are reused.
var crossings = sync.Pool{New: func() any { return new(str.Crossing) }}

// freeCrossing returns the result of [crossing] to the pool. It keeps nothing
// alive.
func freeCrossing(x *str.Crossing) {
	clear(x.Columns)
	clear(x.Splits)
	x.Columns, x.Splits, x.OutSplits = x.Columns[:0], x.Splits[:0], nil
	crossings.Put(x)
}

// crossing crosses columns in memory, and returns the row splits of the results. It returns nil for
// tensors that are not in memory or not valid.
func crossing(values, splits []tensor.Tensor, separator string) (*str.Crossing, *tensor.Dense) {
	if len(values) == 0 || len(values) != len(splits) {
		return nil, nil
	}
	c := crossings.Get().(*str.Crossing)
	columns, parts := c.Columns[:0], c.Splits[:0]
	for k, v := range values {
		d, ok := splits[k].(*tensor.Dense)
		if !ok || d.DType() != dtype.Int64 {
			return nil, nil
		}
		if n, isDense := v.(*tensor.Dense); isDense && n.DType().IsInteger() {
			v = ops.AsString(n, ops.FormatOptions{})
		}
		x, ok := v.(*tensor.Strings)
		p := entries(d)
		if !ok || x.Shape().Rank() != 1 || p == nil || k > 0 && len(p) != len(parts[0]) || p[len(p)-1] != int64(x.Len()) {
			return nil, nil
		}
		columns, parts = append(columns, move.Column(x)), append(parts, p)
	}
	to, ends := fresh(len(parts[0]))
	total, err := segment.CartesianSplits(ends, parts...)
	if err != nil || memory.Times(total, int64(len(values)), 8) > memory.Budget() {
		return nil, nil
	}
	c.Columns, c.Splits, c.OutSplits, c.Separator = columns, parts, ends, separator
	return c, valid(to, ends)
}
