package rows

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/internal/par"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// alongRows is an operation, with attributes of type A, whose result has the shape of its values.
type alongRows[A any] struct {
	*op.Op
	kernel func(out, x *tensor.Dense, splits []int64, how A)
}

// run applies the operation to rows in memory.
func (o *alongRows[A]) run(x *tensor.Dense, splits []int64, how A) *tensor.Dense {
	out := tensor.Uninit(x.DType(), x.Shape())
	if out.Len() > 0 {
		o.kernel(out, x, splits, how)
	}
	return out
}

// none is the type of missing attributes.
type none = struct{}

// noneOf returns the attributes of a call that has none.
func noneOf(*op.Call) none { return none{} }

// along registers an operation whose result has the shape of its values; attributes returns those
// of a call.
func along[A any](o *op.Op, takes *op.Elements, attributes func(c *op.Call) A, kernel func(out, x *tensor.Dense, splits []int64, how A)) *alongRows[A] {
	a := &alongRows[A]{o, kernel}
	o.Results, o.Params = 1, append(valuesOf(takes), o.Params...)
	o.Kernel = func(c *op.Call) ([]tensor.Tensor, error) {
		x := c.Dense(0)
		splits := rowSplits(c, 1, lead(x))
		return results(a.run(x, splits, attributes(c)))
	}
	op.Register(o)
	return a
}

var softmaxOp, logSoftmaxOp *alongRows[none]

func init() {
	softmaxOp = along(&op.Op{
		Name: "ragged.softmax", Statement: eachRow(op.Along, op.LogSums, op.Zero{}), Doc: "The softmax of each row.", Rows: softmaxLoops.of,
		VJP: func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
			y := out[0]
			g := ops.Mul(ct[0], y)
			return []tensor.Tensor{ops.Sub(g, ops.Mul(y, spread(c, Sum(g, c.Value(1))))), nil}
		},
	}, op.Floats, noneOf, func(out, x *tensor.Dense, splits []int64, _ none) {
		byType[x.DType()].softmax(out, x, splits, innerSize(x), 0)
	})
	logSoftmaxOp = along(&op.Op{
		Name: "ragged.log_softmax", Statement: eachRow(op.Along, op.LogSums, op.Zero{}), Doc: "The logarithm of the softmax of each row.", Rows: logSoftmaxLoops.of,
		VJP: func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
			return []tensor.Tensor{ops.Sub(ct[0], ops.Mul(ops.Exp(out[0]), spread(c, Sum(ct[0], c.Value(1))))), nil}
		},
	}, op.Floats, noneOf, func(out, x *tensor.Dense, splits []int64, _ none) {
		byType[x.DType()].logSoftmax(out, x, splits, innerSize(x), 0)
	})
}

// Softmax returns exp(x)/Σ exp(x) of each row without overflow.
//
//	values: [nvals, a], splits → [nvals, a], floating-point numbers. Gradient: y(ct - Σ ct·y).
func Softmax(values, splits any) tensor.Tensor { return op.Eval(softmaxOp.Op, values, splits) }

// LogSoftmax returns x - log Σ exp(x) of each row without overflow.
//
//	values: [nvals, a], splits → [nvals, a], floating-point numbers. Gradient: ct - exp(y) Σ ct.
func LogSoftmax(values, splits any) tensor.Tensor { return op.Eval(logSoftmaxOp.Op, values, splits) }

// CumOptions says how cumulative operations run along a row. With the zero value, they run from the
// first value on, and each result includes its own value.
type CumOptions = ops.CumOptions

var cumParams = append([]op.Param{},
	op.Param{Name: "exclusive", Kind: op.Attr, Type: op.BoolType, Default: false},
	op.Param{Name: "reverse", Kind: op.Attr, Type: op.BoolType, Default: false})

// cumOptions returns the attributes of a cumulative operation.
func cumOptions(c *op.Call) CumOptions { return CumOptions{Exclusive: c.Bool(2), Reverse: c.Bool(3)} }

