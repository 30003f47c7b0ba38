package ops

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/tensor"
)

// Complex returns x + y·i for real x and y: complex64 for float32, complex128 for
// float64.
//
// Gradient: the real part of ct for x, the imaginary part for y.
func Complex(x, y any) tensor.Tensor { return op.Eval(complexOp, x, y) }

var complexOp = op.Register(&op.Op{
	Name: "complex", Statement: additive, Doc: "x + y·i", Params: binaryParams, Results: 1, Strided: true,
	Elem: func(_ *op.Call, d dtype.DType) dtype.DType {
		if d != dtype.Float32 && d != dtype.Float64 {
			return dtype.None
		}
		return d.Complex()
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		spec := c.Out[0].(*tensor.Spec)
		out := tensor.Uninit(spec.DType(), spec.Shape())
		x, y := move.Copied(move.Stretched(c.Dense(0), spec.Shape())), move.Copied(move.Stretched(c.Dense(1), spec.Shape()))
		if spec.DType() == dtype.Complex64 {
			elementwise.Complex(tensor.Elems[complex64](out), tensor.Elems[float32](x), tensor.Elems[float32](y))
		} else {
			elementwise.Complex(tensor.Elems[complex128](out), tensor.Elems[float64](x), tensor.Elems[float64](y))
		}
		return c.Result(out)
	},
})

var _ = gradient(complexOp, func(x, y, z, ct tensor.Tensor) (gx, gy tensor.Tensor) { return Real(ct), Imag(ct) })

// Real returns the real part of x; a real tensor is returned as it is.
//
// Gradient: ct as the real part.
func Real(x any) tensor.Tensor { return op.Eval(realOp, x) }

var realOp = part(elementwise.RealPart, "the real part", linear, func(x *tensor.Dense) *tensor.Dense { return x })

var _ = gradient(realOp, func(x, y, ct tensor.Tensor) tensor.Tensor {
	if !x.DType().IsComplex() {
		return ct
	}
	return Complex(ct, ZerosLike(ct))
})

// Imag returns the imaginary part of x, which is 0 for a real tensor.
//
// Gradient: ct as the imaginary part.
func Imag(x any) tensor.Tensor { return op.Eval(imagOp, x) }

var imagOp = part(elementwise.ImagPart, "the imaginary part", linear, func(x *tensor.Dense) *tensor.Dense {
	return tensor.NewDense(x.DType(), x.Shape())
})

var _ = gradient(imagOp, func(x, y, ct tensor.Tensor) tensor.Tensor {
	if !x.DType().IsComplex() {
		return ZerosLike(x)
	}
	return Complex(ZerosLike(ct), ct)
})

// Angle returns the angle of x in the complex plane, between -π and π. For real
// numbers it is 0 or π.
//
// Gradient: for x = a+bi, ct·(-b + ai)/|x|², and 0 at 0.
func Angle(x any) tensor.Tensor { return op.Eval(angleOp, x) }

var angleOp = part(elementwise.Angle, "the angle in the complex plane", keepsZero, func(x *tensor.Dense) *tensor.Dense {
	d := x.DType()
	if d != dtype.Float32 && d != dtype.Float64 {
		d = dtype.Float64
		if x.DType().IsFloat() {
			d = dtype.Float32
		}
	}
	return castDense(unaryDense(elementwise.UnaryOf(elementwise.Angle, d), castDense(x, d), d, grainCheap), realResult(elementwise.Angle, x.DType()))
})

var _ = gradient(angleOp, func(x, y, ct tensor.Tensor) tensor.Tensor {
	if !x.DType().IsComplex() {
		return ZerosLike(x)
	}
	a, b := Real(x), Imag(x)
	s := divNonzero(ct, Add(Square(a), Square(b)))
	return Complex(Neg(Mul(s, b)), Mul(s, a))
})

// realResult returns the element type of a part of a number of type d. The angle
// of integers is float64.
func realResult(k elementwise.Op, d dtype.DType) dtype.DType {
	if k == elementwise.Angle && d.IsInteger() {
		return dtype.Float64
	}
	return d.Real()
}

// part registers a real function of complex numbers. For real numbers, it is computed by real.
func part(k elementwise.Op, doc string, says op.Statement, real func(x *tensor.Dense) *tensor.Dense) *op.Op {
	o := &op.Op{Name: k.String(), Statement: says, Doc: doc, Params: unaryOf(op.Numbers), Results: 1, Strided: true}
	o.Elem = func(_ *op.Call, d dtype.DType) dtype.DType { return realResult(k, d) }
	o.Kernel = func(c *op.Call) ([]tensor.Tensor, error) {
		x := c.Dense(0)
		if d := x.DType(); d.IsComplex() {
			return c.Result(unaryDense(elementwise.UnaryOf(k, d), x, d.Real(), grainCheap))
		}
		return c.Result(real(x))
	}
	return op.Register(o)
}

// Conj returns the complex conjugate of x; a real tensor is returned as it is.
//
// Gradient: the conjugate of ct.
func Conj(x any) tensor.Tensor { return op.Eval(conjOp, x) }

var conjOp = op.Register(&op.Op{
	Name: "conj", Statement: linear, Doc: "the complex conjugate", Params: unaryOf(op.Numbers), Results: 1, Strided: true,
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x := c.Dense(0)
		if !x.DType().IsComplex() {
			return c.Result(x)
		}
		return c.Result(unaryDense(elementwise.UnaryOf(elementwise.Conj, x.DType()), x, x.DType(), grainCheap))
	},
})

var _ = gradient(conjOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return Conj(ct) })
