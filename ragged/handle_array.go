package ragged

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	handle(onFirst(tile), "tile")                    // each axis in turn, from inside out
	handle(repeat, "repeat")                         // whole entries above ragged axes
	handle(onFirst(nonzero), "nonzero")              // the number of results depends on the elements
	handle(func(c *op.Call) ([]tenon.Value, error) { // partitions are dimensions, too
		x, _ := raggedArg(c, 0)
		return op.One(tensor.Scalar(int64(x.rank())))
	}, "rank")
	handle(onFirst(flatly), "size") // the number of the flat values
}

func expandDims(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	axes := c.Ints(1)
	r := x.rank() + len(axes)
	out := tensor.Tensor(x)
	at := make([]bool, r)
	for _, a := range axes {
		if a < -r || a >= r {
			return nil, c.Errorf(tenon.ErrAxis, "axis %d is out of range for rank %d", a, r)
		}
		if a < 0 {
			a += r
		}
		if at[a] {
			return nil, c.Errorf(tenon.ErrAxis, "axis %d is repeated", a)
		}
		at[a] = true
	}
	for a, new := range at {
		if new {
			out = withAxis(out, a)
		}
	}
	return op.One(out)
}

// withAxis adds an axis of size 1 in front of axis a.
func withAxis(x tensor.Tensor, a int) tensor.Tensor {
	t, ok := x.(*Tensor)
	if !ok {
		return ops.ExpandDims(x, a)
	}
	k := len(t.parts)
	if a > k {
		return t.with(ops.ExpandDims(t.flat, a-k))
	}
	d := t.parts[0].DType()
	var p *RowPartition
	at := 0
	if a == 0 {
		p = newUniform(scalar(1, d), t.parts[0].NRows())
	} else {
		at = a - 1
		p = newUniform(t.parts[at].NRows(), scalar(1, d))
	}
	parts := append(append(append([]*RowPartition(nil), t.parts[:at]...), p), t.parts[at:]...)
	return build(t.flat, parts)
}

func squeeze(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	axes := axesOf(c, x)
	if axes == nil {
		e := c.Errorf(tenon.ErrInvalid, "the axes to remove have to be named, as the sizes of ragged axes are data")
		e.Where = "axis"
		return nil, e
	}
	out := tensor.Tensor(x)
	for i := len(axes) - 1; i >= 0; i-- {
		out = tenon.Must(squeezed(c, out, axes[i]))
	}
	return op.One(out)
}

// squeezed removes an axis of size 1.
func squeezed(c *op.Call, x tensor.Tensor, a int) (tensor.Tensor, error) {
	t, ok := x.(*Tensor)
	if !ok {
		return ops.Squeeze(x, a), nil
	}
	k := len(t.parts)
	if a > k {
		return t.with(ops.Squeeze(t.flat, a-k)), nil
	}
	at := max(0, a-1)
	p := t.parts[at]
	if a == 0 {
		if n := p.StaticNRows(); n >= 0 && n != 1 {
			return nil, c.Errorf(tenon.ErrInvalid, "axis 0 has %d rows, not 1", n)
		}
	} else if s, ok := p.Splits64(); ok {
		for r := 1; r < len(s); r++ {
			if s[r]-s[r-1] != 1 {
				e := c.Errorf(tenon.ErrInvalid, "axis %d has %d entries there, not 1", a, s[r]-s[r-1])
				e.Where = fmtRow(r - 1)
				return nil, e
			}
		}
	}
	parts := append(append([]*RowPartition(nil), t.parts[:at]...), t.parts[at+1:]...)
	return build(t.flat, parts), nil
}

// numbers returns 0, 1, … n-1.
func numbers(n tensor.Tensor) tensor.Tensor {
	return ops.Range(int64(0), ops.Cast(n, dtype.Int64), int64(1))
}

func tile(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	times, known := c.ConstInts(1)
	r := x.rank()
	if !known || len(times) != r || c.Tensor(1).Shape().Rank() != 1 {
		return nil, c.Errorf(tenon.ErrInvalid, "multiples has to be %d known integers", r)
	}
	for a, m := range times {
		if m < 0 {
			return nil, c.Errorf(tenon.ErrInvalid, "axis %d is repeated %d times", a, m)
		}
	}
	return op.One(tiled(x, times))
}

