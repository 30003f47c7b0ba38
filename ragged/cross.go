package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// CrossSeparator separates the parts of a crossed string.
const CrossSeparator = "_X_"

// Cross returns, for each row, all combinations of one entry from each input, as
// strings joined by [CrossSeparator]; integers are written in decimal.
//
//	inputs: string or int[n, (m)] each → string[n, (Π m)]
func Cross(inputs []tensor.Tensor) (y *Tensor, err error) {
	defer tenon.Catch(&err)
	values, splits := crossInputs("ragged.Cross", inputs)
	v, s := rows.Cross(values, splits, CrossSeparator)
	return partitioned(v, newPartition(s, v.Shape().Dim(0))), nil
}

// crossInputs returns the values of inputs as strings or integers, and their row splits with a
// common type.
func crossInputs(fn string, inputs []tensor.Tensor) (values, splits []tensor.Tensor) {
	if len(inputs) == 0 {
		tenon.Throw(invalid(fn, "inputs", "is empty"))
	}
	var room [4]*Tensor
	ts, d := room[:0], dtype.None
	for i, x := range inputs {
		if rankOf(x) != 2 {
			tenon.Throw(invalid(fn, "inputs["+itoa(i)+"]", "has rank %d, want 2", rankOf(x)))
		}
		if d := x.DType(); !d.IsString() && !d.IsInteger() {
			tenon.Throw(failed(tenon.ErrDType, fn, "inputs["+itoa(i)+"]", "is %v, want strings or integers", d))
		}
		t := atLeast(x, 1).(*Tensor)
		ts = append(ts, t)
		if _, ragged := x.(*Tensor); ragged && d != dtype.Int64 { // dense inputs do not affect the type
			d = t.parts[0].DType()
		}
	}
	if d == dtype.None {
		d = dtype.Int64
	}
	both := make([]tensor.Tensor, 2*len(ts))
	values, splits = both[:len(ts)], both[len(ts):]
	for i, t := range ts {
		v := t.flat
		if !v.DType().IsString() {
			v = ops.AsString(v, ops.FormatOptions{})
		}
		if n, m := ts[0].parts[0].StaticNRows(), t.parts[0].StaticNRows(); n >= 0 && m >= 0 && n != m {
			tenon.Throw(invalid(fn, "inputs["+itoa(i)+"]", "has %d rows, the first %d", m, n))
		}
		values[i], splits[i] = v, t.parts[0].as(d).RowSplits()
	}
	return values, splits
}
