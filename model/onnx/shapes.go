package onnx

import (
	"math"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// sizesOf returns the sizes of a tensor as a vector, with elements where all are known.
func sizesOf(x T) T {
	if x.Shape().IsFull() {
		return vector(x.Shape().Dims())
	}
	return ops.Shape(x)
}

func shapeOf(c *call) []any {
	x := c.x(0)
	n := rank(x)
	clamp := func(k int) int {
		if k < 0 {
			k += n
		}
		return min(max(k, 0), n)
	}
	from, to := clamp(c.int("start", 0)), clamp(c.int("end", n))
	if part := x.Shape().Slice(from, max(from, to)); part.IsFull() {
		return one(vector(part.Dims()))
	}
	return one(ops.Index(ops.Shape(x), key.Range(from, max(from, to), nil)))
}

func sizeOf(c *call) []any {
	if s := c.x(0).Shape(); s.IsFull() {
		return one(tensor.Scalar(int64(s.Size())))
	}
	return one(ops.Size(c.x(0)))
}

// reshape takes 0 for the size that x has, unless the model says otherwise.
func reshape(c *call) []any {
	x := c.x(0)
	if c.has(1) && !c.isKnown(1) {
		return one(ops.Reshape(x, c.x(1)))
	}
	want := c.intsAt(1, "shape")
	if !c.flag("allowzero") {
		want = slices.Clone(want)
		for i, n := range want {
			if n == 0 {
				if i >= rank(x) {
					refuse(tenon.ErrShape, "size %d of %v is that of an axis that %s has not", i, want, tenon.String(x.Spec()))
				}
				if want[i] = x.Shape().Dim(i); want[i] < 0 {
					return one(ops.Reshape(x, ops.Where(ops.Equal(vector(c.intsAt(1, "shape")), int64(0)), resized(ops.Shape(x), len(want)), vector(c.intsAt(1, "shape")))))
				}
			}
		}
	}
	return one(ops.Reshape(x, want))
}

// resized returns the first n elements of a vector, with zeros behind them.
func resized(v T, n int) T {
	have := v.Shape().Dim(0)
	if have >= n {
		return ops.Index(v, key.To(n))
	}
	return ops.Pad(v, [][]int{{0, n - have}}, ops.PadOptions{})
}

func flatten(c *call) []any {
	x := c.x(0)
	k := axis(c.int("axis", 1), rank(x))
	if tail := x.Shape().Slice(k, rank(x)); tail.IsFull() && tail.Size() > 0 {
		return one(ops.Reshape(x, []int{-1, tail.Size()}))
	}
	if head := x.Shape().Slice(0, k); head.IsFull() && head.Size() > 0 {
		return one(ops.Reshape(x, []int{head.Size(), -1}))
	}
	return one(flattened(x, k))
}

func squeeze(c *call) []any {
	axes := c.intsAt(1, "axes")
	if axes == nil {
		for i, n := range dims(c.x(0)) {
			if n == 1 {
				axes = append(axes, i)
			}
		}
	}
	if len(axes) == 0 {
		return one(c.x(0))
	}
	return one(ops.Squeeze(c.x(0), axes...))
}

func unsqueeze(c *call) []any {
	if axes := c.intsAt(1, "axes"); len(axes) > 0 {
		return one(ops.ExpandDims(c.x(0), axes...))
	}
	return one(c.x(0))
}

func transpose(c *call) []any {
	return one(ops.Transpose(c.x(0), c.ints("perm")...))
}

// expand broadcasts x and a shape with one another.
func expand(x, sizes T) T {
	if want, ok := constInts(sizes); ok && x.Shape().IsFull() {
		s, err := shape.Broadcast(x.Shape(), shape.Of(want...))
		tenon.Throw(err)
		return ops.BroadcastTo(x, s.Dims())
	}
	return ops.Where(ops.Ones(dtype.Bool, sizes), x, x)
}

func tile(c *call) []any { return one(ops.Tile(c.x(0), c.known(1))) }

func concat(c *call) []any { return one(ops.Concat(c.xs(), c.int("axis", 1))) }

func split(c *call) []any {
	x, k := c.x(0), c.int("axis", 0)
	parts := c.intsAt(1, "split")
	if parts == nil {
		parts = evenly(dims(x)[axis(k, rank(x))], c.int("num_outputs", len(c.n.outputs)))
	}
	return anys(ops.Split(x, parts, k))
}

// evenly cuts n into parts, of which the last ones may be smaller.
func evenly(n, parts int) []int {
	if parts <= 0 {
		refuse(tenon.ErrInvalid, "%d parts", parts)
	}
	each := (n + parts - 1) / parts
	out := make([]int, parts)
	for i := range out {
		out[i] = max(0, min(each, n-i*each))
	}
	return out
}

func anys(list []T) []any {
	out := make([]any, len(list))
	for i, x := range list {
		out[i] = x
	}
	return out
}

// slice takes ranges along axes. Their bounds were attributes before version 10.
func slice(c *call) []any {
	x := c.x(0)
	n := rank(x)
	keys := make([]any, n)
	for i := range keys {
		keys[i] = key.All
	}
	axes := c.intsAt(3, "axes")
	count := 0
	if c.has(1) {
		count = c.x(1).Shape().Dim(0)
	} else {
		count = len(c.ints("starts"))
	}
	if axes == nil {
		axes = upTo(count)
	}
	if len(axes) != count {
		refuse(tenon.ErrInvalid, "%d axes for %d ranges", len(axes), count)
	}
	var steps []int
	if c.has(4) {
		steps = c.known(4)
	}
	for i, a := range axes {
		step := 1
		if i < len(steps) {
			step = steps[i]
		}
		from, to := c.bound(1, "starts", i), c.bound(2, "ends", i)
		if e, ok := from.(int); ok {
			// As in Python, a first position beyond an end is moved to it.
			if d := x.Shape().Dim(axis(a, n)); d >= 0 && step < 0 && e >= d {
				from = nil
			}
		}
		if e, ok := to.(int); ok && step < 0 {
			if d := x.Shape().Dim(axis(a, n)); e < math.MinInt32 || d >= 0 && e < -d {
				to = nil
			}
		}
		keys[axis(a, n)] = key.Range(from, to, step)
	}
	return one(ops.Index(x, keys...))
}

// bound returns bound i of a range: an integer where it is known, else a scalar tensor.
func (c *call) bound(input int, name string, i int) any {
	if c.has(input) && !c.isKnown(input) {
		return ops.Index(c.x(input), i)
	}
	list := c.intsAt(input, name)
	if i >= len(list) {
		refuse(tenon.ErrInvalid, "%s has %d elements", name, len(list))
	}
	return list[i]
}

// pad adds margins; negative ones cut off.
func pad(c *call) []any {
	x := c.x(0)
	n := rank(x)
	margins := c.intsAt(1, "pads")
	axes := upTo(n)
	if c.has(3) {
		axes = c.known(3)
	}
	if len(margins) != 2*len(axes) {
		refuse(tenon.ErrInvalid, "%d margins for %d axes", len(margins), len(axes))
	}
	all := make([][]int, n)
	keys := make([]any, n)
	for i := range all {
		all[i], keys[i] = []int{0, 0}, key.All
	}
	for i, a := range axes {
		lo, hi := margins[i], margins[i+len(axes)]
		from, to := any(nil), any(nil)
		if lo < 0 {
			from, lo = -lo, 0
		}
		if hi < 0 {
			to, hi = hi, 0
		}
		keys[axis(a, n)] = key.Range(from, to, nil)
		all[axis(a, n)] = []int{lo, hi}
	}
	x = ops.Index(x, keys...)
	mode := c.text("mode", "constant")
	if mode == "constant" {
		var value any
		switch {
		case c.has(2):
			value = ops.Reshape(c.x(2), []int{})
		case c.attr("value") != nil:
			value = like(c.float("value", 0), x)
		}
		return one(ops.Pad(x, all, ops.PadOptions{Value: value}))
	}
	// Positions are padded by themselves, as often as the margins are larger than x.
	for a, m := range all {
		if m[0] == 0 && m[1] == 0 {
			continue
		}
		x = ops.Gather(x, vector(around(dims(x)[a], m[0], m[1], mode)), a)
	}
	return one(x)
}

// around returns the positions of n elements with margins.
func around(n, before, after int, mode string) []int {
	if n == 0 || before+after > 1<<30 {
		refuse(tenon.ErrInvalid, "margins of %d and %d around %d elements", before, after, n)
	}
	out := make([]int, 0, n+before+after)
	for i := -before; i < n+after; i++ {
		k := i
		switch mode {
		case "edge":
			k = min(max(i, 0), n-1)
		case "wrap":
			k = ((i % n) + n) % n
		case "reflect":
			if n == 1 {
				k = 0
				break
			}
			period := 2 * (n - 1)
			if k = ((i % period) + period) % period; k >= n {
				k = period - k
			}
		default:
			refuse(tenon.ErrUnsupported, "margins of mode %q", mode)
		}
		out = append(out, k)
	}
	return out
}

// forward counts negative positions along an axis from its end.
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

// corner cuts x to the sizes of at along all axes but one.
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

// tuples counts negative positions in tuples from the ends of their axes.
func tuples(at, x T, batch int) T {
	n := vector(dims(x)[batch : batch+at.Shape().Dim(rank(at)-1)])
	return ops.Where(ops.Less(at, like(0, at)), ops.Add(at, ops.Cast(n, at.DType())), at)
}

func gatherND(c *call) []any {
	batch := c.int("batch_dims", 0)
	return one(ops.GatherND(c.x(0), tuples(c.x(1), c.x(0), batch), batch))
}

// combine puts updates, of which several may belong to one place, into x by a reduction.
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
		// What no update belongs to takes part as itself.
		at = ops.Concat([]any{at, ops.Range(int64(0), int64(n), int64(1))}, 0)
		up = ops.Concat([]any{up, base}, 0)
		if segment = ops.SegmentMax; how == "min" {
			segment = ops.SegmentMin
		}
		return ops.Reshape(segment(up, at, n), dims(x))
	default:
		refuse(tenon.ErrUnsupported, "updates by %q", how)
	}
	return ops.Reshape(join(base, segment(up, at, n)), dims(x))
}

