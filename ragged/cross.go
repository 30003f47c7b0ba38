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
	values, splits, err := crossInputs(inputs)
	if err != nil {
		return nil, err
	}
	v, s := rows.Cross(values, splits, CrossSeparator)
	return partitioned(v, newPartition(s, v.Shape().Dim(0))), nil
}

// crossInputs returns the values of inputs as strings or integers, and their row splits with a
// common type.
func crossInputs(inputs []tensor.Tensor) (values, splits []tensor.Tensor, err error) {
	if len(inputs) == 0 {
		return nil, nil, invalid("ragged.Cross", "inputs", "is empty")
	}
	var room [4]*Tensor
	ts, d := room[:0], dtype.None
	for i, x := range inputs {
		if rankOf(x) != 2 {
			return nil, nil, invalid("ragged.Cross", "inputs["+itoa(i)+"]", "has rank %d, want 2", rankOf(x))
		}
		if d := x.DType(); !d.IsString() && !d.IsInteger() {
			return nil, nil, &tenon.Error{Kind: tenon.ErrDType, Op: "ragged.Cross", Where: "inputs[" + itoa(i) + "]", Msg: "is " + d.String() + ", want strings or integers"}
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
			return nil, nil, invalid("ragged.Cross", "inputs["+itoa(i)+"]", "has %d rows, the first %d", m, n)
		}
		values[i], splits[i] = v, t.parts[0].as(d).RowSplits()
	}
	return values, splits, nil
}
