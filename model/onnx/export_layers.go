package onnx

import (
	"math"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
)

// lastTwo exchanges the last two of n axes.
func lastTwo(n int) []int {
	perm := upTo(n)
	perm[n-1], perm[n-2] = n-2, n-1
	return perm
}

func matMulOf(e *node) string {
	in := e.ins()
	for i := range in {
		if e.c.Bool(2 + i) {
			in[i] = e.transpose(in[i], lastTwo(e.ofRank(i)))
		}
	}
	return e.typed("MatMul", products, in)
}

func matVec(a, x T) T { return ops.Squeeze(ops.MatMul(a, ops.ExpandDims(x, -1)), -1) }

func outer(x, y T) T {
	if rank(x) == 0 || rank(y) == 0 {
		return ops.Mul(x, y)
	}
	axes := upTo(rank(x) + rank(y))
	return ops.Mul(ops.ExpandDims(x, axes[rank(x):]...), ops.ExpandDims(y, axes[:rank(x)]...))
}

// contracted writes a contraction as the product of matrices that it is, or by an equation.
func contracted(e *node) string {
	a, b, out := e.c.Ints(2), e.c.Ints(3), e.c.Ints(4)
	batch, left, sum := []int{}, []int{}, []int{}
	for _, l := range out {
		if slices.Contains(a, l) {
			if slices.Contains(b, l) {
				batch = append(batch, l)
			} else {
				left = append(left, l)
			}
		}
	}
	var right []int
	for _, l := range b {
		switch {
		case slices.Contains(out, l) && !slices.Contains(a, l):
			right = append(right, l)
		case !slices.Contains(out, l):
			sum = append(sum, l)
		}
	}
	if len(sum) != 1 || len(right) > 1 || len(batch) > 0 && (len(left) != 1 || len(right) != 1) {
		return e.typed("Einsum", summed, e.ins(), withText("equation", equation([][]int{a, b}, out)))
	}
	x := e.transpose(e.in(0), places(a, batch, left, sum))
	y := e.transpose(e.in(1), places(b, batch, sum, right))
	z := e.typed("MatMul", products, []string{x, y})
	return e.transpose(z, places(slices.Concat(batch, left, right), out))
}

// places returns where labels stand in a list.
func places(list []int, wanted ...[]int) []int {
	perm := []int{}
	for _, l := range slices.Concat(wanted...) {
		perm = append(perm, slices.Index(list, l))
	}
	return perm
}

