package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	handle(onFirst(tile), "tile")                    // each axis in turn, from the inside out
	handle(repeat, "repeat")                         // whole entries above ragged axes
	handle(onFirst(nonzero), "nonzero")              // the number of results depends on the elements
	handle(func(c *op.Call) ([]tenon.Value, error) { // partitions are dimensions too
		x, _ := op.Arg[*Tensor](c, 0)
		return op.One(tensor.Scalar(int64(x.rank())))
	}, "rank")
	handle(onFirst(flatly), "size") // the number of the flat values
}

// coordinates returns, for each entry of the flat values' first dimension, its position in every
// partitioned dimension: int64[nvals, ragged rank + 1].
func coordinates(x *Tensor) tensor.Tensor {
	k := len(x.parts)
	cols := make([]tensor.Tensor, k+1)
	cols[k] = ops.Cast(x.parts[k-1].OffsetsInRows(), dtype.Int64)
	at := ops.Cast(x.parts[k-1].ValueRowIDs(), dtype.Int64) // the row of each value, from the inside out
	for a := k - 1; a > 0; a-- {
		p := x.parts[a-1]
		cols[a] = ops.Gather(ops.Cast(p.OffsetsInRows(), dtype.Int64), at, 0)
		at = ops.Gather(ops.Cast(p.ValueRowIDs(), dtype.Int64), at, 0)
	}
	cols[0] = at
	return ops.Stack(cols, 1)
}

func nonzero(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	flat := ops.Nonzero(x.flat) // [n, inner rank]
	first := ops.Index(flat, key.All, 0)
	outer := ops.Gather(coordinates(x), first, 0)
	if x.flat.Shape().Rank() == 1 {
		return op.One(outer)
	}
	return op.One(ops.Concat([]tensor.Tensor{outer, ops.Index(flat, key.All, key.From(1))}, 1))
}

func oneHot(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	i := c.Op.Param("axis")
	a, k := checkedAxis(c, c.Int(i), x.rank()+1), len(x.parts)
	if a <= k {
		return nil, c.Errorf(tenon.ErrInvalid, "axis %d is before a ragged axis, where every row would need its own", a)
	}
	if c.Int(i) >= 0 { // counted from the end, it is unchanged
		c = c.WithArg(i, a-k)
	}
	return op.One(onFlat(c, 0, x))
}