func scatterElements(c *call) []any {
	x, at, up := c.x(0), c.x(1), c.x(2)
	k := axis(c.int("axis", 0), rank(x))
	at = ops.Cast(forward(at, x, k), dtype.Int64)
	// The place of each update among all elements.
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

func compress(c *call) []any {
	x, mask := c.x(0), c.x(1)
	k := 0
	if a := c.attr("axis"); a != nil {
		k = axis(int(a.i), rank(x))
	} else {
		x = ops.Reshape(x, []int{-1})
	}
	// Positions behind the end of the mask are left out.
	return one(ops.Gather(x, ops.Reshape(ops.Nonzero(mask), []int{-1}), k))
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

// unique gives distinct elements, or slices along an axis, in order unless the model says
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
		// Each slice gets the number of its first equal.
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

// sortedSlices returns the order of slices along an axis, by their first elements, then
// their second ones and so on.
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

func trilu(c *call) []any {
	k := int(c.scalar(1, 0))
	x := c.x(0)
	band := int(math.MaxInt32)
	k = min(max(k, -band), band)
	if c.int("upper", 1) != 0 {
		return one(ops.Triu(x, k))
	}
	return one(ops.Tril(x, k))
}

func eyeLike(c *call) []any {
	x := c.x(0)
	d := dims(x)
	if len(d) != 2 {
		refuse(tenon.ErrShape, "a matrix is wanted, got %s", tenon.String(x.Spec()))
	}
	k := c.int("k", 0)
	i := ops.Reshape(ops.Range(int64(0), int64(d[0]), int64(1)), []int{-1, 1})
	j := ops.Range(int64(0), int64(d[1]), int64(1))
	return one(ops.Cast(ops.Equal(ops.Add(i, int64(k)), j), c.dtype("dtype", x.DType())))
}

func ranges(c *call) []any {
	scalar := func(i int) T { return ops.Reshape(c.x(i), []int{}) }
	return one(ops.Range(scalar(0), scalar(1), scalar(2)))
}

func constant(c *call) []any {
	for name, a := range c.n.attrs {
		a = c.attr(name)
		if a == nil {
			refuse(tenon.ErrInvalid, "the attribute %s is missing", name)
		}
		switch name {
		case "value":
			return one(tensorOf(a.t))
		case "sparse_value":
			t, err := a.sparse.value(nil)
			if err != nil {
				refuse(tenon.ErrInvalid, "%v", err)
			}
			return one(t)
		case "value_int":
			return one(tensor.Scalar(a.i))
		case "value_ints":
			return one(tensor.Of(a.ints, len(a.ints)))
		case "value_float":
			return one(tensor.Scalar(a.f))
		case "value_floats":
			return one(tensor.Of(a.floats, len(a.floats)))
		case "value_string":
			return one(tensor.Scalar(string(a.s)))
		case "value_strings":
			return one(tensor.Of(textsOf(a), len(a.texts)))
		}
	}
	refuse(tenon.ErrInvalid, "it has no value")
	return nil
}

func textsOf(a *protoAttr) []string {
	out := make([]string, len(a.texts))
	for i, s := range a.texts {
		out[i] = string(s)
	}
	return out
}

func tensorOf(p *protoTensor) T {
	if p == nil {
		refuse(tenon.ErrInvalid, "a tensor is missing")
	}
	t, err := p.value(nil)
	if err != nil {
		refuse(tenon.ErrInvalid, "%v", err)
	}
	return t
}

func constantOfShape(c *call) []any {
	value := T(tensor.Scalar(float32(0)))
	if a := c.attr("value"); a != nil {
		value = ops.Reshape(tensorOf(a.t), []int{})
	}
	if c.isKnown(0) {
		return one(ops.Fill(c.known(0), value))
	}
	return one(ops.Fill(c.x(0), value))
}

func depthToSpace(c *call) []any {
	x, b := c.x(0), c.int("blocksize", 1)
	d := dims(x)
	n, deep, h, w := d[0], d[1]/(b*b), d[2], d[3]
	if c.text("mode", "DCR") == "CRD" {
		x = ops.Transpose(ops.Reshape(x, []int{n, deep, b, b, h, w}), 0, 1, 4, 2, 5, 3)
	} else {
		x = ops.Transpose(ops.Reshape(x, []int{n, b, b, deep, h, w}), 0, 3, 4, 1, 5, 2)
	}
	return one(ops.Reshape(x, []int{n, deep, h * b, w * b}))
}

func spaceToDepth(c *call) []any {
	x, b := c.x(0), c.int("blocksize", 1)
	d := dims(x)
	n, deep, h, w := d[0], d[1], d[2]/b, d[3]/b
	x = ops.Transpose(ops.Reshape(x, []int{n, deep, h, b, w, b}), 0, 3, 5, 1, 2, 4)
	return one(ops.Reshape(x, []int{n, deep * b * b, h, w}))
}

func reverseSequence(c *call) []any {
	return one(ops.ReverseSequence(c.x(0), c.x(1), c.int("time_axis", 0), c.int("batch_axis", 1)))
}

func centerCropPad(c *call) []any {
	x := c.x(0)
	n := rank(x)
	axes := c.ints("axes")
	if axes == nil {
		axes = upTo(n)
	}
	for i, want := range c.known(1) {
		a := axis(axes[i], n)
		have := dims(x)[a]
		keys, margins := make([]any, n), make([][]int, n)
		for k := range keys {
			keys[k], margins[k] = key.All, []int{0, 0}
		}
		if want < have {
			from := (have - want) / 2
			keys[a] = key.Range(from, from+want, nil)
		} else {
			before := (want - have) / 2
			margins[a] = []int{before, want - have - before}
		}
		x = ops.Pad(ops.Index(x, keys...), margins, ops.PadOptions{})
	}
	return one(x)
}

// tensorScatter writes updates into a cache from positions on, around its end in circular
// mode.
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

// constInts returns the elements of a vector where they are known.
func constInts(t T) ([]int, bool) {
	c := &call{in: []any{t}, given: []bool{true}, n: &protoNode{inputs: []string{"shape"}}}
	if !c.isKnown(0) {
		return nil, false
	}
	return c.known(0), true
}
