package csr_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/examples/exttypes/csr"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/spectest"
	"github.com/tenonml/tenon/tensor"
)

func Example() {
	m := tenon.Must(csr.FromDense([][]float32{{0, 2, 0}, {0, 0, 0}, {3, 0, -4}}))
	fmt.Println(m)
	fmt.Println(ops.MatVec(m, []float32{1, 10, 100}))
	fmt.Println(ops.MatMul(m, [][]float32{{1, 0}, {0, 1}, {1, 1}}))
	// Output:
	// CSRMatrix(Values=[ 2.  3. -4.] float32[3], Columns=[1 0 2] int64[3], RowSplits=[0 1 1 3] int64[4], NumColumns=3)
	// [  20.    0. -397.] float32[3]
	// [[ 0.  2.]
	//  [ 0.  0.]
	//  [-1. -4.]] float32[3, 2]
}

func matrix() csr.Matrix {
	return tenon.Must(csr.FromDense([][]float64{{2, 1, 0}, {1, 3, 1}, {0, 1, 4}}))
}

func TestLaws(t *testing.T) {
	spectest.Laws(t, spectest.Options{}, matrix(), tenon.Must(csr.FromDense([][]float32{{0, 0}})))
}

func TestRoundTrip(t *testing.T) {
	want := tensor.Tensor(tenon.Must(tensor.Convert([][]float64{{2, 1, 0}, {1, 3, 1}, {0, 1, 4}})))
	if got := tenon.Must(matrix().ToDense()); !tensor.Equal(got, want, tensor.EqualOptions{}) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestPowerIteration(t *testing.T) {
	start := tensor.Vector([]float64{1, 1, 1})
	eager, _ := csr.PowerIteration(matrix(), start, 60)
	traced := function.New(func(m csr.Matrix, v tensor.Tensor) tensor.Tensor {
		value, _ := csr.PowerIteration(m, v, 60)
		return value
	}).Call(matrix(), start)
	const want = 4.732050807568877 // 3 + √3
	for _, got := range []tensor.Tensor{eager, traced} {
		if x := tensor.Item[float64](got); math.Abs(x-want) > 1e-9 {
			t.Errorf("got %v, want %v", x, want)
		}
	}
}

func TestGradient(t *testing.T) {
	x := tensor.Vector([]float64{1, 2, 3})
	g := grad.Of(func(m csr.Matrix) tensor.Tensor { return ops.Sum(ops.MatVec(m, x)) })(matrix())
	if want := tensor.Vector([]float64{1, 2, 1, 2, 3, 2, 3}); !tensor.Equal(g.Values, want, tensor.EqualOptions{}) {
		t.Errorf("got %v, want %v", g.Values, want)
	}
}

func TestBadMatrices(t *testing.T) {
	m := matrix()
	for name, bad := range map[string]csr.Matrix{
		"a column too far":  {m.Values, m.Columns, m.RowSplits, 2},
		"a column too few":  {m.Values, ops.Slice(m.Columns, []int{0}, []int{3}), m.RowSplits, 3},
		"splits that fall":  {m.Values, m.Columns, tensor.Vector([]int64{0, 5, 3, 7}), 3},
		"splits of another": {m.Values, m.Columns, tensor.Vector([]float32{0, 2, 5, 7}), 3},
	} {
		if err := check(bad); !errors.Is(err, tenon.ErrInvalid) && !errors.Is(err, tenon.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := tenon.Try(func() tensor.Tensor { return ops.MatVec(m, []float64{1, 2}) })
	if !errors.Is(err, tenon.ErrShape) {
		t.Errorf("got %v", err)
	}
}

func check(m csr.Matrix) error {
	_, err := ext.New(m)
	return err
}
