package onnx

import (
	"math"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/shape"
)

// matMul multiplies matrices; a vector is a row on the left and a column on the right.
func matMul(x, y any) T {
	a, b := x.(T), y.(T)
	row, column := rank(a) == 1, rank(b) == 1
	if row {
		a = ops.ExpandDims(a, 0)
	}
	if column {
		b = ops.ExpandDims(b, -1)
	}
	out := ops.MatMul(a, b)
	if row {
		out = ops.Squeeze(out, rank(out)-2)
	}
	if column {
		out = ops.Squeeze(out, rank(out)-1)
	}
	return out
}

func gemm(c *call) []any {
	a, b := c.x(0), c.x(1)
	out := ops.MatMulT(a, b, c.flag("transA"), c.flag("transB"))
	if alpha := c.float("alpha", 1); alpha != 1 {
		out = scaled(out, alpha)
	}
	if c.has(2) {
		bias, beta := c.x(2), c.float("beta", 1)
		if beta != 1 {
			bias = scaled(bias, beta)
		}
		out = ops.Add(out, bias)
	}
	return one(out)
}

func scaled(x T, by float64) T {
	if x.DType().IsInteger() {
		return ops.Cast(ops.Mul(ops.Cast(x, dtype.Float64), by), x.DType())
	}
	return ops.Mul(x, like(by, x))
}

func einsum(c *call) []any {
	xs := c.xs()
	args := make([]any, len(xs))
	for i, x := range xs {
		args[i] = x
	}
	return one(ops.Einsum(strings.ReplaceAll(c.text("equation", ""), " ", ""), args...))
}

// slide returns how windows of a size slide along the axes from two on.
func (c *call) slide(x T, size []int) ops.WindowOptions {
	n := len(size)
	o := ops.WindowOptions{Size: size, Stride: c.ints("strides"), Dilation: c.ints("dilations")}
	if o.Stride == nil {
		o.Stride = ones(n)
	}
	if o.Dilation == nil {
		o.Dilation = ones(n)
	}
	pads := c.ints("pads")
	if pads == nil {
		pads = make([]int, 2*n)
	}
	if len(pads) != 2*n || len(o.Stride) != n || len(o.Dilation) != n {
		refuse(tenon.ErrInvalid, "pads %v, strides %v and dilations %v do not fit windows of %v", pads, o.Stride, o.Dilation, size)
	}
	o.Before, o.After = append([]int(nil), pads[:n]...), append([]int(nil), pads[n:]...)
	auto := c.text("auto_pad", "NOTSET")
	if auto == "VALID" {
		o.Before, o.After = make([]int, n), make([]int, n)
	}
	for i := range size {
		reach := (size[i]-1)*o.Dilation[i] + 1
		switch auto {
		case "SAME_UPPER", "SAME_LOWER":
			have := dims(x)[2+i]
			windows := (have + o.Stride[i] - 1) / o.Stride[i]
			all := max(0, (windows-1)*o.Stride[i]+reach-have)
			o.Before[i] = all / 2
			if auto == "SAME_LOWER" {
				o.Before[i] = all - all/2
			}
			o.After[i] = all - o.Before[i]
		}
	}
	return o
}

// ceiled lets the last windows extend beyond the margins at the end if the model rounds the
// number of windows up. A window must start inside of x or in the margin before it.
func (c *call) ceiled(x T, o ops.WindowOptions) ops.WindowOptions {
	if !c.flag("ceil_mode") {
		return o
	}
	o.After = append([]int(nil), o.After...)
	for i, size := range o.Size {
		have, reach, stride := dims(x)[2+i], (size-1)*o.Dilation[i]+1, o.Stride[i]
		windows := (have+o.Before[i]+o.After[i]-reach+stride-1)/stride + 1
		if (windows-1)*stride >= have+o.Before[i] {
			windows--
		}
		o.After[i] = max(o.After[i], (windows-1)*stride+reach-have-o.Before[i])
	}
	return o
}

// last moves the axis of features behind those of positions, and front moves it back.
func last(x T) T { return ops.MoveAxis(x, 1, -1) }