// tiled repeats each axis as often as times says, the inner ones first.
func tiled(x tensor.Tensor, times []int) tensor.Tensor {
	t, ok := x.(*Tensor)
	if !ok {
		return ops.Tile(x, times)
	}
	below := tiled(t.Values(), append([]int{1}, times[2:]...))
	p := t.parts[0]
	out := partitioned(below, p)
	if times[1] != 1 {
		if p.IsUniform() {
			length := product(p.uniform, scalar(times[1], p.DType()))
			_, index := rows.RepeatIndex(p.RowSplits(), int64(times[1]))
			out = partitioned(gatherRows(below, index), newUniform(p.NRows(), length))
		} else {
			splits, index := rows.RepeatIndex(p.RowSplits(), int64(times[1]))
			out = partitioned(gatherRows(below, index), newPartition(splits, -1))
		}
	}
	if times[0] == 1 {
		return out
	}
	return gatherRows(out, ops.Tile(numbers(p.NRows()), []int{times[0]}))
}

func repeat(c *op.Call) ([]tenon.Value, error) {
	if t, ok := raggedArg(c, 1); ok {
		return nil, c.Errorf(tenon.ErrUnsupported, "the numbers of times are %v, want an integer or one for each entry of the axis", t.described())
	}
	x, ok := raggedArg(c, 0)
	if !ok {
		return nil, op.NotHandled
	}
	a := axisOf(c, x)
	k := len(x.parts)
	switch {
	case a == 0:
		return op.One(gatherRows(x, ops.Repeat(numbers(x.NRows()), c.Value(1), 0)))
	case a > k:
		values := c.Values()
		values[0] = x.flat
		return op.One(x.with(op.Apply(c.WithArg(2, a-k), values...)))
	}
	n, ok := c.ConstInts(1)
	if !ok || len(n) != 1 || c.Tensor(1).Shape().Rank() != 0 {
		return nil, c.Errorf(tenon.ErrUnsupported, "entries of a ragged axis are repeated a known number of times, the same for all")
	}
	// Each entry becomes a row of its own, which is repeated and merged again.
	one := withAxis(x, a+1)
	times := make([]int, x.rank()+1)
	for i := range times {
		times[i] = 1
	}
	times[a+1] = n[0]
	return op.One(merged(tiled(one, times), a, a+1))
}

