package ops

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/internal/kernel/reduce"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/reducing"
	"github.com/tenonml/tenon/tensor"
)

// Mean returns the mean of x over the given axes, or over all if none is given,
// in float64 for integers and booleans. The mean of no elements is NaN.
//
// Gradient: ct/n, repeated along the axes.
func Mean(x any, axes ...int) tensor.Tensor { return evalReduction(meanOp, x, axes, false) }

// MeanKeep is [Mean] with the reduced axes kept with size 1.
func MeanKeep(x any, axes ...int) tensor.Tensor { return evalReduction(meanOp, x, axes, true) }

var meanOp = simpleReduction(op.Op{Name: "reduce_mean", Statement: means, GoName: "ops.Mean", Doc: "mean over axes"}, gradOfMean, averagedType,
	func(d dtype.DType) reduce.Func {
		if d == dtype.Bool {
			return meanOfBools
		}
		return reduce.Of(reduce.Mean, d)
	})

func gradOfMean(_ *op.Call, g reducing.Groups, _, _, ct tensor.Tensor) tensor.Tensor {
	return g.Spread(Div(ct, g.Count()))
}

func averagedType(d dtype.DType) dtype.DType {
	if d == dtype.Bool || d.IsInteger() {
		return dtype.Float64
	}
	return d
}

// Prod returns Π x over the given axes, or over all if none is given. The product
// of no elements is 1. Integers wrap.
//
// Gradient: ct times the product of the other elements, even if some are 0.
func Prod(x any, axes ...int) tensor.Tensor { return evalReduction(prodOp, x, axes, false) }

// ProdKeep is [Prod] with the reduced axes kept with size 1.
func ProdKeep(x any, axes ...int) tensor.Tensor { return evalReduction(prodOp, x, axes, true) }

var prodOp = simpleReduction(op.Op{Name: "reduce_prod", Statement: reduces(op.Products), GoName: "ops.Prod", Doc: "product over axes"}, gradOfProd, same,
	func(d dtype.DType) reduce.Func { return reduce.Of(reduce.Prod, d) })

func gradOfProd(_ *op.Call, g reducing.Groups, _, _, ct tensor.Tensor) tensor.Tensor {
	return Mul(g.Spread(ct), conj(g.Others()))
}

// others returns, for each element of x, the product of all other elements that
// are reduced together with it.
func others(c *op.Call, x tensor.Tensor, axes []int) tensor.Tensor {
	list, known, err := c.AxesOf(axes, x.Shape())
	tenon.Throw(err)
	if !known {
		if axes != nil {
			rankOf(c, x)
		}
		return Reshape(othersAlong(Reshape(x, []int{-1}), 0), Shape(x))
	}
	switch len(list) {
	case 0:
		return OnesLike(x)
	case 1:
		return othersAlong(x, list[0])
	}
	// Several axes are merged into one at the end, and restored afterwards.
	perm, inverse := axesLast(list, x.Shape().Rank())
	kept := len(perm) - len(list)
	t := Transpose(x, perm...)
	flat := Reshape(t, []int{-1})
	if kept > 0 {
		dims := Shape(t) // with a size of 0, an unknown one could be anything
		flat = Reshape(t, Concat([]any{Slice(dims, []int{0}, []int{kept}), ProdKeep(Slice(dims, []int{kept}, []int{-1}), 0)}, 0))
	}
	return Transpose(Reshape(othersAlong(flat, -1), Shape(t)), inverse...)
}

func othersAlong(x tensor.Tensor, axis int) tensor.Tensor {
	before := CumProd(x, axis, CumOptions{Exclusive: true})
	after := CumProd(x, axis, CumOptions{Exclusive: true, Reverse: true})
	return Mul(before, after)
}

func same(d dtype.DType) dtype.DType { return d }

