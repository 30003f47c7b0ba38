package onnx

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
)

// forward makes negative positions along an axis count from its end.
func forward(at, x T, axis int) T {
	if at.DType().IsUnsigned() {
		return at
	}
	n := ops.Cast(size(x, axis), at.DType())
	return ops.Where(ops.Less(at, like(0, at)), ops.Add(at, n), at)
}

func gather(c *call) []any {
	x, at := c.x(0), c.x(1)
	k := axis(c.int("axis", 0), rank(x))
	return one(ops.Gather(x, forward(at, x, k), k))
}

func gatherElements(c *call) []any {
	x, at := c.x(0), c.x(1)
	k := axis(c.int("axis", 0), rank(x))
	return one(ops.TakeAlongAxis(corner(x, at, k), forward(at, x, k), k))
}

// corner crops x to the sizes of at along all axes but one.
func corner(x, at T, axis int) T {
	keys, cut := make([]any, rank(x)), false
	for i := range keys {
		keys[i] = key.All
		if i != axis && at.Shape().Dim(i) != x.Shape().Dim(i) && at.Shape().Dim(i) >= 0 {
			keys[i], cut = key.To(at.Shape().Dim(i)), true
		}
	}
	if !cut {
		return x
	}
	return ops.Index(x, keys...)
}

// tuples makes negative positions in tuples count from the ends of their axes.
func tuples(at, x T, batch int) T {
	n := vector(dims(x)[batch : batch+at.Shape().Dim(rank(at)-1)])
	return ops.Where(ops.Less(at, like(0, at)), ops.Add(at, ops.Cast(n, at.DType())), at)
}

func gatherND(c *call) []any {
	batch := c.int("batch_dims", 0)
	return one(ops.GatherND(c.x(0), tuples(c.x(1), c.x(0), batch), batch))
}

// combine combines updates, several of which may have the same place, with x by a reduction.
func combine(x, places, updates T, how string) T {
	flat := []int{-1}
	n := x.Shape().Size()
	at, up := ops.Reshape(places, flat), ops.Reshape(updates, flat)
	base := ops.Reshape(x, flat)
	segment, join := ops.SegmentSum, ops.Add
	switch how {
	case "add":
	case "mul":
		segment, join = ops.SegmentProd, ops.Mul
	case "max", "min":
		// Elements without an update stay as they are.
		at = ops.Concat([]any{at, ops.Range(int64(0), int64(n), int64(1))}, 0)
		up = ops.Concat([]any{up, base}, 0)
		if segment = ops.SegmentMax; how == "min" {
			segment = ops.SegmentMin
		}
		return ops.Reshape(segment(up, at, n), dims(x))
	default:
		refuse(tenon.ErrUnsupported, "there is no reduction %q of updates", how)
	}
	return ops.Reshape(join(base, segment(up, at, n)), dims(x))
}

func scatterElements(c *call) []any {
	x, at, up := c.x(0), c.x(1), c.x(2)
	k := axis(c.int("axis", 0), rank(x))
	at = ops.Cast(forward(at, x, k), dtype.Int64)
	// The index of each update among all elements.
	d, stride := dims(x), 1
	places := T(nil)
	for a := rank(x) - 1; a >= 0; a-- {
		p := at
		if a != k {
			s := ones(rank(at))
			s[a] = at.Shape().Dim(a)
			p = ops.Reshape(ops.Range(int64(0), int64(s[a]), int64(1)), s)
		}
		if p = ops.Mul(p, int64(stride)); places == nil {
			places = p
		} else {
			places = ops.Add(places, p)
		}
		stride *= d[a]
	}
	places = ops.BroadcastTo(places, dims(at))
	if how := c.text("reduction", "none"); how != "none" {
		return one(combine(x, places, up, how))
	}
	flat := []int{-1}
	return one(ops.Reshape(ops.TensorScatterUpdate(ops.Reshape(x, flat), ops.Reshape(places, []int{-1, 1}), ops.Reshape(up, flat)), d))
}

func scatterND(c *call) []any {
	x, at, up := c.x(0), c.x(1), c.x(2)
	at = tuples(at, x, 0)
	how := c.text("reduction", "none")
	if how == "none" {
		return one(ops.TensorScatterUpdate(x, at, up))
	}
	d := dims(x)
	depth := at.Shape().Dim(rank(at) - 1)
	inner := 1
	for _, n := range d[depth:] {
		inner *= n
	}
	strides, s := make([]int, depth), inner
	for i := depth - 1; i >= 0; i-- {
		strides[i] = s
		s *= d[i]
	}
	places := ops.Sum(ops.Mul(ops.Cast(at, dtype.Int64), vector(strides)), -1)
	places = ops.Add(ops.ExpandDims(places, -1), ops.Range(int64(0), int64(inner), int64(1)))
	return one(combine(x, places, up, how))
}

