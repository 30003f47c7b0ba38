package sparse

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// CountOptions says what [BinCount] counts. The zero value counts all values.
type CountOptions struct {
	// Weights are added up instead of ones. They are a tensor of the same form (sparse, dense or
	// ragged) with values at the same coordinates.
	Weights tensor.Tensor

	Rows      bool // count in each row of the outermost axis separately
	MinLength int  // the smallest number of bins
	MaxLength int  // the largest number of bins, 0 for any; values beyond it are ignored
	Binary    bool // whether a number occurs, as 1, instead of how often
}

// BinCount returns how often each number from 0 up to the largest one occurs, as a sparse tensor
// without numbers that do not occur. x is sparse, ragged with one ragged dimension, or dense; zeros
// of a dense tensor are counted too. A negative number is an error.
//
//	x: int[n, m] → int64[bins], with Rows int64[n, bins]
func BinCount(x any, o CountOptions) (r *Tensor, err error) {
	defer tenon.Catch(&err)
	return listed(x).BinCount(o)
}

// listed returns a tensor of any form as a sparse one with a value for each of
// its elements.
func listed(x any) *Tensor {
	switch x := x.(type) {
	case *Tensor:
		return x
	case tensor.Tensor:
		if r, ok := ragged.As(x); ok {
			return tenon.Must(FromRagged(r))
		}
	}
	d := tenon.Must(tensor.Convert(x))
	at := ops.Nonzero(ops.Fill(ops.Shape(d), true))
	return trusted(at, ops.Reshape(d, []int{-1}), ops.Shape(d), d.Shape())
}

// BinCount is the function [BinCount] for a sparse tensor.
func (t *Tensor) BinCount(o CountOptions) (r *Tensor, err error) {
	defer tenon.Catch(&err)
	if !t.DType().IsInteger() || t.rank() == 0 {
		return nil, bad("BinCount", tenon.ErrDType, "", "%v holds no integers to count", t.spec)
	}
	bin := ops.Cast(t.values, dtype.Int64)
	weights := ops.Ones(dtype.Int64, vector(length(t.values)))
	if o.Weights != nil {
		w := listed(o.Weights)
		if o.Binary || !sameCoordinates(t.indices, w.indices) {
			return nil, bad("BinCount", tenon.ErrInvalid, "Weights", "have their values at other coordinates, or are given together with Binary")
		}
		weights = w.values
	}
	bins := ops.Max(ops.Concat([]tensor.Tensor{tensor.Vector([]int64{int64(o.MinLength)}), ops.Add(bin, int64(1))}, 0), 0)
	if o.MaxLength > 0 {
		bins = ops.Minimum(bins, int64(o.MaxLength))
	}
	bin, weights, row := t.counted(bin, weights, o)
	columns, ns := []tensor.Tensor{bin}, []any{bins}
	if o.Rows && t.rank() > 1 { // a vector is a single row
		columns, ns = []tensor.Tensor{row, bin}, []any{t.size(0), bins}
	}
	all := t.build(columns, weights, ns).coalesced()
	if o.Binary {
		all = all.withValues(ops.OnesLike(all.values))
	}
	return all, nil
}

// counted drops what has no bin and returns the remaining bins, weights and rows.
func (t *Tensor) counted(bin, weights tensor.Tensor, o CountOptions) (b, w, row tensor.Tensor) {
	if known, ok := op.Known(bin); ok {
		for i, x := range tensor.Data[int64](known) {
			if x < 0 {
				tenon.Throw(bad("BinCount", tenon.ErrInvalid, "", "value %d is %d: only numbers from 0 on are counted", i, x))
			}
		}
	}
	row = t.column(0)
	if o.MaxLength <= 0 {
		return bin, weights, row
	}
	keep := ops.Less(bin, int64(o.MaxLength))
	return ops.BooleanMask(bin, keep, 0), ops.BooleanMask(weights, keep, 0), ops.BooleanMask(row, keep, 0)
}
