package nn

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A Padding says what windows see beyond the ends of a row.
type Padding string

const (
	Valid  Padding = ""       // windows lie within the row: n positions have ⌊(n - reach)/stride⌋ + 1 results
	Same   Padding = "same"   // zeros on both sides: ⌈n/stride⌉ results; an odd zero goes to the end
	Causal Padding = "causal" // zeros before the row: the last element of a window is the position itself
)

// Windows says how windows slide along the positions of each row. The zero value slides windows
// within rows, one position at a time.
type Windows struct {
	Stride   []int // steps between windows, for each axis of positions; nil means 1
	Dilation []int // steps between elements of a window; nil means 1
	Padding  Padding
	Pads     [][2]int // zeros before and after the positions of each axis, instead of Padding
}

// options returns the options for windows of the given sizes.
func (w Windows) options(fn string, size []int) ops.WindowOptions {
	o := ops.WindowOptions{Size: size, Stride: w.list(fn, "Stride", w.Stride, len(size)), Dilation: w.list(fn, "Dilation", w.Dilation, len(size))}
	if w.Pads != nil {
		if len(w.Pads) != len(size) || w.Padding != Valid {
			tenon.Throw(tenon.NewError(tenon.ErrInvalid, fn, fmt.Sprintf("Pads %v and Padding %q for %d axes of positions", w.Pads, string(w.Padding), len(size))))
		}
		for _, p := range w.Pads {
			o.Before, o.After = append(o.Before, p[0]), append(o.After, p[1])
		}
		return o
	}
	switch w.Padding {
	case Valid:
	case Same:
		o.Same = true
	case Causal:
		if len(size) != 1 {
			tenon.Throw(tenon.NewError(tenon.ErrInvalid, fn, "causal padding is for one axis of positions"))
		}
		o.Before, o.After = []int{(size[0] - 1) * o.Dilation[0]}, []int{0}
	default:
		tenon.Throw(tenon.NewError(tenon.ErrNotFound, fn, fmt.Sprintf("there is no padding %q", string(w.Padding))))
	}
	return o
}

// list returns a setting with an entry for each of n axes.
func (w Windows) list(fn, name string, x []int, n int) []int {
	if x == nil {
		return slices.Repeat([]int{1}, n)
	}
	if len(x) != n || slices.Min(x) < 1 {
		e := tenon.NewError(tenon.ErrInvalid, fn, fmt.Sprintf("%s is %v", name, x))
		e.Hint = fmt.Sprintf("give %d numbers of at least 1", n)
		tenon.Throw(e)
	}
	return x
}

// Conv slides a window along the positions of each row, on one axis or several:
//
//	yₜ = activation(Σₖ x[t·Stride + k·Dilation - before]·Kernel[k] + Bias)
type Conv struct {
	Kernel     tensor.Tensor // [window..., in/Groups, out]
	Bias       tensor.Tensor // [out], or nil
	Windows    Windows       `tenon:"static"`
	Groups     int           `tenon:"static"` // groups of features that are convolved separately; 0 means 1
	Activation Activation    `tenon:"static"`
	Names      Names         `tenon:"static"`
}

// ConvOptions are the options of convolutional layers. The zero value is the default.
type ConvOptions struct {
	Windows
	Groups     int // 0 stands for 1
	Activation Activation
	NoBias     bool
	Init       Init // of the kernel; "" stands for GlorotUniform
	DType      dtype.DType
	Names      Names // In and Out: features; Along or Plane: positions
}

// NewConv returns a layer with windows of the given sizes, one for each axis of positions, that
// maps in to out features.
func NewConv(key tensor.Tensor, window []int, in, out int, options ...ConvOptions) Conv {
	o := option(options)
	groups := o.check("nn.NewConv", window, in, out)
	return Conv{
		Kernel: o.kernel(key, append(slices.Clone(window), in/groups, out)), Bias: o.bias(out),
		Windows: o.Windows, Groups: o.Groups, Activation: o.Activation, Names: o.Names,
	}
}

// check rejects sizes of a layer that do not fit together, and returns the number of groups.
func (o ConvOptions) check(fn string, window []int, in, out int) int {
	groups := max(1, o.Groups)
	if len(window) == 0 || slices.Min(window) < 1 || in%groups != 0 || out%groups != 0 {
		tenon.Throw(tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("windows %v of %d features in %d groups cannot give %d features", window, in, groups, out)))
	}
	o.Windows.options(fn, window)
	return groups
}

