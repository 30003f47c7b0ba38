package rows

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A reduction has one result for each row.
type reduction struct {
	name, doc string
	says      op.Statement
	takes     *op.Elements
	result    func(dtype.DType) dtype.DType                            // nil: the element type of the values
	params    []op.Param                                               // behind values and splits
	kernel    func(out, x *tensor.Dense, splits []int64, inner, n int) // n: the attribute, if there is one
	vjp       func(c *op.Call, y, ct tensor.Tensor) tensor.Tensor      // nil: there is no gradient
	loops     loops                                                    // for some rows at a time
}

func reduce(r *reduction) *op.Op {
	if r.result == nil {
		r.result = func(d dtype.DType) dtype.DType { return d }
	}
	o := &op.Op{
		Name: r.name, Statement: r.says, Doc: r.doc, Nondifferentiable: r.vjp == nil,
		Params: append(valuesOf(r.takes), r.params...), Results: 1,
		Elem: func(_ *op.Call, d dtype.DType) dtype.DType { return r.result(d) },
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			x := c.Dense(0)
			splits, err := partitionOf(c, 1, lead(x))
			if err != nil {
				return nil, err
			}
			n := 0
			if len(r.params) > 0 {
				n = c.Int(2)
			}
			return results(r.run(x, splits, n))
		},
	}
	if len(r.params) == 0 {
		o.Rows = r.loops.of
	}
	if r.vjp != nil {
		o.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
			return []tensor.Tensor{r.vjp(c, out[0], ct[0]), nil}
		}
	}
	return op.Register(o)
}

// run reduces rows in memory; n is the attribute, if there is one.
func (r *reduction) run(x *tensor.Dense, splits []int64, n int) *tensor.Dense {
	out := tensor.Uninit(r.result(x.DType()), x.Shape().With(0, len(splits)-1))
	if out.Len() > 0 {
		r.kernel(out, x, splits, innerSize(x), n)
	}
	return out
}

// spread gives each value what stands at its row.
func spread(c *op.Call, perRow tensor.Tensor) tensor.Tensor {
	return Repeat(perRow, c.Value(1), c.Tensor(0).Shape().Dim(0))
}

// perRow gives a vector with an entry for each row axes of size 1 for those of an item.
func perRow(c *op.Call, v tensor.Tensor) tensor.Tensor {
	rank := c.Tensor(0).Shape().Rank()
	if rank < 0 {
		tenon.Throw(c.Errorf(tenon.ErrUnsupported, "the gradient needs to know the rank of the values"))
	}
	for range rank - 1 {
		v = ops.ExpandDims(v, -1)
	}
	return v
}

// counts returns the number of values of each row in an element type.
func counts(c *op.Call, d dtype.DType) tensor.Tensor {
	return perRow(c, ops.Cast(Lengths(c.Value(1)), d))
}

// variance is the reduction with an attribute, the degrees of freedom that are lost.
var variance *reduction

var sumOp, prodOp, meanOp, varOp, maxOp, minOp, anyOp, allOp, countNonzeroOp, argMaxOp, argMinOp, logSumExpOp *op.Op

