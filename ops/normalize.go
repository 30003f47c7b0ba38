package ops

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/reduce"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// LayerNorm returns (x - mean)/√(var + eps)·scale + offset, with the mean and the biased variance
// over the given axes taken together, or over all if none is given (Ba, Kiros and Hinton,
// arXiv:1607.06450). scale and offset have the sizes of these axes; nil stands for 1 and 0.
// Floating-point tensors.
//
//	x: […, n], scale, offset: [n]  →  […, n]
//
// Gradient: with g = ct·scale, h the normalized x and r = 1/√(var + eps), r·(g - mean(g) -
// h·mean(g·h)) for x; Σ ct·h and Σ ct for scale and offset.
func LayerNorm(x, scale, offset any, eps float64, axes ...int) tensor.Tensor {
	return op.Eval(layerNormOp, x, scale, offset, axesAttr(axes), eps)
}

var layerNormOp = op.Register(&op.Op{
	Name: "layer_norm", Statement: op.Statement{Axes: op.Along, Missing: op.Skip}, Doc: "normalizes to mean 0 and variance 1 over axes", Results: 1,
	Params: []op.Param{
		{Name: "x", Group: 1, Takes: op.Floats}, {Name: "scale", Group: 1, Optional: true}, {Name: "offset", Group: 1, Optional: true},
		{Name: "axis", Kind: op.Attr, Type: op.IntsType, Optional: true},
		{Name: "eps", Kind: op.Attr, Type: op.FloatType, Default: 1e-5},
	},
	Shape: normShape,
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		return normKernel(c, 3, rowKernel{
			f32: func(dst []float32, x [][]float32, n int) {
				reduce.LayerNorm(dst, x[0], parameter[float32](c, 1, n), parameter[float32](c, 2, n), n, float32(c.Float(4)), nil, nil)
			},
			f64: func(dst []float64, x [][]float64, n int) {
				reduce.LayerNorm(dst, x[0], parameter[float64](c, 1, n), parameter[float64](c, 2, n), n, c.Float(4), nil, nil)
			},
		})
	},
})

func init() {
	layerNormOp.Batch = func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
		return batchNorm(c, batched, 3, func(x tensor.Tensor, axes []int) tensor.Tensor {
			return op.Eval(layerNormOp, x, nil, nil, axesAttr(axes), c.Float(4))
		})
	}
	layerNormOp.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		return vjpNorm(c, ct[0], 3, layerNormGradOp)
	}
}

// RMSNorm returns x/√(mean(x²) + eps)·scale, with the mean over the given axes taken together, or
// over all if none is given (Zhang and Sennrich, arXiv:1910.07467). scale has the sizes of these
// axes; nil stands for 1. Floating-point tensors.
//
// Gradient: with g = ct·scale, h the normalized x and r = 1/√(mean(x²) + eps), r·(g - h·mean(g·h))
// for x; Σ ct·h for scale.
func RMSNorm(x, scale any, eps float64, axes ...int) tensor.Tensor {
	return op.Eval(rmsNormOp, x, scale, axesAttr(axes), eps)
}

var rmsNormOp = op.Register(&op.Op{
	Name: "rms_norm", Statement: op.Statement{Axes: op.Along, Missing: op.Skip}, GoName: "ops.RMSNorm", Doc: "normalizes to mean square 1 over axes", Results: 1,
	Params: []op.Param{
		{Name: "x", Group: 1, Takes: op.Floats}, {Name: "scale", Group: 1, Optional: true},
		{Name: "axis", Kind: op.Attr, Type: op.IntsType, Optional: true},
		{Name: "eps", Kind: op.Attr, Type: op.FloatType, Default: 1e-5},
	},
	Shape: normShape,
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		return normKernel(c, 2, rowKernel{
			f32: func(dst []float32, x [][]float32, n int) {
				reduce.RMSNorm(dst, x[0], parameter[float32](c, 1, n), n, float32(c.Float(3)), nil)
			},
			f64: func(dst []float64, x [][]float64, n int) {
				reduce.RMSNorm(dst, x[0], parameter[float64](c, 1, n), n, c.Float(3), nil)
			},
		})
	},
})

