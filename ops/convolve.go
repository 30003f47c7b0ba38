package ops

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/gemm"
	"github.com/tenonml/tenon/internal/kernel/window"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// ConvolveOptions says how windows slide, and how features are grouped.
type ConvolveOptions struct {
	Windows WindowOptions // Size is that of the kernel, and Fill must be 0
	Groups  int           // number of groups of features that are convolved separately; 0 means 1
}

// Convolve returns the products of the windows of x with a kernel. With groups, each group of
// features contributes only to the results of the same group.
//
//	x: […, n, m, in], kernel: [k, l, in/groups, out] for two axes of positions → […, windows along n, along m, out]
//
// Any numbers. It is the product of [Windows] and the kernel, computed without making the array of
// windows. Gradients: [ConvolveTranspose] of the cotangent, and the sum of its products with the
// windows.
func Convolve(x, kernel any, o ConvolveOptions) tensor.Tensor {
	return op.Eval(convolveOp, append([]any{x, kernel}, o.attrs()...)...)
}

// ConvolveTranspose adds up, in an array of the given sizes, the products of each position of x
// with the kernel, placed at the window of that position. It is the transpose of [Convolve] as a
// linear map.
//
//	x: […, windows along n, along m, out], kernel: [k, l, in/groups, out], sizes: int[2], n and m → […, n, m, in]
//
// Any numbers. There may be fewer windows than fit. Gradients: [Convolve] of the cotangent, and a
// sum of products as there.
func ConvolveTranspose(x, kernel, sizes any, o ConvolveOptions) tensor.Tensor {
	return op.Eval(convolveInputOp, append([]any{x, kernel, sizes}, o.attrs()...)...)
}

func (o ConvolveOptions) attrs() []any {
	w := o.Windows
	return []any{max(1, o.Groups), attr(w.Stride), attr(w.Dilation), attr(w.Before), attr(w.After), w.Same}
}

// convolveKernelOp sums products of windows and results; it is the gradient for the kernel.
var convolveOp, convolveInputOp, convolveKernelOp *op.Op

// convolution is a call of one of the operations: x is [items..., positions..., features], y is
// [items..., windows..., out], and the kernel is [size..., features of a group, out].
type convolution struct {
	x, y, kernel shape.Shape
	axes         []window.Axis
	groups       int
}

// newConvolution reads a call whose settings start at argument i. The operand that the operation
// computes is not known in advance: x has the positions dims, and y or the kernel may have an
// unknown rank.
func newConvolution(c *op.Call, i int, x, y, kernel shape.Shape, dims []int, size []int) (*convolution, error) {
	n, groups := len(size), c.Int(i)
	if n == 0 {
		return nil, c.Errorf(tenon.ErrShape, "the kernel %v has no axes of windows", kernel)
	}
	if groups < 1 {
		return nil, c.Errorf(tenon.ErrInvalid, "groups is %d, want at least 1", groups)
	}
	axes, err := windowAxesOf(c, size, i+1, dims)
	if err != nil {
		return nil, err
	}
	v := &convolution{axes: axes, groups: groups}
	var windows []int
	for _, a := range axes {
		windows = append(windows, a.Out)
	}
	in, out := shape.Unknown, shape.Unknown
	var lead []int
	agree := func(a *int, b int, what string) error {
		if *a >= 0 && b >= 0 && *a != b {
			return c.Errorf(tenon.ErrShape, "there are %d and %d %s", *a, b, what)
		}
		*a = max(*a, b)
		return nil
	}
	if x.HasRank() {
		lead, in = x.Dims()[:x.Rank()-n-1], x.Dim(-1)
	}
	if y.HasRank() {
		own := y.Dims()[:y.Rank()-n-1]
		if x.HasRank() {
			if len(own) != len(lead) {
				return nil, c.Errorf(tenon.ErrShape, "%v and %v do not have the same number of leading axes", x, y)
			}
			for k := range own {
				if err := agree(&own[k], lead[k], "items"); err != nil {
					return nil, err
				}
			}
		}
		lead, out = own, y.Dim(-1)
		for k, o := range y.Dims()[len(lead) : len(lead)+n] {
			if o >= 0 && windows[k] >= 0 && o > windows[k] {
				return nil, c.Errorf(tenon.ErrShape, "axis %d has %d windows, and %d positions have %d", k, o, dims[k], windows[k])
			}
			windows[k], axes[k].Out = o, o
		}
	}
	group := shape.Unknown
	if kernel.HasRank() {
		group = kernel.Dim(n)
		if err := agree(&out, kernel.Dim(n+1), "results"); err != nil {
			return nil, err
		}
		if group >= 0 {
			if err := agree(&in, group*groups, "features"); err != nil {
				return nil, err
			}
		}
	}
	if in >= 0 {
		if in%groups != 0 {
			return nil, c.Errorf(tenon.ErrShape, "%d features cannot be divided into %d groups", in, groups)
		}
		group = in / groups
	}
	if out >= 0 && out%groups != 0 {
		return nil, c.Errorf(tenon.ErrShape, "%d results cannot be divided into %d groups", out, groups)
	}
	v.x = shape.Of(slices.Concat(lead, dims, []int{in})...)
	v.y = shape.Of(slices.Concat(lead, windows, []int{out})...)
	v.kernel = shape.Of(slices.Concat(size, []int{group, out})...)
	return v, nil
}

