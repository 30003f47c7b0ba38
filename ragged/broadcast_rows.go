package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// BroadcastRowsOptions says how far [BroadcastRows] goes. The zero value goes to the
// innermost dimension.
type BroadcastRowsOptions struct {
	Depth int // only so many outer dimensions; what lies deeper stays as it is
}

// BroadcastRows aligns tensors at their outermost dimension, where operations on
// elements align them at the innermost: an entry of a tensor with fewer dimensions goes
// to everything below it in the others, and a scalar everywhere. The results share
// their partitions. Rows of different lengths are an error that names the first;
// uniform rows of one entry stretch.
//
//	[n, (m)], [n] and [] → [n, (m)] each. Gradient: of each, summed over what it went to.
func BroadcastRows(xs []tensor.Tensor, o BroadcastRowsOptions) (ys []tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	const fn = "ragged.BroadcastRows"
	depth := 0
	for _, x := range xs {
		depth = max(depth, rankOf(x))
	}
	if o.Depth < 0 {
		return nil, invalid(fn, "Depth", "is %d", o.Depth)
	}
	if o.Depth > 0 {
		depth = min(depth, o.Depth)
	}
	in := make([]tensor.Tensor, len(xs))
	masks := make([]tensor.Tensor, len(xs))
	dense := true
	for i, x := range xs {
		if r, ok := x.(Records); ok {
			x = r.Numbers()
		}
		in[i], masks[i], _ = maskedAt(x)
		_, ragged := in[i].(*Tensor)
		dense = dense && !ragged
	}
	ys = rowsBroadcast(fn, in, depth)
	for i, y := range ys {
		if dense {
			y = lists{dense: true}.settled(y)
		}
		y = withMask(y, masks[i])
		if r, ok := xs[i].(Records); ok {
			y = tenon.Must(r.AtNumbers(y))
		}
		ys[i] = y
	}
	return ys, nil
}

// rowsBroadcast brings tensors to the same depth outermost dimensions.
func rowsBroadcast(fn string, xs []tensor.Tensor, depth int) []tensor.Tensor {
	ys := append([]tensor.Tensor(nil), xs...)
	if depth == 0 {
		return ys
	}
	n := rowCount(fn, xs)
	for i, x := range xs {
		if rankOf(x) == 0 {
			ys[i] = ops.Fill(ops.Reshape(n, []int{1}), x)
		}
	}
	if depth == 1 {
		return ys
	}
	p := rowsOfFirst(fn, ys)
	values := make([]tensor.Tensor, len(ys))
	for i, y := range ys {
		switch q := outerPartition(y); {
		case q == nil:
			values[i] = gatherRows(y, ops.Cast(p.ValueRowIDs(), dtype.Int64))
		case q != p && q.IsUniform() && q.spec.length == 1 && p.spec.length != 1:
			values[i] = gatherRows(belowOuter(y), ops.Cast(p.ValueRowIDs(), dtype.Int64))
		default:
			tenon.Throw(sameRows(fn, p, q.as(p.DType())))
			values[i] = belowOuter(y)
		}
	}
	values = rowsBroadcast(fn, values, depth-1)
	for i, v := range values {
		ys[i] = partitioned(v, p)
	}
	return ys
}

// rowCount returns the number of rows that tensors share.
func rowCount(fn string, xs []tensor.Tensor) tensor.Tensor {
	var n tensor.Tensor
	for i, x := range xs {
		if rankOf(x) == 0 {
			continue
		}
		m := ops.Cast(outerSize(x), dtype.Int64)
		if n == nil {
			n = m
		} else if a, b := known(n), known(m); a >= 0 && b >= 0 && a != b {
			tenon.Throw(invalid(fn, "xs["+itoa(i)+"]", "has %d rows, another tensor %d", b, a))
		}
	}
	return n
}

// outerPartition returns the partition below the outermost dimension, nil where there is
// no such dimension.
func outerPartition(x tensor.Tensor) *RowPartition {
	if rankOf(x) < 2 {
		return nil
	}
	return atLeast(x, 1).(*Tensor).parts[0]
}

func belowOuter(x tensor.Tensor) tensor.Tensor { return atLeast(x, 1).(*Tensor).Values() }

// rowsOfFirst returns the partition that the rows of the tensors are brought to: the
// first that is not made of single entries.
func rowsOfFirst(fn string, xs []tensor.Tensor) *RowPartition {
	var single *RowPartition
	for _, x := range xs {
		q := outerPartition(x)
		switch {
		case q == nil:
		case !q.IsUniform() || q.spec.length != 1:
			return q
		case single == nil:
			single = q
		}
	}
	if single == nil {
		tenon.Throw(invalid(fn, "", "no tensor has rows"))
	}
	return single
}