// merged joins the axes from outer to inner, both counted from the start.
func merged(x tensor.Tensor, outer, inner int) tensor.Tensor {
	t, ok := x.(*Tensor)
	if !ok {
		var dims []any
		s := x.Shape()
		if s.IsFull() { // where a size is 0 the operation could not find the open one
			return ops.Reshape(x, shape.Concat(s.Slice(0, outer), shape.Of(s.Slice(outer, inner+1).Size()), s.Tail(inner+1)))
		}
		size := sizeOf(x, outer, dtype.Int64)
		for a := outer + 1; a <= inner; a++ {
			size = product(size, sizeOf(x, a, dtype.Int64))
		}
		for a := range s.Rank() {
			switch {
			case a > outer && a <= inner:
			case a == outer:
				dims = append(dims, size)
			default:
				dims = append(dims, sizeOf(x, a, dtype.Int64))
			}
		}
		return ops.Reshape(x, ops.Stack(dims, 0))
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
	// Partitions outer to inner-1 (of axes outer+1 to inner) become one, or vanish
	// into the rows.
	if outer == 0 {
		return build(t.flat, t.parts[inner:])
	}
	splits := t.parts[inner-1].RowSplits()
	for a := inner - 1; a >= outer; a-- {
		splits = composed(t.parts[a-1].RowSplits(), splits)
	}
	parts := append(append([]*RowPartition(nil), t.parts[:outer-1]...), newPartition(splits, -1))
	return build(t.flat, append(parts, t.parts[inner:]...))
}

func splitParts(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	a := axisOf(c, x)
	k := len(x.parts)
	if a > k {
		values := c.Values()
		values[0] = x.flat
		parts := op.ApplyN(c.WithArg(c.Op.Param("axis"), a-k), values...)
		out := make([]tenon.Value, len(parts))
		for i, p := range parts {
			out[i] = x.with(p)
		}
		return out, nil
	}
	if a > 0 && !x.parts[a-1].IsUniform() {
		return nil, c.Errorf(tenon.ErrInvalid, "axis %d is ragged, and rows of different lengths are not split", a)
	}
	n := x.parts[0].StaticNRows()
	if a > 0 {
		n = x.parts[a-1].StaticUniformRowLength()
	}
	sizes := tenon.Must(partSizes(c, n))
	if n < 0 { // what a vector of the positions is cut into
		at := numbers(numberOf(x, a))
		cut := op.ApplyN(c.WithArg(c.Op.Param("axis"), 0), append([]tenon.Value{at}, c.Values()[1:]...)...)
		out := make([]tenon.Value, len(cut))
		for i, at := range cut {
			out[i] = ops.Gather(x, at, a)
		}
		return out, nil
	}
	out := make([]tenon.Value, len(sizes))
	at := 0
	for i, s := range sizes {
		keys := make([]any, a+1)
		for j := range a {
			keys[j] = key.All
		}
		keys[a] = key.Range(at, at+s, nil)
		out[i] = ops.Index(x, keys...)
		at += s
	}
	return out, nil
}

// numberOf returns the size of an axis that is not ragged.
func numberOf(x *Tensor, axis int) tensor.Tensor {
	if axis == 0 {
		return x.parts[0].NRows()
	}
	return x.parts[axis-1].uniform
}

// partSizes returns the sizes of the parts of an axis of size n, which may be unknown.
func partSizes(c *op.Call, n int) ([]int, error) {
	if parts, ok := c.Attr("parts").(int); ok && c.Value(1) == nil {
		if n < 0 {
			return nil, nil
		}
		if parts <= 0 || n%parts != 0 {
			return nil, c.Errorf(tenon.ErrInvalid, "%d rows are not %d equal parts", n, parts)
		}
		sizes := make([]int, parts)
		for i := range sizes {
			sizes[i] = n / parts
		}
		return sizes, nil
	}
	sizes, ok := c.ConstInts(1)
	if !ok {
		return nil, c.Errorf(tenon.ErrUnsupported, "the sizes of the parts have to be known")
	}
	total := 0
	for _, s := range sizes {
		if s < 0 {
			return nil, c.Errorf(tenon.ErrInvalid, "the sizes %v have to be given in full", sizes)
		}
		if total += s; total < 0 {
			break // too large for an int
		}
	}
	if total != n && n >= 0 {
		return nil, c.Errorf(tenon.ErrInvalid, "the sizes %v do not add up to %d", sizes, n)
	}
	return sizes, nil
}

func unstack(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	a := axisOf(c, x)
	if k := len(x.parts); a > k {
		parts := op.ApplyN(c.WithArg(1, a-k), x.flat)
		out := make([]tenon.Value, len(parts))
		for i, p := range parts {
			out[i] = x.with(p)
		}
		return out, nil
	}
	n := x.Shape().Dim(a)
	if n < 0 || a > 0 && !x.parts[a-1].IsUniform() {
		return nil, c.Errorf(tenon.ErrInvalid, "axis %d has no known size of its own", a)
	}
	out := make([]tenon.Value, n)
	if s, ok := x.parts[0].Splits64(); ok && a == 0 && !x.parts[0].IsUniform() {
		values := x.Values()
		for i := range out {
			out[i] = rowsBetween(values, int(s[i]), int(s[i+1]))
		}
		return out, nil
	}
	for i := range out {
		keys := make([]any, a+1)
		for j := range a {
			keys[j] = key.All
		}
		keys[a] = i
		out[i] = ops.Index(x, keys...)
	}
	return out, nil
}

// transpose permutes inner dimensions; partitioned ones have to stay.
func transpose(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	perm := c.Ints(1)
	r, k := x.rank(), len(x.parts)
	if perm == nil {
		for a := r - 1; a >= 0; a-- {
			perm = append(perm, a)
		}
	}
	if len(perm) != r {
		return nil, c.Errorf(tenon.ErrAxis, "the permutation %v is not one of %d axes", perm, r)
	}
	flat := []int{0}
	for i, a := range perm {
		if a < 0 {
			a += r
		}
		switch {
		case i <= k && a != i:
			return nil, c.Errorf(tenon.ErrUnsupported, "axis %d is ragged or outside of a ragged axis, and stays where it is", i)
		case i > k:
			flat = append(flat, a-k)
		}
	}
	return op.One(x.with(ops.Transpose(x.flat, flat...)))
}

// coordinates returns for each entry of the flat values' first dimension its place
// in every partitioned dimension: int64[nvals, ragged rank + 1].
func coordinates(x *Tensor) tensor.Tensor {
	k := len(x.parts)
	cols := make([]tensor.Tensor, k+1)
	cols[k] = ops.Cast(x.parts[k-1].OffsetsInRows(), dtype.Int64)
	at := ops.Cast(x.parts[k-1].ValueRowIDs(), dtype.Int64) // the row of each value, from inside out
	for a := k - 1; a > 0; a-- {
		p := x.parts[a-1]
		cols[a] = ops.Gather(ops.Cast(p.OffsetsInRows(), dtype.Int64), at, 0)
		at = ops.Gather(ops.Cast(p.ValueRowIDs(), dtype.Int64), at, 0)
	}
	cols[0] = at
	return ops.Stack(cols, 1)
}

func nonzero(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	flat := ops.Nonzero(x.flat) // [n, inner rank]
	first := ops.Index(flat, key.All, 0)
	outer := ops.Gather(coordinates(x), first, 0)
	if x.flat.Shape().Rank() == 1 {
		return op.One(outer)
	}
	return op.One(ops.Concat([]tensor.Tensor{outer, ops.Index(flat, key.All, key.From(1))}, 1))
}

func oneHot(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	i := c.Op.Param("axis")
	a, _ := c.Args[i].(int)
	k, r := len(x.parts), x.rank()+1
	if a < -r || a >= r {
		return nil, c.Errorf(tenon.ErrAxis, "axis %d is out of range for rank %d", a, r)
	}
	if a < 0 {
		a += r
	}
	if a <= k {
		return nil, c.Errorf(tenon.ErrInvalid, "axis %d is in front of a ragged axis, where every row would need its own", a)
	}
	if c.Int(i) >= 0 { // counted from the end it is the same one
		c = c.WithArg(i, a-k)
	}
	return op.One(onFlat(c, 0, x))
}

// padded adds elements before and after the entries of each axis.
func padded(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	pads, known := c.ConstInts(1)
	r, k := x.rank(), len(x.parts)
	if !known || len(pads) != 2*r {
		return nil, c.Errorf(tenon.ErrInvalid, "paddings have to be known pairs for %d axes", r)
	}
	out := tensor.Tensor(x)
	if inner := pads[2*(k+1):]; slices.ContainsFunc(inner, func(n int) bool { return n != 0 }) {
		values := c.Values()
		values[0], values[1] = x.flat, tensor.Of(append([]int{0, 0}, inner...), r-k, 2)
		out = x.with(op.Apply(c, values...))
	}
	for a := k; a >= 0; a-- {
		before, after := pads[2*a], pads[2*a+1]
		if before < 0 || after < 0 {
			return nil, c.Errorf(tenon.ErrInvalid, "axis %d is padded by %d and %d", a, before, after)
		}
		if before == 0 && after == 0 {
			continue
		}
		if a < k {
			return nil, c.Errorf(tenon.ErrUnsupported, "axis %d has ragged axes below it: what a new entry there would hold is not known", a)
		}
		out = paddedRows(c, out.(*Tensor), before, after)
	}
	return op.One(out)
}

// paddedRows adds entries at both ends of every innermost row.
func paddedRows(c *op.Call, x *Tensor, before, after int) tensor.Tensor {
	k := len(x.parts)
	p := x.parts[k-1]
	fill := any(0)
	if v := c.Value(2); v != nil {
		fill = v
	}
	value, ok := fill.(tensor.Tensor)
	if !ok && x.DType() == dtype.String {
		value = tensor.Scalar("")
	} else if !ok {
		value = ops.Zeros(x.DType(), []int{})
	}
	var list, splitsList []tensor.Tensor
	part := func(n int) {
		if n == 0 {
			return
		}
		q := newUniform(p.NRows(), scalar(n, p.DType()))
		dims := any(nil)
		if s, m := x.flat.Shape(), known(q.NVals()); m >= 0 && s.Tail(1).IsFull() {
			dims = s.With(0, m).Dims()
		} else {
			dims = ops.Concat([]any{ops.Reshape(ops.Cast(q.NVals(), dtype.Int64), []int{1}), ops.Index(ops.Shape(x.flat), key.From(1))}, 0)
		}
		list, splitsList = append(list, ops.Fill(dims, value)), append(splitsList, q.RowSplits())
	}
	part(before)
	list, splitsList = append(list, x.flat), append(splitsList, p.RowSplits())
	part(after)
	values, splits := rows.Concat(list, splitsList)
	return build(values, append(append([]*RowPartition(nil), x.parts[:k-1]...), newPartition(splits, -1)))
}