func front(x T) T { return ops.MoveAxis(x, -1, 1) }

// kernelLast transposes a kernel [out, in, k…] to [k…, in, out].
func kernelLast(w T) T {
	perm := append(upTo(rank(w))[2:], 1, 0)
	return ops.Transpose(w, perm...)
}

func (c *call) convolve(x, w T) T {
	size := c.ints("kernel_shape")
	if size == nil {
		size = dims(w)[2:]
	}
	return front(ops.Convolve(last(x), kernelLast(w), ops.ConvolveOptions{Windows: c.slide(x, size), Groups: c.int("group", 1)}))
}

// perFeature reshapes a vector of features so that it broadcasts along axis 1 of x.
func perFeature(v T, x T) T {
	s := ones(rank(x))
	s[1] = -1
	return ops.Reshape(v, s)
}

func conv(c *call) []any {
	out := c.convolve(c.x(0), c.x(1))
	if c.has(2) {
		out = ops.Add(out, perFeature(c.x(2), out))
	}
	return one(out)
}

func convTranspose(c *call) []any {
	x, w := c.x(0), c.x(1)
	size := c.ints("kernel_shape")
	if size == nil {
		size = dims(w)[2:]
	}
	n := len(size)
	o := ops.WindowOptions{Size: size, Stride: c.ints("strides"), Dilation: c.ints("dilations")}
	if o.Stride == nil {
		o.Stride = ones(n)
	}
	if o.Dilation == nil {
		o.Dilation = ones(n)
	}
	more, pads, want := c.ints("output_padding"), c.ints("pads"), c.ints("output_shape")
	if more == nil {
		more = make([]int, n)
	}
	if pads == nil {
		pads = make([]int, 2*n)
	}
	if len(pads) != 2*n || len(more) != n || want != nil && len(want) < n {
		refuse(tenon.ErrInvalid, "margins %v and %v do not fit %d axes", pads, more, n)
	}
	auto := c.text("auto_pad", "NOTSET")
	out, margins := make([]int, n), [][]int{{0, 0}, {0, 0}}
	for i := range out {
		full := o.Stride[i]*(dims(x)[2+i]-1) + more[i] + (size[i]-1)*o.Dilation[i] + 1
		lo, hi := pads[i], pads[n+i]
		if want != nil || strings.HasPrefix(auto, "SAME") {
			to := dims(x)[2+i] * o.Stride[i]
			if want != nil {
				to = want[len(want)-n+i]
			}
			all := full - to
			half := all >> 1 // rounded down
			if lo = half; auto != "SAME_UPPER" {
				lo = all - half
			}
			hi = all - lo
		}
		out[i] = full - max(lo, 0) - max(hi, 0)
		o.Before = append(o.Before, max(lo, 0))
		o.After = append(o.After, max(hi-more[i], 0))
		// If the result is larger than all windows, nothing surrounds them.
		margins = append(margins, []int{max(-lo, 0), max(-hi, 0)})
	}
	y := front(ops.ConvolveTranspose(last(x), kernelLast(w), vector(out), ops.ConvolveOptions{Windows: o, Groups: c.int("group", 1)}))
	y = ops.Pad(y, margins, ops.PadOptions{})
	if c.has(2) {
		y = ops.Add(y, perFeature(c.x(2), y))
	}
	return one(y)
}

// inside returns the axes of the elements of windows over n axes, in a tensor with features.
func inside(n int) []int {
	out := upTo(n)
	for i := range out {
		out[i] += 2 + n
	}
	return out
}