func init() {
	rmsNormOp.Batch = func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
		return batchNorm(c, batched, 2, func(x tensor.Tensor, axes []int) tensor.Tensor {
			return op.Eval(rmsNormOp, x, nil, axesAttr(axes), c.Float(3))
		})
	}
	rmsNormOp.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		return vjpNorm(c, ct[0], 2, rmsNormGradOp)
	}
}

// normShape returns the shape of x, whose parameters must have the sizes of the
// axes.
func normShape(c *op.Call) (shape.Shape, error) {
	x := c.Tensor(0).Shape()
	axes, known, err := c.SortedAxes(x)
	if err != nil {
		return x, err
	}
	for k := 1; k < c.Op.AxisParam() && known; k++ {
		if !c.Has(k) {
			continue
		}
		dims := make([]int, len(axes))
		for j, a := range axes {
			dims[j] = x.Dim(a)
		}
		if want, got := shape.Of(dims...), c.Tensor(k).Shape(); !got.CompatibleWith(want) {
			return x, c.Errorf(tenon.ErrShape, "%s has shape %v, want the sizes %v of the axes %v", c.Op.Params[k].Name, got, want, axes)
		}
	}
	return x, nil
}

// normKernel normalizes over the axes in parameter i, computing half precision in
// float32.
func normKernel(c *op.Call, i int, k rowKernel) ([]tensor.Tensor, error) {
	if axes := c.Ints(i); len(axes) == 1 {
		out, err := k.along(c, axes[0], c.Dense(0))
		if err != nil {
			return nil, err
		}
		return c.Result(out)
	}
	axes, _, err := c.SortedAxes(c.Dense(0).Shape())
	if err != nil {
		return nil, err
	}
	return c.Result(k.overAxes(axes, c.Dense(0)))
}

// parameter returns the elements of a scale or offset, or nil if it is absent.
func parameter[T float32 | float64](c *op.Call, i, n int) []T {
	p := c.Dense(i)
	if p == nil {
		return nil
	}
	return tensor.Data[T](castDense(p, dtype.Of[T]()))[:n]
}

// batchNorm normalizes a batch without parameters and applies these afterwards,
// since they may have the batch axis themselves.
func batchNorm(c *op.Call, batched []bool, i int, normalize func(x tensor.Tensor, axes []int) tensor.Tensor) ([]tensor.Tensor, error) {
	values := allInFront(c.Values(), batched)
	rank, err := batchRank(c, values[0])
	if err != nil {
		return nil, err
	}
	axes := shiftAxes(c.Ints(i), rank)
	y := normalize(values[0], axes)
	k := 1
	for p := 1; p < i; p++ {
		if !c.Has(p) {
			continue
		}
		v := ExpandDims(values[k], complement(append([]int{0}, axes...), rank)...)
		k++
		if p == 1 {
			y = Mul(y, v)
		} else {
			y = Add(y, v)
		}
	}
	return c.Result(y)
}

// complement returns the axes that are not listed.
func complement(axes []int, rank int) []int {
	out := []int{}
	for i := range rank {
		if !contains(axes, i, rank) {
			out = append(out, i)
		}
	}
	return out
}

// vjpNorm is the VJP of a normalization with its axes in parameter i, and eps in the next one.
func vjpNorm(c *op.Call, ct tensor.Tensor, i int, grad *op.Op) []tensor.Tensor {
	x, axes, eps := c.Tensor(0), c.Ints(i), c.Float(i+1)
	var rest []int // the other axes; nil if there are none
	if axes != nil {
		rest = complement(axes, rankOf(c, x))
	}
	over := func(t tensor.Tensor) tensor.Tensor {
		if len(rest) == 0 {
			return t
		}
		return Sum(t, rest...)
	}
	g := ct
	var parameters []tensor.Tensor
	if s := c.Tensor(1); s != nil {
		h := Mul(ct, op.Eval(c.Op, append([]any{x}, append(make([]any, i-1), axes, eps)...)...))
		parameters = append(parameters, over(h))
		if len(rest) > 0 {
			s = ExpandDims(s, rest...)
		}
		g = Mul(ct, s)
	}
	if i > 2 && c.Has(2) {
		parameters = append(parameters, over(ct))
	}
	return append([]tensor.Tensor{op.Eval(grad, x, g, axes, eps)}, parameters...)
}

