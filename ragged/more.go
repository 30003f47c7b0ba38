package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// MergeDims joins the dimensions from outer to inner into one; negative ones count
// from the end.
//
//	x: [a, (b), c] with outer 0, inner 1 → [nvals, c]
func MergeDims(x tensor.Tensor, outer, inner int) (y tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	r := rankOf(x)
	for _, a := range []*int{&outer, &inner} {
		if *a < -r || *a >= r {
			return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: "ragged.MergeDims", Msg: "axis " + itoa(*a) + " is out of range for rank " + itoa(r)}
		}
		if *a < 0 {
			*a += r
		}
	}
	if outer > inner {
		return nil, invalid("ragged.MergeDims", "", "the outer dimension %d lies inside of the inner one, %d", outer, inner)
	}
	return merged(x, outer, inner), nil
}

// RangeOptions says what [Range] makes. The zero value takes the element type of
// the operands and int64 splits.
type RangeOptions struct {
	DType, SplitsDType dtype.DType
}

// Range returns for each entry of starts, limits and deltas, which are scalars or
// vectors of one size, the row start, start+delta, … up to before limit. limits
// or deltas may be nil: then starts are the limits, from 0 on, or steps are 1.
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
			return nil, &tenon.Error{Kind: tenon.ErrDType, Op: "ragged.Range", Msg: "starts, limits and deltas are numbers, got " + a.DType().String()}
		}
		args[i] = ops.Cast(a, t)
	}
	if o.SplitsDType == dtype.None {
		o.SplitsDType = dtype.Int64
	}
	values, splits := rows.Range(args[0], args[1], args[2], o.SplitsDType)
	return partitioned(values, newPartition(splits, values.Shape().Dim(0))), nil
}

// Reshape gives the elements of x, in order, another shape.
func Reshape(x tensor.Tensor, s *Shape) (y tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	flat, _ := split(x)
	var n tensor.Tensor
	if k := len(s.parts); k > 0 {
		n = s.parts[k-1].NVals()
		if a, b := known(n), flat.Shape().Size(); a >= 0 && b >= 0 && s.inner.Tail(1).Size() >= 0 && a*s.inner.Tail(1).Size() != b {
			return nil, invalid("ragged.Reshape", "shape", "has %d elements, the tensor %d", a*s.inner.Tail(1).Size(), b)
		}
	}
	return build(ops.Reshape(flat, s.InnerSizes()), s.parts), nil
}

// DynamicPartition divides the rows of data among n tensors: row i goes to tensor
// partitions[i]. Partitions may have several dimensions, which data begins with.
func DynamicPartition(data, partitions any, n int) (parts []tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	x, ids := tenon.Must(tensor.Convert(data)), tenon.Must(tensor.Convert(partitions))
	x, ids, err = outerRows("ragged.DynamicPartition", x, ids, n)
	if err != nil {
		return nil, err
	}
	values, splits := byPart(x, ids, n)
	parts = make([]tensor.Tensor, n)
	for k := range parts {
		parts[k] = sliceOuter(values, ops.Index(splits, k), ops.Index(splits, k+1))
	}
	return parts, nil
}

// byPart returns the rows of x, the n parts one behind the other, and the splits of the parts.
func byPart(x, ids tensor.Tensor, n int) (values, splits tensor.Tensor) {
	one := rows.Uniform(int64(1), outerSize(ids)) // each row by itself
	order, splits, _ := rows.FiberOrder(one, ids, int64(n))
	return gatherRows(x, order), splits
}

