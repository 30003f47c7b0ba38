package nn

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// LayerNorm shifts and scales the features of each item to mean 0 and variance 1, and then by
// learned parameters (J. Ba et al., arXiv:1607.06450):
//
//	y = (x - mean)/√(variance + Epsilon)·Scale + Offset
type LayerNorm struct {
	Scale   tensor.Tensor // [features], or nil
	Offset  tensor.Tensor // [features], or nil
	Epsilon float64       `tenon:"static"`
	Names   Names         `tenon:"static"`
}

// NormOptions are the options of [NewLayerNorm] and [NewRMSNorm]. The zero value is the
// default.
type NormOptions struct {
	Epsilon float64 // 0 means 1e-5
	DType   dtype.DType
	Names   Names
}

func (o NormOptions) epsilon() float64 {
	if o.Epsilon == 0 {
		return 1e-5
	}
	return o.Epsilon
}

// NewLayerNorm returns a layer with Scale 1 and Offset 0.
func NewLayerNorm(features int, options ...NormOptions) LayerNorm {
	o := option(options)
	d := floatType(o.DType)
	return LayerNorm{ops.Ones(d, []int{features}), ops.Zeros(d, []int{features}), o.epsilon(), o.Names}
}

// Apply returns the layer's output, of the shape of x.
func (l LayerNorm) Apply(x tensor.Tensor) tensor.Tensor {
	return onFeatures("nn.LayerNorm", x, Names{In: l.Names.In}, func(x tensor.Tensor) tensor.Tensor {
		return ops.LayerNorm(x, orNil(l.Scale), orNil(l.Offset), l.Epsilon, -1)
	})
}

// RMSNorm scales the features of each item to mean square 1, and then by learned parameters (B.
// Zhang and R. Sennrich, NeurIPS 2019):
//
//	y = x/√(mean x² + Epsilon)·Scale
type RMSNorm struct {
	Scale   tensor.Tensor // [features], or nil
	Epsilon float64       `tenon:"static"`
	Names   Names         `tenon:"static"`
}

// NewRMSNorm returns a layer with Scale 1.
func NewRMSNorm(features int, options ...NormOptions) RMSNorm {
	o := option(options)
	return RMSNorm{ops.Ones(floatType(o.DType), []int{features}), o.epsilon(), o.Names}
}

// Apply returns the layer's output, of the shape of x.
func (l RMSNorm) Apply(x tensor.Tensor) tensor.Tensor {
	return onFeatures("nn.RMSNorm", x, Names{In: l.Names.In}, func(x tensor.Tensor) tensor.Tensor {
		return ops.RMSNorm(x, orNil(l.Scale), l.Epsilon, -1)
	})
}

// orNil keeps a nil tensor from becoming an interface that is not nil.
func orNil(t tensor.Tensor) any {
	if t == nil {
		return nil
	}
	return t
}
