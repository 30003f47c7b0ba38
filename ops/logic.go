package ops

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// LogicalAnd reports where x and y are both true. Both are boolean.
func LogicalAnd(x, y any) tensor.Tensor { return op.Eval(logicalAndOp, x, y) }

var logicalAndOp = logical(elementwise.LogicalAnd, "x and y", conjunction)

// LogicalOr reports where x or y or both are true. Both are boolean.
func LogicalOr(x, y any) tensor.Tensor { return op.Eval(logicalOrOp, x, y) }

var logicalOrOp = logical(elementwise.LogicalOr, "x or y", keepsZero)

// LogicalXor reports where exactly one of x and y is true. Both are boolean.
func LogicalXor(x, y any) tensor.Tensor { return op.Eval(logicalXorOp, x, y) }

var logicalXorOp = logical(elementwise.LogicalXor, "either x or y", keepsZero)

// LogicalNot reports where x, which is boolean, is false.
func LogicalNot(x any) tensor.Tensor { return op.Eval(logicalNotOp, x) }

var logicalNotOp = unary(elementwise.LogicalNot, op.Op{Statement: mapped, Doc: "not x", Nondifferentiable: true})

// logical registers a function of two booleans. Other element types are rejected
// rather than promoted.
func logical(k elementwise.Op, doc string, says op.Statement) *op.Op {
	return strictBinary(k, doc, says, op.Bools)
}

// strictBinary registers a function of two tensors whose element types must be of
// one kind before they are promoted.
func strictBinary(k elementwise.Op, doc string, says op.Statement, e *op.Elements) *op.Op {
	return binary(k, op.Op{Statement: says, Doc: doc, Nondifferentiable: true, Params: []op.Param{{Name: "x", Group: 1, Takes: e}, {Name: "y", Group: 1, Takes: e}}})
}

// BitwiseAnd returns the bits that are set in both x and y, which are integers or booleans.
func BitwiseAnd(x, y any) tensor.Tensor { return op.Eval(bitwiseAndOp, x, y) }

var bitwiseAndOp = bitwise(elementwise.BitwiseAnd, "the bits set in both", conjunction)

// BitwiseOr returns the bits that are set in x or y, which are integers or
// booleans.
func BitwiseOr(x, y any) tensor.Tensor { return op.Eval(bitwiseOrOp, x, y) }

var bitwiseOrOp = bitwise(elementwise.BitwiseOr, "the bits set in either", keepsZero)

// BitwiseXor returns the bits in which x and y differ, which are integers or
// booleans.
func BitwiseXor(x, y any) tensor.Tensor { return op.Eval(bitwiseXorOp, x, y) }

var bitwiseXorOp = bitwise(elementwise.BitwiseXor, "the bits that differ", keepsZero)

// BitwiseNot returns the complement of the bits of x, which are integers or
// booleans.
func BitwiseNot(x any) tensor.Tensor { return op.Eval(bitwiseNotOp, x) }

var bitwiseNotOp = unary(elementwise.BitwiseNot, op.Op{Statement: mapped, Doc: "the complement of the bits", Nondifferentiable: true})

// Popcount returns the number of bits that are set in each integer; for negative
// ones, in its two's complement. The result has x's type.
func Popcount(x any) tensor.Tensor { return op.Eval(popcountOp, x) }

var popcountOp = unary(elementwise.Popcount, op.Op{Statement: keepsZero, Doc: "the number of bits set", Nondifferentiable: true})

// LeftShift returns x·2^y for integers, dropping the bits that do not fit.
// Shifting by the width or more, or by a negative number, gives 0.
func LeftShift(x, y any) tensor.Tensor { return op.Eval(leftShiftOp, x, y) }

var leftShiftOp = bitwise(elementwise.LeftShift, "x·2^y", absorbsFirst)

// RightShift returns ⌊x / 2^y⌋ for integers. Shifting by the width or more, or by a negative
// number, leaves only the sign: 0 or -1.
func RightShift(x, y any) tensor.Tensor { return op.Eval(rightShiftOp, x, y) }

var rightShiftOp = bitwise(elementwise.RightShift, "x / 2^y, rounded down", absorbsFirst)

// bitwise registers a bitwise function of two integers.
func bitwise(k elementwise.Op, doc string, says op.Statement) *op.Op {
	isBits := func(d dtype.DType) bool {
		return elementwise.BinaryOf(k, d, elementwise.VV) != nil && !d.IsFloat()
	}
	return strictBinary(k, doc, says, &op.Elements{Name: "integers", Has: isBits})
}