// equation writes labels as letters.
func equation(operands [][]int, out []int) string {
	letters := map[int]string{}
	word := func(labels []int) string {
		var b strings.Builder
		for _, l := range labels {
			if letters[l] == "" {
				if len(letters) == 52 {
					refuse(tenon.ErrUnsupported, "ONNX's Einsum has 52 letters for labels")
				}
				letters[l] = string("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[len(letters)])
			}
			b.WriteString(letters[l])
		}
		return b.String()
	}
	words := make([]string, len(operands))
	for i, list := range operands {
		words[i] = word(list)
	}
	return strings.Join(words, ",") + "->" + word(out)
}

// einsumOf writes an equation. ONNX wants the axes of an ellipsis to be the same in all operands, which
// are spread to that where they are not.
func einsumOf(e *node) string {
	in := e.list(0)
	if strings.Contains(e.c.Str(1), "...") && len(in) > 1 && !sameEllipsis(e.c) {
		in = e.expanded(spreadEllipsis)
	}
	return e.typed("Einsum", summed, in, withText("equation", e.c.Str(1)))
}

// ellipses returns where the ellipsis of each operand begins, and how many axes it is; -1 where it
// has none.
func ellipses(c *op.Call) (at, count []int) {
	left, _, _ := strings.Cut(strings.ReplaceAll(c.Str(1), " ", ""), "->")
	for i, term := range strings.Split(left, ",") {
		at = append(at, strings.Index(term, "..."))
		count = append(count, rank(c.List(0)[i].(T))-len(strings.Replace(term, "...", "", 1)))
	}
	return at, count
}

func sameEllipsis(c *op.Call) bool {
	at, count := ellipses(c)
	var first []int
	for i, v := range c.List(0) {
		if at[i] < 0 {
			continue
		}
		s := v.(T).Shape()
		d := s.Slice(at[i], at[i]+count[i]).Dims()
		if first == nil {
			first = append([]int{}, d...)
		}
		if !slices.Equal(first, d) {
			return false
		}
	}
	return true
}

func spreadEllipsis(c *op.Call) []T {
	at, count := ellipses(c)
	most := slices.Max(count)
	parts := make([]T, len(at)) // the sizes of each ellipsis, as many as the longest has
	var all T
	for i, v := range c.List(0) {
		if at[i] < 0 {
			continue
		}
		s := ops.Index(sizesOf(v.(T)), key.Range(at[i], at[i]+count[i], nil))
		if parts[i] = ops.Concat([]any{vector(ones(most - count[i])), s}, 0); all == nil {
			all = parts[i]
		} else {
			all = ops.Where(ops.Equal(all, int64(1)), parts[i], all)
		}
	}
	out := make([]T, len(at))
	for i, v := range c.List(0) {
		x := v.(T)
		if out[i] = x; at[i] < 0 {
			continue
		}
		s := sizesOf(x)
		around := func(middle T) T {
			return ops.Concat([]any{ops.Index(s, key.To(at[i])), middle, ops.Index(s, key.From(at[i]+count[i]))}, 0)
		}
		out[i] = ops.BroadcastTo(ops.Reshape(x, around(parts[i])), around(all))
	}
	return out
}

// slide are the attributes of windows whose settings start at an argument.
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

// oneFront makes one axis of those in front of n positions and the features, and returns what
// undoes that to a result.
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

// convolvedBack writes a transposed convolution. Its sizes say how much is cut off at the ends, or is
// missing behind them.
func convolvedBack(e *node) string {
	size, w := e.kernelOf()
	n := len(size)
	_, o := e.slide(4, size)
	result := e.Outs[0].Shape()
	want := result.Dims()[result.Rank()-1-n : result.Rank()-1]
	if o.Same {
		if slices.Min(want) < 0 {
			refuse(tenon.ErrUnsupported, "the sizes have to be known")
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

// pool writes a reduction of windows as a pooling operation, if that is what it is.
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
		for i := range 1 + k { // what is left are the elements
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

// meanPooled and sumPooled count what lies beyond the ends, which is 0.
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

// windowsOf takes the elements of windows by their positions.
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

// windowPlaces returns, for each axis of windows, the margins around the positions, and the places
// of the elements of windows among those and the margins.
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

// foldWindows adds the elements of windows at the numbers of their places.
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
		p := ops.Index(ops.Sub(at[i], margins[i][0]), key.To(size1(x, axis+i))) // there may be fewer windows than fit
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

// trailing returns the number of axes of a call's parameter if they are the last ones of x.
func trailing(c *op.Call, i int) (axes []int, ok bool) {
	x := c.Tensor(0)
	axes, err := c.Axes(rank(x))
	tenon.Throw(err)
	slices.Sort(axes)
	return axes, len(axes) > 0 && slices.Equal(axes, upTo(rank(x))[rank(x)-len(axes):])
}

func layerNormed(e *node) string {
	axes, ok := trailing(e.c, 3)
	x := e.t(0)
	eps := e.c.Float(4)
	if !ok || x.DType() == dtype.Float64 || e.c.Has(1) && e.t(1).Shape().Rank() != len(axes) || e.c.Has(2) && e.t(2).Shape().Rank() != len(axes) {
		return ""
	}
	in := []string{e.in(0)}
	if e.c.Has(1) {
		in = append(in, e.in(1))
	} else {
		sizes := make([]int, len(axes))
		for i, a := range axes {
			if sizes[i] = x.Shape().Dim(a); sizes[i] < 0 {
				return ""
			}
		}
		in = append(in, e.w.constant(ops.Ones(x.DType(), sizes)))
	}
	if e.c.Has(2) {
		in = append(in, e.in(2))
	}
	return e.do("LayerNormalization", in, withInt("axis", axes[0]-rank(x)), withFloat("epsilon", eps))
}

// besideAxes gives what has the sizes of some axes of x those axes.
func besideAxes(v, x T, axes []int) T {
	s := make([]any, rank(x))
	for i := range s {
		s[i] = int64(1)
	}
	for k, a := range axes {
		s[a] = size1(v, k)
	}
	return ops.Reshape(v, ops.Stack(s, 0))
}

// inSingle computes halves in 32 bits.
func inSingle(x T, f func(x T) T) T {
	if d := x.DType(); d.IsFloat() && d.Size() == 2 {
		return ops.Cast(f(ops.Cast(x, dtype.Float32)), d)
	}
	return f(x)
}

func layerNormOf(c *op.Call) T {
	axes, _ := trailing(c, 3)
	return normalisedBy(c, axes, c.Float(4), true)
}

func rmsNormOf(c *op.Call) T {
	axes, _ := trailing(c, 2)
	return normalisedBy(c, axes, c.Float(3), false)
}

// normalisedBy divides by the root of the mean square, of the differences from the mean if centred.
func normalisedBy(c *op.Call, axes []int, eps float64, centred bool) T {
	return inSingle(c.Tensor(0), func(x T) T {
		if centred {
			x = ops.Sub(x, ops.MeanKeep(x, axes...))
		}
		y := ops.Div(x, ops.Sqrt(ops.Add(ops.MeanKeep(ops.Mul(x, x), axes...), like(eps, x))))
		if c.Has(1) {
			y = ops.Mul(y, besideAxes(ops.Cast(c.Tensor(1), x.DType()), x, axes))
		}
		if centred && c.Has(2) {
			y = ops.Add(y, besideAxes(ops.Cast(c.Tensor(2), x.DType()), x, axes))
		}
		return y
	})
}

func crossEntropy(logits, labels T) T {
	p := ops.LogSoftmax(logits, -1)
	at := ops.ExpandDims(ops.Cast(labels, dtype.Int64), -1)
	return ops.Neg(ops.Squeeze(ops.TakeAlongAxis(p, at, rank(p)-1), -1))
}

// attentionOf is attention by products of matrices and a softmax.
func attentionOf(c *op.Call) T {
	if c.Has(4) || c.Has(5) {
		refuse(tenon.ErrUnsupported, "ONNX has no attention within rows of different lengths")
	}
	l, err := ops.LabelsOfAttention(c)
	tenon.Throw(err)
	const query, keys = 0, 1
	var batch, depth, width []int
	for _, x := range l.Result {
		switch {
		case x == query:
		case slices.Contains(l.Value, x) && !slices.Contains(l.Query, x) && !slices.Contains(l.Key, x):
			width = append(width, x)
		default:
			batch = append(batch, x)
		}
	}
	for _, x := range l.Query {
		if x != query && !slices.Contains(l.Result, x) {
			depth = append(depth, x)
		}
	}
	d := c.Tensor(0).DType()
	single := func(x T) T {
		if x.DType().Size() == 2 {
			return ops.Cast(x, dtype.Float32)
		}
		return x
	}
	q := laidOut(single(c.Tensor(0)), l.Query, batch, []int{query}, depth)
	k := laidOut(single(c.Tensor(1)), l.Key, batch, []int{keys}, depth)
	v := laidOut(single(c.Tensor(2)), l.Value, batch, []int{keys}, width)
	scale := like(c.Float(11), q)
	if c.Float(11) == 0 {
		scale = ops.Rsqrt(ops.Cast(ops.Maximum(size1(q, rank(q)-1), int64(1)), q.DType()))
	}
	scores := ops.MatMulT(ops.Mul(q, scale), k, false, true)
	seen := T(nil)
	if c.Has(3) {
		seen = laidOut(c.Tensor(3), l.Mask, batch, []int{query}, []int{keys})
	}
	if c.Bool(12) {
		n, m := size1(q, rank(q)-2), size1(k, rank(k)-2)
		last := ops.Add(ops.ExpandDims(ops.Range(int64(0), n, int64(1)), 1), ops.Sub(m, n))
		if causal := ops.LessEqual(ops.Range(int64(0), m, int64(1)), last); seen == nil {
			seen = causal
		} else {
			seen = ops.LogicalAnd(seen, causal)
		}
	}
	var p T
	if seen == nil {
		p = ops.Softmax(scores, -1)
	} else {
		p = ops.Softmax(ops.Where(seen, scores, like(math.Inf(-1), scores)), -1)
		p = ops.Where(seen, p, like(0, p)) // a query that sees nothing gets zeros
	}
	y := ops.MatMul(p, v)
	// the axes of the result
	s := []any{ops.Index(sizesOf(y), key.To(rank(y)-1))}
	order := append(slices.Clone(batch), query)
	for _, x := range width {
		s = append(s, ops.Reshape(size1(c.Tensor(2), slices.Index(l.Value, x)), []int{1}))
		order = append(order, x)
	}
	y = ops.Reshape(y, ops.Concat(s, 0))
	return ops.Cast(ops.Transpose(y, places(order, l.Result)...), d)
}

// laidOut puts the axes of x with labels in an order: a batch, of which it may lack some, and two
// groups, each of which becomes one axis.
func laidOut(x T, labels, batch, first, second []int) T {
	var perm []int
	s := []any{}
	for _, l := range batch {
		if i := slices.Index(labels, l); i >= 0 {
			perm = append(perm, i)
			s = append(s, size1(x, i))
		} else {
			s = append(s, int64(1))
		}
	}
	for _, group := range [][]int{first, second} {
		n := any(int64(1))
		for _, l := range group {
			if i := slices.Index(labels, l); i >= 0 {
				perm = append(perm, i)
				n = ops.Mul(n, size1(x, i))
			}
		}
		s = append(s, n)
	}
	return ops.Reshape(ops.Transpose(x, perm...), ops.Stack(s, 0))
}
