package ops

import (
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// Abs returns |x|. For complex numbers it is the modulus, which is real. The most negative integer
// is returned unchanged.
//
// Gradient: ct·sign x; 0 at 0.
func Abs(x any) tensor.Tensor { return op.Eval(absOp, x) }

var absOp = registerAbs()

var _ = gradient(absOp, func(x, y, ct tensor.Tensor) tensor.Tensor {
	if x.DType().IsComplex() {
		return Mul(Complex(ct, ZerosLike(ct)), Sign(x))
	}
	return Mul(ct, Sign(x))
})

// registerAbs is separate because of the result type for complex tensors.
func registerAbs() *op.Op {
	kernel := func(d dtype.DType) elementwise.UnaryFunc {
		if d.IsComplex() {
			return elementwise.UnaryOf(elementwise.Modulus, d)
		}
		return elementwise.UnaryOf(elementwise.Abs, d)
	}
	o := &op.Op{Name: "abs", Statement: keepsZero, Doc: "absolute value", Params: unaryParams, Results: 1, Strided: true}
	o.Elem = func(_ *op.Call, d dtype.DType) dtype.DType {
		if kernel(d) == nil {
			return dtype.None
		}
		return d.Real()
	}
	o.Kernel = func(c *op.Call) ([]tensor.Tensor, error) {
		x := c.Dense(0)
		return c.Result(unaryDense(kernel(x.DType()), x, x.DType().Real(), grainCheap))
	}
	o.Block = func(in []dtype.DType) (op.BlockFunc, dtype.DType) {
		f := kernel(in[0])
		if f == nil {
			return nil, dtype.None
		}
		return func(dst unsafe.Pointer, x [3]unsafe.Pointer, n int, _ uint8) { f(dst, x[0], n) }, in[0].Real()
	}
	return op.Register(o)
}

// Neg returns -x. Integers wrap.
//
// Gradient: -ct.
func Neg(x any) tensor.Tensor { return op.Eval(negOp, x) }

var negOp = unary(elementwise.Neg, op.Op{Statement: linear, Doc: "-x"})

var _ = gradient(negOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return Neg(ct) })

// Sign returns -1, 0 or 1 in x's type, NaN for NaN, and x/|x| for complex numbers.
//
// Gradient: zero for real tensors; for complex ones, with the result s, that of x/|x|:
// (ct - s·Re(ct·s̄))/|x|, and 0 at 0.
func Sign(x any) tensor.Tensor { return op.Eval(signOp, x) }

var signOp = unary(elementwise.Sign, op.Op{Statement: keepsZero, Doc: "-1, 0 or 1"})

var _ = gradient(signOp, func(x, y, ct tensor.Tensor) tensor.Tensor {
	if !x.DType().IsComplex() {
		return ZerosLike(x)
	}
	along := Real(Mul(ct, Conj(y)))
	g := Sub(ct, Mul(y, Complex(along, ZerosLike(along))))
	n := Abs(x)
	return divNonzero(g, Complex(n, ZerosLike(n)))
})

// Floor returns ⌊x⌋ in x's type; integers are unchanged.
//
// Gradient: zero, as for the other functions that round.
func Floor(x any) tensor.Tensor { return op.Eval(floorOp, x) }

var floorOp = unary(elementwise.Floor, op.Op{Statement: keepsZero, Doc: "rounded down", Nondifferentiable: true})

// Ceil returns ⌈x⌉ in x's type.
func Ceil(x any) tensor.Tensor { return op.Eval(ceilOp, x) }

var ceilOp = unary(elementwise.Ceil, op.Op{Statement: keepsZero, Doc: "rounded up", Nondifferentiable: true})

// Round returns the nearest integer in x's type, with ties to even.
func Round(x any) tensor.Tensor { return op.Eval(roundOp, x) }

var roundOp = unary(elementwise.Round, op.Op{Statement: keepsZero, Doc: "rounded to the nearest integer, with ties to even", Nondifferentiable: true})

// Trunc returns x rounded toward zero in x's type.
func Trunc(x any) tensor.Tensor { return op.Eval(truncOp, x) }

var truncOp = unary(elementwise.Trunc, op.Op{Statement: keepsZero, Doc: "rounded toward zero", Nondifferentiable: true})

// IsNaN reports where x is NaN. A complex number is NaN if either part is.
func IsNaN(x any) tensor.Tensor { return op.Eval(isNaNOp, x) }

var isNaNOp = predicate(elementwise.IsNaN, op.Op{Statement: keepsZero, GoName: "ops.IsNaN", Doc: "whether an element is NaN"})

// IsInf reports where x is infinite. A complex number is infinite if either part
// is.
func IsInf(x any) tensor.Tensor { return op.Eval(isInfOp, x) }

var isInfOp = predicate(elementwise.IsInf, op.Op{Statement: keepsZero, Doc: "whether an element is infinite"})

// IsFinite reports where x is neither NaN nor infinite.
func IsFinite(x any) tensor.Tensor { return op.Eval(isFiniteOp, x) }

var isFiniteOp = predicate(elementwise.IsFinite, op.Op{Statement: mapped, Doc: "whether an element is neither NaN nor infinite"})

// NaNToNum returns x with NaN replaced by 0, and infinities by the largest and
// smallest finite numbers of the type.
//
// Gradient: ct where x is finite.
func NaNToNum(x any) tensor.Tensor { return op.Eval(nanToNumOp, x) }

var nanToNumOp = registerNaNToNum()

var _ = gradient(nanToNumOp, func(x, y, ct tensor.Tensor) tensor.Tensor {
	return Where(IsFinite(x), ct, zeroOf(ct.DType()))
})

func registerNaNToNum() *op.Op {
	o := &op.Op{Name: "nan_to_num", Statement: keepsZero, GoName: "ops.NaNToNum", Doc: "finite numbers instead of NaN and infinities", Params: unaryOf(op.Reals), Results: 1, Strided: true}
	o.Kernel = func(c *op.Call) ([]tensor.Tensor, error) {
		x := c.Dense(0)
		var f elementwise.UnaryFunc
		switch x.DType() {
		case dtype.Float16:
			f = nanToNum[dtype.F16](0x7bff, 0xfbff)
		case dtype.BFloat16:
			f = nanToNum[dtype.BF16](0x7f7f, 0xff7f)
		case dtype.Float32:
			f = nanToNum[float32](maxFloat32, -maxFloat32)
		case dtype.Float64:
			f = nanToNum[float64](maxFloat64, -maxFloat64)
		default: // integers
			return c.Result(x)
		}
		return c.Result(unaryDense(f, x, x.DType(), grainCheap))
	}
	return op.Register(o)
}

const (
	maxFloat32 = 0x1p127 * (1 + (1 - 0x1p-23))
	maxFloat64 = 0x1p1023 * (1 + (1 - 0x1p-52))
)

func nanToNum[T dtype.Native](hi, lo T) elementwise.UnaryFunc {
	return func(dst, x unsafe.Pointer, n int) {
		var zero T
		elementwise.NaNToNum(unsafe.Slice((*T)(dst), n), unsafe.Slice((*T)(x), n), zero, hi, lo)
	}
}