// Max returns the largest element over the given axes, or over all if none is given. It is NaN if
// any element is NaN. If there are no elements, it is the lowest value of the type, -Inf for
// floats. For booleans it is [Any].
//
// Gradient: ct, shared equally among the largest elements.
func Max(x any, axes ...int) tensor.Tensor { return evalReduction(maxOp, x, axes, false) }

// MaxKeep is [Max] with the reduced axes kept with size 1.
func MaxKeep(x any, axes ...int) tensor.Tensor { return evalReduction(maxOp, x, axes, true) }

var maxOp = simpleReduction(op.Op{Name: "reduce_max", Statement: reduces(op.Maxima), GoName: "ops.Max", Doc: "largest element over axes"}, gradOfExtreme, same,
	func(d dtype.DType) reduce.Func { return reduce.Of(reduce.Max, d) })

// Min returns the smallest element over the given axes, or over all if none is
// given. It is NaN if any element is NaN. If there are no elements, it is the
// highest value of the type, +Inf for floats. For booleans it is [All].
//
// Gradient: ct, shared equally among the smallest elements.
func Min(x any, axes ...int) tensor.Tensor { return evalReduction(minOp, x, axes, false) }

// MinKeep is [Min] with the reduced axes kept with size 1.
func MinKeep(x any, axes ...int) tensor.Tensor { return evalReduction(minOp, x, axes, true) }

var minOp = simpleReduction(op.Op{Name: "reduce_min", Statement: reduces(op.Minima), GoName: "ops.Min", Doc: "smallest element over axes"}, gradOfExtreme, same,
	func(d dtype.DType) reduce.Func { return reduce.Of(reduce.Min, d) })

// gradOfExtreme shares the cotangent equally among the elements that equal the extreme.
func gradOfExtreme(_ *op.Call, g reducing.Groups, x, y, ct tensor.Tensor) tensor.Tensor {
	is := Cast(Equal(x, g.Spread(y)), ct.DType())
	return Mul(g.Spread(Div(ct, Maximum(g.Reduce(sumOp, is), 1))), is)
}

// Any reports whether any element of x, which is boolean, is true, over the given
// axes or over all. Without elements it is false.
func Any(x any, axes ...int) tensor.Tensor { return evalReduction(anyOp, x, axes, false) }

// AnyKeep is [Any] with the reduced axes kept with size 1.
func AnyKeep(x any, axes ...int) tensor.Tensor { return evalReduction(anyOp, x, axes, true) }

var anyOp = simpleReduction(op.Op{Name: "reduce_any", Statement: reduces(op.Anys), GoName: "ops.Any", Doc: "whether any element is true"}, nil, same,
	func(d dtype.DType) reduce.Func { return reduce.Of(reduce.Any, d) })

// All reports whether every element of x, which is boolean, is true, over the
// given axes or over all. Without elements it is true.
func All(x any, axes ...int) tensor.Tensor { return evalReduction(allOp, x, axes, false) }

// AllKeep is [All] with the reduced axes kept with size 1.
func AllKeep(x any, axes ...int) tensor.Tensor { return evalReduction(allOp, x, axes, true) }

var allOp = simpleReduction(op.Op{Name: "reduce_all", Statement: reduces(op.Alls), GoName: "ops.All", Doc: "whether every element is true"}, nil, same,
	func(d dtype.DType) reduce.Func { return reduce.Of(reduce.All, d) })

// CountNonzero returns the number of elements that are nonzero, or true, over the
// given axes or over all, in int64.
func CountNonzero(x any, axes ...int) tensor.Tensor {
	return evalReduction(countNonzeroOp, x, axes, false)
}

// CountNonzeroKeep is [CountNonzero] with the reduced axes kept with size 1.
func CountNonzeroKeep(x any, axes ...int) tensor.Tensor {
	return evalReduction(countNonzeroOp, x, axes, true)
}

var countNonzeroOp = simpleReduction(op.Op{Name: "count_nonzero", Statement: op.Statement{Axes: op.Reduce, Monoid: op.Sums, Missing: op.Skip, Counts: op.First, Zero: op.Zero{Keeps: true}}, Doc: "number of nonzero elements"}, nil,
	func(dtype.DType) dtype.DType { return dtype.Int64 },
	func(d dtype.DType) reduce.Func { return reduce.Of(reduce.CountNonzero, d) })

