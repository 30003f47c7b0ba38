package onnx

import (
	"math"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
)

func transposed(e *node) string {
	perm := slices.Clone(e.c.Ints(1))
	if !e.c.Has(1) {
		for i := range e.ofRank(0) {
			perm = append([]int{i}, perm...)
		}
	}
	for i, p := range perm {
		if p < 0 {
			perm[i] = p + len(perm)
		}
	}
	return e.transpose(e.in(0), perm)
}

func squeezedOf(e *node) string {
	if axes := e.c.Ints(1); len(axes) > 0 {
		return e.do("Squeeze", []string{e.in(0), e.vector(axes...)})
	}
	return e.do("Squeeze", []string{e.in(0)})
}

func spread(c *op.Call) T {
	y := c.Tensor(0)
	want, ok := c.ConstInts(1)
	n := len(want)
	if !ok {
		n = c.Tensor(1).Shape().Dim(0)
	}
	axes, err := c.Axes(n)
	tenon.Throw(err)
	if !c.Bool(3) && len(axes) > 0 {
		slices.Sort(axes)
		y = ops.ExpandDims(y, axes...)
	}
	return ops.BroadcastTo(y, c.Tensor(1))
}

// summedTo writes the sum over the axes that were broadcast: those of size 1.
func summedTo(e *node) string {
	n := e.t(1).Shape().Dim(0)
	x := e.in(0)
	if front := e.ofRank(0) - n; front > 0 {
		x = e.typed("ReduceSum", products, []string{x, e.vector(upTo(front)...)}, withFlag("keepdims", false))
	}
	axes := ""
	if want, ok := e.c.ConstInts(1); ok {
		known := []int{}
		for i, n := range want {
			if n == 1 {
				known = append(known, i)
			}
		}
		axes = e.vector(known...)
	} else {
		axes = e.do("Reshape", []string{e.do("NonZero", []string{e.do("Equal", []string{e.int64s(1), e.vector(1)})}), e.vector(-1)})
	}
	return e.typed("ReduceSum", products, []string{x, axes}, withFlag("keepdims", true), withFlag("noop_with_empty_axes", true))
}

// diagonal is true where the row and the column are the same.
func diagonal(rows, columns any) T {
	from := func(n any) T { return ops.Range(int64(0), ops.Cast(n, dtype.Int64), int64(1)) }
	return ops.Equal(ops.ExpandDims(from(rows), 1), ops.ExpandDims(from(columns), 0))
}

func eye(c *op.Call) T {
	return ops.Cast(diagonal(c.Tensor(0), c.Tensor(1)), c.Attr("dtype").(dtype.DType))
}

func diag(x T) T {
	n := size(x, rank(x)-1)
	return ops.Where(diagonal(n, n), ops.ExpandDims(x, -1), zeroOf(x))
}

func diagPart(x T) T {
	r := rank(x)
	m, n := size(x, r-2), size(x, r-1)
	least := ops.Minimum(ops.Cast(m, dtype.Int64), ops.Cast(n, dtype.Int64))
	at := ops.Range(int64(0), least, int64(1))
	// The flattened elements: one of each row, n+1 apart.
	flat := ops.Reshape(x, ops.Concat([]any{ops.Index(sizesOf(x), key.To(r-2)), vector([]int{-1})}, 0))
	return ops.Gather(flat, ops.Mul(at, ops.Add(ops.Cast(n, dtype.Int64), int64(1))), r-2)
}

func band(e *node) string {
	if e.dtypeOf().IsString() {
		refuse(tenon.ErrUnsupported, "ONNX's Trilu does not support strings")
	}
	x := e.in(0)
	for i, upper := range []bool{true, false} { // not below the first diagonal, not above the last one
		if e.c.Has(1 + i) {
			k := e.do("Squeeze", []string{e.vector(e.c.Int(1 + i)), e.vector(0)})
			x = e.do("Trilu", []string{x, k}, withFlag("upper", upper))
		}
	}
	return x
}

func linspace(c *op.Call) T {
	start, stop, num := c.Tensor(0), c.Tensor(1), ops.Cast(c.Tensor(2), dtype.Int64)
	if !start.DType().IsFloat() {
		start, stop = ops.Cast(start, dtype.Float64), ops.Cast(stop, dtype.Float64)
	}
	at := ops.Cast(ops.Range(int64(0), num, int64(1)), start.DType())
	last := ops.Cast(ops.Maximum(ops.Sub(num, int64(1)), int64(1)), start.DType())
	part := ops.Div(at, last)
	return ops.Add(ops.Mul(start, ops.Sub(like(1, start), part)), ops.Mul(stop, part))
}

