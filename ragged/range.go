package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// RangeOptions says what [Range] makes. The zero value takes the element type of
// the operands and int64 splits.
type RangeOptions struct {
	DType, SplitsDType dtype.DType
}

// Range returns, for each entry of starts, limits and deltas, the row start,
// start+delta, … up to, but not including, limit. The arguments are scalars or
// vectors of the same size. limits or deltas may be nil: without limits, the rows
// run from 0 to the starts; without deltas, steps are 1.
//
//	starts, limits, deltas: numbers[n] → numbers[n, (…)]
func Range(starts, limits, deltas any, o RangeOptions) (y *Tensor, err error) {
	defer tenon.Catch(&err)
	if limits == nil {
		starts, limits = nil, starts
	}
	l := tenon.Must(tensor.Convert(limits))
	if starts == nil {
		starts = ops.ZerosLike(l)
	}
	s := tenon.Must(tensor.Convert(starts))
	if deltas == nil {
		deltas = ops.OnesLike(s)
	}
	d := tenon.Must(tensor.Convert(deltas))
	args := []tensor.Tensor{s, l, d}
	t := o.DType
	if t == dtype.None {
		t = promotedTensors(args)[0].DType()
	}
	for i, a := range args {
		if _, ok := a.(*Tensor); ok || a.Shape().Rank() > 1 {
			return nil, invalid("ragged.Range", "", "starts, limits and deltas are scalars or vectors, got %s", tenon.String(a.Spec()))
		}
		if a.DType().IsString() || a.DType().IsBool() {
			return nil, failed(tenon.ErrDType, "ragged.Range", "", "starts, limits and deltas are numbers, got %v", a.DType())
		}
		args[i] = ops.Cast(a, t)
	}
	if o.SplitsDType == dtype.None {
		o.SplitsDType = dtype.Int64
	}
	values, splits := rows.Range(args[0], args[1], args[2], o.SplitsDType)
	return partitioned(values, newPartition(splits, values.Shape().Dim(0))), nil
}
