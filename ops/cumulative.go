package ops

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/reduce"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// CumOptions says how a cumulative operation runs.
type CumOptions struct {
	Exclusive bool // the result for an element excludes the element itself
	Reverse   bool // from the last element to the first
}

var cumulativeParams = []op.Param{
	{Name: "x"},
	{Name: "axis", Kind: op.Attr, Type: op.IntType, Default: 0},
	{Name: "exclusive", Kind: op.Attr, Type: op.BoolType, Default: false},
	{Name: "reverse", Kind: op.Attr, Type: op.BoolType, Default: false},
}

// cumulative registers a cumulative operation computed by package reduce.
func cumulative(o op.Op, k reduce.ScanOp) *op.Op {
	o.Params, o.Results = cumulativeParams, 1
	o.Elem = keeping(func(d dtype.DType) bool { return reduce.Scan(k, d) != nil })
	o.Kernel = func(c *op.Call) ([]tensor.Tensor, error) {
		x := c.Dense(0)
		out := tensor.Uninit(x.DType(), x.Shape())
		if x.Len() == 0 {
			return c.Result(out)
		}
		outer, n, inner, err := around(c, x, c.Int(1))
		if err != nil {
			return nil, err
		}
		reduce.Scan(k, x.DType())(out.Raw(), x.Raw(), outer, n, inner, c.Bool(2), c.Bool(3))
		return c.Result(out)
	}
	return op.Register(&o)
}

// around returns the sizes of x before, along and after an axis.
func around(c *op.Call, x *tensor.Dense, axis int) (outer, n, inner int, err error) {
	a, err := c.Axis(axis, x.Shape())
	if err != nil {
		return 0, 0, 0, err
	}
	var room [8]int
	dims := x.Shape().AppendDims(room[:0])
	return product(dims[:a]), dims[a], product(dims[a+1:]), nil
}

// CumSum returns the running sums of x along an axis. Integers wrap.
//
// Gradient: the running sums of ct in the other direction.
func CumSum(x any, axis int, o CumOptions) tensor.Tensor {
	return op.Eval(cumSumOp, x, axis, o.Exclusive, o.Reverse)
}

var cumSumOp = cumulative(op.Op{Name: "cumsum", Statement: scans(op.Sums, movedZero), GoName: "ops.CumSum", Doc: "running sums along an axis"}, reduce.CumSum)

var _ = gradient(cumSumOp, func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	return []tensor.Tensor{CumSum(ct[0], c.Int(1), CumOptions{c.Bool(2), !c.Bool(3)})}
})

// CumProd returns the running products of x along an axis. Integers wrap.
//
// Gradient: for element k, the product of those before it times the sum over i ≥
// k of ctᵢ·Π(k < j ≤ i) xⱼ, which is a [LinearScan]; it is correct even for
// elements that are 0.
func CumProd(x any, axis int, o CumOptions) tensor.Tensor {
	return op.Eval(cumProdOp, x, axis, o.Exclusive, o.Reverse)
}

var cumProdOp = cumulative(op.Op{Name: "cumprod", Statement: scans(op.Products, op.Zero{Keeps: true}), GoName: "ops.CumProd", Doc: "running products along an axis"}, reduce.CumProd)

var _ = gradient(cumProdOp, func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	x := conj(c.Tensor(0))
	return []tensor.Tensor{Mul(behind(c, x, ct[0]), CumProd(x, c.Int(1), CumOptions{Exclusive: true, Reverse: c.Bool(3)}))}
})

// behind returns, for each element, the sum of the cotangents of the results it contributes to.
// From each result to the one before, the cotangent is multiplied by the factor of the later one.
func behind(c *op.Call, factor, ct tensor.Tensor) tensor.Tensor {
	axis, reverse := c.Int(1), c.Bool(3)
	if c.Bool(2) { // exclusive: element k first contributes to the next result
		ct = shiftOne(ct, axis, !reverse)
	}
	return LinearScan(shiftOne(factor, axis, !reverse), ct, axis, !reverse)
}

// CumMax returns the running maxima of x along an axis; from the first NaN on, they are NaN.
// Exclusive maxima start with the lowest value of the type.
//
// Gradient: the sum of ct over the results that an element is; the first of equal elements takes
// all.
func CumMax(x any, axis int, o CumOptions) tensor.Tensor {
	return op.Eval(cumMaxOp, x, axis, o.Exclusive, o.Reverse)
}

var cumMaxOp = cumulative(op.Op{Name: "cummax", Statement: scans(op.Maxima, op.Zero{Keeps: true}), GoName: "ops.CumMax", Doc: "running maxima along an axis"}, reduce.CumMax)

// CumMin returns the running minima of x along an axis; see [CumMax].
func CumMin(x any, axis int, o CumOptions) tensor.Tensor {
	return op.Eval(cumMinOp, x, axis, o.Exclusive, o.Reverse)
}

var cumMinOp = cumulative(op.Op{Name: "cummin", Statement: scans(op.Minima, op.Zero{Keeps: true}), GoName: "ops.CumMin", Doc: "running minima along an axis"}, reduce.CumMin)

var (
	_ = gradient(cumMaxOp, vjpRunningExtreme)
	_ = gradient(cumMinOp, vjpRunningExtreme)
)

// vjpRunningExtreme sums the cotangents of each stretch of equal results and
// gives the sum to the element where the stretch begins.
func vjpRunningExtreme(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	x, axis, reverse := c.Tensor(0), c.Int(1), c.Bool(3)
	before := op.Eval(c.Op, x, axis, true, reverse)
	begins := Cast(NotEqual(op.Eval(c.Op, x, axis, false, reverse), before), x.DType())
	return []tensor.Tensor{Mul(begins, behind(c, Sub(1, begins), ct[0]))}
}

// LogCumSumExp returns the logarithms of the running sums of e^x along an axis,
// without intermediate overflow. Exclusive sums start with -Inf.
//
// Gradient: for element k, the sum over i ≥ k of ctᵢ·e^(xₖ-yᵢ), as a [LinearScan]
// with the factors e^(yₖ-yₖ₊₁), which are at most 1.
func LogCumSumExp(x any, axis int, o CumOptions) tensor.Tensor {
	return op.Eval(logCumSumExpOp, x, axis, o.Exclusive, o.Reverse)
}

var logCumSumExpOp = cumulative(op.Op{Name: "logcumsumexp", Statement: scans(op.LogSums, op.Zero{}), GoName: "ops.LogCumSumExp", Doc: "logarithms of running sums of e^x along an axis"}, reduce.CumLogSumExp)

var _ = gradient(logCumSumExpOp, func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	x, axis, reverse := c.Tensor(0), c.Int(1), c.Bool(3)
	y := LogCumSumExp(x, axis, CumOptions{Reverse: reverse})
	finite := IsFinite(y)
	y = Where(finite, y, zeroOf(y.DType()))
	// The factor from one result to the next, stored with the next.
	factor := Exp(Sub(shiftOne(y, axis, reverse), y))
	factor = Where(shiftedIn(finite, axis, reverse), factor, zeroOf(y.DType()))
	return []tensor.Tensor{Mul(behind(c, factor, ct[0]), Exp(Sub(x, y)))}
})

// shiftedIn is shiftOne for booleans.
func shiftedIn(x tensor.Tensor, axis int, backward bool) tensor.Tensor {
	return Cast(shiftOne(Cast(x, dtype.Uint8), axis, backward), dtype.Bool)
}
