package onnx

import (
	"math"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
)

// slide returns the attributes of windows whose settings start at argument i.
func (e *node) slide(i int, size []int) (attrs []attr, o ops.WindowOptions) {
	list := func(k, otherwise int) []int {
		if e.c.Has(i + k) {
			return e.c.Ints(i + k)
		}
		return slices.Repeat([]int{otherwise}, len(size))
	}
	o = ops.WindowOptions{Size: size, Stride: list(0, 1), Dilation: list(1, 1), Before: list(2, 0), After: list(3, 0), Same: e.c.Bool(i + 4)}
	attrs = []attr{withInts("kernel_shape", size), withInts("strides", o.Stride), withInts("dilations", o.Dilation)}
	if o.Same {
		return append(attrs, withText("auto_pad", "SAME_UPPER")), o
	}
	return append(attrs, withInts("pads", slices.Concat(o.Before, o.After))), o
}

// channelsFirst and channelsLast are the orders of axes of n positions.
func channelsFirst(n int) []int { return slices.Concat([]int{0, n + 1}, upTo(n + 1)[1:]) }

func channelsLast(n int) []int {
	perm := []int{0}
	for i := range n {
		perm = append(perm, 2+i)
	}
	return append(perm, 1)
}

// oneFront merges the axes before n positions and the features into one, and returns a function
// that restores them in a result.
func (e *node) oneFront(x string, t T, n int) (string, func(y string) string) {
	lead := rank(t) - n - 1
	switch lead {
	case 1:
		return x, func(y string) string { return y }
	case 0:
		return e.do("Unsqueeze", []string{x, e.vector(0)}), func(y string) string { return e.do("Squeeze", []string{y, e.vector(0)}) }
	}
	sizes := e.do("Shape", []string{x})
	part := func(of string, from, to int) string {
		return e.do("Slice", []string{of, e.vector(from), e.vector(to)})
	}
	one := e.do("Reshape", []string{x, e.joined([]string{e.vector(-1), part(sizes, lead, math.MaxInt64)})}, withInt("allowzero", 1))
	return one, func(y string) string {
		rest := part(e.do("Shape", []string{y}), 1, math.MaxInt64)
		return e.do("Reshape", []string{y, e.joined([]string{part(sizes, 0, lead), rest})}, withInt("allowzero", 1))
	}
}

// kernelOf returns the sizes of a kernel, and its name with features first.
func (e *node) kernelOf() (size []int, name string) {
	n := e.ofRank(1) - 2
	size = dims(e.t(1))[:n]
	return size, e.transpose(e.in(1), slices.Concat([]int{n + 1, n}, upTo(n)))
}

func convolved(e *node) string {
	size, w := e.kernelOf()
	n := len(size)
	attrs, _ := e.slide(3, size)
	x, back := e.oneFront(e.in(0), e.t(0), n)
	y := e.typed("Conv", classic, []string{e.transpose(x, channelsFirst(n)), w}, append(attrs, withInt("group", e.c.Int(2)))...)
	return back(e.transpose(y, channelsLast(n)))
}

// convolvedBack writes a transposed convolution. The sizes determine how much is cropped at the ends,
// or added after them.
func convolvedBack(e *node) string {
	size, w := e.kernelOf()
	n := len(size)
	_, o := e.slide(4, size)
	result := e.Outs[0].Shape()
	want := result.Dims()[result.Rank()-1-n : result.Rank()-1]
	if o.Same {
		if slices.Min(want) < 0 {
			refuse(tenon.ErrUnsupported, "the sizes must be known")
		}
		for i, m := range want {
			reach := (size[i]-1)*o.Dilation[i] + 1
			o.Before[i] = max(0, ((m+o.Stride[i]-1)/o.Stride[i]-1)*o.Stride[i]+reach-m) / 2
		}
	}
	x, back := e.oneFront(e.in(0), e.t(0), n)
	y := e.typed("ConvTranspose", classic, []string{e.transpose(x, channelsFirst(n)), w}, withInts("kernel_shape", size),
		withInts("strides", o.Stride), withInts("dilations", o.Dilation), withInt("group", e.c.Int(3)))
	sizes := e.int64s(2)
	if slices.Min(want) >= 0 {
		sizes = e.vector(want...)
	}
	before := e.vector(o.Before...)
	end := e.do("Add", []string{sizes, before})
	have := e.do("Slice", []string{e.do("Shape", []string{y}), e.vector(2), e.vector(math.MaxInt64)})
	more := e.do("Max", []string{e.do("Sub", []string{end, have}), e.vector(0)})
	y = e.do("Pad", []string{y, e.joined([]string{e.vector(make([]int, n+4)...), more})})
	y = e.do("Slice", []string{y, before, end, e.vector(upTo(n + 2)[2:]...)})
	return back(e.transpose(y, channelsLast(n)))
}

