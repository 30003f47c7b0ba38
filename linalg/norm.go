package linalg

import (
	"math"

	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A NormKind names a matrix norm.
type NormKind uint8

// The matrix norms.
const (
	Frobenius   NormKind = iota // √Σ x²
	Nuclear                     // the sum of the singular values
	Spectral                    // the largest singular value
	ColumnSum                   // the largest sum of absolute values of a column: the 1-norm
	RowSum                      // the largest sum of absolute values of a row: the ∞-norm
	GreatestAbs                 // the largest absolute value
)

// MatrixNorm returns a norm of each matrix.
//
//	x: […, m, n]  →  […]
func MatrixNorm(x any, kind NormKind) tensor.Tensor {
	switch kind {
	case Nuclear:
		return ops.Sum(SingularValues(x), -1)
	case Spectral:
		return ops.Max(SingularValues(x), -1)
	case ColumnSum:
		return ops.Max(ops.Sum(ops.Abs(x), -2), -1)
	case RowSum:
		return ops.Max(ops.Sum(ops.Abs(x), -1), -1)
	case GreatestAbs:
		return ops.Norm(x, math.Inf(1), -1, -2)
	}
	return ops.Norm(x, 2, -1, -2)
}