// LogSumExp returns log Σ e^x over the given axes, or over all if none is given, without
// intermediate overflow. Without elements, and if all elements are -Inf, it is -Inf.
//
// Gradient: ct·e^(x-y).
func LogSumExp(x any, axes ...int) tensor.Tensor { return evalReduction(logSumExpOp, x, axes, false) }

// LogSumExpKeep is [LogSumExp] with the reduced axes kept with size 1.
func LogSumExpKeep(x any, axes ...int) tensor.Tensor {
	return evalReduction(logSumExpOp, x, axes, true)
}

var logSumExpOp = simpleReduction(op.Op{Name: "logsumexp", Statement: op.Statement{Axes: op.Reduce, Monoid: op.LogSums, Missing: op.Skip}, GoName: "ops.LogSumExp", Doc: "log of the sum of e^x over axes"}, gradOfLogSumExp, same,
	func(d dtype.DType) reduce.Func { return reduce.Of(reduce.LogSumExp, d) })

func gradOfLogSumExp(_ *op.Call, g reducing.Groups, x, y, ct tensor.Tensor) tensor.Tensor {
	y = Where(IsFinite(y), y, zeroOf(y.DType())) // if all elements are -Inf, e^(x-0) is 0
	return Mul(g.Spread(ct), Exp(Sub(x, g.Spread(y))))
}

// Variance returns the mean squared distance from the mean over the given axes,
// or over all if none is given, in float64 for integers. It divides by the number
// of elements; see [VarianceDDOF] for other divisors. Without elements it is NaN.
//
// Gradient: 2·ct·(x - mean)/n.
func Variance(x any, axes ...int) tensor.Tensor {
	return evalMoment(varianceOp, x, axes, false, 0)
}

// VarianceKeep is [Variance] with the reduced axes kept with size 1.
func VarianceKeep(x any, axes ...int) tensor.Tensor {
	return evalMoment(varianceOp, x, axes, true, 0)
}

// VarianceDDOF is [Variance] with the sum divided by n - ddof instead of n; ddof
// 1 gives the unbiased estimate.
func VarianceDDOF(x any, ddof int, axes ...int) tensor.Tensor {
	return evalMoment(varianceOp, x, axes, false, ddof)
}

var momentParams = append(reduceParams[:len(reduceParams):len(reduceParams)],
	op.Param{Name: "ddof", Kind: op.Attr, Type: op.IntType, Default: 0})

func ddofOf(c *op.Call) int { n, _ := c.Attr("ddof").(int); return n }

var varianceOp = reduction(op.Op{Name: "reduce_variance", Statement: op.Statement{Axes: op.Reduce, Missing: op.Skip}, GoName: "ops.Variance", Doc: "mean squared distance from the mean over axes", Params: momentParams}, gradOfVariance, averagedType,
	func(c *op.Call, d dtype.DType) reduce.Func { return varianceOf(d, ddofOf(c)) })

func varianceOf(d dtype.DType, ddof int) reduce.Func { return reduce.VarianceOf(d, ddof) }

// evalMoment calls a reduction that takes ddof, the delta degrees of freedom.
func evalMoment(o *op.Op, x any, axes []int, keep bool, ddof int) tensor.Tensor {
	return op.Eval(o, x, axesAttr(axes), keep, ddof)
}

func gradOfVariance(c *op.Call, g reducing.Groups, x, _, ct tensor.Tensor) tensor.Tensor {
	far := Sub(x, g.Spread(g.Reduce(meanOp, x)))
	return Mul(g.Spread(Div(Mul(ct, 2), Cast(Sub(g.Count(), ddofOf(c)), x.DType()))), far)
}

