package rows

import (
	"unsafe"

	scanning "github.com/tenonml/tenon/internal/kernel/reduce"
	"github.com/tenonml/tenon/internal/par"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Running maxima, minima and logarithms of sums of exponentials. The kernels are those of the
// operations along an axis, applied to one row at a time.

var cumMaxOp, cumMinOp, logCumSumExpOp *alongRows[CumOptions]

func init() {
	cumMaxOp = running("ragged.cummax", "The running maxima of each row.", op.Maxima, keepsZero, scanning.CumMax, op.Reals, vjpRunningExtreme)
	cumMinOp = running("ragged.cummin", "The running minima of each row.", op.Minima, keepsZero, scanning.CumMin, op.Reals, vjpRunningExtreme)
	logCumSumExpOp = running("ragged.logcumsumexp", "The logarithms of the running sums of e^x of each row.", op.LogSums, op.Zero{}, scanning.CumLogSumExp, op.Floats, vjpLogCumSumExp)
}

func running(name, doc string, m *op.Monoid, z op.Zero, k scanning.ScanOp, takes *op.Elements, vjp func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor) *alongRows[CumOptions] {
	return along(&op.Op{Name: name, Statement: eachRow(op.Scan, m, z), Doc: doc, Params: cumParams, VJP: vjp}, takes, cumOptions, func(out, x *tensor.Dense, splits []int64, how CumOptions) {
		s := scanner{scanning.Scan(k, x.DType()), out, x, splits, innerSize(x), how.Exclusive, how.Reverse}
		const grain = 1 << 10
		if n := len(splits) - 1; n > grain {
			par.For(n, grain, func(lo, hi int) { s.rows(lo, hi) })
		} else {
			s.rows(0, n)
		}
	})
}

// A scanner runs a cumulative operation on rows.
type scanner struct {
	f                  scanning.ScanFunc
	out, x             *tensor.Dense
	splits             []int64
	inner              int
	exclusive, reverse bool
}

// rows processes the rows from lo up to, but not including, hi.
func (s scanner) rows(lo, hi int) {
	size := uintptr(s.inner * s.x.DType().Size())
	for r := lo; r < hi; r++ {
		if n := int(s.splits[r+1] - s.splits[r]); n > 0 {
			at := uintptr(s.splits[r]) * size
			s.f(unsafe.Add(s.out.Raw(), at), unsafe.Add(s.x.Raw(), at), 1, n, s.inner, s.exclusive, s.reverse)
		}
	}
}

// vjpRunningExtreme sums the cotangents of each stretch of equal results and gives the sum to the
// value where the stretch begins.
func vjpRunningExtreme(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
	x, splits, exclusive, reverse := c.Tensor(0), c.Value(1), c.Bool(2), c.Bool(3)
	g := ct[0]
	if exclusive {
		g = Shift(g, splits, next(reverse))
	}
	before := op.Eval(c.Op, x, splits, true, reverse)
	begins := ops.Cast(ops.NotEqual(op.Eval(c.Op, x, splits, false, reverse), before), x.DType())
	goesOn := Shift(ops.Sub(1, begins), splits, next(reverse))
	return []tensor.Tensor{ops.Mul(begins, LinearScan(goesOn, g, splits, !reverse)), nil}
}

func vjpLogCumSumExp(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
	x, splits, exclusive, reverse := c.Tensor(0), c.Value(1), c.Bool(2), c.Bool(3)
	g := ct[0]
	if exclusive {
		g = Shift(g, splits, next(reverse))
	}
	y := LogCumSumExp(x, splits, CumOptions{Reverse: reverse})
	finite := ops.IsFinite(y)
	zero := ops.Zeros(y.DType(), []int{})
	y = ops.Where(finite, y, zero)
	// The factor from one result to the next, stored with the next.
	factor := ops.Exp(ops.Sub(Shift(y, splits, -next(reverse)), y))
	factor = ops.Where(Shift(finite, splits, -next(reverse)), factor, zero)
	behind := LinearScan(Shift(factor, splits, next(reverse)), g, splits, !reverse)
	return []tensor.Tensor{ops.Mul(behind, ops.Exp(ops.Sub(x, y))), nil}
}

// CumMax returns the running maxima of each row; from the first NaN on, they are NaN. Exclusive
// maxima start with the lowest value of the type.
//
//	values: [nvals, a], splits → [nvals, a], real numbers.
//	Gradient: the sum of ct over the results that a value is; the first of equal ones takes all.
func CumMax(values, splits any, o CumOptions) tensor.Tensor {
	return cumulative(cumMaxOp, values, splits, o)
}

// CumMin returns the running minima of each row; see [CumMax].
func CumMin(values, splits any, o CumOptions) tensor.Tensor {
	return cumulative(cumMinOp, values, splits, o)
}

// LogCumSumExp returns the logarithms of the running sums of e^x of each row, without intermediate
// overflow. Exclusive sums start with -Inf.
//
//	values: [nvals, a], splits → [nvals, a], floating-point numbers.
//	Gradient: for value k, Σ over i ≥ k of ctᵢ·e^(xₖ-yᵢ).
func LogCumSumExp(values, splits any, o CumOptions) tensor.Tensor {
	return cumulative(logCumSumExpOp, values, splits, o)
}
