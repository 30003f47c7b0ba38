package ragged

import (
	"slices"
	"sync"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// tensorsOf returns list argument i as tensors.
func tensorsOf(c *op.Call, i int) ([]tensor.Tensor, error) {
	l := c.List(i)
	out := make([]tensor.Tensor, len(l))
	for k, v := range l {
		t, ok := v.(tensor.Tensor)
		if !ok {
			return nil, op.NotHandled
		}
		if _, ragged := t.(*Tensor); !ragged && !tenon.IsLeaf(t.Spec()) {
			return nil, op.NotHandled
		}
		out[k] = t
	}
	return out, nil
}

func rankOf(t tensor.Tensor) int {
	if r, ok := t.(*Tensor); ok {
		return r.rank()
	}
	return t.Shape().Rank()
}

func joinArgs(c *op.Call, extra int) (ts []tensor.Tensor, axis int, err error) {
	if ts, err = tensorsOf(c, 0); err != nil {
		return nil, 0, err
	}
	r := rankOf(ts[0])
	for _, t := range ts[1:] {
		if rankOf(t) != r {
			return nil, 0, c.Errorf(tenon.ErrShape, "the operands have ranks %d and %d", r, rankOf(t))
		}
	}
	return promotedTensors(ts), checkedAxis(c, c.Int(1), r+extra), nil
}

// promotedTensors promotes tensors to their common element type.
func promotedTensors(ts []tensor.Tensor) []tensor.Tensor {
	d := ts[0].DType()
	for _, t := range ts[1:] {
		var err error
		if d, err = dtype.Promote(d, t.DType()); err != nil {
			tenon.Throw(tenon.NewError(tenon.ErrDType, "ops.Concat", err.Error()))
		}
	}
	out := slices.Clone(ts)
	for i, t := range ts {
		if t.DType() != d {
			out[i] = ops.Cast(t, d)
		}
	}
	return out
}

func concat(c *op.Call) ([]tenon.Value, error) {
	ts, axis, err := joinArgs(c, 0)
	if err != nil {
		return nil, err
	}
	return op.One(joined2(c, ts, axis, commonSplits(ts)))
}

func stack(c *op.Call) ([]tenon.Value, error) {
	ts, axis, err := joinArgs(c, 1)
	if err != nil {
		return nil, err
	}
	return op.One(declared(stacked(c, ts, axis), ts, axis))
}

// declared returns tensors stacked along axis 0. If they are all known to have the same number of
// rows, that is the declared length of the new outermost rows.
func declared(y tensor.Tensor, ts []tensor.Tensor, axis int) tensor.Tensor {
	t, ok := y.(*Tensor)
	n := ts[0].Shape().Dim(0)
	if !ok || axis != 0 || n < 0 || slices.ContainsFunc(ts, func(t tensor.Tensor) bool { return t.Shape().Dim(0) != n }) {
		return y
	}
	d := t.parts[0].DType()
	parts := slices.Clone(t.parts)
	parts[0] = newUniform(scalar(len(ts), d), scalar(n, d))
	return wrap(t.flat, parts)
}

// stacked joins tensors along a new axis; the result is ragged.
func stacked(c *op.Call, ts []tensor.Tensor, axis int) tensor.Tensor {
	if axis == 0 {
		lengths := make([]tensor.Tensor, len(ts))
		for i, t := range ts {
			if rankOf(t) == 0 {
				return ops.Stack(ts, 0)
			}
			lengths[i] = outerSize(t)
		}
		values := joined2(c, ts, 0, commonSplits(ts))
		d := dtype.Int64
		if _, parts := split(values); len(parts) > 0 {
			d = parts[0].DType()
		}
		l := make([]tensor.Tensor, len(lengths))
		for i := range l {
			l[i] = ops.Cast(lengths[i], d)
		}
		return partitioned(values, newPartition(rows.FromLengths(ops.Stack(l, 0)), values.Shape().Dim(0)))
	}
	if out := stackedElements(ts, axis); out != nil {
		return out
	}
	wide := make([]tensor.Tensor, len(ts))
	k := axis
	if n, ok := commonInner(ts); ok && n > 0 {
		k = min(k, n) // equal sizes below the partitions stay sizes
	}
	for i, t := range ts {
		wide[i] = withAxis(atLeast(t, min(k, rankOf(t)-1)), axis)
	}
	return joined2(c, wide, axis, commonSplits(ts))
}

// stackedElements stacks tensors with the same rows along an axis of their elements. It returns nil
// if the rows, or the sizes below them, are not known to be equal.
func stackedElements(ts []tensor.Tensor, axis int) tensor.Tensor {
	first, ok := ts[0].(*Tensor)
	if !ok || axis <= len(first.parts) {
		return nil
	}
	flats := make([]tensor.Tensor, len(ts))
	for i, t := range ts {
		r, ok := t.(*Tensor)
		if !ok || !equalParts(first.parts, r.parts) || !r.flat.Shape().Tail(1).CompatibleWith(first.flat.Shape().Tail(1)) {
			return nil
		}
		flats[i] = r.flat
	}
	return first.with(ops.Stack(flats, axis-len(first.parts)))
}

// commonInner returns the number of partitions of tensors if they have the same number of them and
// the same sizes below.
func commonInner(ts []tensor.Tensor) (k int, ok bool) {
	flat, parts := split(ts[0])
	if flat.Shape().Rank() < 1 {
		return 0, false
	}
	inner := flat.Shape().Tail(1)
	for _, t := range ts[1:] {
		f, p := split(t)
		if len(p) != len(parts) || f.Shape().Rank() < 1 || !f.Shape().Tail(1).Equal(inner) {
			return 0, false
		}
	}
	return len(parts), inner.IsFull()
}

// atLeast returns t with at least k partitions, converting dimensions of uniform
// size to uniform partitions.
func atLeast(t tensor.Tensor, k int) tensor.Tensor {
	_, parts := split(t)
	return atLeastWith(t, k, widest(parts))
}

// atLeastWith is atLeast with the type of the row splits that are added.
func atLeastWith(t tensor.Tensor, k int, d dtype.DType) tensor.Tensor {
	flat, parts := split(t)
	if len(parts) >= k {
		return t
	}
	more := append([]*RowPartition(nil), parts...)
	for len(more) < k {
		n, m := sizeOf(flat, 0, d), sizeOf(flat, 1, d)
		more = append(more, newUniform(n, m))
		flat = foldOuter(flat)
	}
	return build(flat, more)
}

// foldOuter merges the two outermost dimensions of a dense tensor.
func foldOuter(t tensor.Tensor) tensor.Tensor {
	s := t.Shape()
	if d, ok := t.(*tensor.Dense); ok {
		return d.Reshaped(shape.Concat(shape.Of(s.Dim(0)*s.Dim(1)), s.Tail(2)))
	}
	return merged(t, 0, 1)
}

// commonSplits returns the type of the row splits of a tensor made from ts. Dense tensors have none
// and take that of the others.
func commonSplits(ts []tensor.Tensor) dtype.DType {
	var all []*RowPartition
	for _, t := range ts {
		_, parts := split(t)
		all = append(all, parts...)
	}
	return widest(all)
}

// joined2 concatenates tensors of one rank and element type; row splits get type
// d.
func joined2(c *op.Call, ts []tensor.Tensor, axis int, d dtype.DType) tensor.Tensor {
	if len(ts) == 1 {
		return ts[0]
	}
	k := 0
	for _, t := range ts {
		_, parts := split(t)
		k = max(k, len(parts))
	}
	if k == 0 {
		return ops.Concat(ts, axis)
	}
	same := make([]tensor.Tensor, len(ts))
	for i, t := range ts {
		flat, parts := split(atLeast(t, k))
		same[i] = build(flat, partsAs(parts, d))
	}
	return joinedAt(c, same, axis)
}

// joinedAt concatenates tensors with the same number of partitions.
func joinedAt(c *op.Call, ts []tensor.Tensor, axis int) tensor.Tensor {
	first, ok := ts[0].(*Tensor)
	if !ok {
		return ops.Concat(ts, axis)
	}
	values := make([]tensor.Tensor, len(ts))
	parts := make([]*RowPartition, len(ts))
	for i, t := range ts {
		values[i], parts[i] = t.(*Tensor).Values(), t.(*Tensor).parts[0]
	}
	switch axis {
	case 0:
		return partitioned(joinedAt(c, values, 0), oneBehindTheOther(parts))
	case 1:
		for i, p := range parts[1:] {
			if n, m := parts[0].StaticNRows(), p.StaticNRows(); n >= 0 && m >= 0 && n != m {
				tenon.Throw(c.Errorf(tenon.ErrShape, "operands 0 and %d have %d and %d rows", i+1, n, m))
			}
		}
		splits := make([]tensor.Tensor, len(parts))
		uniform := true
		for i, p := range parts {
			splits[i] = p.RowSplits()
			uniform = uniform && p.IsUniform()
		}
		joined := func(splits tensor.Tensor) *RowPartition {
			if !uniform {
				return newPartition(splits, shape.Unknown)
			}
			length := parts[0].uniform
			for _, q := range parts[1:] {
				length = sum(length, q.uniform)
			}
			return newUniform(parts[0].NRows(), length)
		}
		if !slices.ContainsFunc(values, func(v tensor.Tensor) bool { return !plain(v) }) {
			flat, out := rows.Concat(values, splits)
			return partitioned(flat, joined(out))
		}
		if below, out := zippedBelow(values, splits); below != nil {
			return partitioned(below, joined(out))
		}
		out, index := rows.ConcatIndex(splits)
		return partitioned(gatherRows(joinedAt(c, values, 0), index), joined(out))
	}
	for i, p := range parts[1:] {
		if err := sameRows(c.Op.Func(), parts[0], p); err != nil {
			e := *tenon.AsError(err)
			e.Msg = "has different lengths in operands 0 and " + itoa(i+1)
			tenon.Throw(&e)
		}
	}
	return partitioned(joinedAt(c, values, axis-1), first.parts[0])
}

// zippedBelow joins ragged values with the same number of partitions row by row. It computes the
// lengths, and then moves each element at the bottom once, depending on where its row begins. It
// also returns the splits of the joined rows. It returns nil if the elements are not plain tensors,
// or if rows below have a declared length.
func zippedBelow(values, splits []tensor.Tensor) (below, out tensor.Tensor) {
	flats, parts := make([]tensor.Tensor, len(values)), make([][]*RowPartition, len(values))
	for i, v := range values {
		if flats[i], parts[i] = split(v); !plain(flats[i]) || len(parts[i]) == 0 || slices.ContainsFunc(parts[i], (*RowPartition).IsUniform) {
			return nil, nil
		}
	}
	splits = slices.Clone(splits)
	lengths := make([]tensor.Tensor, len(values))
	joined := make([]tensor.Tensor, len(parts[0]))
	for level := range joined {
		for i := range values {
			lengths[i] = parts[i][level].RowLengths()
		}
		var ends tensor.Tensor
		if joined[level], ends = rows.Concat(lengths, splits); level == 0 {
			out = ends
		}
		for i := range values {
			splits[i] = ops.Gather(parts[i][level].RowSplits(), splits[i], 0)
		}
	}
	flat, _ := rows.Concat(flats, splits)
	made := make([]*RowPartition, len(joined))
	nvals := flat.Shape().Dim(0)
	for level := len(joined) - 1; level >= 0; level-- {
		made[level] = newPartition(rows.FromLengths(joined[level]), nvals)
		nvals = joined[level].Shape().Dim(0)
	}
	return build(flat, made), out
}

// oneBehindTheOther returns the partition of the rows of several partitions, whose values are
// concatenated.
func oneBehindTheOther(parts []*RowPartition) *RowPartition {
	n := parts[0].NRows()
	uniform := true
	splits := make([]tensor.Tensor, len(parts))
	for i, p := range parts {
		uniform = uniform && p.IsUniform() && known(p.uniform) >= 0 && known(p.uniform) == known(parts[0].uniform)
		if i > 0 {
			n = sum(n, p.NRows())
		}
	}
	if uniform {
		return newUniform(n, parts[0].uniform)
	}
	for i, p := range parts {
		splits[i] = p.RowSplits()
	}
	return newPartition(rows.StackSplits(splits), -1)
}

// stackOp is the operation that errors of [Stack] name.
var stackOp = sync.OnceValue(func() *op.Op { return ofKind(op.Stack) })

// Stack joins tensors along a new axis. Unlike ops.Stack of dense tensors, it returns a ragged
// result if sizes may differ: along axis 0 always, even if they happen to be equal.
func Stack(values []tensor.Tensor, axis int) (y tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	if len(values) == 0 {
		return nil, invalid("ragged.Stack", "values", "is empty")
	}
	o := stackOp()
	list := make([]tenon.Value, len(values))
	for i, v := range values {
		if v == nil {
			return nil, invalid("ragged.Stack", "values["+itoa(i)+"]", "is nil")
		}
		list[i] = v
	}
	c := &op.Call{Op: o, Args: []any{list, axis}}
	ts, axis, err := joinArgs(c, 1)
	if err != nil {
		return nil, c.Fail(err)
	}
	return stacked(c, ts, axis), nil
}
