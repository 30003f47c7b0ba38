package onnx

import (
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// waves returns the matrices of cosines and sines of 2π·j·k/n, [rows, columns], multiplied by
// weights.
func waves(rows, columns, n int, weight func(j, k int) float64, dt dtype.DType) (cos, sin T) {
	if n <= 0 || rows*columns > 1<<28 {
		refuse(tenon.ErrInvalid, "a transform of %d points", n)
	}
	c, s := make([]float64, rows*columns), make([]float64, rows*columns)
	for j := range rows {
		for k := range columns {
			sin, cos := math.Sincos(2 * math.Pi * float64(j*k%n) / float64(n))
			w := weight(j, k)
			c[j*columns+k], s[j*columns+k] = w*cos, w*sin
		}
	}
	m := shape.Of(rows, columns)
	return ops.Cast(tensor.Wrap(c, m), dt), ops.Cast(tensor.Wrap(s, m), dt)
}

// fourier transforms x along an axis. The last axis of x has the real part, or real and
// imaginary parts.
func fourier(x T, n, along int, inverse, onesided bool) T {
	parts := dims(x)[rank(x)-1]
	y := ops.MoveAxis(x, along, -2) // […, points, parts]
	have := dims(y)[rank(y)-2]
	rows := min(have, n)
	y = ops.Index(y, key.Ellipsis, key.To(rows), key.All)
	real := ops.Index(y, key.Ellipsis, 0)
	imag := T(nil)
	if parts == 2 {
		imag = ops.Index(y, key.Ellipsis, 1)
	}
	columns, weight := n, func(int, int) float64 { return 1 }
	switch {
	case inverse && onesided:
		// Half of the frequencies also stand for the other half, except the first and the
		// middle one.
		rows = min(rows, n/2+1)
		real = ops.Index(real, key.Ellipsis, key.To(rows))
		if imag != nil {
			imag = ops.Index(imag, key.Ellipsis, key.To(rows))
		}
		weight = func(j, _ int) float64 {
			if j == 0 || 2*j == n {
				return 1 / float64(n)
			}
			return 2 / float64(n)
		}
	case inverse:
		weight = func(int, int) float64 { return 1 / float64(n) }
	case onesided:
		columns = n/2 + 1
	}
	cos, sin := waves(rows, columns, n, weight, x.DType())
	if !inverse {
		sin = ops.Neg(sin)
	}
	outReal, outImag := matMul(real, cos), matMul(real, sin)
	if imag != nil {
		outReal = ops.Sub(outReal, matMul(imag, sin))
		outImag = ops.Add(outImag, matMul(imag, cos))
	}
	result := []any{outReal, outImag}
	if inverse && onesided {
		result = result[:1]
	}
	return ops.MoveAxis(ops.Stack(result, -1), -2, along)
}

// dft is a discrete Fourier transform by a matrix product.
func dft(c *call) []any {
	x := c.x(0)
	k := c.int("axis", 1)
	if c.opset >= 20 {
		k = int(c.scalar(2, -2))
	}
	k = axis(k, rank(x))
	inverse, onesided := c.flag("inverse"), c.flag("onesided")
	n := dims(x)[k]
	if inverse && onesided {
		n = 2 * (n - 1)
	}
	if c.has(1) {
		n = c.known(1)[0]
	}
	return one(fourier(x, n, k, inverse, onesided))
}

// stft transforms windows of a signal.
func stft(c *call) []any {
	x := c.x(0)
	step := c.known(1)[0]
	n := dims(x)[1]
	if c.has(2) {
		n = dims(c.x(2))[0]
	}
	if c.has(3) {
		n = c.known(3)[0]
	}
	frames := ops.Windows(x, 1, ops.WindowOptions{Size: []int{n}, Stride: []int{step}}) // [batch, frames, n, parts]
	if c.has(2) {
		frames = ops.Mul(frames, ops.Reshape(c.x(2), []int{n, 1}))
	}
	return one(fourier(frames, n, 2, false, c.int("onesided", 1) != 0))
}

// melWeights maps frequencies to bins of the mel scale, as overlapping triangles.
func melWeights(c *call) []any {
	bins, n, rate := c.known(0)[0], c.known(1)[0], c.known(2)[0]
	lo, hi := c.scalar(3, 0), c.scalar(4, 0)
	if bins < 1 || n < 1 || rate < 1 || bins > 1<<20 || n > 1<<24 {
		refuse(tenon.ErrInvalid, "there are no %d mel bins of %d points at %d samples per second", bins, n, rate)
	}
	mel := func(f float64) float64 { return 2595 * math.Log10(1+f/700) }
	rows := n/2 + 1
	at := make([]int, bins+2)
	for i := range at {
		m := mel(lo) + float64(i)*(mel(hi)-mel(lo))/float64(bins+2)
		at[i] = min(max(int(math.Floor(float64(n+1)*700*(math.Pow(10, m/2595)-1)/float64(rate))), 0), rows-1)
	}
	out := make([]float64, rows*bins)
	for i := range bins {
		left, centre, right := at[i], at[i+1], at[i+2]
		if left == centre {
			out[centre*bins+i] = 1
		}
		for j := left; j <= centre && left < centre; j++ {
			out[j*bins+i] = float64(j-left) / float64(centre-left)
		}
		for j := centre; j < right; j++ {
			out[j*bins+i] = float64(right-j) / float64(right-centre)
		}
	}
	return one(ops.Cast(tensor.Wrap(out, shape.Of(rows, bins)), c.dtype("output_datatype", dtype.Float32)))
}

// linearAttention keeps a matrix of keys by values for each head. Each position decays,
// corrects, updates and reads it.
func linearAttention(c *call) []any {
	qh, kh := c.int("q_num_heads", 0), c.int("kv_num_heads", 0)
	q, k, v := heads(c.x(0), qh), heads(c.x(1), kh), heads(c.x(2), kh)
	dt, f := q.DType(), dtype.Float32
	d := dims(q)
	dk, dv := d[3], dims(v)[3]
	rule := c.text("update_rule", "gated_delta")
	gated, delta := rule == "gated" || rule == "gated_delta", rule == "delta" || rule == "gated_delta"
	scale := c.float("scale", 0)
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(dk))
	}
	stateType := dt
	state := ops.Zeros(f, []int{d[0], kh, dk, dv})
	if c.has(3) {
		stateType = c.x(3).DType()
		state = ops.Cast(c.x(3), f)
	}
	first := func(x T) T { return ops.MoveAxis(ops.Cast(x, f), 2, 0) } // [positions, batch, heads, …]
	xs := []T{first(q), first(k), first(v)}
	if gated {
		xs = append(xs, first(heads(c.x(4), kh)))
	}
	if delta {
		beta := c.x(5)
		xs = append(xs, first(heads(beta, dims(beta)[2])))
	}
	end, ys := control.Scan(func(state T, x []T) (T, T) {
		q, k, v := x[0], x[1], x[2]
		if gated {
			state = ops.Mul(state, ops.ExpandDims(ops.Exp(x[3]), -1))
		}
		if delta {
			beta := x[len(x)-1]
			v = ops.Mul(beta, ops.Sub(v, ops.Einsum("bhdm,bhd->bhm", state, k)))
		}
		state = ops.Add(state, ops.Mul(ops.ExpandDims(k, -1), ops.ExpandDims(v, -2)))
		read := state
		if qh > kh {
			read = ops.Repeat(state, qh/kh, 1)
		}
		return state, ops.Mul(ops.Einsum("bhd,bhdm->bhm", q, read), like(scale, q))
	}, state, xs)
	out := together(ops.MoveAxis(ys, 0, 2))
	return []any{ops.Cast(out, dt), ops.Cast(end, stateType)}
}