func (o ConvOptions) kernel(key tensor.Tensor, dims []int) tensor.Tensor {
	return Initialize(orInit(o.Init, GlorotUniform), key, floatType(o.DType), dims...)
}

func (o ConvOptions) bias(out int) tensor.Tensor {
	if o.NoBias {
		return nil
	}
	return ops.Zeros(floatType(o.DType), []int{out})
}

// Apply returns the layer's output. Windows do not cross from one row into another; a ragged row that
// is shorter than a window has no results. Missing positions of a masked x count as 0, like those
// beyond the ends, and a result is missing if all positions of its window are.
//
//	x: [rows, positions..., in] dense or masked, [rows, (positions), in] ragged, or {..., Along, In}
//	→ the same with the positions that padding and stride give, and out features
func (l Conv) Apply(x tensor.Tensor) tensor.Tensor {
	const fn = "nn.Conv"
	k := l.Kernel.Shape()
	groups := max(1, l.Groups)
	n := k.Rank() - 2
	if n < 1 {
		tenon.Throw(tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("a kernel of shape %v has no window axes", k)))
	}
	if in := k.Dim(n) * groups; x.Shape().HasRank() && known(x) >= 0 && in >= 0 && known(x) != in || k.Dim(n+1) >= 0 && k.Dim(n+1)%groups != 0 {
		if _, ok := x.(dimensioned); !ok {
			tenon.Throw(tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("the features of %s do not fit a kernel of shape %v in %d groups", tenon.String(x.Spec()), k, groups)))
		}
	}
	finish := func(y tensor.Tensor) tensor.Tensor { return l.Activation.Apply(withBias(y, l.Bias)) }
	var dense func(x tensor.Tensor, o ops.WindowOptions) tensor.Tensor
	if groups == 1 || k.Dim(n) != 1 {
		dense = func(x tensor.Tensor, o ops.WindowOptions) tensor.Tensor {
			return finish(ops.Convolve(x, l.Kernel, ops.ConvolveOptions{Windows: o, Groups: groups}))
		}
	}
	return slide(fn, x, l.Names, l.Windows, k.Slice(0, n).Dims(), 0, func(windows tensor.Tensor, _ func() tensor.Tensor) tensor.Tensor {
		return finish(l.products(windows, n, groups))
	}, dense)
}

// products returns the sums over windows [..., window..., in] of their products with the
// kernel.
func (l Conv) products(x tensor.Tensor, n, groups int) tensor.Tensor {
	k := l.Kernel.Shape()
	in, out, size := k.Dim(n), k.Dim(n+1), k.Slice(0, n).Size()
	switch {
	case groups == 1:
		return multiply(withLast(x, n+1, size*in), ops.Reshape(l.Kernel, []int{size * in, out}))
	case in == 1: // the windows of each feature on their own
		return perFeature(withLast(x, n+1, size, groups), ops.Reshape(l.Kernel, []int{size, groups, out / groups}))
	}
	// [..., size, groups, in] · [size, in, groups, out of one] → [..., groups, out of one]
	kernel := ops.Reshape(l.Kernel, []int{size, in, groups, out / groups})
	y := ops.Einsum("...kgi,kigo->...go", withLast(x, n+1, size, groups, in), kernel)
	return withLast(y, 2, out)
}

// perFeature returns Σₖ x[..., k, c]·kernel[k, c, m] as [..., c·m].
func perFeature(x, kernel tensor.Tensor) tensor.Tensor {
	k := kernel.Shape()
	if k.Dim(2) == 1 {
		return ops.Sum(ops.Mul(x, ops.Squeeze(kernel, -1)), -2)
	}
	return withLast(ops.Sum(ops.Mul(ops.ExpandDims(x, -1), kernel), -3), 2, k.Dim(1)*k.Dim(2))
}

func withBias(y, bias tensor.Tensor) tensor.Tensor {
	if bias == nil {
		return y
	}
	return ops.Add(y, bias)
}

// DepthwiseConv is a [Conv] that convolves each feature separately, with one or several
// kernels: feature c·multiples + m of the output is the result of kernel m for feature c.
type DepthwiseConv struct {
	Kernel     tensor.Tensor // [window..., in, multiples]
	Bias       tensor.Tensor // [in·multiples], or nil
	Windows    Windows       `tenon:"static"`
	Activation Activation    `tenon:"static"`
	Names      Names         `tenon:"static"`
}