var layerNormGradOp = normGrad("layer_norm_grad", "gradient of the layer norm", true, func(eps float64) rowKernel {
	return rowKernel{
		f32: func(dst []float32, x [][]float32, n int) { layerNormGradRows(dst, x, n, float32(eps)) },
		f64: func(dst []float64, x [][]float64, n int) { layerNormGradRows(dst, x, n, eps) },
	}
})

var rmsNormGradOp = normGrad("rms_norm_grad", "gradient of the root mean square norm", false, func(eps float64) rowKernel {
	return rowKernel{
		f32: func(dst []float32, x [][]float32, n int) { rmsNormGradRows(dst, x, n, float32(eps)) },
		f64: func(dst []float64, x [][]float64, n int) { rmsNormGradRows(dst, x, n, eps) },
	}
})

func layerNormGradRows[T float32 | float64](dst []T, x [][]T, n int, eps T) {
	rows := len(dst) / n
	mean, rstd := make([]T, rows), make([]T, rows)
	reduce.LayerNorm(dst, x[0], nil, nil, n, eps, mean, rstd) // dst is overwritten below
	reduce.LayerNormGrad(dst, nil, nil, x[0], nil, x[1], n, mean, rstd)
}

func rmsNormGradRows[T float32 | float64](dst []T, x [][]T, n int, eps T) {
	rstd := make([]T, len(dst)/n)
	reduce.RMSNorm(dst, x[0], nil, n, eps, rstd)
	reduce.RMSNormGrad(dst, nil, x[0], nil, x[1], n, rstd)
}

// normGrad registers the gradient of a normalization without parameters, for the operand x and the
// cotangent g.
//
// As a function of g it is linear and symmetric. As a function of x, with the cotangent u, r =
// 1/√(var + eps), h the normalized x, b = mean(u·h), c = mean(g·h): its gradient is that of the
// normalization for the cotangent -r·(c·u + b·g), and through r itself -(Σu·g - n·mean(u)·mean(g) -
// n·b·c)·r²·h/n, where the means of u and g count only if x is centered.
func normGrad(name, doc string, centred bool, kernel func(eps float64) rowKernel) *op.Op {
	o := op.Register(&op.Op{
		Name: name, Statement: op.Statement{Axes: op.Along, Missing: op.Refuse, Zero: op.Zero{Linear: []op.Operands{two}}}, Doc: doc, Results: 1,
		Params: []op.Param{
			{Name: "x", Group: 1, Takes: op.Floats}, {Name: "g", Group: 1},
			{Name: "axis", Kind: op.Attr, Type: op.IntsType, Optional: true},
			{Name: "eps", Kind: op.Attr, Type: op.FloatType, Default: 1e-5},
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			axes, _, err := c.SortedAxes(c.Dense(0).Shape())
			if err != nil {
				return nil, err
			}
			return c.Result(kernel(c.Float(3)).overAxes(axes, c.Dense(0), c.Dense(1)))
		},
	})
	o.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		x, g, u := c.Tensor(0), c.Tensor(1), ct[0]
		axes, eps := c.Ints(2), c.Float(3)
		mean := func(t tensor.Tensor) tensor.Tensor { return op.Eval(meanOp, t, axes, true) }
		h := x
		if centred {
			h = Sub(x, mean(x))
		}
		r := Rsqrt(Add(mean(Square(h)), eps))
		h = Mul(h, r)
		b, k := mean(Mul(u, h)), mean(Mul(g, h))
		q := Neg(Mul(r, Add(Mul(k, u), Mul(b, g))))
		a := mean(Mul(u, g))
		if centred {
			a = Sub(a, Mul(mean(u), mean(g)))
		}
		through := Mul(Mul(Sub(a, Mul(b, k)), Square(r)), h)
		return []tensor.Tensor{Sub(op.Eval(o, x, q, axes, eps), through), op.Eval(o, x, u, axes, eps)}
	}
	return o
}