// rankFor returns n if a shape has room for that many axes and more others, and an error otherwise.
func rankFor(c *op.Call, i, n, more int) error {
	if s := c.Tensor(i).Shape(); s.HasRank() && s.Rank() < n+more {
		return c.Errorf(tenon.ErrShape, "%s %v has no %d axes of positions", c.Op.Params[i].Name, s, n)
	}
	return nil
}

// kernelSize returns the sizes of the windows of a kernel, or nil if its rank is not known.
func kernelSize(c *op.Call, i int) ([]int, error) {
	k := c.Tensor(i).Shape()
	if !k.HasRank() {
		return nil, nil
	}
	if k.Rank() < 3 {
		return nil, c.Errorf(tenon.ErrShape, "the kernel %v has no axes of windows, features and results", k)
	}
	return k.Dims()[:k.Rank()-2], nil
}

func forwardConvolution(c *op.Call) (*convolution, error) {
	x, k := c.Tensor(0).Shape(), c.Tensor(1).Shape()
	size, err := kernelSize(c, 1)
	if err != nil || size == nil || !x.HasRank() {
		return nil, err
	}
	if err := rankFor(c, 0, len(size), 1); err != nil {
		return nil, err
	}
	at := x.Rank() - 1 - len(size)
	return newConvolution(c, 2, x, shape.UnknownRank, k, x.Dims()[at:at+len(size)], size)
}

func inputConvolution(c *op.Call) (*convolution, error) {
	y, k := c.Tensor(0).Shape(), c.Tensor(1).Shape()
	size, err := kernelSize(c, 1)
	if err != nil || size == nil || !y.HasRank() {
		return nil, err
	}
	if err := rankFor(c, 0, len(size), 1); err != nil {
		return nil, err
	}
	dims, count := sizes(c, 2)
	if count >= 0 && count != len(size) {
		return nil, c.Errorf(tenon.ErrShape, "sizes has %d entries for %d axes", count, len(size))
	}
	if dims == nil {
		dims = slices.Repeat([]int{shape.Unknown}, len(size))
	}
	for _, d := range dims {
		if d < 0 && d != shape.Unknown {
			return nil, c.Errorf(tenon.ErrShape, "there are no %d positions", d)
		}
	}
	return newConvolution(c, 3, shape.UnknownRank, y, k, dims, size)
}

func kernelConvolution(c *op.Call) (*convolution, error) {
	x, y := c.Tensor(0).Shape(), c.Tensor(1).Shape()
	size, n := sizes(c, 2)
	if n < 0 {
		if n = axesTold(c, 4); n < 0 {
			return nil, nil
		}
	}
	for k, d := range size {
		if d < 1 {
			return nil, c.Errorf(tenon.ErrShape, "windows have %d elements along axis %d", d, k)
		}
	}
	if size == nil {
		size = slices.Repeat([]int{shape.Unknown}, n)
	}
	for i := range 2 {
		if err := rankFor(c, i, len(size), 1); err != nil {
			return nil, err
		}
	}
	dims := slices.Repeat([]int{shape.Unknown}, len(size))
	if x.HasRank() {
		at := x.Rank() - 1 - len(size)
		dims = x.Dims()[at : at+len(size)]
	}
	return newConvolution(c, 3, x, y, shape.UnknownRank, dims, size)
}

