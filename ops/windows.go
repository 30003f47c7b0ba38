package ops

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/window"
	"github.com/tenonml/tenon/internal/par"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// WindowOptions says how windows slide along axes of positions. Lists have an entry for each axis.
type WindowOptions struct {
	Size          []int // number of elements of a window
	Stride        []int // steps between windows; nil means 1
	Dilation      []int // steps between elements of a window; nil means 1
	Before, After []int // how far windows reach beyond the first and last position; nil means 0

	// Same lets windows reach beyond both ends so that there are ⌈positions/stride⌉ of them, with
	// an odd element at the end. It replaces Before and After.
	Same bool

	Fill float64 // the value of elements beyond the ends
}

// Windows returns the windows along consecutive axes of positions, starting with the given axis:
// element k of window o is at position o·stride + k·dilation - before.
//
//	x: […, n, m, a], two axes of positions → […, windows along n, along m, elements along n, along m, a]
//
// Numbers and booleans. Gradient: [FoldWindows] of the cotangent.
func Windows(x any, axis int, o WindowOptions) tensor.Tensor {
	return op.Eval(windowsOp, x, axis, o.Size, attr(o.Stride), attr(o.Dilation), attr(o.Before), attr(o.After), o.Same, o.Fill)
}

// FoldWindows adds windows up again: each of sizes positions gets the sum of the window elements
// there. Elements beyond the ends are dropped. It is the transpose of [Windows] as a linear map,
// and serves to build transposed convolutions.
//
//	x: […, o, p, k, l, a] for two axes, sizes: int[2], n and m → […, n, m, a], numbers
//
// There may be fewer windows than fit. Gradient: [Windows] of the cotangent.
func FoldWindows(x, sizes any, axis int, o WindowOptions) tensor.Tensor {
	return op.Eval(foldWindowsOp, x, sizes, axis, o.Size, attr(o.Stride), attr(o.Dilation), attr(o.Before), attr(o.After), o.Same)
}

// attr returns a list as an attribute that may be omitted.
func attr(list []int) any {
	if list == nil {
		return nil
	}
	return list
}

var windowsOp, foldWindowsOp *op.Op

// windowParams are the settings of windows along axes.
func windowParams() []op.Param {
	return []op.Param{
		{Name: "axis", Kind: op.Attr, Type: op.IntType},
		{Name: "size", Kind: op.Attr, Type: op.IntsType},
		{Name: "stride", Kind: op.Attr, Type: op.IntsType, Optional: true},
		{Name: "dilation", Kind: op.Attr, Type: op.IntsType, Optional: true},
		{Name: "before", Kind: op.Attr, Type: op.IntsType, Optional: true},
		{Name: "after", Kind: op.Attr, Type: op.IntsType, Optional: true},
		{Name: "same", Kind: op.Attr, Type: op.BoolType, Default: false},
	}
}

