package nn

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Dense maps features linearly, adds a bias and applies an activation:
//
//	y = activation(x·Kernel + Bias)
type Dense struct {
	Kernel     tensor.Tensor // [in, out]
	Bias       tensor.Tensor // [out], or nil
	Activation Activation    `tenon:"static"`
	Names      Names         `tenon:"static"`
}

// DenseOptions are the options of [NewDense]. The zero value is the default.
type DenseOptions struct {
	Activation Activation
	NoBias     bool
	Init       Init // of the kernel; "" stands for GlorotUniform
	DType      dtype.DType
	Names      Names
}

// NewDense returns a layer that maps in to out features. The bias starts at 0.
func NewDense(key tensor.Tensor, in, out int, options ...DenseOptions) Dense {
	o := option(options)
	d := floatType(o.DType)
	l := Dense{Kernel: Initialize(orInit(o.Init, GlorotUniform), key, d, in, out), Activation: o.Activation, Names: o.Names}
	if !o.NoBias {
		l.Bias = ops.Zeros(d, []int{out})
	}
	return l
}

// Apply returns the layer's output.
//
//	x: [..., in], dense or ragged, or {..., In} → [..., out]
func (l Dense) Apply(x tensor.Tensor) tensor.Tensor {
	return onFeatures("nn.Dense", x, l.Names, func(x tensor.Tensor) tensor.Tensor {
		return l.Activation.Apply(affine(x, l.Kernel, l.Bias))
	})
}

// MLP is a sequence of dense layers.
type MLP struct{ Layers []Dense }

// MLPOptions are the options of [NewMLP]. The zero value is the default.
type MLPOptions struct {
	Activation Activation // of all layers but the last; "" means Relu
	Last       Activation // of the last layer
	Init       Init       // of the kernels; "" means HeUniform for all but the last layer, and GlorotUniform for the last
	DType      dtype.DType
	Names      Names // of the first layer's input and the last layer's output
}

// NewMLP returns layers that map sizes[0] features to sizes[1], and so on.
func NewMLP(key tensor.Tensor, sizes []int, options ...MLPOptions) MLP {
	o := option(options)
	if o.Activation == "" {
		o.Activation = Relu
	}
	n := len(sizes) - 1
	m := MLP{}
	if n < 1 {
		return m
	}
	for i, k := range keys(key, n) {
		d := DenseOptions{Activation: o.Activation, Init: orInit(o.Init, HeUniform), DType: o.DType, Names: Names{In: o.Names.In}}
		if i == n-1 {
			d.Activation, d.Init, d.Names.Out = o.Last, orInit(o.Init, GlorotUniform), o.Names.Out
		}
		m.Layers = append(m.Layers, NewDense(k, sizes[i], sizes[i+1], d))
	}
	return m
}

// Apply returns the output of the last layer.
func (m MLP) Apply(x tensor.Tensor) tensor.Tensor {
	for _, l := range m.Layers {
		x = l.Apply(x)
	}
	return x
}