func init() {
	sumOp = reduce(&reduction{
		name: "ragged.sum", says: eachRow(op.Reduce, op.Sums, movedZero), loops: sumLoops, doc: "The sum of each row.", takes: op.NumbersBools, result: summed,
		kernel: func(out, x *tensor.Dense, splits []int64, inner, _ int) {
			if x.DType().IsBool() {
				countTrue(out, x, splits, inner)
			} else {
				numberTable[x.DType()].sum(out, x, splits, inner)
			}
		},
		vjp: func(c *op.Call, _, ct tensor.Tensor) tensor.Tensor { return spread(c, ct) },
	})
	prodOp = reduce(&reduction{
		name: "ragged.prod", says: eachRow(op.Reduce, op.Products, keepsZero), loops: prodLoops, doc: "The product of each row.", takes: op.Numbers,
		kernel: func(out, x *tensor.Dense, splits []int64, inner, _ int) {
			numberTable[x.DType()].prod(out, x, splits, inner)
		},
		vjp: func(c *op.Call, _, ct tensor.Tensor) tensor.Tensor {
			return ops.Mul(spread(c, ct), conj(others(c)))
		},
	})
	meanOp = reduce(&reduction{
		name: "ragged.mean", says: eachRow(op.Reduce, op.Means, movedZero), loops: meanLoops, doc: "The mean of each row.", takes: op.Reals, result: averaged,
		kernel: func(out, x *tensor.Dense, splits []int64, inner, _ int) {
			averageTable[x.DType()].mean(out, x, splits, inner)
		},
		vjp: func(c *op.Call, _, ct tensor.Tensor) tensor.Tensor {
			return spread(c, ops.Div(ct, counts(c, ct.DType())))
		},
	})
	variance = &reduction{
		name: "ragged.var", says: eachRow(op.Reduce, nil, op.Zero{}), doc: "The variance of each row.", takes: op.Reals, result: averaged,
		params: []op.Param{{Name: "ddof", Kind: op.Attr, Type: op.IntType, Default: 0}},
		kernel: func(out, x *tensor.Dense, splits []int64, inner, ddof int) {
			averageTable[x.DType()].variance(out, x, splits, inner, ddof)
		},
		vjp: func(c *op.Call, _, ct tensor.Tensor) tensor.Tensor {
			x := c.Tensor(0)
			d := ct.DType()
			off := ops.Sub(x, spread(c, Mean(x, c.Value(1))))
			n := ops.Sub(counts(c, d), ops.Cast(c.Int(2), d))
			return ops.Mul(ops.Mul(off, ops.Cast(2, d)), spread(c, ops.Div(ct, n)))
		},
	}
	varOp = reduce(variance)
	maxOp = reduce(&reduction{
		name: "ragged.max", says: eachRow(op.Reduce, op.Maxima, keepsZero), loops: maxLoops, doc: "The largest value of each row.", takes: op.Reals,
		kernel: func(out, x *tensor.Dense, splits []int64, inner, _ int) {
			realTable[x.DType()].max(out, x, splits, inner)
		},
		vjp: extremeGrad,
	})
	minOp = reduce(&reduction{
		name: "ragged.min", says: eachRow(op.Reduce, op.Minima, keepsZero), loops: minLoops, doc: "The smallest value of each row.", takes: op.Reals,
		kernel: func(out, x *tensor.Dense, splits []int64, inner, _ int) {
			realTable[x.DType()].min(out, x, splits, inner)
		},
		vjp: extremeGrad,
	})
	anyOp = reduce(&reduction{
		name: "ragged.any", says: eachRow(op.Reduce, op.Anys, keepsZero), loops: anyLoops, doc: "Whether each row has a true value.", takes: op.Bools,
		kernel: func(out, x *tensor.Dense, splits []int64, inner, _ int) {
			segment.Any(tensor.Elems[bool](out), tensor.Elems[bool](x), splits, inner)
		},
	})
	allOp = reduce(&reduction{
		name: "ragged.all", says: eachRow(op.Reduce, op.Alls, keepsZero), loops: allLoops, doc: "Whether each row has only true values.", takes: op.Bools,
		kernel: func(out, x *tensor.Dense, splits []int64, inner, _ int) {
			segment.All(tensor.Elems[bool](out), tensor.Elems[bool](x), splits, inner)
		},
	})
	countNonzeroOp = reduce(&reduction{
		name: "ragged.count_nonzero", says: op.Statement{Axes: op.Reduce, By: op.ByRows, Monoid: op.Sums, Missing: op.Skip, Control: two, Counts: op.First, Zero: keepsZero}, doc: "How many values of each row are not zero.", takes: op.NumbersBools,
		result: toInt64,
		kernel: func(out, x *tensor.Dense, splits []int64, inner, _ int) {
			if x.DType().IsBool() {
				countTrue(out, x, splits, inner)
			} else {
				numberTable[x.DType()].countNonzero(out, x, splits, inner)
			}
		},
	})
	argMaxOp = reduce(&reduction{
		name: "ragged.argmax", says: op.Statement{Axes: op.Reduce, By: op.ByRows, Monoid: op.Maxima, Missing: op.Skip, Control: two, Places: op.First}, doc: "The position of the largest value of each row.", takes: op.Reals,
		result: toInt64, kernel: func(out, x *tensor.Dense, splits []int64, inner, _ int) {
			realTable[x.DType()].argMax(out, x, splits, inner)
		},
	})
	argMinOp = reduce(&reduction{
		name: "ragged.argmin", says: op.Statement{Axes: op.Reduce, By: op.ByRows, Monoid: op.Minima, Missing: op.Skip, Control: two, Places: op.First}, doc: "The position of the smallest value of each row.", takes: op.Reals,
		result: toInt64, kernel: func(out, x *tensor.Dense, splits []int64, inner, _ int) {
			realTable[x.DType()].argMin(out, x, splits, inner)
		},
	})
	logSumExpOp = reduce(&reduction{
		name: "ragged.logsumexp", says: eachRow(op.Reduce, op.LogSums, op.Zero{}), loops: logSumExpLoops, doc: "The logarithm of the sum of exponentials of each row.", takes: op.Floats,
		kernel: func(out, x *tensor.Dense, splits []int64, inner, _ int) {
			floatTable[x.DType()].logSumExp(out, x, splits, inner)
		},
		vjp: func(c *op.Call, _, ct tensor.Tensor) tensor.Tensor {
			return ops.Mul(spread(c, ct), Softmax(c.Value(0), c.Value(1)))
		},
	})
}

func countTrue(out, x *tensor.Dense, splits []int64, inner int) {
	segment.CountNonzero(tensor.Elems[int64](out), tensor.Elems[bool](x), splits, inner)
}

