package linalg_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/linalg"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func Example() {
	a := tensor.Of([]float64{4, 2, 2, 3}, 2, 2)
	b := tensor.Of([]float64{2, 5}, 2, 1)
	fmt.Println(tensor.Data[float64](ops.Round(ops.Mul(linalg.Solve(a, b), 8))))
	fmt.Println(tensor.Data[float64](ops.Round(linalg.Det(a))))
	// Output:
	// [-4 16]
	// [8]
}

func TestErrors(t *testing.T) {
	singular := tensor.Of([]float64{1, 0, 0, 1, 1, 2, 2, 4}, 2, 2, 2)
	for _, c := range []struct {
		name string
		f    func() tensor.Tensor
		kind error
		says string
	}{
		{"inverse", func() tensor.Tensor { return linalg.Inverse(singular) }, tenon.ErrInvalid, "matrix [1]: the matrix is singular"},
		{"solve", func() tensor.Tensor { return linalg.Solve(singular, tensor.Of([]float64{1, 2}, 2, 1)) }, tenon.ErrInvalid, "matrix [1]"},
		{"triangular", func() tensor.Tensor {
			return linalg.TriangularSolve(tensor.Of([]float64{0, 1, 1, 1}, 2, 2), tensor.Of([]float64{1, 2}, 2, 1), linalg.TriangularOptions{Lower: true})
		}, tenon.ErrInvalid, "singular"},
		{"cholesky", func() tensor.Tensor { return linalg.Cholesky(tensor.Of([]float64{1, 2, 2, 1}, 2, 2)) }, tenon.ErrInvalid, "not positive definite"},
		{"square", func() tensor.Tensor { return linalg.Det(tensor.Of(make([]float32, 6), 2, 3)) }, tenon.ErrShape, "not square: 2 × 3"},
		{"rank", func() tensor.Tensor { return linalg.Det(tensor.Of([]float32{1, 2})) }, tenon.ErrShape, "rank 1"},
		{"dtype", func() tensor.Tensor { return linalg.Det(tensor.Of([]int64{1}, 1, 1)) }, tenon.ErrDType, "int64"},
		{"rows", func() tensor.Tensor {
			return linalg.Solve(tensor.Of([]float64{1}, 1, 1), tensor.Of([]float64{1, 2}, 2, 1))
		}, tenon.ErrShape, "b has 2 rows, a has 1"},
	} {
		_, err := tenon.Try(c.f)
		if !errors.Is(err, c.kind) || !strings.Contains(fmt.Sprint(err), c.says) || !strings.Contains(fmt.Sprint(err), "linalg.") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// The gradient of the Cholesky factor of a symmetric product, against differences.
func TestCholeskyGradient(t *testing.T) {
	w := tensor.Of([]float64{0.3, 0, 0, -1.1, 0.7, 0, 0.4, 2, -0.6}, 3, 3)
	f := func(a tensor.Tensor) tensor.Tensor {
		spd := ops.Add(ops.MatMulT(a, a, false, true), ops.Mul(ops.Eye(a.DType(), 3, 3), 2))
		return ops.Sum(ops.Mul(linalg.Cholesky(spd), w))
	}
	a := []float64{1, 0.5, -0.3, 0.2, -1.2, 0.9, 0.1, 0.8, 1.5}
	got := tensor.Data[float64](grad.Of(f)(tensor.Of(a, 3, 3)))
	for i := range a {
		at := func(h float64) float64 {
			b := append([]float64(nil), a...)
			b[i] += h
			return tensor.Item[float64](f(tensor.Of(b, 3, 3)))
		}
		if want := (at(1e-5) - at(-1e-5)) / 2e-5; math.Abs(got[i]-want) > 1e-8 {
			t.Errorf("element %d: %v, want %v", i, got[i], want)
		}
	}
}

func TestMatrixNorm(t *testing.T) {
	x := tensor.Of([]float64{3, 0, -4, 0, 0, 5}, 3, 2) // columns of lengths 5 and 5, orthogonal
	for kind, want := range map[linalg.NormKind]float64{
		linalg.Frobenius: math.Sqrt(50), linalg.Nuclear: 10, linalg.Spectral: 5,
		linalg.ColumnSum: 7, linalg.RowSum: 5, linalg.GreatestAbs: 5,
	} {
		if got := tensor.Item[float64](linalg.MatrixNorm(x, kind)); math.Abs(got-want) > 1e-12 {
			t.Errorf("norm %d: %v, want %v", kind, got, want)
		}
	}
}

// A rank-deficient system has the solution of least norm.
func TestLstSqOfDeficientRank(t *testing.T) {
	a := tensor.Of([]float64{1, 1, 1, 1, 1, 1}, 3, 2)
	x := tensor.Data[float64](linalg.LstSq(a, tensor.Of([]float64{1, 2, 3}, 3, 1)))
	if math.Abs(x[0]-1) > 1e-14 || math.Abs(x[1]-1) > 1e-14 {
		t.Errorf("got %v, want [1 1]", x)
	}
}