// pool writes a reduction of windows as a pooling operation, if it is one.
func (e *node) pool(operation string, types typeSet, fill float64, attrs ...attr) (name string, elements int) {
	v, ok := e.c.Value(0).(*graph.Value)
	if !ok || e.c.Bool(2) || !types(e.dtypeOf()) {
		return "", 0
	}
	merged := v.Node() != nil && v.Node().Op.Name == "reshape"
	from := v
	if merged {
		if from, ok = v.Node().Args[0].(*graph.Value); !ok {
			return "", 0
		}
	}
	n := from.Node()
	if n == nil || n.Op.Name != "windows" {
		return "", 0
	}
	c, err := op.NewCall(n.Op, n.Args...)
	if err != nil || !from.Shape().HasRank() {
		return "", 0
	}
	w := &node{section: e.section, Node: n, c: c}
	size, k := c.Ints(2), len(c.Ints(2))
	settings, o := w.slide(3, size)
	margins := o.Same || slices.Max(slices.Concat(o.Before, o.After)) > 0
	if c.Int(1) != 1 || w.ofRank(0) != k+2 || margins && c.Float(8) != fill {
		return "", 0
	}
	elements = 1
	for _, s := range size {
		elements *= s
	}
	axes, _ := axesOf(e.c)
	over := upTo(1 + 2*k)[1+k:]
	if merged {
		over = []int{1 + k}
		sizes, last := v.Graph().Sizes(), 2+2*k-1
		if !v.Shape().HasRank() || v.Shape().Rank() != 3+k || !sizes.Same(v, 2+k, from, last) {
			return "", 0
		}
		for i := range 1 + k { // the remaining axes are those of the elements
			if !sizes.Same(v, i, from, i) {
				return "", 0
			}
		}
	}
	if !slices.Equal(axes, over) {
		return "", 0
	}
	y := e.do(operation, []string{e.transpose(w.in(0), channelsFirst(k))}, append(settings, attrs...)...)
	return e.transpose(y, channelsLast(k)), elements
}

func maxPooled(e *node) string {
	if name, _ := e.pool("MaxPool", classic, math.Inf(-1)); name != "" {
		return name
	}
	return e.reduce("ReduceMax", reals)
}

// meanPooled and sumPooled count the elements beyond the ends as 0.
func meanPooled(e *node) string {
	if name, _ := e.pool("AveragePool", classic, 0, withFlag("count_include_pad", true)); name != "" {
		return name
	}
	if !e.dtypeOf().IsFloat() {
		return ""
	}
	return e.reduce("ReduceMean", floating)
}

func sumPooled(e *node) string {
	if name, n := e.pool("AveragePool", classic, 0, withFlag("count_include_pad", true)); name != "" {
		return e.do("Mul", []string{name, e.w.constant(ops.Cast(float64(n), e.dtypeOf()))})
	}
	return e.reduce("ReduceSum", products)
}

// maxWindows is written as a pooling operation where that is possible.
func maxWindows(c *op.Call) T {
	x, n := c.Tensor(0), len(c.Ints(2))
	axis := (c.Int(1) + rank(x)) % rank(x)
	over := make([]int, n)
	for i := range over {
		over[i] = axis + n + i
	}
	o := ops.WindowOptions{Size: c.Ints(2), Stride: c.Ints(3), Dilation: c.Ints(4), Before: c.Ints(5), After: c.Ints(6), Same: c.Bool(7), Fill: lowest(x.DType())}
	return ops.Max(ops.Windows(x, axis, o), over...)
}

