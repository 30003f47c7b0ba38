package lib // want package:"programs"

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	. "github.com/tenonml/tenon/named/dimcheck/testdata/src/names"
)

// Weights are a table.
var Weights = named.Zeros(dtype.Float32, InputRep{}.Of(4), Hidden{}.Of(8))

// Project contracts over InputRep.
func Project(x, w *named.Tensor) *named.Tensor { return named.Dot[InputRep](x, w) }

// Chain calls a function of its own package.
func Chain(x *named.Tensor) *named.Tensor { return Project(x, Weights) }

// Over is generic.
func Over[N named.Is[N]](x *named.Tensor) *named.Tensor { return named.Softmax[N](x) }

// Layer has a method.
type Layer struct{ Scale *named.Tensor }

// Apply scales.
func (l *Layer) Apply(x *named.Tensor) *named.Tensor { return named.Mul(x, l.Scale) }

// Each calls a function.
func Each(f func(x *named.Tensor) *named.Tensor, x *named.Tensor) *named.Tensor { return f(x) }

// Half keeps all that is known of a tensor.
func Half(x *named.Tensor) *named.Tensor { return named.Mul(x, 0.5) }