// axesTold returns the number of axes that the settings from argument i on have entries for, or -1
// if none is given.
func axesTold(c *op.Call, i int) int {
	for k := range 4 {
		if c.Has(i + k) {
			return len(c.Ints(i + k))
		}
	}
	return -1
}

// run computes one of the three from the other two.
func (v *convolution) run(out shape.Shape, a, b *tensor.Dense, f convolutionKernels) *tensor.Dense {
	d := a.DType()
	switch d {
	case dtype.Float16, dtype.BFloat16:
		return castDense(v.run(out, castDense(a, dtype.Float32), castDense(b, dtype.Float32), f), d)
	}
	a, b = tensor.Contiguous(a), tensor.Contiguous(b)
	if a.Len() == 0 || b.Len() == 0 || out.Size() == 0 {
		return tensor.NewDense(d, out)
	}
	n := len(v.axes)
	k := window.Convolution{Axes: v.axes, Items: product(v.x.Dims()[:v.x.Rank()-n-1]), Features: v.x.Dim(-1), Out: v.y.Dim(-1), Groups: v.groups}
	y := tensor.Uninit(d, out)
	f[d](k, y, a, b)
	return y
}

// convolutionKernels are the loops for each element type.
type convolutionKernels map[dtype.DType]func(k window.Convolution, out, a, b *tensor.Dense)

// The three products of a convolution.
type convolving int

const (
	convolveForward convolving = iota
	convolveInput
	convolveKernel
)

func convolutionAs[T interface {
	gemm.Element
	dtype.Number
}](f convolving) func(k window.Convolution, out, a, b *tensor.Dense) {
	return func(k window.Convolution, out, a, b *tensor.Dense) {
		to, x, y := tensor.Elems[T](out), tensor.Elems[T](a), tensor.Elems[T](b)
		switch f {
		case convolveForward:
			window.Forward(k, to, x, y)
		case convolveInput:
			window.Input(k, to, x, y)
		default:
			window.Kernel(k, to, x, y)
		}
	}
}

func convolutionsOf(f convolving) convolutionKernels {
	return convolutionKernels{
		dtype.Int8: convolutionAs[int8](f), dtype.Int16: convolutionAs[int16](f), dtype.Int32: convolutionAs[int32](f), dtype.Int64: convolutionAs[int64](f),
		dtype.Uint8: convolutionAs[uint8](f), dtype.Uint16: convolutionAs[uint16](f), dtype.Uint32: convolutionAs[uint32](f), dtype.Uint64: convolutionAs[uint64](f),
		dtype.Float32: convolutionAs[float32](f), dtype.Float64: convolutionAs[float64](f), dtype.Complex64: convolutionAs[complex64](f), dtype.Complex128: convolutionAs[complex128](f),
	}
}

// cutTo returns the first windows of y, as many as a shape has.
func cutTo(y tensor.Tensor, like tensor.Tensor) tensor.Tensor {
	s := like.Shape()
	if !s.IsFull() || !s.Equal(y.Shape()) { // fewer windows than fit
		y = Slice(y, make([]int, s.Rank()), Shape(like))
	}
	return known(y, s)
}

