package ops

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// Products and quotients that are 0 if a factor or divisor is. They are built on [Where], whose
// gradient ignores what is not chosen; an operand that would give NaN or infinity is replaced
// beforehand.

// DivNoNaN returns x/y, or 0 where y is 0.
//
//	x, y: broadcast, numbers. Gradient: that of x/y, 0 where y is 0.
func DivNoNaN(x, y any) tensor.Tensor {
	d := operandOf(y)
	zero := Equal(d, ZerosLike(d))
	q := Div(x, Where(zero, OnesLike(d), d))
	return Where(zero, ZerosLike(q), q)
}

// MulNoNaN returns x·y, or 0 where y is 0, even if x is infinite or NaN.
//
//	x, y: broadcast, numbers. Gradient: that of x·y, 0 where y is 0.
func MulNoNaN(x, y any) tensor.Tensor {
	a, b := operandOf(x), operandOf(y)
	zero := Equal(b, ZerosLike(b))
	p := Mul(Where(zero, ZerosLike(a), a), b)
	return Where(zero, ZerosLike(p), p)
}

// ReciprocalNoNaN returns 1/x, or 0 where x is 0.
//
//	x: floating and complex numbers. Gradient: -ct/x², 0 where x is 0.
func ReciprocalNoNaN(x any) tensor.Tensor {
	a := operandOf(x)
	zero := Equal(a, ZerosLike(a))
	r := Reciprocal(Where(zero, OnesLike(a), a))
	return Where(zero, ZerosLike(r), r)
}

// Xdivy returns x/y, or 0 where x is 0, even if y is 0.
//
//	x, y: broadcast, floating and complex numbers. Gradient: that of x/y, 0 where x is 0.
func Xdivy(x, y any) tensor.Tensor {
	a, b := operandOf(x), operandOf(y)
	zero := Equal(a, ZerosLike(a))
	q := Div(a, Where(zero, OnesLike(b), b))
	return Where(zero, ZerosLike(q), q)
}

// AddN returns the sum of one or more tensors.
//
//	xs: broadcast, numbers. Gradient: ct for each.
func AddN(xs ...any) tensor.Tensor {
	if len(xs) == 0 {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, "ops.AddN", "there are no tensors"))
	}
	sum := operandOf(xs[0])
	for _, x := range xs[1:] {
		sum = Add(sum, x)
	}
	return sum
}
