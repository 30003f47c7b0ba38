package ops

import (
	"github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// Add returns x + y. Integers wrap; for booleans it is the logical or.
//
// Gradient: ct for both.
func Add(x, y any) tensor.Tensor { return op.Eval(addOp, x, y) }

var addOp = binary(elementwise.Add, op.Op{Statement: additive, Doc: "x + y"})

var _ = gradient(addOp, func(x, y, z, ct tensor.Tensor) (gx, gy tensor.Tensor) { return ct, ct })

// Sub returns x - y. Integers wrap.
//
// Gradient: ct for x, -ct for y.
func Sub(x, y any) tensor.Tensor { return op.Eval(subOp, x, y) }

var subOp = binary(elementwise.Sub, op.Op{Statement: additive, Doc: "x - y"})

var _ = gradient(subOp, func(x, y, z, ct tensor.Tensor) (gx, gy tensor.Tensor) { return ct, Neg(sumTo(ct, y)) })

// Mul returns x · y. Integers wrap; for booleans it is the logical and.
//
// Gradient: ct·y for x, ct·x for y.
func Mul(x, y any) tensor.Tensor { return op.Eval(mulOp, x, y) }

var mulOp = binary(elementwise.Mul, op.Op{Statement: multiplying, Doc: "x · y"})

var _ = gradient(mulOp, func(x, y, z, ct tensor.Tensor) (gx, gy tensor.Tensor) {
	return Mul(ct, conj(y)), Mul(ct, conj(x))
})

// Div returns x / y, in float64 for integers. Division by zero gives an infinity
// or NaN.
//
// Gradient: ct/y for x, -ct·(x/y)/y for y.
func Div(x, y any) tensor.Tensor { return op.Eval(divOp, x, y) }

var divOp = binary(elementwise.Div, op.Op{Statement: op.Statement{Axes: op.Map, Zero: op.Zero{Dividend: one, Linear: []op.Operands{one}}}, Doc: "x / y, in float64 for integers"})

var _ = gradient(divOp, func(x, y, z, ct tensor.Tensor) (gx, gy tensor.Tensor) {
	gx = Div(ct, conj(y))
	return gx, Neg(Mul(gx, conj(z)))
})

// FloorDiv returns ⌊x / y⌋, like // in Python. Dividing integers by zero is an
// error that names the element.
//
// Gradient: zero.
func FloorDiv(x, y any) tensor.Tensor { return op.Eval(floorDivOp, x, y) }

var floorDivOp = binary(elementwise.FloorDiv, op.Op{Statement: divided, Doc: "x / y rounded down", Nondifferentiable: true})

// Mod returns x - y·⌊x / y⌋, which has the sign of y, like % in Python. Dividing
// integers by zero is an error that names the element.
//
// Gradient: ct for x, -ct·⌊x / y⌋ for y.
func Mod(x, y any) tensor.Tensor { return op.Eval(modOp, x, y) }

var modOp = binary(elementwise.Mod, op.Op{Statement: divided, Doc: "the remainder of x / y, with the sign of y"})

var _ = gradient(modOp, func(x, y, z, ct tensor.Tensor) (gx, gy tensor.Tensor) {
	return ct, Neg(Mul(ct, FloorDiv(x, y)))
})

// TruncateDiv returns x / y rounded toward zero, like / for integers in Go.
// Dividing integers by zero is an error that names the element.
//
// Gradient: zero.
func TruncateDiv(x, y any) tensor.Tensor { return op.Eval(truncateDivOp, x, y) }

var truncateDivOp = binary(elementwise.TruncDiv, op.Op{Statement: divided, Doc: "x / y rounded toward zero", Nondifferentiable: true})

// TruncateMod returns the remainder of [TruncateDiv], which has the sign of x,
// like % in Go.
//
// Gradient: ct for x, -ct·trunc(x / y) for y.
func TruncateMod(x, y any) tensor.Tensor { return op.Eval(truncateModOp, x, y) }

var truncateModOp = binary(elementwise.TruncMod, op.Op{Statement: divided, Doc: "the remainder of x / y, with the sign of x"})

var _ = gradient(truncateModOp, func(x, y, z, ct tensor.Tensor) (gx, gy tensor.Tensor) {
	return ct, Neg(Mul(ct, TruncateDiv(x, y)))
})

// Pow returns x to the power y. Integers wrap; a negative power of an integer is
// an error that names the element.
//
// Gradient: ct·y·x^(y-1) for x, or 0 where y = 0; ct·x^y·log x for y, or 0 where
// x ≤ 0.
func Pow(x, y any) tensor.Tensor { return op.Eval(powOp, x, y) }

var powOp = binary(elementwise.Pow, op.Op{Statement: mapped, Doc: "x to the power y"})

var _ = gradient(powOp, func(x, y, z, ct tensor.Tensor) (gx, gy tensor.Tensor) {
	x, y, z = conj(x), conj(y), conj(z)
	// Use the exponent 1 where y is 0, so that 0·x^(-1) is 0 at x = 0.
	zero := Equal(y, 0)
	gx = Mul(ct, Mul(y, Pow(x, Where(zero, oneOf(y.DType()), Sub(y, 1)))))
	positive := NotEqual(x, 0)
	if !x.DType().IsComplex() {
		positive = Greater(x, 0)
	}
	log := Where(positive, Log(Where(positive, x, oneOf(x.DType()))), zeroOf(x.DType()))
	return gx, Mul(ct, Mul(z, log))
})

// Maximum returns the greater of x and y, or NaN where either is NaN.
//
// Gradient: ct for the greater one, or half of it for each where they are equal.
func Maximum(x, y any) tensor.Tensor { return op.Eval(maximumOp, x, y) }

var maximumOp = binary(elementwise.Maximum, op.Op{Statement: keepsZero, Doc: "the greater of x and y"})

var _ = gradient(maximumOp, vjpExtreme)

// Minimum returns the lesser of x and y, or NaN where either is NaN.
//
// Gradient: ct for the lesser one, or half of it for each where they are equal.
func Minimum(x, y any) tensor.Tensor { return op.Eval(minimumOp, x, y) }

var minimumOp = binary(elementwise.Minimum, op.Op{Statement: keepsZero, Doc: "the lesser of x and y"})

var _ = gradient(minimumOp, vjpExtreme)

func vjpExtreme(x, y, z, ct tensor.Tensor) (gx, gy tensor.Tensor) {
	d := x.DType()
	isX, isY := Cast(Equal(x, z), d), Cast(Equal(y, z), d)
	share := Div(ct, Add(isX, isY))
	return Mul(share, isX), Mul(share, isY)
}

// SquaredDifference returns (x - y)², and |x - y|² for complex tensors.
//
// Gradient: 2·ct·(x - y) for x, its negative for y.
func SquaredDifference(x, y any) tensor.Tensor { return op.Eval(squaredDifferenceOp, x, y) }

var squaredDifferenceOp = binary(elementwise.SquaredDifference, op.Op{Statement: keepsZero, Doc: "(x - y)²"})

var _ = gradient(squaredDifferenceOp, func(x, y, z, ct tensor.Tensor) (gx, gy tensor.Tensor) {
	if ct.DType().IsComplex() { // only the real part of ct counts for |d|² = d·d̄
		ct = Complex(Real(ct), ZerosLike(Real(ct)))
	}
	gx = Mul(ct, Mul(Sub(x, y), 2))
	return gx, Neg(gx)
})

// Atan2 returns the angle of the point (y, x), between -π and π, in float64 for
// integers.
//
// Gradient: ct·y/(x²+y²) for x, -ct·x/(x²+y²) for y, where y is the first operand and x the second.
func Atan2(x, y any) tensor.Tensor { return op.Eval(atan2Op, x, y) }

var atan2Op = binary(elementwise.Atan2, op.Op{Statement: keepsZero, Doc: "the angle of the point with coordinates y and x"})

var _ = gradient(atan2Op, func(x, y, z, ct tensor.Tensor) (gx, gy tensor.Tensor) {
	s := Div(ct, Add(Square(x), Square(y)))
	return Mul(s, y), Neg(Mul(s, x))
})

// Hypot returns √(x² + y²) without intermediate overflow, in float64 for
// integers.
//
// Gradient: ct·x/z for x, ct·y/z for y, where z is the result; 0 where z is 0.
func Hypot(x, y any) tensor.Tensor { return op.Eval(hypotOp, x, y) }

var hypotOp = binary(elementwise.Hypot, op.Op{Statement: keepsZero, Doc: "√(x² + y²)"})

var _ = gradient(hypotOp, func(x, y, z, ct tensor.Tensor) (gx, gy tensor.Tensor) {
	s := divNonzero(ct, z)
	return Mul(s, x), Mul(s, y)
})

// Xlogy returns x·log y, and 0 where x is 0.
//
// Gradient: ct·log y for x, or 0 where x = 0; ct·x/y for y.
func Xlogy(x, y any) tensor.Tensor { return op.Eval(xlogyOp, x, y) }

var xlogyOp = binary(elementwise.Xlogy, op.Op{Statement: absorbsFirst, Doc: "x·log y, 0 where x is 0"})

var _ = gradient(xlogyOp, func(x, y, z, ct tensor.Tensor) (gx, gy tensor.Tensor) {
	present := Cast(NotEqual(x, 0), x.DType())
	return Mul(ct, Xlogy(present, y)), Mul(ct, xdivy(x, y))
})

// xdivy returns x/y, and 0 where x is 0.
func xdivy(x, y tensor.Tensor) tensor.Tensor {
	zero := Equal(x, 0)
	return Where(zero, zeroOf(x.DType()), Div(x, Where(zero, oneOf(y.DType()), y)))
}

// divNonzero returns x/y, and 0 where y is 0.
func divNonzero(x, y tensor.Tensor) tensor.Tensor {
	zero := Equal(y, 0)
	return Where(zero, zeroOf(x.DType()), Div(x, Where(zero, oneOf(y.DType()), y)))
}

// Xlog1py returns x·log(1 + y), and 0 where x is 0.
//
// Gradient: ct·log(1 + y) for x, or 0 where x = 0; ct·x/(1 + y) for y.
func Xlog1py(x, y any) tensor.Tensor { return op.Eval(xlog1pyOp, x, y) }

var xlog1pyOp = binary(elementwise.Xlog1py, op.Op{Statement: absorbsFirst, Doc: "x·log(1 + y), 0 where x is 0"})

var _ = gradient(xlog1pyOp, func(x, y, z, ct tensor.Tensor) (gx, gy tensor.Tensor) {
	present := Cast(NotEqual(x, 0), x.DType())
	return Mul(ct, Xlog1py(present, y)), Mul(ct, xdivy(x, Add(y, 1)))
})

// NextAfter returns the number of x's type that is next to x in the direction of
// y, or y where they are equal.
//
// Gradient: zero.
func NextAfter(x, y any) tensor.Tensor { return op.Eval(nextAfterOp, x, y) }

var nextAfterOp = binary(elementwise.NextAfter, op.Op{Statement: keepsZero, Name: "next_after", Doc: "the next number after x toward y", Nondifferentiable: true})