func init() {
	windowsOp = op.Register(&op.Op{
		Name: "windows", Statement: opaque("each axis of positions becomes one of windows and one of their elements"), Doc: "The windows that slide along axes.", Results: 1,
		Params: append(append(unaryOf(op.NumbersBools), windowParams()...), op.Param{Name: "fill", Kind: op.Attr, Type: op.FloatType, Default: 0.0}),
		Shape: func(c *op.Call) (shape.Shape, error) {
			s := c.Tensor(0).Shape()
			if !s.HasRank() {
				return s, nil
			}
			at, err := windowsAt(c, 1, s.Rank(), 1)
			if err != nil {
				return s, err
			}
			dims := s.Dims()
			axes, err := windowAxes(c, 1, dims[at:at+len(c.Ints(2))])
			if err != nil {
				return s, err
			}
			var windows, elements []int
			for _, a := range axes {
				windows, elements = append(windows, a.Out), append(elements, a.Size)
			}
			return shape.Of(slices.Concat(dims[:at], windows, elements, dims[at+len(axes):])...), nil
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			x := tensor.Contiguous(c.Dense(0))
			out := tensor.Uninit(x.DType(), outShape(c, 0))
			dims := x.Shape().Dims()
			at, _ := windowsAt(c, 1, len(dims), 1)
			axes, err := windowAxes(c, 1, dims[at:at+len(c.Ints(2))])
			if err != nil || out.Len() == 0 {
				return []tensor.Tensor{out}, err
			}
			unit := product(dims[at+len(axes):]) * x.DType().Size()
			dst, src := out.Bytes(), x.Bytes()
			if !window.Inside(axes) {
				fill(dst, castDense(tensor.Of([]float64{c.Float(8)}).(*tensor.Dense), x.DType()).Bytes())
			}
			positions, windows, elements := counts(axes)
			// Parts are windows of one item; a part is large enough to be worth handing to a
			// worker.
			items := product(dims[:at])
			grain := max(1, (64<<10)/max(1, elements*unit))
			par.For(items*windows, grain, func(lo, hi int) {
				for lo < hi {
					i, from := lo/windows, lo%windows
					to := min(windows, from+hi-lo)
					d, s := dst[i*windows*elements*unit:], src[i*positions*unit:]
					window.Each(axes, from, to, func(at, from, n int) { copy(d[at*unit:(at+n)*unit], s[from*unit:]) })
					lo += to - from
				}
			})
			return c.Result(out)
		},
		Batch: func(c *op.Call, _ []bool) ([]tensor.Tensor, error) {
			return c.WithArg(1, shiftAxis(c.Int(1))).DoTensors()
		},
	})
	foldWindowsOp = op.Register(&op.Op{
		Name: "fold_windows", Statement: opaque("axes of windows and of their elements become axes of positions"), Doc: "The sums of the windows' elements at each position.", Results: 1,
		Params: append(append(unaryOf(op.Numbers), sizesParam("sizes")), windowParams()...),
		Shape: func(c *op.Call) (shape.Shape, error) {
			s, n := c.Tensor(0).Shape(), len(c.Ints(3))
			dims, count := sizes(c, 1)
			if count >= 0 && count != n {
				return s, c.Errorf(tenon.ErrShape, "sizes has %d entries for %d axes", count, n)
			}
			if !s.HasRank() {
				return s, nil
			}
			at, err := windowsAt(c, 2, s.Rank(), 2)
			if err != nil {
				return s, err
			}
			if dims == nil {
				dims = slices.Repeat([]int{shape.Unknown}, n)
			}
			for _, d := range dims {
				if d < 0 && d != shape.Unknown {
					return s, c.Errorf(tenon.ErrShape, "there are no %d positions", d)
				}
			}
			axes, err := windowAxes(c, 2, dims)
			if err != nil {
				return s, err
			}
			own := s.Dims()
			for i, a := range axes {
				if o, k := own[at+i], own[at+n+i]; k >= 0 && k != a.Size || o >= 0 && a.Out >= 0 && o > a.Out {
					return s, c.Errorf(tenon.ErrShape, "axis %d has %d windows of %d elements, and %d positions have %d windows of %d", i, o, k, a.In, a.Out, a.Size)
				}
			}
			return shape.Of(slices.Concat(own[:at], dims, own[at+2*n:])...), nil
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			out := outShape(c, 0)
			dims := out.Dims()
			own := c.Dense(0).Shape().Dims()
			at, _ := windowsAt(c, 2, len(own), 2)
			n := len(c.Ints(3))
			axes, err := windowAxes(c, 2, dims[at:at+n])
			if err != nil {
				return nil, err
			}
			for i := range axes {
				axes[i].Out = own[at+i]
			}
			return c.Result(folded(tensor.Contiguous(c.Dense(0)), out, axes, product(dims[:at]), product(dims[at+n:])))
		},
		Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
			if batched[1] {
				return nil, op.NotHandled
			}
			return c.WithArg(2, shiftAxis(c.Int(2))).DoTensors()
		},
	})
	windowsOp.VJP = func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
		x := c.Tensor(0)
		n, rank := len(c.Ints(2)), rankOf(c, x)
		at, err := windowsAt(c, 1, rank, 1)
		tenon.Throw(err)
		sizes := Slice(Shape(x), []int{at}, []int{n})
		g := op.Eval(foldWindowsOp, append([]any{ct[0], sizes, at}, c.Args[2:8]...)...)
		return []tensor.Tensor{known(g, x.Shape())}
	}
	foldWindowsOp.VJP = func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
		x := c.Tensor(0)
		rank := rankOf(c, x)
		at, err := windowsAt(c, 2, rank, 2)
		tenon.Throw(err)
		g := op.Eval(windowsOp, append([]any{ct[0], at}, c.Args[3:9]...)...)
		return []tensor.Tensor{cutTo(g, x), nil}
	}
}

// windowsAt returns the axis, counted from the start, of windows whose settings start at argument
// i. Each window axis takes each axes of the operand.
func windowsAt(c *op.Call, i, rank, each int) (int, error) {
	n, at := len(c.Ints(i+1)), c.Int(i)
	if at < 0 {
		at += rank
	}
	if n == 0 || at < 0 || at+each*n > rank {
		return 0, c.Errorf(tenon.ErrAxis, "a tensor of rank %d has no %d axes from %d on", rank, each*n, c.Int(i))
	}
	return at, nil
}

