package onnx

import (
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A tap is an element that contributes to a result.
type tap struct {
	at     int
	weight float64
}

// A resizing says how one axis is resized.
type resizing struct {
	in, out       int
	scale         float64
	mode          string // nearest, linear, cubic
	coordinates   string
	nearest       string
	antialias     bool
	exclude       bool
	cubic         float64
	from, to      float64 // the region of interest, as fractions of the axis
	extrapolation float64
}

// source returns the coordinate among the elements of the axis that result i is read from.
func (r *resizing) source(i int) (x float64, outside bool) {
	y, width := float64(i), r.scale*float64(r.in)
	last := float64(r.in - 1)
	switch r.coordinates {
	case "align_corners":
		if width == 1 {
			return 0, false
		}
		return y * last / (width - 1), false
	case "asymmetric":
		return y / r.scale, false
	case "tf_crop_and_resize":
		if width == 1 {
			x = (r.to - r.from) * last / 2
		} else {
			x = y * (r.to - r.from) * last / (width - 1)
		}
		x += r.from * last
		return x, x < 0 || x > last
	case "pytorch_half_pixel":
		if width == 1 {
			return -0.5, false
		}
	case "half_pixel_symmetric":
		offset := float64(r.in) / 2 * (1 - float64(r.out)/width)
		return offset + (y+0.5)/r.scale - 0.5, false
	case "half_pixel":
	default:
		refuse(tenon.ErrUnsupported, "there is no coordinate mode %q", r.coordinates)
	}
	return (y+0.5)/r.scale - 0.5, false
}

// kernel is the weight of an element at a distance.
func (r *resizing) kernel(x float64) float64 {
	x = math.Abs(x)
	if r.mode == "linear" {
		return max(0, 1-x)
	}
	a := r.cubic
	switch {
	case x <= 1:
		return (a+2)*x*x*x - (a+3)*x*x + 1
	case x < 2:
		return a*x*x*x - 5*a*x*x + 8*a*x - 4*a
	}
	return 0
}

// taps returns the elements that contribute to result i.
func (r *resizing) taps(i int) (list []tap, outside bool) {
	x, outside := r.source(i)
	if r.mode == "nearest" {
		return []tap{{min(max(r.rounded(x), 0), r.in-1), 1}}, outside
	}
	reach, stretch := 1, 1.0
	if r.mode == "cubic" {
		reach = 2
	}
	if r.antialias {
		stretch = min(r.scale, 1)
	}
	wide := int(math.Ceil(float64(reach) / stretch))
	base := int(math.Floor(x))
	sum := 0.0
	for k := base - wide + 1; k <= base+wide; k++ {
		w := r.kernel((float64(k) - x) * stretch)
		if r.exclude && (k < 0 || k >= r.in) {
			w = 0
		}
		sum += w
		list = append(list, tap{min(max(k, 0), r.in-1), w})
	}
	if sum != 0 && (r.antialias || r.exclude) {
		for k := range list {
			list[k].weight /= sum
		}
	}
	return list, outside
}

func (r *resizing) rounded(x float64) int {
	switch r.nearest {
	case "floor":
		return int(math.Floor(x))
	case "ceil":
		return int(math.Ceil(x))
	case "round_prefer_ceil":
		return int(math.Floor(x + 0.5))
	default:
		return int(math.Ceil(x - 0.5))
	}
}

// along resizes x along an axis.
func (r *resizing) along(x T, axis int) T {
	if r.out == 0 || r.in == 0 || r.out > 1<<28 {
		refuse(tenon.ErrShape, "%d elements cannot be resized to %d", r.in, r.out)
	}
	each := 0
	var at []int64
	var weights []float64
	mask, some := make([]bool, r.out), false
	for i := range r.out {
		list, outside := r.taps(i)
		each = len(list)
		mask[i], some = outside, some || outside
		for _, t := range list {
			at, weights = append(at, int64(t.at)), append(weights, t.weight)
		}
	}
	sides := func(t T) T { // along the axis
		s := ones(rank(x) - axis)
		s[0] = r.out
		return ops.Reshape(t, s)
	}
	var y T
	if each == 1 {
		y = ops.Gather(x, tensor.Of(at, len(at)), axis)
	} else {
		y = nil
		for k := range each {
			part, w := make([]int64, r.out), make([]float64, r.out)
			for i := range part {
				part[i], w[i] = at[i*each+k], weights[i*each+k]
			}
			term := ops.Mul(ops.Gather(x, tensor.Of(part, r.out), axis), sides(ops.Cast(tensor.Of(w, r.out), x.DType())))
			if y == nil {
				y = term
			} else {
				y = ops.Add(y, term)
			}
		}
	}
	if some {
		y = ops.Where(sides(tensor.Of(mask, r.out)), like(r.extrapolation, y), y)
	}
	return y
}

// resize resamples along axes. Sizes and scales must be known.
func resize(c *call) []any {
	x := c.x(0)
	n := rank(x)
	d := dims(x)
	var roi, scales []float64
	var sizes []int
	switch {
	case c.n.op == "Upsample" && len(c.in) > 1:
		scales = c.floats(1)
	case c.n.op == "Upsample" || c.opset < 11 && len(c.in) < 3:
		if len(c.in) > 1 {
			scales = c.floats(1)
		} else if a := c.attr("scales"); a != nil {
			for _, f := range a.floats {
				scales = append(scales, float64(f))
			}
		}
	default:
		if c.has(1) {
			roi = c.floats(1)
		}
		if c.has(2) {
			scales = c.floats(2)
		}
		if c.has(3) {
			sizes = c.known(3)
		}
	}
	axes := c.ints("axes")
	if axes == nil {
		axes = upTo(n)
	}
	if len(sizes) == 0 && len(scales) != len(axes) || len(sizes) != 0 && len(sizes) != len(axes) {
		refuse(tenon.ErrInvalid, "%d sizes and %d scales for %d axes", len(sizes), len(scales), len(axes))
	}
	coordinates := "half_pixel"
	if c.n.op == "Upsample" || c.opset < 11 {
		coordinates = "asymmetric"
	}
	base := resizing{mode: c.text("mode", "nearest"), coordinates: c.text("coordinate_transformation_mode", coordinates),
		nearest: c.text("nearest_mode", "round_prefer_floor"), antialias: c.flag("antialias"), exclude: c.flag("exclude_outside"),
		cubic: c.float("cubic_coeff_a", -0.75), extrapolation: c.float("extrapolation_value", 0)}
	if c.n.op == "Upsample" || c.opset < 11 {
		base.nearest = "floor"
	}
	out, scale := make([]int, len(axes)), make([]float64, len(axes))
	for i, a := range axes {
		if sizes != nil {
			out[i], scale[i] = sizes[i], float64(sizes[i])/float64(d[axis(a, n)])
		} else {
			scale[i] = scales[i]
			out[i] = int(math.Floor(scale[i] * float64(d[axis(a, n)])))
		}
	}
	if policy := c.text("keep_aspect_ratio_policy", "stretch"); policy != "stretch" && sizes != nil {
		s := scale[0]
		for _, t := range scale[1:] {
			if policy == "not_larger" {
				s = min(s, t)
			} else {
				s = max(s, t)
			}
		}
		for i, a := range axes {
			scale[i], out[i] = s, int(math.Floor(s*float64(d[axis(a, n)])+0.5))
		}
	}
	dt := x.DType()
	if base.mode != "nearest" && !dt.IsFloat() {
		x = ops.Cast(x, dtype.Float32)
	}
	if base.mode == "bilinear" {
		base.mode = "linear"
	}
	for i, a := range axes {
		r := base
		k := axis(a, n)
		r.in, r.out, r.scale, r.from, r.to = d[k], out[i], scale[i], 0, 1
		if len(roi) == 2*len(axes) {
			r.from, r.to = roi[i], roi[len(axes)+i]
		}
		if r.in == r.out && r.scale == 1 && r.from == 0 && r.to == 1 {
			continue
		}
		x = r.along(x, k)
	}
	return one(ops.Cast(x, dt))
}

// affineGrid returns the coordinates to which an affine map sends those of an image.
func affineGrid(c *call) []any {
	theta := c.x(0)
	sizes := c.known(1)
	space := sizes[2:]
	align := c.flag("align_corners")
	// Coordinates are in the order x, y, z; x is along the last axis.
	var parts []any
	for i := len(space) - 1; i >= 0; i-- {
		n := space[i]
		line := make([]float64, n)
		for k := range line {
			if align {
				if n > 1 {
					line[k] = -1 + 2*float64(k)/float64(n-1)
				}
			} else {
				line[k] = -1 + (2*float64(k)+1)/float64(n)
			}
		}
		s := ones(len(space))
		s[i] = n
		parts = append(parts, ops.BroadcastTo(ops.Cast(ops.Reshape(tensor.Of(line, n), s), theta.DType()), space))
	}
	parts = append(parts, ops.Ones(theta.DType(), space))
	grid := ops.Reshape(ops.Stack(parts, -1), []int{-1, len(space) + 1})
	out := ops.MatMulT(ops.ExpandDims(grid, 0), theta, false, true)
	return one(ops.Reshape(out, append(append([]int{sizes[0]}, space...), len(space))))
}

// gridSample samples an image at the coordinates of a grid, which are between -1 and 1 along
// each axis.
func gridSample(c *call) []any {
	x, grid := c.x(0), c.x(1)
	d := dims(x)
	space := d[2:]
	mode := c.text("mode", "linear")
	align, padding := c.flag("align_corners"), c.text("padding_mode", "zeros")
	type choice struct{ at, weight, valid T }
	all := make([][]choice, len(space))
	for i, n := range space {
		g := ops.Index(grid, key.Ellipsis, len(space)-1-i) // the last axis is first
		half, last := like(0.5, g), float64(n-1)
		lo, hi := 0.0, last
		var p T
		if align {
			p = ops.Mul(ops.Mul(ops.Add(g, like(1, g)), half), like(last, g))
		} else {
			p = ops.Mul(ops.Sub(ops.Mul(ops.Add(g, like(1, g)), like(float64(n), g)), like(1, g)), half)
			lo, hi = -0.5, last+0.5
		}
		if mode == "nearest" {
			p = ops.Round(p)
		}
		place := func(p T) (T, T) {
			valid := ops.LogicalAnd(ops.GreaterEqual(p, like(0, p)), ops.LessEqual(p, like(last, p)))
			switch padding {
			case "border":
				p = ops.Clip(p, like(0, p), like(last, p))
			case "reflection":
				p = ops.Clip(reflected(p, lo, hi), like(0, p), like(last, p))
			default:
				p = ops.Where(valid, p, ops.ZerosLike(p))
				return ops.Cast(p, dtype.Int64), valid
			}
			return ops.Cast(p, dtype.Int64), nil
		}
		base := ops.Floor(p)
		frac := ops.Sub(p, base)
		r := resizing{mode: "linear", cubic: -0.75}
		from, to := 0, 1
		switch mode {
		case "nearest":
			to = 0
		case "cubic", "bicubic":
			r.mode, from, to = "cubic", -1, 2
		}
		for k := from; k <= to; k++ {
			at, valid := place(ops.Add(base, like(float64(k), base)))
			w := ops.OnesLike(frac)
			if mode != "nearest" {
				w = r.weight(ops.Abs(ops.Sub(frac, like(float64(k), frac))))
			}
			all[i] = append(all[i], choice{at, w, valid})
		}
	}
	// The sum over all combinations of one element along each axis.
	flat := ops.Reshape(x, []int{d[0], d[1], -1})
	var out T
	var walk func(axis int, at, w, valid T)
	walk = func(axis int, at, w, valid T) {
		if axis == len(space) {
			s := dims(at)
			count := shape.Of(s[1:]...).Size()
			index := ops.BroadcastTo(ops.Reshape(at, []int{s[0], 1, count}), []int{d[0], d[1], count})
			v := ops.Reshape(ops.TakeAlongAxis(flat, index, 2), append([]int{d[0], d[1]}, s[1:]...))
			if valid != nil {
				v = ops.Where(ops.ExpandDims(valid, 1), v, ops.ZerosLike(v))
			}
			v = ops.Mul(v, ops.ExpandDims(ops.Cast(w, v.DType()), 1))
			if out == nil {
				out = v
			} else {
				out = ops.Add(out, v)
			}
			return
		}
		for _, k := range all[axis] {
			a, u, ok := k.at, k.weight, k.valid
			if at != nil {
				a, u = ops.Add(ops.Mul(at, int64(space[axis])), a), ops.Mul(w, u)
				if ok != nil {
					ok = ops.LogicalAnd(valid, ok)
				}
			}
			walk(axis+1, a, u, ok)
		}
	}
	walk(0, nil, nil, nil)
	return one(out)
}

// weight is kernel for tensors of distances.
func (r *resizing) weight(x T) T {
	n := func(v float64) T { return like(v, x) }
	if r.mode == "linear" {
		return ops.Maximum(n(0), ops.Sub(n(1), x))
	}
	a, x2 := r.cubic, ops.Square(x)
	x3 := ops.Mul(x2, x)
	near := ops.Add(ops.Sub(ops.Mul(x3, n(a+2)), ops.Mul(x2, n(a+3))), n(1))
	far := ops.Sub(ops.Add(ops.Sub(ops.Mul(x3, n(a)), ops.Mul(x2, n(5*a))), ops.Mul(x, n(8*a))), n(4*a))
	return ops.Where(ops.LessEqual(x, n(1)), near, ops.Where(ops.Less(x, n(2)), far, ops.ZerosLike(x)))
}

// reflected reflects numbers at two borders until they lie between them.
func reflected(p T, lo, hi float64) T {
	n := hi - lo
	if n <= 0 {
		return ops.ZerosLike(p)
	}
	period := like(2*n, p)
	m := ops.Mod(ops.Sub(p, like(lo, p)), period)
	m = ops.Where(ops.Greater(m, like(n, p)), ops.Sub(period, m), m)
	return ops.Add(m, like(lo, p))
}

// col2im adds up windows to an image.
func col2im(c *call) []any {
	x := c.x(0)
	sizes, block := c.known(1), c.known(2)
	n := len(block)
	o := ops.WindowOptions{Size: block, Stride: c.ints("strides"), Dilation: c.ints("dilations")}
	pads := c.ints("pads")
	if pads == nil {
		pads = make([]int, 2*n)
	}
	if o.Stride == nil {
		o.Stride = ones(n)
	}
	if o.Dilation == nil {
		o.Dilation = ones(n)
	}
	o.Before, o.After = pads[:n], pads[n:]
	d := dims(x)
	count := shape.Of(block...).Size()
	s := append([]int{d[0], d[1] / count}, block...)
	for i := range block {
		s = append(s, (sizes[i]+pads[i]+pads[n+i]-(block[i]-1)*o.Dilation[i]-1)/o.Stride[i]+1)
	}
	perm := []int{0, 1}
	for i := range n {
		perm = append(perm, 2+n+i)
	}
	for i := range n {
		perm = append(perm, 2+i)
	}
	windows := ops.Transpose(ops.Reshape(x, s), perm...)
	return one(ops.FoldWindows(windows, sizes, 2, o))
}