func nonZero(c *call) []any { return one(ops.Transpose(ops.Nonzero(c.x(0)))) }

func oneHot(c *call) []any {
	at, values := c.x(0), c.x(2)
	depth := int(c.scalar(1, 0))
	if !at.DType().IsInteger() {
		at = ops.Cast(at, dtype.Int64)
	}
	if !at.DType().IsUnsigned() {
		at = ops.Where(ops.Less(at, like(0, at)), ops.Add(at, like(float64(depth), at)), at)
	}
	hot := ops.OneHot(at, depth, c.int("axis", -1), ops.OneHotOptions{DType: dtype.Bool, On: true, Off: false})
	return one(ops.Where(hot, ops.Index(values, 1), ops.Index(values, 0)))
}

func topK(c *call) []any {
	x := c.x(0)
	k := axis(c.int("axis", -1), rank(x))
	n := c.int("k", 0)
	if c.has(1) {
		n = c.known(1)[0]
	}
	if c.int("largest", 1) != 0 {
		values, at := ops.TopK(x, n, k)
		return []any{values, at}
	}
	keys := make([]any, rank(x))
	for i := range keys {
		keys[i] = key.All
	}
	keys[k] = key.To(n)
	at := ops.Index(ops.ArgSort(x, k, ops.SortOptions{}), keys...)
	return []any{ops.TakeAlongAxis(x, at, k), at}
}

// unique returns distinct elements, or slices along an axis, sorted unless the model says
// otherwise.
func unique(c *call) []any {
	x := c.x(0)
	k, rows := 0, ops.Reshape(x, []int{-1})
	if a := c.attr("axis"); a != nil {
		k = axis(int(a.i), rank(x))
		rows = x
	}
	codes := rows
	if rank(rows) > 1 {
		// Each slice gets the index of the first slice equal to it.
		m := flattened(ops.MoveAxis(rows, k, 0), 1)
		same := ops.All(ops.Equal(ops.ExpandDims(m, 1), ops.ExpandDims(m, 0)), 2)
		codes = ops.ArgMax(same, 1)
	}
	_, inverse, counts, first := ops.Unique(codes)
	if c.int("sorted", 1) != 0 {
		order := sortedSlices(ops.Gather(rows, first, k), k)
		first, counts = ops.Gather(first, order, 0), ops.Gather(counts, order, 0)
		back := ops.ArgSort(order, 0, ops.SortOptions{})
		inverse = ops.Gather(back, inverse, 0)
	}
	return []any{ops.Gather(rows, first, k), first, inverse, counts}
}

// sortedSlices returns the order of slices along an axis, by their first elements, then their
// second ones, and so on.
func sortedSlices(x T, k int) T {
	if rank(x) == 1 {
		return ops.ArgSort(x, 0, ops.SortOptions{})
	}
	m := flattened(ops.MoveAxis(x, k, 0), 1)
	order := ops.Range(int64(0), int64(m.Shape().Dim(0)), int64(1))
	for j := m.Shape().Dim(1) - 1; j >= 0; j-- {
		column := ops.Gather(ops.Index(m, key.All, j), order, 0)
		order = ops.Gather(order, ops.ArgSort(column, 0, ops.SortOptions{}), 0)
	}
	return order
}

func reverseSequence(c *call) []any {
	return one(ops.ReverseSequence(c.x(0), c.x(1), c.int("time_axis", 0), c.int("batch_axis", 1)))
}

// tensorScatter writes updates into a cache, starting at given positions; in circular mode they
// wrap around at its end.
func tensorScatter(c *call) []any {
	x, up := c.x(0), c.x(1)
	k := axis(c.int("axis", -2), rank(x))
	d, u := dims(x), dims(up)
	at := ops.Zeros(dtype.Int64, []int{d[0]})
	if c.has(2) {
		at = ops.Cast(c.x(2), dtype.Int64)
	}
	s := ones(rank(x))
	s[0] = d[0]
	steps := ones(rank(x))
	steps[k] = u[k]
	places := ops.Add(ops.Reshape(at, s), ops.Reshape(ops.Range(int64(0), int64(u[k]), int64(1)), steps))
	if c.text("mode", "linear") == "circular" {
		places = ops.Mod(places, int64(d[k]))
	}
	return one(ops.PutAlongAxis(x, ops.BroadcastTo(places, u), up, k))
}