// cumulative calls a cumulative operation.
func cumulative(o *alongRows[CumOptions], values, splits any, how CumOptions) tensor.Tensor {
	return op.Eval(o.Op, values, splits, how.Exclusive, how.Reverse)
}

var cumSumOp, cumProdOp *alongRows[CumOptions]

func init() {
	cumSumOp = along(&op.Op{
		Name: "ragged.cumsum", Statement: eachRow(op.Scan, op.Sums, movedZero), Doc: "The running sums of each row.", Params: cumParams,
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			return []tensor.Tensor{CumSum(ct[0], c.Value(1), CumOptions{Exclusive: c.Bool(2), Reverse: !c.Bool(3)}), nil}
		},
	}, op.Numbers, cumOptions, func(out, x *tensor.Dense, splits []int64, how CumOptions) {
		byType[x.DType()].cumSum(out, x, splits, innerSize(x), segment.Cumulation(how))
	})
	cumProdOp = along(&op.Op{
		Name: "ragged.cumprod", Statement: eachRow(op.Scan, op.Products, keepsZero), Doc: "The running products of each row.", Params: cumParams,
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			x, splits, exclusive, reverse := conj(c.Tensor(0)), c.Value(1), c.Bool(2), c.Bool(3)
			g := ct[0]
			if exclusive { // value k first contributes to the next result
				g = Shift(g, splits, next(reverse))
			}
			behind := LinearScan(Shift(x, splits, next(reverse)), g, splits, !reverse)
			return []tensor.Tensor{ops.Mul(behind, CumProd(x, splits, CumOptions{Exclusive: true, Reverse: reverse})), nil}
		},
	}, op.Numbers, cumOptions, func(out, x *tensor.Dense, splits []int64, how CumOptions) {
		byType[x.DType()].cumProd(out, x, splits, innerSize(x), segment.Cumulation(how))
	})
}

// next returns how far values are shifted so that each gets its successor in the direction of a
// cumulative operation.
func next(reverse bool) int {
	if reverse {
		return 1
	}
	return -1
}

// CumSum returns the running sums of each row. Integers wrap.
//
//	values: [nvals, a], splits → [nvals, a], numbers. Gradient: the running sums of the cotangent in the other direction.
func CumSum(values, splits any, o CumOptions) tensor.Tensor {
	return cumulative(cumSumOp, values, splits, o)
}

// CumProd returns the running products of each row. Integers wrap.
//
//	values: [nvals, a], splits → [nvals, a], numbers.
//	Gradient: for value k the product of those before it times Σ over i ≥ k of ctᵢ·Π(k < j ≤ i) xⱼ.
func CumProd(values, splits any, o CumOptions) tensor.Tensor {
	return cumulative(cumProdOp, values, splits, o)
}

var shiftOp *alongRows[int]

var linearScanOp *op.Op

func init() {
	shiftOp = along(&op.Op{
		Name: "ragged.shift", Statement: op.Statement{Axes: op.Along, By: op.ByRows, Moves: one, Control: two, Fills: true, Zero: movedZero}, Doc: "Values shifted along their rows, with zeros filled in.",
		Params: []op.Param{{Name: "by", Kind: op.Attr, Type: op.IntType}},
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			return []tensor.Tensor{Shift(ct[0], c.Value(1), -c.Int(2)), nil}
		},
	}, op.NumbersBools, func(c *op.Call) int { return c.Int(2) }, func(out, x *tensor.Dense, splits []int64, by int) {
		size := innerSize(x) * x.DType().Size()
		dst, src := out.Bytes(), x.Bytes()
		par.For(len(splits)-1, 1<<12, func(lo, hi int) {
			for r := lo; r < hi; r++ {
				n := int(splits[r+1] - splits[r])
				by := min(max(by, -n), n) * size
				d, s := dst[int(splits[r])*size:int(splits[r+1])*size], src[int(splits[r])*size:int(splits[r+1])*size]
				if by >= 0 {
					clear(d[:by])
					copy(d[by:], s)
				} else {
					clear(d[copy(d, s[-by:]):])
				}
			}
		})
	})
	linearScanOp = op.Register(linearScan)
	linearScan.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		splits, reverse := c.Value(2), c.Bool(3)
		g := LinearScan(Shift(conj(c.Tensor(0)), splits, next(reverse)), ct[0], splits, !reverse)
		return []tensor.Tensor{ops.Mul(g, Shift(conj(out[0]), splits, -next(reverse))), g, nil}
	}
}