// windowsOf gathers the elements of windows by position.
func windowsOf(c *op.Call) T {
	x, axis, size := c.Tensor(0), c.Int(1), c.Ints(2)
	n, k := rank(x), len(c.Ints(2))
	axis = (axis + n) % n
	before, at := windowPlaces(c, size, 3, func(i int) any { return size1(x, axis+i) })
	margins := slices.Repeat([]any{[]any{int64(0), int64(0)}}, n)
	for i := range k {
		margins[axis+i] = []any{before[i][0], before[i][1]}
	}
	if x.DType() != dtype.Bool {
		x = ops.Pad(x, stacked(margins), ops.PadOptions{Value: like(c.Float(8), x)})
	} else {
		x = ops.Cast(ops.Pad(ops.Cast(x, dtype.Int32), stacked(margins), ops.PadOptions{Value: ops.Cast(c.Float(8) != 0, dtype.Int32)}), dtype.Bool)
	}
	for i := range k {
		x = ops.Gather(x, at[i], axis+2*i)
	}
	perm := upTo(axis)
	for i := range k {
		perm = append(perm, axis+2*i)
	}
	for i := range k {
		perm = append(perm, axis+2*i+1)
	}
	for i := axis + 2*k; i < rank(x); i++ {
		perm = append(perm, i)
	}
	return ops.Transpose(x, perm...)
}

// size1 returns a size as a scalar of 64 bits.
func size1(t T, axis int) T { return ops.Cast(size(t, axis), dtype.Int64) }

// stacked makes a tensor of margins.
func stacked(margins []any) T {
	var rows []any
	for _, m := range margins {
		rows = append(rows, ops.Stack(m.([]any), 0))
	}
	return ops.Stack(rows, 0)
}

// windowPlaces returns, for each axis of windows, the margins around the positions, and the
// indices of the elements of windows among the positions and margins.
func windowPlaces(c *op.Call, size []int, i int, positions func(i int) any) (margins [][2]any, places []T) {
	setting := func(k, axis, otherwise int) int64 {
		if c.Has(i + k) {
			return int64(c.Ints(i + k)[axis])
		}
		return int64(otherwise)
	}
	for a, elements := range size {
		n := ops.Cast(positions(a), dtype.Int64)
		stride, dilation := setting(0, a, 1), setting(1, a, 1)
		reach := int64(elements-1)*dilation + 1
		before, after := any(setting(2, a, 0)), any(setting(3, a, 0))
		var windows T
		if c.Bool(i + 4) {
			windows = ops.FloorDiv(ops.Add(n, stride-1), stride)
			all := ops.Maximum(ops.Sub(ops.Add(ops.Mul(ops.Sub(windows, int64(1)), stride), reach), n), int64(0))
			before = ops.FloorDiv(all, int64(2))
			after = ops.Sub(all, before)
		} else {
			windows = ops.Add(ops.FloorDiv(ops.Sub(ops.Add(ops.Add(n, before), after), reach), stride), int64(1))
		}
		first := ops.Mul(ops.Range(int64(0), windows, int64(1)), stride)
		within := ops.Mul(ops.Range(int64(0), int64(elements), int64(1)), dilation)
		margins = append(margins, [2]any{before, after})
		places = append(places, ops.Add(ops.ExpandDims(first, 1), within))
	}
	return margins, places
}

// foldWindows adds the elements of windows at their indices.
func foldWindows(c *op.Call) T {
	x, axis, size := c.Tensor(0), c.Int(2), c.Ints(3)
	sizes := ops.Cast(c.Tensor(1), dtype.Int64)
	k := len(size)
	if axis < 0 {
		axis += rank(x)
	}
	total := func(i int) T { return ops.Index(sizes, i) }
	margins, at := windowPlaces(c, size, 4, func(i int) any { return total(i) })
	number, inside := T(nil), T(nil)
	for i := range k {
		p := ops.Index(ops.Sub(at[i], margins[i][0]), key.To(size1(x, axis+i))) // fewer windows than fit are possible
		s := ones(2 * k)
		s[i], s[k+i] = -1, size[i]
		p = ops.Reshape(p, s)
		ok := ops.LogicalAnd(ops.LessEqual(int64(0), p), ops.Less(p, total(i)))
		if number == nil {
			number, inside = p, ok
			continue
		}
		number, inside = ops.Add(ops.Mul(number, total(i)), p), ops.LogicalAnd(inside, ok)
	}
	number = ops.Where(inside, number, int64(-1))
	perm := append(upTo(axis + 2*k)[axis:], upTo(axis)...)
	perm = append(perm, upTo(rank(x))[axis+2*k:]...)
	moved := ops.Transpose(x, perm...) // [windows..., elements..., before, after]
	sum := ops.SegmentSum(moved, number, ops.Prod(sizes))
	rest := ops.Index(sizesOf(sum), key.From(1))
	sum = ops.Reshape(sum, ops.Concat([]any{sizes, rest}, 0))
	back := append(upTo(k + axis)[k:], upTo(k)...)
	return ops.Transpose(sum, append(back, upTo(rank(sum))[k+axis:]...)...)
}
