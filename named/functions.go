package named

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// This file has what the statements of operations tell, as go test ./named/internal/stated -update writes it.

// All is [ops.All] along a dimension, or the dimensions of a set.
func All[N Is[N]](x tenon.Value) *Tensor { return Dims{groupOf[N]()}.All(x) }

// All is the function [All] for the names of the list.
func (d Dims) All(x tenon.Value) *Tensor { return d.reduce("named.All", ops.All, x) }

// All is the function [All] along the dimension of a handle.
func (d Dim[N]) All() *Tensor { return d.dims("named.All").All(d.t) }

// Any is [ops.Any] along a dimension, or the dimensions of a set.
func Any[N Is[N]](x tenon.Value) *Tensor { return Dims{groupOf[N]()}.Any(x) }

// Any is the function [Any] for the names of the list.
func (d Dims) Any(x tenon.Value) *Tensor { return d.reduce("named.Any", ops.Any, x) }

// Any is the function [Any] along the dimension of a handle.
func (d Dim[N]) Any() *Tensor { return d.dims("named.Any").Any(d.t) }

// ArgMax is [ops.ArgMax] along a dimension.
func ArgMax[N Is[N]](x tenon.Value) *Tensor { return Dims{groupOf[N]()}.ArgMax(x) }

// ArgMax is the function [ArgMax] for the names of the list.
func (d Dims) ArgMax(x tenon.Value) *Tensor { return d.position("named.ArgMax", ops.ArgMax, x) }

// ArgMax is the function [ArgMax] along the dimension of a handle.
func (d Dim[N]) ArgMax() *Tensor { return d.dims("named.ArgMax").ArgMax(d.t) }

// ArgMin is [ops.ArgMin] along a dimension.
func ArgMin[N Is[N]](x tenon.Value) *Tensor { return Dims{groupOf[N]()}.ArgMin(x) }

// ArgMin is the function [ArgMin] for the names of the list.
func (d Dims) ArgMin(x tenon.Value) *Tensor { return d.position("named.ArgMin", ops.ArgMin, x) }

// ArgMin is the function [ArgMin] along the dimension of a handle.
func (d Dim[N]) ArgMin() *Tensor { return d.dims("named.ArgMin").ArgMin(d.t) }

// ArgSort is [ops.ArgSort] along a dimension.
func ArgSort[N Is[N]](x tenon.Value, o ops.SortOptions) *Tensor {
	return Dims{groupOf[N]()}.ArgSort(x, o)
}

// ArgSort is the function [ArgSort] for the names of the list.
func (d Dims) ArgSort(x tenon.Value, o ops.SortOptions) *Tensor {
	return d.along("named.ArgSort", func(x tensor.Tensor, axis int) tensor.Tensor { return ops.ArgSort(x, axis, o) }, x)
}

// ArgSort is the function [ArgSort] along the dimension of a handle.
func (d Dim[N]) ArgSort(o ops.SortOptions) *Tensor { return d.dims("named.ArgSort").ArgSort(d.t, o) }

// CountNonzero is [ops.CountNonzero] along a dimension, or the dimensions of a set.
func CountNonzero[N Is[N]](x tenon.Value) *Tensor { return Dims{groupOf[N]()}.CountNonzero(x) }

// CountNonzero is the function [CountNonzero] for the names of the list.
func (d Dims) CountNonzero(x tenon.Value) *Tensor {
	return d.reduce("named.CountNonzero", ops.CountNonzero, x)
}

// CountNonzero is the function [CountNonzero] along the dimension of a handle.
func (d Dim[N]) CountNonzero() *Tensor { return d.dims("named.CountNonzero").CountNonzero(d.t) }

// CumMax is [ops.CumMax] along a dimension.
func CumMax[N Is[N]](x tenon.Value, o ops.CumOptions) *Tensor { return Dims{groupOf[N]()}.CumMax(x, o) }

// CumMax is the function [CumMax] for the names of the list.
func (d Dims) CumMax(x tenon.Value, o ops.CumOptions) *Tensor {
	return d.along("named.CumMax", func(x tensor.Tensor, axis int) tensor.Tensor { return ops.CumMax(x, axis, o) }, x)
}

// CumMax is the function [CumMax] along the dimension of a handle.
func (d Dim[N]) CumMax(o ops.CumOptions) *Tensor { return d.dims("named.CumMax").CumMax(d.t, o) }

// CumMin is [ops.CumMin] along a dimension.
func CumMin[N Is[N]](x tenon.Value, o ops.CumOptions) *Tensor { return Dims{groupOf[N]()}.CumMin(x, o) }

// CumMin is the function [CumMin] for the names of the list.
func (d Dims) CumMin(x tenon.Value, o ops.CumOptions) *Tensor {
	return d.along("named.CumMin", func(x tensor.Tensor, axis int) tensor.Tensor { return ops.CumMin(x, axis, o) }, x)
}

// CumMin is the function [CumMin] along the dimension of a handle.
func (d Dim[N]) CumMin(o ops.CumOptions) *Tensor { return d.dims("named.CumMin").CumMin(d.t, o) }