func init() {
	settings := []op.Param{
		{Name: "groups", Kind: op.Attr, Type: op.IntType, Default: 1},
		{Name: "stride", Kind: op.Attr, Type: op.IntsType, Optional: true},
		{Name: "dilation", Kind: op.Attr, Type: op.IntsType, Optional: true},
		{Name: "before", Kind: op.Attr, Type: op.IntsType, Optional: true},
		{Name: "after", Kind: op.Attr, Type: op.IntsType, Optional: true},
		{Name: "same", Kind: op.Attr, Type: op.BoolType, Default: false},
	}
	two := func(a, b string, more ...op.Param) []op.Param {
		return slices.Concat([]op.Param{{Name: a, Group: 1, Takes: op.Numbers}, {Name: b, Group: 1}}, more, settings)
	}
	const why = "windows along axes of positions meet those of a kernel"
	define := func(name, goName, doc string, params []op.Param, read func(c *op.Call) (*convolution, error), of func(v *convolution) shape.Shape, f convolving) *op.Op {
		kernels := convolutionsOf(f)
		return op.Register(&op.Op{
			Name: name, GoName: goName, Statement: opaque(why), Doc: doc, Results: 1, Params: params,
			Shape: func(c *op.Call) (shape.Shape, error) {
				v, err := read(c)
				if err != nil || v == nil {
					return shape.UnknownRank, err
				}
				return of(v), nil
			},
			Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
				v, err := read(c)
				if err != nil {
					return nil, err
				}
				return c.Result(v.run(of(v), c.Dense(0), c.Dense(1), kernels))
			},
			// The additional items go in front of the existing ones.
			Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
				if f == convolveKernel || slices.Contains(batched[1:], true) {
					return nil, op.NotHandled
				}
				return c.DoTensors()
			},
		})
	}
	convolveOp = define("convolve", "", "Products of the windows along axes with a kernel.", two("x", "kernel"),
		forwardConvolution, func(v *convolution) shape.Shape { return v.y }, convolveForward)
	convolveInputOp = define("convolve_transpose", "", "Products with a kernel, added up where their windows overlap.", two("x", "kernel", sizesParam("sizes")),
		inputConvolution, func(v *convolution) shape.Shape { return v.x }, convolveInput)
	convolveKernelOp = define("convolve_kernel", "ops.Convolve", "Sums of the products of windows and results.", two("x", "y", sizesParam("size")),
		kernelConvolution, func(v *convolution) shape.Shape { return v.kernel }, convolveKernel)

	// Each operation is linear in both operands, and its gradients are the other
	// two.
	ranked := func(c *op.Call, x tensor.Tensor, n int) []int {
		s := x.Shape()
		if !s.HasRank() || s.Rank() < n {
			tenon.Throw(c.Errorf(tenon.ErrUnsupported, "the gradient needs to know the rank"))
		}
		return s.Dims()
	}
	positions := func(c *op.Call, x tensor.Tensor, n int) tensor.Tensor {
		rank := len(ranked(c, x, n+1))
		return Slice(Shape(x), []int{rank - 1 - n}, []int{n})
	}
	window := func(c *op.Call, kernel tensor.Tensor) (size tensor.Tensor, n int) {
		n = len(ranked(c, kernel, 3)) - 2
		return Slice(Shape(kernel), []int{0}, []int{n}), n
	}
	convolveOp.VJP = func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
		x, kernel := c.Tensor(0), c.Tensor(1)
		size, n := window(c, kernel)
		dx := op.Eval(convolveInputOp, append([]any{ct[0], conj(kernel), positions(c, x, n)}, c.Args[2:8]...)...)
		dk := op.Eval(convolveKernelOp, append([]any{conj(x), ct[0], size}, c.Args[2:8]...)...)
		return []tensor.Tensor{known(dx, x.Shape()), known(dk, kernel.Shape())}
	}
	convolveInputOp.VJP = func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
		y, kernel := c.Tensor(0), c.Tensor(1)
		size, n := window(c, kernel)
		ranked(c, y, n+1)
		dy := op.Eval(convolveOp, append([]any{ct[0], conj(kernel)}, c.Args[3:9]...)...)
		dk := op.Eval(convolveKernelOp, append([]any{ct[0], conj(y), size}, c.Args[3:9]...)...)
		return []tensor.Tensor{cutTo(dy, y), known(dk, kernel.Shape()), nil}
	}
	convolveKernelOp.VJP = func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
		x, y := c.Tensor(0), c.Tensor(1)
		n := max(c.Tensor(2).Shape().Dim(0), axesTold(c, 4))
		if n < 0 {
			tenon.Throw(c.Errorf(tenon.ErrUnsupported, "the gradient needs to know how many axes there are"))
		}
		ranked(c, y, n+1)
		dx := op.Eval(convolveInputOp, append([]any{conj(y), ct[0], positions(c, x, n)}, c.Args[3:9]...)...)
		dy := op.Eval(convolveOp, append([]any{conj(x), ct[0]}, c.Args[3:9]...)...)
		return []tensor.Tensor{known(dx, x.Shape()), cutTo(dy, y), nil}
	}
}
