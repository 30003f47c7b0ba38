package nn

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// An Activation names a function that is applied to each element. The zero value is the layer's
// default: Linear unless its options say otherwise.
type Activation string

// The activations.
const (
	Linear   Activation = "linear" // the identity
	Relu     Activation = "relu"
	Gelu     Activation = "gelu"
	GeluTanh Activation = "gelu_tanh"
	Silu     Activation = "silu"
	Sigmoid  Activation = "sigmoid"
	Tanh     Activation = "tanh"
	Softplus Activation = "softplus"
	Mish     Activation = "mish"
)

var activations = map[Activation]func(x any) tensor.Tensor{
	Linear: ops.Identity, Relu: ops.Relu, Gelu: ops.Gelu, GeluTanh: ops.GeluTanh, Silu: ops.Silu,
	Sigmoid: ops.Sigmoid, Tanh: ops.Tanh, Softplus: ops.Softplus, Mish: ops.Mish,
}

// Apply returns the activation of each element of x. It throws errors.
func (a Activation) Apply(x tensor.Tensor) tensor.Tensor {
	if a == "" || a == Linear {
		return x
	}
	f, ok := activations[a]
	if !ok {
		e := tenon.NewError(tenon.ErrNotFound, "nn.Activation", fmt.Sprintf("there is no activation %q", string(a)))
		e.Hint = fmt.Sprintf("there are %q", slices.Sorted(maps.Keys(activations)))
		tenon.Throw(e)
	}
	return f(x)
}