// Shift returns values moved along their rows by a number of places, toward the start if it is
// negative. Values moved beyond the end of a row are dropped, and zeros are filled in.
//
//	values: [nvals, a], splits → [nvals, a], numbers and booleans. Gradient: the cotangent moved back.
func Shift(values, splits any, by int) tensor.Tensor {
	return op.Eval(shiftOp.Op, values, splits, by)
}

var linearScan = &op.Op{
	Name: "ragged.linear_scan", Statement: op.Statement{Axes: op.Scan, By: op.ByRows, Control: three, Missing: op.Refuse, Zero: op.Zero{Keeps: true, Linear: []op.Operands{two}}}, Doc: "First-order linear recurrence along each row.", Results: 1,
	Params: []op.Param{{Name: "a", Group: 1, Takes: op.Smooth}, {Name: "b", Group: 1}, splitsParam, {Name: "reverse", Kind: op.Attr, Type: op.BoolType, Default: false}},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		a, b := c.Dense(0), c.Dense(1)
		splits := rowSplits(c, 2, lead(a))
		return results(scanned(a, b, splits, c.Bool(3)))
	},
}

// scanned runs the recurrence on rows in memory.
func scanned(a, b *tensor.Dense, splits []int64, reverse bool) tensor.Tensor {
	d := a.DType()
	if d.Size() == 2 { // half precision
		a, b = ops.Cast(a, dtype.Float32).(*tensor.Dense), ops.Cast(b, dtype.Float32).(*tensor.Dense)
	}
	out := tensor.Uninit(a.DType(), a.Shape())
	scans[a.DType()](out, a, b, splits, innerSize(a), reverse)
	if d != a.DType() {
		return ops.Cast(out, d)
	}
	return out
}

var scans = [dtype.String + 1]func(out, a, b *tensor.Dense, splits []int64, inner int, reverse bool){
	dtype.Float32: scan[float32], dtype.Float64: scan[float64], dtype.Complex64: scan[complex64], dtype.Complex128: scan[complex128],
}

func scan[T float32 | float64 | complex64 | complex128](out, a, b *tensor.Dense, splits []int64, inner int, reverse bool) {
	h, as, bs := tensor.Elems[T](out), tensor.Elems[T](a), tensor.Elems[T](b)
	par.For(len(splits)-1, 1<<10, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			first, n, step := int(splits[r])*inner, int(splits[r+1]-splits[r]), inner
			if n == 0 {
				continue
			}
			if reverse {
				first, step = first+(n-1)*inner, -inner
			}
			copy(h[first:first+inner], bs[first:first+inner])
			for k := 1; k < n; k++ {
				before := h[first : first+inner]
				first += step
				row, ra, rb := h[first:first+inner], as[first:first+inner], bs[first:first+inner]
				for i, p := range before {
					row[i] = ra[i]*p + rb[i]
				}
			}
		}
	})
}

// LinearScan returns the solution h of hₜ = aₜ·hₜ₋₁ + bₜ along each row, with h = 0 before the
// first value. With reverse, it runs from the last value to the first.
//
//	a, b: [nvals, c], splits → [nvals, c], floating and complex numbers.
//	Gradient: with g the scan of ct in the other direction with the factors of the
//	next value, g·hₜ₋₁ for a and g for b.
func LinearScan(a, b, splits any, reverse bool) tensor.Tensor {
	return op.Eval(linearScanOp, a, b, splits, reverse)
}
