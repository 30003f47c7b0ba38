package onnx

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
)

// trailing returns the axes of parameter i of a call, and whether they are the last axes of x.
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

// besideAxes reshapes v, which has the sizes of some axes of x, so that it broadcasts along
// these axes.
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

// inSingle computes float16 in 32 bits.
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

// normalisedBy divides x by its root mean square, or, if centred, its differences from the mean by
// theirs.
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
