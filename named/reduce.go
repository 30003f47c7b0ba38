package named

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Reductions take away the dimensions that they are over, and treat them as one.
// ops.Sum(x) and its like reduce all dimensions of a named tensor.

// Sum returns the sum of the elements along a dimension or set; 0 where there are none.
func Sum[N Is[N]](x tenon.Value) *Tensor { return Dims{groupOf[N]()}.Sum(x) }

// Mean returns the mean of the elements; NaN where there are none. Integers give float64.
func Mean[N Is[N]](x tenon.Value) *Tensor { return Dims{groupOf[N]()}.Mean(x) }

// Prod returns the product of the elements; 1 where there are none.
func Prod[N Is[N]](x tenon.Value) *Tensor { return Dims{groupOf[N]()}.Prod(x) }

// Max returns the largest of the elements; NaN where one of them is.
func Max[N Is[N]](x tenon.Value) *Tensor { return Dims{groupOf[N]()}.Max(x) }

// Min returns the smallest of the elements; NaN where one of them is.
func Min[N Is[N]](x tenon.Value) *Tensor { return Dims{groupOf[N]()}.Min(x) }

// Any reports whether some element, a truth value, holds; false where there are none.
func Any[N Is[N]](x tenon.Value) *Tensor { return Dims{groupOf[N]()}.Any(x) }

// All reports whether all elements, truth values, hold; true where there are none.
func All[N Is[N]](x tenon.Value) *Tensor { return Dims{groupOf[N]()}.All(x) }

// CountNonzero returns how many elements are not zero.
func CountNonzero[N Is[N]](x tenon.Value) *Tensor { return Dims{groupOf[N]()}.CountNonzero(x) }

// Variance returns the biased variance of the elements: the mean squared distance from
// their mean.
func Variance[N Is[N]](x tenon.Value) *Tensor { return Dims{groupOf[N]()}.Variance(x) }

// Std returns the root of the biased variance of the elements.
func Std[N Is[N]](x tenon.Value) *Tensor { return Dims{groupOf[N]()}.Std(x) }

// LogSumExp returns log Σ e^x over the elements, without overflow on the way; -Inf
// where there are none.
func LogSumExp[N Is[N]](x tenon.Value) *Tensor { return Dims{groupOf[N]()}.LogSumExp(x) }

// Sum is the function [Sum] for the names of the list.
func (d Dims) Sum(x tenon.Value) *Tensor { return d.reduce("named.Sum", ops.Sum, x) }

// Mean is the function [Mean] for the names of the list.
func (d Dims) Mean(x tenon.Value) *Tensor { return d.reduce("named.Mean", ops.Mean, x) }

// Prod is the function [Prod] for the names of the list.
func (d Dims) Prod(x tenon.Value) *Tensor { return d.reduce("named.Prod", ops.Prod, x) }

// Max is the function [Max] for the names of the list.
func (d Dims) Max(x tenon.Value) *Tensor { return d.reduce("named.Max", ops.Max, x) }

// Min is the function [Min] for the names of the list.
func (d Dims) Min(x tenon.Value) *Tensor { return d.reduce("named.Min", ops.Min, x) }

// Any is the function [Any] for the names of the list.
func (d Dims) Any(x tenon.Value) *Tensor { return d.reduce("named.Any", ops.Any, x) }

// All is the function [All] for the names of the list.
func (d Dims) All(x tenon.Value) *Tensor { return d.reduce("named.All", ops.All, x) }

// CountNonzero is the function [CountNonzero] for the names of the list.
func (d Dims) CountNonzero(x tenon.Value) *Tensor {
	return d.reduce("named.CountNonzero", ops.CountNonzero, x)
}

// Variance is the function [Variance] for the names of the list.
func (d Dims) Variance(x tenon.Value) *Tensor { return d.reduce("named.Variance", ops.Variance, x) }

// Std is the function [Std] for the names of the list.
func (d Dims) Std(x tenon.Value) *Tensor { return d.reduce("named.Std", ops.Std, x) }

// LogSumExp is the function [LogSumExp] for the names of the list.
func (d Dims) LogSumExp(x tenon.Value) *Tensor {
	return d.reduce("named.LogSumExp", ops.LogSumExp, x)
}

// A reduction is the axes of a layout that an operation over names takes, and what is
// left without them.
type reduction struct {
	axes []int
	rest *layout
}

// axesOf returns the axes of the names of the list in a tensor.
func (d Dims) axesOf(fn string, t *Tensor) *reduction {
	dims := d.group()
	return t.spec.names.plan(planKey{kind: planReduce, dims: dims}, func() (any, error) {
		for _, n := range dims.ids {
			if !t.spec.names.has(n) {
				return nil, errMissing(over(fn, dims), n, one{"tensor", t})
			}
		}
		if n, twice := duplicate(dims.ids); twice {
			throwTwice(fn, n, dims)
		}
		return &reduction{append([]int{}, t.spec.names.positions(dims)...), t.spec.names.without(dims)}, nil
	}).(*reduction)
}

func (d Dims) reduce(fn string, f func(x any, axes ...int) tensor.Tensor, x tenon.Value) *Tensor {
	t := tensorOf(fn, x)
	r := d.axesOf(fn, t)
	return newTensor(f(t.data, r.axes...), r.rest, t.own())
}

// ArgMax returns the position of the largest element along a dimension, the first of
// equals, as int64. Rows of different lengths may have none: then the positions are masked.
func ArgMax[N Is[N]](x tenon.Value) *Tensor { return Dims{groupOf[N]()}.ArgMax(x) }

// ArgMin returns the position of the smallest element along a dimension, the first of
// equals, as int64; see [ArgMax].
func ArgMin[N Is[N]](x tenon.Value) *Tensor { return Dims{groupOf[N]()}.ArgMin(x) }

// ArgMax is the function [ArgMax] for the name of a list of one.
func (d Dims) ArgMax(x tenon.Value) *Tensor { return d.position("named.ArgMax", ops.ArgMax, x) }

// ArgMin is the function [ArgMin] for the name of a list of one.
func (d Dims) ArgMin(x tenon.Value) *Tensor { return d.position("named.ArgMin", ops.ArgMin, x) }

func (d Dims) position(fn string, f func(x any, axis int) tensor.Tensor, x tenon.Value) *Tensor {
	t := tensorOf(fn, x)
	d.single(fn)
	r := d.axesOf(fn, t)
	return newTensor(f(t.data, r.axes[0]), r.rest, t.own())
}
