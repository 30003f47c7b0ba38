package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// BroadcastRowsOptions says how deep [BroadcastRows] aligns. The zero value means down to the
// innermost dimension.
type BroadcastRowsOptions struct {
	Depth        int  // number of outer dimensions to align; deeper ones are unchanged
	ShareMissing bool // what is missing from one tensor there is missing from all
}

// BroadcastRows aligns tensors at their outermost dimension, while elementwise operations align
// them at the innermost one. An entry of a tensor with fewer dimensions is repeated for everything
// below the corresponding entry of the others, and a scalar everywhere. The results share their
// partitions. If rows have different lengths, the error names the first one; uniform rows with a
// single entry are stretched.
//
//	[n, (m)], [n] and [] → [n, (m)] each. Gradients: the cotangents summed over the repetitions.
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
	for i, x := range xs {
		in[i] = x
		if r, ok := x.(Records); ok {
			in[i] = r.Numbers()
		}
	}
	share := 0
	switch {
	case o.ShareMissing && o.Depth > 0:
		share = depth - 1
	case o.ShareMissing:
		share = depth
	}
	ys = rowsShared(fn, in, depth, share)
	for i, x := range xs {
		if r, ok := x.(Records); ok {
			ys[i] = tenon.Must(r.AtNumbers(ys[i]))
		}
	}
	return ys, nil
}

// rowsShared aligns tensors in their depth outermost dimensions. What is missing from one of them
// in the first share dimensions is missing from the results, and rows need not match there.
func rowsShared(fn string, xs []tensor.Tensor, depth, share int) []tensor.Tensor {
	if values, mask := outermostMissing(xs, share); mask != nil {
		ys := rowsShared(fn, values, depth, share)
		for i, y := range ys {
			ys[i] = withMask(y, mask)
		}
		return ys
	}
	in := make([]tensor.Tensor, len(xs))
	masks := make([]tensor.Tensor, len(xs))
	dense := true
	for i, x := range xs {
		in[i], masks[i], _ = maskedAt(x)
		_, ragged := in[i].(*Tensor)
		dense = dense && !ragged
	}
	ys := rowsBroadcast(fn, in, depth)
	for i, y := range ys {
		if dense {
			y = lists{dense: true}.settled(y)
		}
		ys[i] = withMask(y, masks[i])
	}
	return ys
}

// outermostMissing removes the outermost masks that tensors have in their first dims dimensions,
// and returns them combined into one. Rows that are missing from it become empty in all of the
// values.
func outermostMissing(xs []tensor.Tensor, dims int) (values []tensor.Tensor, mask tensor.Tensor) {
	at := dims + 1
	for _, x := range xs {
		if _, m, depth := maskedAt(x); m != nil {
			at = min(at, depth)
		}
	}
	if at > dims {
		return xs, nil
	}
	values = append([]tensor.Tensor(nil), xs...)
	for i, x := range xs {
		v, m, depth := maskedAt(x)
		switch {
		case m == nil || depth != at:
			continue
		case mask == nil:
			mask = m
		default:
			mask = ops.LogicalAnd(mask, m)
		}
		values[i] = v
	}
	for i, v := range values {
		if rankOf(v) > at && !listsAt(withoutMask(v), at).p.IsUniform() {
			values[i] = emptied(v, mask, at)
			if _, m, depth := maskedAt(values[i]); m != nil && depth == at {
				values[i], _, _ = maskedAt(values[i])
			}
		}
	}
	return values, mask
}

// rowsBroadcast aligns tensors in their depth outermost dimensions.
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
			tenon.Throw(sameRows(fn, p, q))
			values[i] = belowOuter(y)
		}
	}
	values = rowsBroadcast(fn, values, depth-1)
	for i, v := range values {
		ys[i] = partitioned(v, p)
	}
	return ys
}

// rowCount returns the common number of rows of tensors.
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

// outerPartition returns the partition below the outermost dimension, or nil if there is no such
// dimension.
func outerPartition(x tensor.Tensor) *RowPartition {
	if rankOf(x) < 2 {
		return nil
	}
	return atLeast(x, 1).(*Tensor).parts[0]
}

func belowOuter(x tensor.Tensor) tensor.Tensor { return atLeast(x, 1).(*Tensor).Values() }

// rowsOfFirst returns the partition that the rows of all tensors are broadcast to: the first one
// whose rows are not single entries.
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
