package nn

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// A Padding says what a window sees beyond the ends of a row.
type Padding string

const (
	Valid  Padding = ""       // windows lie inside: a row of n positions has n - reach + 1 results, or none
	Same   Padding = "same"   // zeros on both sides: as many results as positions; the odd zero is behind
	Causal Padding = "causal" // zeros in front: the last element of a window is the position itself
)

// Conv1D slides a window along the positions of each row:
//
//	yₜ = activation(Σₖ x[t·Stride + k·Dilation - before]·Kernel[k] + Bias)
type Conv1D struct {
	Kernel           tensor.Tensor // [window, in, out]
	Bias             tensor.Tensor // [out], or nil
	Stride, Dilation int           `tenon:"static"` // 0 stands for 1
	Padding          Padding       `tenon:"static"`
	Activation       Activation    `tenon:"static"`
	Names            Names         `tenon:"static"`
}

// ConvOptions are those of [NewConv1D]. The zero value is the default.
type ConvOptions struct {
	Stride, Dilation int // 0 stands for 1
	Padding          Padding
	Activation       Activation
	NoBias           bool
	Init             Init // of the kernel; "" stands for GlorotUniform
	DType            dtype.DType
	Names            Names // In and Out: features; Along: positions
}

// NewConv1D returns a layer with a window of given size from in to out features.
func NewConv1D(key tensor.Tensor, window, in, out int, options ...ConvOptions) Conv1D {
	o := option(options)
	d := floatType(o.DType)
	l := Conv1D{
		Kernel: Initialize(orInit(o.Init, GlorotUniform), key, d, window, in, out),
		Stride: o.Stride, Dilation: o.Dilation, Padding: o.Padding, Activation: o.Activation, Names: o.Names,
	}
	if !o.NoBias {
		l.Bias = ops.Zeros(d, []int{out})
	}
	return l
}

// Apply returns the layer's value. Windows do not reach from one row into another.
//
//	x: [..., positions, in] dense, [rows, (positions), in] ragged, or {..., Along, In}
//	→ the same with other positions, by padding and stride, and out features
func (l Conv1D) Apply(x tensor.Tensor) tensor.Tensor {
	const fn = "nn.Conv1D"
	if l.Stride < 0 || l.Dilation < 0 {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, fn, fmt.Sprintf("the stride is %d and the dilation %d", l.Stride, l.Dilation)))
	}
	switch t := x.(type) {
	case dimensioned:
		return unnamed(fn, t, []named.Name{l.Names.Along, l.Names.In}, []named.Name{l.Names.Along, l.Names.out()}, l.Apply)
	case rowed:
		return innermost(fn, t, func(x rowed) tensor.Tensor {
			items, _ := x.Carried()
			splits := x.RowSplits()
			y := l.windows(items, func(v tensor.Tensor, by int) tensor.Tensor { return rows.Shift(v, splits, by) })
			for _, k := range l.kept() {
				y, splits = rows.Slice(y, splits, k)
			}
			return tenon.Must(ragged.FromRowSplits(l.Activation.Apply(y), splits))
		})
	}
	wantPositions(fn, x)
	y := l.windows(x, func(v tensor.Tensor, by int) tensor.Tensor { return ops.Shift(v, by, -2) })
	for _, k := range l.kept() {
		y = ops.Index(y, key.Ellipsis, k, key.All)
	}
	return l.Activation.Apply(y)
}

// reach is how many positions a window spans.
func (l Conv1D) reach() int { return (l.Kernel.Shape().Dim(0)-1)*max(1, l.Dilation) + 1 }

// windows returns the convolution at every position. The elements of a window lie beside
// one another, so that it is one product of matrices.
func (l Conv1D) windows(x tensor.Tensor, shift func(x tensor.Tensor, by int) tensor.Tensor) tensor.Tensor {
	s := l.Kernel.Shape()
	before := 0
	switch l.Padding {
	case Valid:
	case Same:
		before = (l.reach() - 1) / 2
	case Causal:
		before = l.reach() - 1
	default:
		tenon.Throw(tenon.NewError(tenon.ErrNotFound, "nn.Conv1D", fmt.Sprintf("there is no padding %q", string(l.Padding))))
	}
	parts := make([]tensor.Tensor, s.Dim(0))
	for k := range parts {
		if parts[k] = x; before != k*max(1, l.Dilation) {
			parts[k] = shift(x, before-k*max(1, l.Dilation))
		}
	}
	all := parts[0]
	if len(parts) > 1 {
		all = ops.Concat(parts, -1)
	}
	y := multiply(all, ops.Reshape(l.Kernel, []int{s.Dim(0) * s.Dim(1), s.Dim(2)}))
	if l.Bias != nil {
		y = ops.Add(y, l.Bias)
	}
	return y
}

// kept returns which positions have a result, one selection after the other.
func (l Conv1D) kept() (out []key.Key) {
	if n := l.reach() - 1; l.Padding == Valid && n > 0 {
		out = append(out, key.To(-n))
	}
	if l.Stride > 1 {
		out = append(out, key.Range(nil, nil, l.Stride))
	}
	return out
}
