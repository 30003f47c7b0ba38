package coords

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/named"
)

// Reductions remove a dimension, or those of a set, along with their labels, and keep the others.

// Sum returns the sum of the elements along a dimension or set; see [named.Sum].
func Sum[N named.Is[N]](a *Array) *Array { return Apply(over(named.Sum[N]), a) }

// Mean returns the mean of the elements along a dimension or set; see [named.Mean].
func Mean[N named.Is[N]](a *Array) *Array { return Apply(over(named.Mean[N]), a) }

// Max returns the largest of the elements along a dimension or set; see [named.Max].
func Max[N named.Is[N]](a *Array) *Array { return Apply(over(named.Max[N]), a) }

// Min returns the smallest of the elements along a dimension or set; see [named.Min].
func Min[N named.Is[N]](a *Array) *Array { return Apply(over(named.Min[N]), a) }

// Std returns the standard deviation (from the biased variance) along a dimension or set; see
// [named.Std].
func Std[N named.Is[N]](a *Array) *Array { return Apply(over(named.Std[N]), a) }

// over converts a function of Values to one of named tensors.
func over(f func(x tenon.Value) *named.Tensor) func(x *named.Tensor) *named.Tensor {
	return func(x *named.Tensor) *named.Tensor { return f(x) }
}