// NewDepthwiseConv returns a layer with windows of the given sizes that maps in to in·multiples
// features.
func NewDepthwiseConv(key tensor.Tensor, window []int, in, multiples int, options ...ConvOptions) DepthwiseConv {
	o := option(options)
	o.Groups = in
	c := NewConv(key, window, in, in*multiples, o)
	kernel := ops.Reshape(c.Kernel, append(slices.Clone(window), in, multiples))
	return DepthwiseConv{kernel, c.Bias, c.Windows, c.Activation, c.Names}
}

// Apply returns the layer's output; see [Conv.Apply].
func (l DepthwiseConv) Apply(x tensor.Tensor) tensor.Tensor {
	k := l.Kernel.Shape()
	n := k.Rank() - 2
	dims := append(k.Slice(0, n).Dims(), 1, k.Dim(n)*k.Dim(n+1))
	return Conv{ops.Reshape(l.Kernel, dims), l.Bias, l.Windows, k.Dim(n), l.Activation, l.Names}.Apply(x)
}

// ConvTranspose spreads each position over a window and adds up where windows overlap. As a
// linear map it is the transpose of a [Conv].
//
//	y[i·Stride + k·Dilation - before] += x[i]·Kernel[k]
//
// An axis gets (n-1)·stride + reach - before - after positions, and Extra more.
type ConvTranspose struct {
	Kernel     tensor.Tensor // [window..., in, out/Groups]
	Bias       tensor.Tensor // [out], or nil
	Windows    Windows       `tenon:"static"`
	Extra      []int         `tenon:"static"` // additional positions at the end, for each axis; nil: none
	Groups     int           `tenon:"static"` // 0 means 1
	Activation Activation    `tenon:"static"`
	Names      Names         `tenon:"static"`
}

// NewConvTranspose returns a layer with windows of the given sizes that maps in to out
// features.
func NewConvTranspose(key tensor.Tensor, window []int, in, out int, options ...ConvOptions) ConvTranspose {
	o := option(options)
	groups := o.check("nn.NewConvTranspose", window, in, out)
	return ConvTranspose{
		Kernel: o.kernel(key, append(slices.Clone(window), in, out/groups)), Bias: o.bias(out),
		Windows: o.Windows, Groups: o.Groups, Activation: o.Activation, Names: o.Names,
	}
}

// Apply returns the layer's output. Padding must be given as Pads. If x is masked, a result is missing
// unless the window of a position that is not missing reaches it.
//
//	x: [rows, positions..., in] dense or masked, [rows, (positions), in] ragged, or {..., Along, In}
//	→ the same with other positions and out features
func (l ConvTranspose) Apply(x tensor.Tensor) tensor.Tensor {
	const fn = "nn.ConvTranspose"
	k := l.Kernel.Shape()
	n, groups := k.Rank()-2, max(1, l.Groups)
	if n < 1 || k.Dim(n)%groups != 0 {
		tenon.Throw(tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("a kernel of shape %v in %d groups", k, groups)))
	}
	if l.Windows.Padding != Valid {
		e := tenon.NewError(tenon.ErrInvalid, fn, fmt.Sprintf("padding %q is not supported", string(l.Windows.Padding)))
		e.Hint = "set Pads, the number of positions to cut off"
		tenon.Throw(e)
	}
	in, out, size := k.Dim(n)/groups, k.Dim(n+1), k.Slice(0, n)
	extra := l.Extra
	if extra == nil {
		extra = make([]int, n)
	}
	if len(extra) != n || slices.Min(extra) < 0 {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, fn, fmt.Sprintf("Extra is %v for %d axes of positions", extra, n)))
	}
	// [..., in] → [..., window, out]
	kernel := ops.Reshape(l.Kernel, []int{size.Size(), groups, in, out})
	parts := func(x tensor.Tensor) tensor.Tensor {
		y := ops.Einsum("...gi,kgio->...kgo", withLast(x, 1, groups, in), kernel)
		return withLast(y, 3, append(size.Dims(), groups*out)...)
	}
	dense := func(x, sizes tensor.Tensor, o ops.WindowOptions) tensor.Tensor {
		return ops.ConvolveTranspose(x, ops.SwapAxes(l.Kernel, -1, -2), sizes, ops.ConvolveOptions{Windows: o, Groups: groups})
	}
	return unslide(fn, x, l.Names, l.Windows, size.Dims(), extra, parts, dense, func(y tensor.Tensor) tensor.Tensor {
		return l.Activation.Apply(withBias(y, l.Bias))
	})
}

// positions returns the names of the dimensions that hold positions.
func (n Names) positions() []named.Name {
	if n.Plane != nil {
		return n.Plane
	}
	return []named.Name{n.Along}
}