var rangeTypes = typeSet(func(d dtype.DType) bool {
	return d.IsFloat() && d.Size() >= 4 || d == dtype.Int16 || d == dtype.Int32 || d == dtype.Int64
})

func rangeOf(e *node) string { return e.typed("Range", rangeTypes, e.ins()) }

func stack(c *op.Call) T {
	var parts []any
	axis := c.Int(1)
	for _, v := range c.List(0) {
		if axis < 0 {
			axis += rank(v.(T)) + 1
		}
		parts = append(parts, ops.ExpandDims(v, axis))
	}
	return ops.Concat(parts, axis)
}

func splitOf(e *node) []string {
	axis := e.c.Int(2)
	if e.c.Has(1) {
		if list, ok := e.c.ConstInts(1); !ok || slices.Contains(list, -1) {
			return e.expanded(splitByRanges)
		}
		return e.put(len(e.Outs), "Split", []string{e.in(0), e.int64s(1)}, withInt("axis", axis))
	}
	return e.evenly(axis)
}

// evenly splits a tensor into parts of equal size.
func (e *node) evenly(axis int) []string {
	n := e.t(0).Shape().Dim((axis + e.ofRank(0)) % e.ofRank(0))
	if n < 0 {
		return e.put(len(e.Outs), "Split", []string{e.in(0)}, withInt("axis", axis), withInt("num_outputs", len(e.Outs)))
	}
	sizes := slices.Repeat([]int{n / len(e.Outs)}, len(e.Outs))
	return e.put(len(e.Outs), "Split", []string{e.in(0), e.vector(sizes...)}, withInt("axis", axis))
}

// splitByRanges splits at positions that are only known when the model runs, or where one size
// is the rest.
func splitByRanges(c *op.Call) []T {
	x, sizes, axis := c.Tensor(0), ops.Cast(c.Tensor(1), dtype.Int64), c.Int(2)
	axis = (axis + rank(x)) % rank(x)
	given := ops.Maximum(sizes, int64(0))
	left := ops.Sub(ops.Cast(size(x, axis), dtype.Int64), ops.Sum(given))
	sizes = ops.Where(ops.Less(sizes, int64(0)), left, sizes)
	ends := ops.CumSum(sizes, 0, ops.CumOptions{})
	keys := slices.Repeat([]any{key.All}, rank(x))
	var out []T
	from := any(0)
	for i := range sizes.Shape().Dim(0) {
		to := ops.Index(ends, i)
		keys[axis] = key.Range(from, to, nil)
		out = append(out, ops.Index(x, keys...))
		from = to
	}
	return out
}

func unstackOf(e *node) []string {
	if len(e.Outs) == 0 {
		return []string{}
	}
	axis := e.c.Int(1)
	parts := e.evenly(axis)
	for i, p := range parts {
		parts[i] = e.do("Squeeze", []string{p, e.vector(axis)})
	}
	return parts
}

func repeat(c *op.Call) T {
	x, times, axis := c.Tensor(0), ops.Cast(c.Tensor(1), dtype.Int64), c.Int(2)
	axis = (axis + rank(x)) % rank(x)
	if rank(times) == 0 {
		n := ops.Mul(ops.Cast(size(x, axis), dtype.Int64), times)
		at := ops.Range(int64(0), n, int64(1))
		return ops.Gather(x, ops.FloorDiv(at, ops.Maximum(times, int64(1))), axis)
	}
	ends := ops.CumSum(times, 0, ops.CumOptions{})
	at := ops.Range(int64(0), ops.Sum(times), int64(1))
	return ops.Gather(x, ops.SearchSorted(ends, at, true), axis)
}

func turnedRound(e *node) string {
	axes, err := e.c.Axes(e.ofRank(0))
	tenon.Throw(err)
	if len(axes) == 0 || e.c.Has(1) && len(e.c.Ints(1)) == 0 {
		return e.in(0)
	}
	all := func(x int) string { return e.vector(slices.Repeat([]int{x}, len(axes))...) }
	return e.do("Slice", []string{e.in(0), all(-1), all(math.MinInt64), e.vector(axes...), all(-1)})
}