// StackDynamicPartitions is [DynamicPartition] with the parts as rows of one ragged
// tensor.
//
//	data: [n, …], partitions: int[n] → [count, (rows), …]
func StackDynamicPartitions(data, partitions any, n int) (y *Tensor, err error) {
	defer tenon.Catch(&err)
	x, ids := tenon.Must(tensor.Convert(data)), tenon.Must(tensor.Convert(partitions))
	d := ids.DType() // splits have the type of the ids, or that of the operands' splits
	if r, ok := ids.(*Tensor); ok {
		d = r.parts[0].DType()
	}
	x, ids, err = outerRows("ragged.StackDynamicPartitions", x, ids, n)
	if err != nil {
		return nil, err
	}
	values, splits := byPart(x, ids, n)
	if _, p := split(values); len(p) > 0 {
		d = p[0].DType()
	}
	if d == dtype.Int32 {
		splits = cast(splits, d)
	}
	return partitioned(values, newPartition(splits, values.Shape().Dim(0))), nil
}

// outerRows merges the dimensions that ids has, and checks that the ids are below n.
func outerRows(fn string, x, ids tensor.Tensor, n int) (tensor.Tensor, tensor.Tensor, error) {
	if !ids.DType().IsInteger() {
		return nil, nil, &tenon.Error{Kind: tenon.ErrDType, Op: fn, Where: "partitions", Msg: "are " + ids.DType().String() + ", not integers"}
	}
	if n < 0 {
		return nil, nil, invalid(fn, "n", "is %d", n)
	}
	r := rankOf(ids)
	if rankOf(x) < r {
		return nil, nil, invalid(fn, "partitions", "have rank %d, the data %d", r, rankOf(x))
	}
	switch {
	case r == 0:
		x, ids = withAxis(x, 0), ops.Reshape(ids, []int{1})
	case r > 1:
		a, b := atLeast(x, r-1).(*Tensor), atLeast(ids, r-1).(*Tensor)
		for i := range r - 1 {
			if err := sameRows(fn, a.parts[i], b.parts[i].as(a.parts[i].DType())); err != nil {
				return nil, nil, err
			}
		}
		x, ids = merged(x, 0, r-1), merged(ids, 0, r-1)
	}
	ids, _ = split(ids)
	ids = ops.Cast(ids, dtype.Int64)
	if d, k := x.Shape().Dim(0), ids.Shape().Dim(0); d >= 0 && k >= 0 && d != k {
		return nil, nil, invalid(fn, "partitions", "have %d entries for %d rows", k, d)
	}
	if c, ok := op.Known(ids); ok {
		for i, id := range tensor.Data[int64](c) {
			if id < 0 || id >= int64(n) {
				return nil, nil, invalid(fn, "partitions["+itoa(i)+"]", "is %d, there are %d partitions", id, n)
			}
		}
	}
	return x, ids, nil
}

// Choose returns whole rows of x where cond is true, and of y where it is false.
// Unlike ops.Where, which chooses elements, the rows of x and y may have different
// lengths.
//
//	cond: bool[n], x, y: [n, …] → [n, …]
func Choose(cond, x, y any) (z tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	c, a, b := tenon.Must(tensor.Convert(cond)), tenon.Must(tensor.Convert(x)), tenon.Must(tensor.Convert(y))
	if c.DType() != dtype.Bool || rankOf(c) != 1 {
		return nil, invalid("ragged.Choose", "cond", "is %s, want a boolean vector", tenon.String(c.Spec()))
	}
	if n, k, m := c.Shape().Dim(0), a.Shape().Dim(0), b.Shape().Dim(0); k >= 0 && m >= 0 && k != m || n >= 0 && k >= 0 && n != k {
		return nil, invalid("ragged.Choose", "", "there are %d conditions for %d and %d rows", n, k, m)
	}
	n := ops.Cast(outerSize(a), dtype.Int64)
	at := numbers(n)
	return gatherRows(ops.Concat([]tensor.Tensor{a, b}, 0), ops.Where(c, at, ops.Add(at, n))), nil
}

// CrossSeparator stands between the parts of a crossed string.
const CrossSeparator = "_X_"

// Cross returns for each row all combinations of one entry from each input, as
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

// crossInputs returns what inputs are made of: strings, and row splits of one type.
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
		if _, ragged := x.(*Tensor); ragged && d != dtype.Int64 { // dense inputs have no say
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