// windowAxes returns how windows slide along axes of the given sizes, which may be unknown.
func windowAxes(c *op.Call, i int, dims []int) ([]window.Axis, error) {
	return windowAxesOf(c, c.Ints(i+1), i+2, dims)
}

// windowAxesOf is windowAxes for windows of the given sizes, whose other settings start at argument
// i. If a size is not known, neither is the number of windows.
func windowAxesOf(c *op.Call, size []int, i int, dims []int) ([]window.Axis, error) {
	lists := make([][]int, 4)
	for k := range lists {
		lists[k] = slices.Repeat([]int{[]int{1, 1, 0, 0}[k]}, len(size))
		if c.Has(i + k) {
			lists[k] = c.Ints(i + k)
		}
		if len(lists[k]) != len(size) {
			return nil, c.Errorf(tenon.ErrInvalid, "%s has %d entries for %d axes", c.Op.Params[i+k].Name, len(lists[k]), len(size))
		}
	}
	axes := make([]window.Axis, len(size))
	for k := range axes {
		stride, dilation, before, after := lists[0][k], lists[1][k], lists[2][k], lists[3][k]
		if size[k] < 1 && size[k] != shape.Unknown || stride < 1 || dilation < 1 || before < 0 || after < 0 {
			return nil, c.Errorf(tenon.ErrInvalid, "axis %d has windows of %d elements, stride %d, dilation %d, reaching %d and %d beyond the ends", k, size[k], stride, dilation, before, after)
		}
		reach, n := (size[k]-1)*dilation+1, dims[k]
		a := window.Axis{In: n, Out: shape.Unknown, Size: size[k], Stride: stride, Dilation: dilation, Before: before}
		if n >= 0 && (size[k] >= 0 || c.Bool(i+4)) {
			if c.Bool(i + 4) {
				a.Out = (n + stride - 1) / stride
				a.Before = max(0, (a.Out-1)*stride+reach-n) / 2
			} else {
				if n+before+after < reach {
					return nil, c.Errorf(tenon.ErrShape, "windows span %d positions, but axis %d has only %d, including those beyond its ends", reach, k, n+before+after).
						WithHint("let windows reach beyond the ends")
				}
				a.Out = (n+before+after-reach)/stride + 1
			}
		}
		axes[k] = a
	}
	return axes, nil
}

// counts returns the numbers of positions, windows and elements of a window.
func counts(axes []window.Axis) (positions, windows, elements int) {
	positions, windows, elements = 1, 1, 1
	for _, a := range axes {
		positions, windows, elements = positions*a.In, windows*a.Out, elements*a.Size
	}
	return positions, windows, elements
}

// fill repeats an element.
func fill(dst, element []byte) {
	if !slices.ContainsFunc(element, func(b byte) bool { return b != 0 }) {
		clear(dst)
		return
	}
	for n := copy(dst, element); n > 0 && n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}

// folded sums windows of items into a tensor of the given shape. Items have units elements side by
// side at each position.
func folded(x *tensor.Dense, s shape.Shape, axes []window.Axis, items, units int) *tensor.Dense {
	switch x.DType() {
	case dtype.Float16, dtype.BFloat16:
		return castDense(folded(castDense(x, dtype.Float32), s, axes, items, units), x.DType())
	case dtype.Float32:
		return foldedAs[float32](x, s, axes, items, units)
	case dtype.Float64:
		return foldedAs[float64](x, s, axes, items, units)
	case dtype.Complex64:
		return foldedAs[complex64](x, s, axes, items, units)
	case dtype.Complex128:
		return foldedAs[complex128](x, s, axes, items, units)
	}
	// Sums of integers are computed in int64 and truncated.
	return castDense(foldedAs[int64](castDense(x, dtype.Int64), s, axes, items, units), x.DType())
}

func foldedAs[T float32 | float64 | complex64 | complex128 | int64](x *tensor.Dense, s shape.Shape, axes []window.Axis, items, units int) *tensor.Dense {
	out := tensor.NewDense(x.DType(), s)
	if out.Len() == 0 || x.Len() == 0 {
		return out
	}
	dst, src := tensor.Elems[T](out), tensor.Elems[T](x)
	positions, windows, elements := counts(axes)
	par.For(items, max(1, (16<<10)/max(1, windows*elements*units)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			d, s := dst[i*positions*units:], src[i*windows*elements*units:]
			window.Each(axes, 0, windows, func(at, from, n int) {
				to, add := d[from*units:(from+n)*units], s[at*units:(at+n)*units]
				for j, v := range add {
					to[j] += v
				}
			})
		}
	})
	return out
}