// reversedRows writes ReverseSequence, whose axes are the first two.
func reversedRows(e *node) string {
	n := e.ofRank(0)
	along, batch := (e.c.Int(2)+n)%n, (e.c.Int(3)+n)%n
	perm := []int{batch, along}
	for i := range n {
		if i != along && i != batch {
			perm = append(perm, i)
		}
	}
	back := make([]int, n)
	for i, p := range perm {
		back[p] = i
	}
	out := e.do("ReverseSequence", []string{e.transpose(e.in(0), perm), e.int64s(1)}, withInt("batch_axis", 0), withInt("time_axis", 1))
	return e.transpose(out, back)
}

func roll(c *op.Call) T {
	x, by := c.Tensor(0), ops.Cast(c.Tensor(1), dtype.Int64)
	axes := c.Ints(2)
	if len(axes) == 0 {
		return ops.Identity(x)
	}
	for i, a := range axes {
		a = (a + rank(x)) % rank(x)
		shift := by
		if rank(by) > 0 {
			shift = ops.Index(by, i)
		}
		n := ops.Cast(size(x, a), dtype.Int64)
		at := ops.Mod(ops.Sub(ops.Range(int64(0), n, int64(1)), shift), ops.Maximum(n, int64(1)))
		x = ops.Gather(x, at, a)
	}
	return x
}

func shift(c *op.Call) T {
	x, by := c.Tensor(0), c.Int(1)
	n := rank(x)
	a := (c.Int(2) + n) % n
	margins := make([][]int, n)
	keys := slices.Repeat([]any{key.All}, n)
	for i := range margins {
		margins[i] = []int{0, 0}
	}
	if by >= 0 {
		margins[a], keys[a] = []int{by, 0}, key.To(size(x, a))
	} else {
		margins[a], keys[a] = []int{0, -by}, key.From(-by)
	}
	return ops.Index(ops.Pad(x, margins, ops.PadOptions{}), keys...)
}

// bound1 returns a bound of a key as a vector of one element.
func (e *node) bound1(b any, otherwise int) string {
	switch b := b.(type) {
	case nil:
		return e.vector(otherwise)
	case int:
		return e.vector(b)
	case tenon.Value:
		if list, ok := op.Known(b); ok {
			n, _ := op.Ints(list)
			return e.vector(n[0])
		}
		name := e.name(b)
		if b.(T).DType() != dtype.Int64 {
			name = e.cast(name, dtype.Int64)
		}
		return e.do("Reshape", []string{name, e.vector(1)})
	}
	refuse(tenon.ErrUnsupported, "a bound is a %T", b)
	return ""
}

// indexed writes the keys of an index: ranges as Slice, positions as Gather, and new axes.
func indexed(e *node) string {
	ks, err := key.Of(e.c, 1)
	tenon.Throw(err)
	keys, err := key.Expand(ks, e.ofRank(0))
	tenon.Throw(err)
	var from, to, axes, steps []string
	var added []int
	x := e.in(0)
	axis, at := 0, 0
	for _, k := range keys {
		switch k.Kind {
		case key.NewAxisKind:
			added = append(added, at)
			at++
			continue
		case key.RangeKind:
			at++
			if !k.IsAll() {
				step, end, first := 1, math.MaxInt64, 0
				if n, ok := k.Step.(int); ok {
					step = n
				} else if k.Step != nil {
					n, ok := op.Known(k.Step)
					if !ok {
						refuse(tenon.ErrUnsupported, "a step must be known")
					}
					list, _ := op.Ints(n)
					step = list[0]
				}
				if step < 0 {
					first, end = math.MaxInt64, math.MinInt64
				}
				from, to = append(from, e.bound1(k.Start, first)), append(to, e.bound1(k.Stop, end))
				axes, steps = append(axes, e.vector(axis)), append(steps, e.vector(step))
			}
		}
		axis++
	}
	if len(axes) > 0 {
		x = e.do("Slice", []string{x, e.joined(from), e.joined(to), e.joined(axes), e.joined(steps)})
	}
	axis = 0
	removed := 0
	for _, k := range keys {
		if k.Kind == key.NewAxisKind {
			continue
		}
		if k.Kind == key.AtKind {
			x = e.do("Gather", []string{x, e.do("Reshape", []string{e.bound1(k.Start, 0), e.vector()})}, withInt("axis", axis-removed))
			removed++
		}
		axis++
	}
	if len(added) > 0 {
		x = e.do("Unsqueeze", []string{x, e.vector(added...)})
	}
	return x
}