func toInt64(dtype.DType) dtype.DType { return dtype.Int64 }

// summed is the type of a sum: truth values are counted in int64.
func summed(d dtype.DType) dtype.DType {
	if d.IsBool() {
		return dtype.Int64
	}
	return d
}

// averaged is the type of a mean: float64 for integers.
func averaged(d dtype.DType) dtype.DType {
	if d.IsInteger() {
		return dtype.Float64
	}
	return d
}

func conj(x tensor.Tensor) tensor.Tensor {
	if !x.DType().IsComplex() {
		return x
	}
	return ops.Conj(x)
}

// extremeGrad shares the cotangent equally among the values that equal the extreme.
func extremeGrad(c *op.Call, y, ct tensor.Tensor) tensor.Tensor {
	wins := ops.Cast(ops.Equal(c.Value(0), spread(c, y)), ct.DType())
	share := ops.Div(ct, Sum(wins, c.Value(1)))
	return ops.Where(ops.Equal(wins, ops.Cast(1, ct.DType())), spread(c, share), ops.Cast(0, ct.DType()))
}

// others returns for each value the product of the others of its row, from both
// sides, so that zeros need no special case.
func others(c *op.Call) tensor.Tensor {
	x, splits := c.Value(0), c.Value(1)
	return ops.Mul(CumProd(x, splits, CumOptions{Exclusive: true}), CumProd(x, splits, CumOptions{Exclusive: true, Reverse: true}))
}

// Sum returns the sum of each row; truth values are counted in int64. Integers wrap.
//
//	values: [nvals, a], splits → [rows, a]. Gradient: each value gets its row's cotangent.
func Sum(values, splits any) tensor.Tensor { return op.Eval(sumOp, values, splits) }

// Prod returns the product of each row. Integers wrap.
//
//	values: [nvals, a], splits → [rows, a], numbers.
//	Gradient: each value gets its row's cotangent times the product of the other values.
func Prod(values, splits any) tensor.Tensor { return op.Eval(prodOp, values, splits) }

// Mean returns the mean of each row, in float64 for integers.
//
//	values: [nvals, a], splits → [rows, a], real numbers.
//	Gradient: each value gets its row's cotangent, divided by the row's length.
func Mean(values, splits any) tensor.Tensor { return op.Eval(meanOp, values, splits) }

// Var returns the variance of each row, the mean squared distance from its mean
// with the divisor length-ddof, in float64 for integers. It makes two passes.
//
//	values: [nvals, a], splits → [rows, a], real numbers.
//	Gradient: 2(x-mean)/(length-ddof) times the row's cotangent.
func Var(values, splits any, ddof int) tensor.Tensor {
	return op.Eval(varOp, values, splits, ddof)
}

// Max returns the largest value of each row.
//
//	values: [nvals, a], splits → [rows, a], real numbers.
//	Gradient: the values that are the largest share their row's cotangent equally.
func Max(values, splits any) tensor.Tensor { return op.Eval(maxOp, values, splits) }

// Min returns the smallest value of each row.
//
//	values: [nvals, a], splits → [rows, a], real numbers.
//	Gradient: the values that are the smallest share their row's cotangent equally.
func Min(values, splits any) tensor.Tensor { return op.Eval(minOp, values, splits) }

// Any returns whether each row has a true value.
//
//	values: bool[nvals, a], splits → bool[rows, a]. No gradient.
func Any(values, splits any) tensor.Tensor { return op.Eval(anyOp, values, splits) }

// All returns whether each row has only true values.
//
//	values: bool[nvals, a], splits → bool[rows, a]. No gradient.
func All(values, splits any) tensor.Tensor { return op.Eval(allOp, values, splits) }

// CountNonzero returns how many values of each row are not zero. NaN is not.
//
//	values: [nvals, a], splits → int64[rows, a], numbers and truth values. No gradient.
func CountNonzero(values, splits any) tensor.Tensor { return op.Eval(countNonzeroOp, values, splits) }

// ArgMax returns the position in its row of each row's largest value: the first of
// equal ones, the first NaN where there is one, -1 for an empty row.
//
//	values: [nvals, a], splits → int64[rows, a], real numbers. No gradient.
func ArgMax(values, splits any) tensor.Tensor { return op.Eval(argMaxOp, values, splits) }

// ArgMin returns the position in its row of each row's smallest value, as [ArgMax]
// does for the largest.
//
//	values: [nvals, a], splits → int64[rows, a], real numbers. No gradient.
func ArgMin(values, splits any) tensor.Tensor { return op.Eval(argMinOp, values, splits) }

// LogSumExp returns log Σ exp(x) of each row without overflow.
//
//	values: [nvals, a], splits → [rows, a], floating numbers.
//	Gradient: the softmax of the row times its cotangent.
func LogSumExp(values, splits any) tensor.Tensor { return op.Eval(logSumExpOp, values, splits) }