// CumProd is [ops.CumProd] along a dimension.
func CumProd[N Is[N]](x tenon.Value, o ops.CumOptions) *Tensor {
	return Dims{groupOf[N]()}.CumProd(x, o)
}

// CumProd is the function [CumProd] for the names of the list.
func (d Dims) CumProd(x tenon.Value, o ops.CumOptions) *Tensor {
	return d.along("named.CumProd", func(x tensor.Tensor, axis int) tensor.Tensor { return ops.CumProd(x, axis, o) }, x)
}

// CumProd is the function [CumProd] along the dimension of a handle.
func (d Dim[N]) CumProd(o ops.CumOptions) *Tensor { return d.dims("named.CumProd").CumProd(d.t, o) }

// CumSum is [ops.CumSum] along a dimension.
func CumSum[N Is[N]](x tenon.Value, o ops.CumOptions) *Tensor { return Dims{groupOf[N]()}.CumSum(x, o) }

// CumSum is the function [CumSum] for the names of the list.
func (d Dims) CumSum(x tenon.Value, o ops.CumOptions) *Tensor {
	return d.along("named.CumSum", func(x tensor.Tensor, axis int) tensor.Tensor { return ops.CumSum(x, axis, o) }, x)
}

// CumSum is the function [CumSum] along the dimension of a handle.
func (d Dim[N]) CumSum(o ops.CumOptions) *Tensor { return d.dims("named.CumSum").CumSum(d.t, o) }

// LogCumSumExp is [ops.LogCumSumExp] along a dimension.
func LogCumSumExp[N Is[N]](x tenon.Value, o ops.CumOptions) *Tensor {
	return Dims{groupOf[N]()}.LogCumSumExp(x, o)
}

// LogCumSumExp is the function [LogCumSumExp] for the names of the list.
func (d Dims) LogCumSumExp(x tenon.Value, o ops.CumOptions) *Tensor {
	return d.along("named.LogCumSumExp", func(x tensor.Tensor, axis int) tensor.Tensor { return ops.LogCumSumExp(x, axis, o) }, x)
}

// LogCumSumExp is the function [LogCumSumExp] along the dimension of a handle.
func (d Dim[N]) LogCumSumExp(o ops.CumOptions) *Tensor {
	return d.dims("named.LogCumSumExp").LogCumSumExp(d.t, o)
}

// LogSoftmax is [ops.LogSoftmax] along a dimension, or the dimensions of a set.
func LogSoftmax[N Is[N]](x tenon.Value) *Tensor { return Dims{groupOf[N]()}.LogSoftmax(x) }

// LogSoftmax is the function [LogSoftmax] along the dimension of a handle.
func (d Dim[N]) LogSoftmax() *Tensor { return d.dims("named.LogSoftmax").LogSoftmax(d.t) }

// LogSumExp is [ops.LogSumExp] along a dimension, or the dimensions of a set.
func LogSumExp[N Is[N]](x tenon.Value) *Tensor { return Dims{groupOf[N]()}.LogSumExp(x) }

// LogSumExp is the function [LogSumExp] for the names of the list.
func (d Dims) LogSumExp(x tenon.Value) *Tensor { return d.reduce("named.LogSumExp", ops.LogSumExp, x) }

// LogSumExp is the function [LogSumExp] along the dimension of a handle.
func (d Dim[N]) LogSumExp() *Tensor { return d.dims("named.LogSumExp").LogSumExp(d.t) }

// Max is [ops.Max] along a dimension, or the dimensions of a set.
func Max[N Is[N]](x tenon.Value) *Tensor { return Dims{groupOf[N]()}.Max(x) }

// Max is the function [Max] for the names of the list.
func (d Dims) Max(x tenon.Value) *Tensor { return d.reduce("named.Max", ops.Max, x) }

// Max is the function [Max] along the dimension of a handle.
func (d Dim[N]) Max() *Tensor { return d.dims("named.Max").Max(d.t) }

// Mean is [ops.Mean] along a dimension, or the dimensions of a set.
func Mean[N Is[N]](x tenon.Value) *Tensor { return Dims{groupOf[N]()}.Mean(x) }

// Mean is the function [Mean] for the names of the list.
func (d Dims) Mean(x tenon.Value) *Tensor { return d.reduce("named.Mean", ops.Mean, x) }

// Mean is the function [Mean] along the dimension of a handle.
func (d Dim[N]) Mean() *Tensor { return d.dims("named.Mean").Mean(d.t) }

// Min is [ops.Min] along a dimension, or the dimensions of a set.
func Min[N Is[N]](x tenon.Value) *Tensor { return Dims{groupOf[N]()}.Min(x) }

// Min is the function [Min] for the names of the list.
func (d Dims) Min(x tenon.Value) *Tensor { return d.reduce("named.Min", ops.Min, x) }

// Min is the function [Min] along the dimension of a handle.
func (d Dim[N]) Min() *Tensor { return d.dims("named.Min").Min(d.t) }