// joined concatenates vectors.
func (e *node) joined(parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	return e.do("Concat", parts, withInt("axis", 0))
}

// indexUpdate writes y to the elements that the keys select, by their indices among all
// elements.
func indexUpdate(c *op.Call) T {
	x, y := c.Tensor(0), c.Tensor(1)
	ks, err := key.Of(c, 2)
	tenon.Throw(err)
	var list []any
	for _, k := range ks {
		list = append(list, k)
	}
	n := ops.Prod(sizesOf(x))
	at := ops.Index(ops.Reshape(ops.Range(int64(0), n, int64(1)), sizesOf(x)), list...)
	y = ops.BroadcastTo(y, sizesOf(at))
	flat := ops.TensorScatterUpdate(ops.Reshape(x, []int{-1}), ops.Reshape(at, []int{-1, 1}), ops.Reshape(y, []int{-1}))
	return ops.Reshape(flat, sizesOf(x))
}

func sliced(e *node) string {
	begin, length := e.int64s(1), e.int64s(2)
	end := e.do("Add", []string{begin, length})
	if list, ok := e.c.ConstInts(2); !ok || slices.Contains(list, -1) {
		rest := e.do("Less", []string{length, e.vector(0)})
		end = e.do("Where", []string{rest, e.do("Shape", []string{e.in(0)}), end})
	}
	if e.ofRank(0) == 0 {
		return e.in(0)
	}
	return e.do("Slice", []string{e.in(0), begin, end})
}

func padded(e *node) string {
	margins := e.int64s(1)
	if list, ok := e.c.ConstInts(1); ok {
		var lo, hi []int
		for i := 0; i < len(list); i += 2 {
			lo, hi = append(lo, list[i]), append(hi, list[i+1])
		}
		margins = e.vector(append(lo, hi...)...)
	} else {
		margins = e.do("Reshape", []string{e.transpose(margins, []int{1, 0}), e.vector(-1)})
	}
	in := []string{e.in(0), margins}
	if e.c.Has(2) {
		in = append(in, e.in(2))
	}
	if e.ofRank(0) == 0 {
		return e.in(0)
	}
	if e.dtypeOf().IsString() {
		refuse(tenon.ErrUnsupported, "ONNX's Pad does not support strings")
	}
	return e.do("Pad", in, withText("mode", "constant"))
}

// mirrorPad gathers the elements of the margins by their positions.
func mirrorPad(c *op.Call) T {
	x, margins := c.Tensor(0), ops.Cast(c.Tensor(1), dtype.Int64)
	edge := int64(1) // whether the edge is repeated
	if c.Str(2) == string(ops.PadReflect) {
		edge = 0
	}
	for a := range rank(x) {
		n := ops.Cast(size(x, a), dtype.Int64)
		before, after := ops.Index(margins, a, 0), ops.Index(margins, a, 1)
		i := ops.Range(ops.Neg(before), ops.Add(n, after), int64(1))
		period := ops.Maximum(ops.Mul(ops.Sub(n, 1-edge), int64(2)), int64(1))
		i = ops.Mod(i, period)
		i = ops.Where(ops.Less(i, n), i, ops.Sub(ops.Sub(period, edge), i))
		x = ops.Gather(x, i, a)
	}
	return ops.Identity(x)
}

func gathered(e *node) string {
	if e.c.Int(3) != 0 {
		return ""
	}
	at := e.in(1)
	if d := e.t(1).DType(); d != dtype.Int32 && d != dtype.Int64 {
		at = e.int64s(1)
	}
	return e.do("Gather", []string{e.in(0), at}, withInt("axis", e.c.Int(2)))
}

// gatherBatched numbers the slices of all batches consecutively.
func gatherBatched(c *op.Call) T {
	x, at := c.Tensor(0), ops.Cast(c.Tensor(1), dtype.Int64)
	axis, batch := c.Int(2), c.Int(3)
	if batch < 0 {
		batch += rank(at)
	}
	axis = (axis + rank(x)) % rank(x)
	moved := ops.MoveAxis(x, axis, batch) // [batch..., n, before, after]
	lead := ops.Index(sizesOf(x), key.To(batch))
	n := ops.Cast(size(x, axis), dtype.Int64)
	flat := ops.Reshape(moved, ops.Concat([]any{vector([]int{-1}), ops.Index(sizesOf(moved), key.From(batch+1))}, 0))
	rows := ops.Mul(ops.Range(int64(0), ops.Prod(lead, 0), int64(1)), n)
	rows = ops.Reshape(rows, ops.Concat([]any{lead, vector(ones(rank(at) - batch))}, 0))
	out := ops.Gather(flat, ops.Add(at, rows), 0) // [batch..., indices..., before, after]
	// Back to [batch..., before, indices..., after].
	perm := upTo(batch)
	inner, before := rank(at)-batch, axis-batch
	for i := range before {
		perm = append(perm, batch+inner+i)
	}
	for i := range inner {
		perm = append(perm, batch+i)
	}
	for i := batch + inner + before; i < rank(out); i++ {
		perm = append(perm, i)
	}
	return ops.Transpose(out, perm...)
}

