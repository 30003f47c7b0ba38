package ragged

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	handle(onFirst(binCount), "bincount") // the elements are positions in the result
}

// segmented answers a segment operation. Ids with partitions of their own give a
// segment for each element below those partitions; the rest of the data is
// combined position by position.
func segmented(c *op.Call, data, ids tensor.Tensor) ([]tenon.Value, error) {
	n := c.Tensor(2)
	if n != nil {
		if s := n.Shape(); s.HasRank() && s.Rank() != 0 {
			return nil, c.Errorf(tenon.ErrShape, "num_segments has the shape %v, want a scalar", s)
		}
		if d, ok := n.(*tensor.Dense); ok && d.DType().IsInteger() {
			if k := tensor.Item[int64](ops.Cast(d, dtype.Int64)); k < 0 {
				return nil, c.Errorf(tenon.ErrInvalid, "num_segments is %d, want at least 0", k)
			}
		}
	}
	for {
		r, ok := ids.(*Tensor)
		if !ok {
			break
		}
		t, ok := data.(*Tensor)
		if !ok {
			return nil, c.Errorf(tenon.ErrInvalid, "the ids have rows of different lengths, the data have not")
		}
		tenon.Throw(sameRows(c.Op.Func(), t.parts[0], r.parts[0]))
		data, ids = t.Values(), r.Values()
	}
	if d, k := data.Shape().Dim(0), ids.Shape().Dim(0); d >= 0 && k >= 0 && d != k {
		return nil, c.Errorf(tenon.ErrShape, "there are %d ids for %d rows", k, d)
	}
	if n == nil {
		// One more than the largest id, or none without ids.
		n = ops.Maximum(ops.Add(ops.Max(ops.Cast(ids, dtype.Int64)), int64(1)), int64(0))
	}
	t, ok := data.(*Tensor)
	if !ok {
		return op.One(op.Eval(c.Op, data, ids, n))
	}
	s := t.by(ops.Cast(ids, dtype.Int64), ops.Cast(n, dtype.Int64))
	return op.One(s.build(op.Eval(c.Op, t.flat, s.ids(), s.n)))
}

// sameRows returns an error that names the first row in which two partitions
// differ in length.
func sameRows(fn string, p, q *RowPartition) error {
	if p == q {
		return nil
	}
	a, ok := p.Splits64()
	b, ok2 := q.Splits64()
	if !ok || !ok2 {
		rows.AssertSame(cast(p.RowSplits(), dtype.Int64), cast(q.RowSplits(), dtype.Int64))
		return nil
	}
	if r := firstDifference(a, b); r >= 0 {
		return invalid(fn, fmt.Sprintf("row %d", r), "has different lengths in the operands")
	}
	return nil
}

// samePartitions throws an error that names the first row in which nested partitions differ.
func samePartitions(fn string, ps, qs []*RowPartition) {
	for i, p := range ps {
		tenon.Throw(sameRows(fn, p, qs[i]))
	}
}

// binCount counts over all elements or, with an axis, for each innermost row.
func binCount(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	values := c.Values()
	for i, v := range values {
		if t, ok := v.(*Tensor); ok {
			if i > 0 {
				if len(t.parts) != len(x.parts) {
					return nil, c.Errorf(tenon.ErrInvalid, "the weights have another ragged rank than the numbers")
				}
				samePartitions(c.Op.Func(), x.parts, t.parts)
			}
			values[i] = t.flat
		}
	}
	return op.One(op.Apply(c, values...))
}

// BinCountOptions says what [BinCountRows] counts.
type BinCountOptions struct {
	Options ops.BinCountOptions // weights and limits, as for ops.BinCount
	Binary  bool                // whether a number occurs, instead of how often
}

// BinCountRows returns, for each innermost row of x, how often each number from 0 up to the largest
// one in any row occurs or, given weights, the sum of their weights: [rows, bins].
func BinCountRows(x *Tensor, o BinCountOptions) (y tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	p := x.parts[len(x.parts)-1]
	top := ops.Cast(ops.Max(ops.Concat([]any{ops.Cast(x.flat, dtype.Int64), []int64{-1}}, 0)), dtype.Int64)
	bins := ops.Add(top, int64(1)) // 0 without numbers
	if o.Options.MinLength != nil {
		bins = ops.Maximum(bins, ops.Cast(o.Options.MinLength, dtype.Int64))
	}
	if o.Options.MaxLength != nil {
		bins = ops.Minimum(bins, ops.Cast(o.Options.MaxLength, dtype.Int64))
	}
	w := o.Options.Weights
	if t, ok := w.(*Tensor); ok {
		tenon.Throw(sameRows("ragged.BinCountRows", p, t.parts[len(t.parts)-1]))
		w = t.flat
	}
	return build(rows.BinCount(x.flat, p.RowSplits(), bins, rows.BinCountOptions{Weights: w, Binary: o.Binary}), x.parts[:len(x.parts)-1]), nil
}
