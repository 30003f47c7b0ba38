package ragged

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// numbers returns 0, 1, … n-1.
func numbers(n tensor.Tensor) tensor.Tensor {
	return ops.Range(int64(0), ops.Cast(n, dtype.Int64), int64(1))
}

func tile(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	times, known := c.ConstInts(1)
	r := x.rank()
	if !known || len(times) != r || c.Tensor(1).Shape().Rank() != 1 {
		return nil, c.Errorf(tenon.ErrInvalid, "multiples must be %d known integers", r)
	}
	for a, m := range times {
		if m < 0 {
			return nil, c.Errorf(tenon.ErrInvalid, "axis %d is repeated %d times", a, m)
		}
	}
	return op.One(tiled(x, times))
}

// tiled repeats each axis as often as times says, starting with the inner ones.
func tiled(x tensor.Tensor, times []int) tensor.Tensor {
	t, ok := x.(*Tensor)
	if !ok {
		return ops.Tile(x, times)
	}
	below := tiled(t.Values(), append([]int{1}, times[2:]...))
	p := t.parts[0]
	out := partitioned(below, p)
	if times[1] != 1 {
		splits, index := rows.RepeatIndex(p.RowSplits(), int64(times[1]))
		q := newPartition(splits, -1)
		if p.IsUniform() {
			q = newUniform(p.NRows(), product(p.uniform, scalar(times[1], p.DType())))
		}
		out = partitioned(gatherRows(below, index), q)
	}
	if times[0] == 1 {
		return out
	}
	return gatherRows(out, ops.Tile(numbers(p.NRows()), []int{times[0]}))
}

func repeat(c *op.Call) ([]tenon.Value, error) {
	if t, ok := op.Arg[*Tensor](c, 1); ok {
		return nil, c.Errorf(tenon.ErrUnsupported, "the numbers of times are %v, want an integer or one for each entry of the axis", t.described())
	}
	x, ok := op.Arg[*Tensor](c, 0)
	if !ok {
		return nil, op.NotHandled
	}
	a, k := axisOf(c, x), len(x.parts)
	switch {
	case a == 0:
		return op.One(gatherRows(x, ops.Repeat(numbers(x.NRows()), c.Value(1), 0)))
	case a > k:
		return insideRows(c, x, a-k)
	}
	n, ok := c.ConstInts(1)
	if !ok || len(n) != 1 || c.Tensor(1).Shape().Rank() != 0 {
		return nil, c.Errorf(tenon.ErrUnsupported, "entries of a ragged axis can only be repeated a known number of times, the same for all")
	}
	// Each entry becomes a row, which is repeated; then the rows are merged
	// again.
	one := withAxis(x, a+1)
	times := make([]int, x.rank()+1)
	for i := range times {
		times[i] = 1
	}
	times[a+1] = n[0]
	return op.One(merged(tiled(one, times), a, a+1))
}

// merged merges the axes from outer to inner, both counted from the start.
func merged(x tensor.Tensor, outer, inner int) tensor.Tensor {
	t, ok := x.(*Tensor)
	if !ok {
		sizes := innerSizes(ShapeOf(x))
		all := sizes[outer]
		for _, z := range sizes[outer+1 : inner+1] {
			all = times(all, z, dtype.Int64)
		}
		return reshapeTo(x, slices.Replace(sizes, outer, inner+1, all), dtype.Int64)
	}
	if outer == inner {
		return x
	}
	k := len(t.parts)
	if inner > k {
		flat := merged(t.flat, max(outer-k, 0), inner-k)
		if outer > k {
			return t.with(flat)
		}
		// Each value becomes as many values as the merged inner dimensions have.
		each := scalar(1, t.parts[0].DType())
		for a := 1; a <= inner-k; a++ {
			each = product(each, sizeOf(t.flat, a, each.DType()))
		}
		parts := append([]*RowPartition(nil), t.parts...)
		last := parts[k-1]
		if last.IsUniform() {
			parts[k-1] = newUniform(last.nrows, product(last.uniform, each))
		} else {
			parts[k-1] = newPartition(ops.Mul(last.RowSplits(), each), -1)
		}
		return merged(build(flat, parts), outer, k)
	}
	// Partitions outer to inner-1 (of axes outer+1 to inner) are merged into one, or disappear into
	// the rows.
	if outer == 0 {
		return build(t.flat, t.parts[inner:])
	}
	return build(t.flat, slices.Concat(innerJoined(t.parts[:inner], outer), t.parts[inner:]))
}