func putAlong(e *node) string {
	how := "none"
	if e.c.Bool(4) {
		how = "add"
	}
	return e.do("ScatterElements", []string{e.in(0), e.int64s(1), e.in(2)}, withInt("axis", e.c.Int(3)), withText("reduction", how))
}

func scattered(how string) func(e *node) string {
	return func(e *node) string {
		return e.do("ScatterND", []string{e.in(0), e.int64s(1), e.in(2)}, withText("reduction", how))
	}
}

func scatterZeros(c *op.Call) T {
	return ops.TensorScatterAdd(ops.Fill(c.Tensor(2), zeroOf(c.Tensor(1))), c.Tensor(0), c.Tensor(1))
}

// booleanMask selects the places where the mask is true, along the axes of the mask.
func booleanMask(c *op.Call) T {
	x, mask, axis := c.Tensor(0), c.Tensor(1), c.Int(2)
	axis = (axis + rank(x)) % rank(x)
	if n := rank(mask); n != 1 {
		s := sizesOf(x)
		x = ops.Reshape(x, ops.Concat([]any{ops.Index(s, key.To(axis)), vector([]int{-1}), ops.Index(s, key.From(axis+n))}, 0))
		mask = ops.Reshape(mask, []int{-1})
	}
	return ops.Gather(x, ops.Reshape(ops.Nonzero(mask), []int{-1}), axis)
}

// nonzeroOf writes tuples of positions; for a scalar, tuples of length 0.
func nonzeroOf(e *node) string {
	if e.ofRank(0) > 0 {
		return e.transpose(e.do("NonZero", e.ins()), []int{1, 0})
	}
	at := e.do("NonZero", []string{e.do("Reshape", []string{e.in(0), e.vector(1)})})
	return e.do("Slice", []string{e.transpose(at, []int{1, 0}), e.vector(0), e.vector(0), e.vector(1)})
}

func oneHotOf(c *op.Call) T {
	at, depth, axis := c.Tensor(0), ops.Cast(c.Tensor(1), dtype.Int64), c.Int(4)
	if axis < 0 {
		axis += rank(at) + 1
	}
	s := ones(rank(at) + 1)
	s[axis] = -1
	classes := ops.Reshape(ops.Range(int64(0), depth, int64(1)), s)
	return ops.Where(ops.Equal(ops.ExpandDims(ops.Cast(at, dtype.Int64), axis), classes), c.Tensor(2), c.Tensor(3))
}

func sequenceMask(c *op.Call) T {
	lengths := ops.Cast(c.Tensor(0), dtype.Int64)
	var n T
	if c.Has(1) {
		n = ops.Cast(c.Tensor(1), dtype.Int64)
	} else {
		n = ops.Maximum(ops.Max(lengths), int64(0))
	}
	return ops.Less(ops.Range(int64(0), n, int64(1)), ops.ExpandDims(lengths, -1))
}

// bincount adds ones, or weights, at the indices.
func bincount(c *op.Call) T {
	x := ops.Reshape(ops.Cast(c.Tensor(0), dtype.Int64), []int{-1})
	weights := ops.Fill(sizesOf(x), int64(1))
	if c.Has(1) {
		weights = ops.Reshape(c.Tensor(1), []int{-1})
	}
	// The result for no indices is empty.
	n := ops.Add(ops.Max(ops.Concat([]any{x, vector([]int{-1})}, 0), 0), int64(1))
	if c.Has(2) {
		n = ops.Maximum(n, ops.Cast(c.Tensor(2), dtype.Int64))
	}
	if c.Has(3) {
		n = ops.Minimum(n, ops.Cast(c.Tensor(3), dtype.Int64))
	}
	x = ops.Where(ops.Less(x, n), x, int64(-1))
	return ops.SegmentSum(weights, x, n)
}