func maxPool(c *call) []any {
	x := c.x(0)
	size := c.ints("kernel_shape")
	o := c.ceiled(x, c.slide(x, size))
	if len(c.n.outputs) < 2 {
		return one(ops.MaxWindows(x, 2, o))
	}
	o.Fill = lowest(x.DType())
	windows := ops.Windows(x, 2, o)
	flat := func(w T) T {
		return ops.Reshape(w, append(append([]int(nil), dims(w)[:2+len(size)]...), -1))
	}
	values := flat(windows)
	best := ops.ArgMaxKeep(values, -1)
	// The index of each element in x, with the positions in row- or column-major order.
	d := dims(x)
	at := ops.Range(int64(0), int64(x.Shape().Size()), int64(1))
	if c.flag("storage_order") {
		turned := append([]int{d[0], d[1]}, reversed(d[2:])...)
		perm := append([]int{0, 1}, reversed(upTo(len(d))[2:])...)
		at = ops.Transpose(ops.Reshape(at, turned), perm...)
	} else {
		at = ops.Reshape(at, d)
	}
	o.Fill = 0
	places := ops.TakeAlongAxis(flat(ops.Windows(at, 2, o)), best, -1)
	return []any{ops.Squeeze(ops.TakeAlongAxis(values, best, -1), -1), ops.Squeeze(places, -1)}
}

func reversed(x []int) []int {
	out := make([]int, len(x))
	for i, v := range x {
		out[len(x)-1-i] = v
	}
	return out
}

func averagePool(c *call) []any {
	x := c.x(0)
	size := c.ints("kernel_shape")
	o := c.slide(x, size)
	wide := c.ceiled(x, o)
	sum := ops.Sum(ops.Windows(x, 2, wide), inside(len(size))...)
	// The number of elements in each window: those of x, and those of the margins if they
	// count.
	s := append([]int{1, 1}, dims(x)[2:]...)
	at := wide
	if c.flag("count_include_pad") {
		at.Before, at.After = make([]int, len(size)), make([]int, len(size))
		for i := range size {
			s[2+i] += o.Before[i] + o.After[i]
			at.After[i] = wide.After[i] - o.After[i]
		}
	}
	count := ops.Sum(ops.Windows(ops.Ones(x.DType(), s), 2, at), inside(len(size))...)
	return one(ops.Div(sum, count))
}

func lpPool(c *call) []any {
	x := c.x(0)
	size := c.ints("kernel_shape")
	p := float64(c.int("p", 2))
	powers := ops.Pow(ops.Abs(x), like(p, x))
	sum := ops.Sum(ops.Windows(powers, 2, c.ceiled(x, c.slide(x, size))), inside(len(size))...)
	return one(ops.Pow(sum, like(1/p, x)))
}

func maxUnpool(c *call) []any {
	x, at := c.x(0), c.x(1)
	d := dims(x)
	var out []int
	if c.has(2) {
		out = c.known(2)
	}
	o := c.slide(x, c.ints("kernel_shape"))
	natural := append([]int{d[0], d[1]}, d[2:]...)
	for i := range o.Size {
		natural[2+i] = (d[2+i]-1)*o.Stride[i] - o.Before[i] - o.After[i] + (o.Size[i]-1)*o.Dilation[i] + 1
	}
	n := shape.Of(natural...).Size()
	flat := ops.ScatterND(ops.Reshape(at, []int{-1, 1}), ops.Reshape(x, []int{-1}), []int{n})
	y := ops.Reshape(flat, natural)
	if out != nil {
		margins := make([][]int, len(out))
		for i := range out {
			margins[i] = []int{0, out[i] - natural[i]}
		}
		y = ops.Pad(y, margins, ops.PadOptions{})
	}
	return one(y)
}

func positions(x T) []int { return upTo(rank(x))[2:] }

func global(r reducer) impl {
	return func(c *call) []any { return one(r(c.x(0), positions(c.x(0))...)) }
}

func globalLp(c *call) []any {
	x := c.x(0)
	return one(ops.NormKeep(x, float64(c.int("p", 2)), positions(x)...))
}

func batchNorm(c *call) []any {
	x, scale, bias, mean, variance := c.x(0), c.x(1), c.x(2), c.x(3), c.x(4)
	eps := c.float("epsilon", 1e-5)
	out := []any{nil}
	if c.flag("training_mode") {
		axes := append([]int{0}, positions(x)...)
		momentum := c.float("momentum", 0.9)
		mix := func(old, now T) T {
			return ops.Add(ops.Mul(old, like(momentum, old)), ops.Mul(ops.Cast(now, old.DType()), like(1-momentum, old)))
		}
		m, v := ops.Mean(x, axes...), ops.Variance(x, axes...)
		out = append(out, mix(mean, m), mix(variance, v))
		mean, variance = m, v
	}
	dt := variance.DType()
	wide := ops.Cast(x, dt)
	y := ops.Div(ops.Sub(wide, perFeature(mean, x)), ops.Sqrt(ops.Add(perFeature(variance, x), like(eps, variance))))
	y = ops.Add(ops.Mul(y, ops.Cast(perFeature(scale, x), dt)), ops.Cast(perFeature(bias, x), dt))
	out[0] = ops.Cast(y, x.DType())
	return out
}