// Std returns the square root of [Variance].
//
// Gradient: ct·(x - mean)/(n·y), and 0 where y is 0.
func Std(x any, axes ...int) tensor.Tensor { return evalMoment(stdOp, x, axes, false, 0) }

// StdKeep is [Std] with the reduced axes kept with size 1.
func StdKeep(x any, axes ...int) tensor.Tensor {
	return evalMoment(stdOp, x, axes, true, 0)
}

// StdDDOF is the square root of [VarianceDDOF].
func StdDDOF(x any, ddof int, axes ...int) tensor.Tensor {
	return evalMoment(stdOp, x, axes, false, ddof)
}

var stdOp = reduction(op.Op{Name: "reduce_std", Statement: op.Statement{Axes: op.Reduce, Missing: op.Skip}, GoName: "ops.Std", Doc: "standard deviation over axes", Params: momentParams}, gradOfStd, averagedType,
	func(c *op.Call, d dtype.DType) reduce.Func { return stdOf(d, ddofOf(c)) })

func stdOf(d dtype.DType, ddof int) reduce.Func {
	return rooted(varianceOf(d, ddof), elementwise.UnaryOf(elementwise.Sqrt, averagedType(d)))
}

func gradOfStd(c *op.Call, g reducing.Groups, x, y, ct tensor.Tensor) tensor.Tensor {
	far := Sub(x, g.Spread(g.Reduce(meanOp, x)))
	return Mul(g.Spread(Div(divNonzero(ct, y), Cast(Sub(g.Count(), ddofOf(c)), x.DType()))), far)
}

// ArgMax returns the position of the largest element along an axis, in int64. It is the first of
// equal ones, or the first NaN if there is one. An empty axis is an error unless the result has no
// elements.
func ArgMax(x any, axis int) tensor.Tensor {
	return op.Eval(argMaxOp, x, axesAttr([]int{axis}), false)
}

// ArgMaxKeep is [ArgMax] with the axis kept with size 1.
func ArgMaxKeep(x any, axis int) tensor.Tensor {
	return op.Eval(argMaxOp, x, axesAttr([]int{axis}), true)
}

var argMaxOp = position("argmax", "ops.ArgMax", "position of the largest element", op.Maxima, reduce.ArgMax)

// ArgMin returns the position of the smallest element along an axis; see
// [ArgMax].
func ArgMin(x any, axis int) tensor.Tensor {
	return op.Eval(argMinOp, x, axesAttr([]int{axis}), false)
}

// ArgMinKeep is [ArgMin] with the axis kept with size 1.
func ArgMinKeep(x any, axis int) tensor.Tensor {
	return op.Eval(argMinOp, x, axesAttr([]int{axis}), true)
}

var argMinOp = position("argmin", "ops.ArgMin", "position of the smallest element", op.Minima, reduce.ArgMin)

// position registers a reduction of one axis that returns positions.
func position(name, goName, doc string, m *op.Monoid, k reduce.Op) *op.Op {
	says := op.Statement{Axes: op.Reduce, Monoid: m, Missing: op.Skip, Places: op.First}
	o := reduction(op.Op{Name: name, Statement: says, GoName: goName, Doc: doc}, nil,
		func(dtype.DType) dtype.DType { return dtype.Int64 },
		func(_ *op.Call, d dtype.DType) reduce.Func { return reduce.Of(k, d) })
	o.Check = func(c *op.Call) error {
		axes, s := c.Ints(reduceAxis), c.Tensor(0).Shape()
		if axes != nil && len(axes) != 1 {
			return c.Errorf(tenon.ErrAxis, "positions are along one axis, got the axes %v", axes)
		}
		list, known, err := c.SortedAxes(s)
		if err != nil || !known {
			return err
		}
		n, others := 1, op.Reduced(s, list, false)
		for _, a := range list {
			n *= s.Dim(a)
		}
		if n == 0 && others.Size() != 0 {
			return c.Errorf(tenon.ErrShape, "an empty axis has no %s", doc)
		}
		return nil
	}
	return o
}
