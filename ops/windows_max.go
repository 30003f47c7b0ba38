package ops

import (
	"math"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/internal/kernel/reduce"
	"github.com/tenonml/tenon/internal/kernel/window"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// MaxWindows returns the largest element of each window along consecutive axes of positions,
// starting with the given axis. It is [Max] over the elements of [Windows], computed without making
// the array of windows. Elements beyond the ends do not count: o.Fill is not used, and a window
// that lies beyond the ends has the lowest value of the type.
//
//	x: […, n, m, a], two axes of positions → […, windows along n, along m, a]
//
// Real numbers. Gradient: ct, shared equally among the largest elements of each window.
func MaxWindows(x any, axis int, o WindowOptions) tensor.Tensor {
	return op.Eval(maxWindowsOp, x, axis, o.Size, attr(o.Stride), attr(o.Dilation), attr(o.Before), attr(o.After), o.Same)
}

var maxWindowsOp, maxWindowsGradOp *op.Op

// windowed returns the windows of a tensor of shape s whose settings start at argument i, as a
// convolution of features that stay apart, and the shape of values for each window. It returns nil
// if the rank is not known.
func windowed(c *op.Call, i int, s shape.Shape) (*window.Convolution, shape.Shape, error) {
	if !s.HasRank() {
		return nil, s, nil
	}
	n := len(c.Ints(i + 1))
	at, err := windowsAt(c, i, s.Rank(), 1)
	if err != nil {
		return nil, s, err
	}
	dims := s.Dims()
	axes, err := windowAxes(c, i, dims[at:at+n])
	if err != nil {
		return nil, s, err
	}
	windows := slices.Clone(dims)
	for k, a := range axes {
		windows[at+k] = a.Out
	}
	return &window.Convolution{Axes: axes, Items: product(dims[:at]), Features: product(dims[at+n:])}, shape.Of(windows...), nil
}

func init() {
	const why = "each axis of positions becomes one of windows"
	maxWindowsOp = op.Register(&op.Op{
		Name: "max_windows", Statement: opaque(why), Doc: "The largest elements of the windows that slide along axes.", Results: 1,
		Params: append(unaryOf(op.Reals), windowParams()...),
		Shape: func(c *op.Call) (shape.Shape, error) {
			_, s, err := windowed(c, 1, c.Tensor(0).Shape())
			return s, err
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			x := tensor.Contiguous(c.Dense(0))
			w, s, err := windowed(c, 1, x.Shape())
			if err != nil {
				return nil, err
			}
			out := tensor.Uninit(x.DType(), s)
			if out.Len() == 0 {
				return c.Result(out)
			}
			reduce.Of(reduce.Max, x.DType())(out.Raw(), x.Raw(), 1, 0, out.Len()) // the largest of none
			if x.Len() > 0 {
				window.Greatest(*w, out.Bytes(), x.Bytes(), x.DType().Size(), elementwise.BinaryOf(elementwise.Maximum, x.DType(), elementwise.VV))
			}
			return c.Result(out)
		},
		Batch: func(c *op.Call, _ []bool) ([]tensor.Tensor, error) {
			return c.WithArg(1, shiftAxis(c.Int(1))).DoTensors()
		},
	})
	maxWindowsGradOp = op.Register(&op.Op{
		Name: "max_windows_grad", GoName: "ops.MaxWindows", Statement: opaque(why), Doc: "Cotangents of windows, shared among their largest elements.", Results: 1,
		Params: append([]op.Param{{Name: "x", Group: 1, Takes: op.Floats}, {Name: "y", Group: 1}, {Name: "ct", Group: 1}}, windowParams()...),
		Shape: func(c *op.Call) (shape.Shape, error) {
			x := c.Tensor(0).Shape()
			_, s, err := windowed(c, 3, x)
			for i := 1; i <= 2 && err == nil; i++ {
				if own := c.Tensor(i).Shape(); !own.CompatibleWith(s) {
					err = c.Errorf(tenon.ErrShape, "%s is %v, want %v, an element for each window of %v", c.Op.Params[i].Name, own, s, x)
				}
			}
			return x, err
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			x := c.Dense(0)
			w, _, err := windowed(c, 3, x.Shape())
			if err != nil {
				return nil, err
			}
			return c.Result(sharedGreatest(*w, x, c.Dense(1), c.Dense(2)))
		},
		Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
			if slices.Contains(batched[:3], false) {
				return nil, op.NotHandled
			}
			return c.WithArg(3, shiftAxis(c.Int(3))).DoTensors()
		},
	})
	maxWindowsOp.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		x := c.Tensor(0)
		g := op.Eval(maxWindowsGradOp, append([]any{x, out[0], ct[0]}, c.Args[1:]...)...)
		return []tensor.Tensor{known(g, x.Shape())}
	}
	// The operation is linear in the cotangents. A NaN beyond the ends equals nothing.
	maxWindowsGradOp.VJP = func(c *op.Call, _, h []tensor.Tensor) []tensor.Tensor {
		x, y := c.Tensor(0), c.Tensor(1)
		n, rank := len(c.Ints(4)), rankOf(c, x)
		at, err := windowsAt(c, 3, rank, 1)
		tenon.Throw(err)
		elements := make([]int, n)
		for i := range elements {
			elements[i] = at + n + i
		}
		windows := func(x tensor.Tensor, fill float64) tensor.Tensor {
			return op.Eval(windowsOp, slices.Concat([]any{x}, c.Args[3:], []any{fill})...)
		}
		is := Equal(windows(x, math.NaN()), ExpandDims(y, elements...))
		sum := Sum(Where(is, windows(h[0], 0), zeroOf(x.DType())), elements...)
		count := Sum(Cast(is, x.DType()), elements...)
		return []tensor.Tensor{nil, nil, known(Div(sum, Maximum(count, 1)), y.Shape())}
	}
}

// sharedGreatest is the kernel of max_windows_grad.
func sharedGreatest(w window.Convolution, x, y, ct *tensor.Dense) *tensor.Dense {
	d := x.DType()
	if d.Size() == 2 {
		return castDense(sharedGreatest(w, castDense(x, dtype.Float32), castDense(y, dtype.Float32), castDense(ct, dtype.Float32)), d)
	}
	x, y, ct = tensor.Contiguous(x), tensor.Contiguous(y), tensor.Contiguous(ct)
	if x.Len() == 0 || y.Len() == 0 {
		return tensor.NewDense(d, x.Shape())
	}
	dx := tensor.Uninit(d, x.Shape())
	if d == dtype.Float32 {
		window.ShareGreatest(w, tensor.Elems[float32](dx), tensor.Elems[float32](x), tensor.Elems[float32](y), tensor.Elems[float32](ct))
	} else {
		window.ShareGreatest(w, tensor.Elems[float64](dx), tensor.Elems[float64](x), tensor.Elems[float64](y), tensor.Elems[float64](ct))
	}
	return dx
}