// Norm is [ops.Norm] along a dimension, or the dimensions of a set.
func Norm[N Is[N]](x tenon.Value, p float64) *Tensor { return Dims{groupOf[N]()}.Norm(x, p) }

// Norm is the function [Norm] for the names of the list.
func (d Dims) Norm(x tenon.Value, p float64) *Tensor {
	return d.reduce("named.Norm", func(x any, axes ...int) tensor.Tensor { return ops.Norm(x, p, axes...) }, x)
}

// Norm is the function [Norm] along the dimension of a handle.
func (d Dim[N]) Norm(p float64) *Tensor { return d.dims("named.Norm").Norm(d.t, p) }

// Prod is [ops.Prod] along a dimension, or the dimensions of a set.
func Prod[N Is[N]](x tenon.Value) *Tensor { return Dims{groupOf[N]()}.Prod(x) }

// Prod is the function [Prod] for the names of the list.
func (d Dims) Prod(x tenon.Value) *Tensor { return d.reduce("named.Prod", ops.Prod, x) }

// Prod is the function [Prod] along the dimension of a handle.
func (d Dim[N]) Prod() *Tensor { return d.dims("named.Prod").Prod(d.t) }

// Shift is [ops.Shift] along a dimension.
func Shift[N Is[N]](x tenon.Value, by int) *Tensor { return Dims{groupOf[N]()}.Shift(x, by) }

// Shift is the function [Shift] for the names of the list.
func (d Dims) Shift(x tenon.Value, by int) *Tensor {
	return d.along("named.Shift", func(x tensor.Tensor, axis int) tensor.Tensor { return ops.Shift(x, by, axis) }, x)
}

// Shift is the function [Shift] along the dimension of a handle.
func (d Dim[N]) Shift(by int) *Tensor { return d.dims("named.Shift").Shift(d.t, by) }

// Softmax is [ops.Softmax] along a dimension, or the dimensions of a set.
func Softmax[N Is[N]](x tenon.Value) *Tensor { return Dims{groupOf[N]()}.Softmax(x) }

// Softmax is the function [Softmax] along the dimension of a handle.
func (d Dim[N]) Softmax() *Tensor { return d.dims("named.Softmax").Softmax(d.t) }

// Sort is [ops.Sort] along a dimension.
func Sort[N Is[N]](x tenon.Value, o ops.SortOptions) *Tensor { return Dims{groupOf[N]()}.Sort(x, o) }

// Sort is the function [Sort] for the names of the list.
func (d Dims) Sort(x tenon.Value, o ops.SortOptions) *Tensor {
	return d.along("named.Sort", func(x tensor.Tensor, axis int) tensor.Tensor { return ops.Sort(x, axis, o) }, x)
}

// Sort is the function [Sort] along the dimension of a handle.
func (d Dim[N]) Sort(o ops.SortOptions) *Tensor { return d.dims("named.Sort").Sort(d.t, o) }

// Std is [ops.Std] along a dimension, or the dimensions of a set.
func Std[N Is[N]](x tenon.Value) *Tensor { return Dims{groupOf[N]()}.Std(x) }

// Std is the function [Std] for the names of the list.
func (d Dims) Std(x tenon.Value) *Tensor { return d.reduce("named.Std", ops.Std, x) }

// Std is the function [Std] along the dimension of a handle.
func (d Dim[N]) Std() *Tensor { return d.dims("named.Std").Std(d.t) }

// Sum is [ops.Sum] along a dimension, or the dimensions of a set.
func Sum[N Is[N]](x tenon.Value) *Tensor { return Dims{groupOf[N]()}.Sum(x) }

// Sum is the function [Sum] for the names of the list.
func (d Dims) Sum(x tenon.Value) *Tensor { return d.reduce("named.Sum", ops.Sum, x) }

// Sum is the function [Sum] along the dimension of a handle.
func (d Dim[N]) Sum() *Tensor { return d.dims("named.Sum").Sum(d.t) }

// Variance is [ops.Variance] along a dimension, or the dimensions of a set.
func Variance[N Is[N]](x tenon.Value) *Tensor { return Dims{groupOf[N]()}.Variance(x) }

// Variance is the function [Variance] for the names of the list.
func (d Dims) Variance(x tenon.Value) *Tensor { return d.reduce("named.Variance", ops.Variance, x) }

// Variance is the function [Variance] along the dimension of a handle.
func (d Dim[N]) Variance() *Tensor { return d.dims("named.Variance").Variance(d.t) }

// twins are the functions of this package that are called as those of package ops for
// the same operation by the numbers of axes.
const twins = " Add All Any ArgMax ArgMin ArgSort Attention BroadcastTo Cast Concat CountNonzero CumMax CumMin CumProd CumSum Div Dot Dropout Einsum Equal ExpandDims Eye Index LayerNorm LinSpace LogCumSumExp LogSoftmax LogSumExp Max Maximum Mean Min Minimum Mul Norm OneHot Outer Pad Pow Prod RMSNorm RandomInt Range Reshape Reverse Roll Shift Softmax Sort SquaredDifference Squeeze Stack Std Sub Sum TopK Unstack Variance Where "