// standard normalizes x to mean 0 and variance 1 over axes.
func standard(x T, eps float64, axes ...int) T {
	centred := ops.Sub(x, ops.MeanKeep(x, axes...))
	return ops.Div(centred, ops.Sqrt(ops.Add(ops.VarianceKeep(x, axes...), like(eps, x))))
}

func instanceNorm(c *call) []any {
	x := c.x(0)
	y := standard(x, c.float("epsilon", 1e-5), positions(x)...)
	return one(ops.Add(ops.Mul(y, perFeature(c.x(1), x)), perFeature(c.x(2), x)))
}

func groupNorm(c *call) []any {
	x, scale, bias := c.x(0), c.x(1), c.x(2)
	groups := c.int("num_groups", 1)
	d := dims(x)
	wide := c.dtype("stash_type", dtype.Float32)
	y := ops.Cast(standard(ops.Reshape(ops.Cast(x, wide), []int{d[0], groups, -1}), c.float("epsilon", 1e-5), 2), x.DType())
	if c.opset < 21 { // scales are per group
		each := ones(3)
		each[1] = -1
		y = ops.Add(ops.Mul(y, ops.Reshape(scale, each)), ops.Reshape(bias, each))
		return one(ops.Reshape(y, d))
	}
	y = ops.Reshape(y, d)
	return one(ops.Add(ops.Mul(y, perFeature(scale, x)), perFeature(bias, x)))
}

// tail returns all axes starting with from.
func tail(x T, from int) []int { return upTo(rank(x))[axis(from, rank(x)):] }

func layerNorm(c *call) []any {
	x := c.x(0)
	wide := c.dtype("stash_type", dtype.Float32)
	axes, eps := tail(x, c.int("axis", -1)), c.float("epsilon", 1e-5)
	w := ops.Cast(x, wide)
	mean := ops.MeanKeep(w, axes...)
	inverse := ops.Rsqrt(ops.Add(ops.VarianceKeep(w, axes...), like(eps, w)))
	y := ops.Mul(ops.Cast(ops.Mul(ops.Sub(w, mean), inverse), x.DType()), c.x(1))
	if c.has(2) {
		y = ops.Add(y, c.x(2))
	}
	return []any{y, mean, inverse}
}

func rmsNorm(c *call) []any {
	x, scale := c.x(0), c.x(1)
	wide := c.dtype("stash_type", dtype.Float32)
	axes := tail(x, c.int("axis", -1))
	w := ops.Cast(x, wide)
	y := ops.Div(w, ops.Sqrt(ops.Add(ops.MeanKeep(ops.Square(w), axes...), like(c.float("epsilon", 1e-5), w))))
	return one(ops.Cast(ops.Mul(ops.Cast(y, scale.DType()), scale), scale.DType()))
}

func lpNorm(c *call) []any {
	x := c.x(0)
	return one(ops.DivNoNaN(x, ops.NormKeep(x, float64(c.int("p", 2)), c.int("axis", -1))))
}

func meanVariance(c *call) []any {
	x := c.x(0)
	axes := c.ints("axes")
	if axes == nil {
		axes = []int{0, 2, 3}
	}
	centred := ops.Sub(x, ops.MeanKeep(x, axes...))
	return one(ops.Div(centred, ops.Add(ops.Sqrt(ops.MeanKeep(ops.Square(centred), axes...)), like(1e-9, x))))
}

// nll is the mean, sum or each of the negative weighted scores of the target classes.
func nll(c *call) []any {
	loss, total := c.losses(c.x(0), 2)
	return one(c.reduced(loss, total))
}

// losses returns the weighted negative scores of the targets, and their weights. Input w holds
// the weights of classes.
func (c *call) losses(scores T, w int) (loss, weights T) {
	target := ops.Cast(c.x(1), dtype.Int64)
	ignored := T(nil)
	if a := c.attr("ignore_index"); a != nil {
		ignored = ops.Equal(target, a.i)
		target = ops.Where(ignored, ops.ZerosLike(target), target)
	}
	picked := ops.Squeeze(ops.TakeAlongAxis(scores, ops.ExpandDims(target, 1), 1), 1)
	weights = ops.OnesLike(picked)
	if c.has(w) {
		weights = ops.Gather(c.x(w), target, 0)
	}
	if ignored != nil {
		weights = ops.Where(ignored, ops.ZerosLike(weights), weights)
	}
	return ops.Neg(ops.MulNoNaN(picked, weights)), weights
}

func (c *call) reduced(loss, weights T) T {
	switch how := c.text("reduction", "mean"); how {
	case "none":
		return loss
	case "sum":
		return ops.Sum(loss)
	default:
		return ops.Div(ops.Sum(loss), ops.Sum(weights))
	}
}

func softmaxLoss(c *call) []any {
	scores := ops.LogSoftmax(c.x(0), 1)
	loss, weights := c.losses(scores, 2)
	return []any{c.reduced(loss, weights), scores}
}

// causalConv is a depthwise convolution along time that continues from a state.
func causalConv(c *call) []any {
	x, w := c.x(0), c.x(1)
	k := dims(w)[2]
	var past T
	if c.has(3) {
		past = c.x(3)
	} else {
		past = ops.Zeros(x.DType(), []int{dims(x)[0], dims(x)[1], k - 1})
	}
	all := ops.Concat([]any{past, x}, 2)
	y := front(ops.Convolve(last(all), kernelLast(w), ops.ConvolveOptions{Windows: ops.WindowOptions{Size: []int{k}}, Groups: dims(x)[1]}))
	if c.has(2) {
		y = ops.Add(y, perFeature(c.x(2), y))
	}
	if a := c.text("activation", "none"); a == "silu" || a == "swish" {
		y = ops.Silu(y)
	}
	state := ops.Index(all, key.All, key.All, key.From(dims(all)[2]-(k-1)))
	return []any{y, state}
}

// uniform and normal draw numbers with the attributes of a random operation.
func uniform(c *call, k T, sizes any, dt dtype.DType) T {
	lo, hi := c.float("low", 0), c.float("high", 1)
	u := ops.RandomUniform(k, sizes, dt)
	return ops.Add(ops.Mul(u, like(hi-lo, u)), like(lo, u))
}

func normal(c *call, k T, sizes any, dt dtype.DType) T {
	n := ops.RandomNormal(k, sizes, dt)
	return ops.Add(ops.Mul(n, like(c.float("scale", 1), n)), like(c.float("mean", 0), n))
}

// seeded returns the random key of a node, made from its seed or its name, so that runs are
// repeatable.
func (c *call) seeded() T {
	if a := c.attr("seed"); a != nil {
		return ops.RandomKey(uint64(math.Float32bits(a.f)))
	}
	return ops.RandomFor(ops.RandomKey(0), c.n.String())
}

type drawing = func(c *call, k T, sizes any, dt dtype.DType) T

func randomLike(draw drawing) impl {
	return func(c *call) []any {
		dt := c.x(0).DType()
		if !dt.IsFloat() {
			dt = dtype.Float32
		}
		return one(draw(c, c.seeded(), sizesOf(c.x(0)), c.dtype("dtype", dt)))
	}
}

func random(draw drawing) impl {
	return func(c *call) []any {
		return one(draw(c, c.seeded(), c.ints("shape"), c.dtype("dtype", dtype.Float32)))
	}
}

func bernoulli(c *call) []any {
	x := c.x(0)
	return one(ops.Cast(ops.RandomBernoulli(c.seeded(), sizesOf(x), ops.Cast(x, dtype.Float32)), c.dtype("dtype", x.DType())))
}
