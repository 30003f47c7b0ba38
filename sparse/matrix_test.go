package sparse_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/sparse"
	"github.com/tenonml/tenon/spectest"
	"github.com/tenonml/tenon/tensor"
)

func TestCompressed(t *testing.T) {
	csr, csc := tenon.Must(sparse.ToCSR(matrixA())), tenon.Must(sparse.ToCSC(matrixA()))
	for name, c := range map[string][2]string{
		"csr splits":   {show(csr.Splits()), "[0 1 3 4]"},
		"csr indices":  {show(csr.Indices()), "[1 0 3 2]"},
		"csr values":   {show(csr.Values()), "[1 -2 3 4]"},
		"csc splits":   {show(csc.Splits()), "[0 1 2 3 4]"},
		"csc indices":  {show(csc.Indices()), "[1 0 2 1]"},
		"csc values":   {show(csc.Values()), "[-2 1 4 3]"},
		"of dense":     {show(tenon.Must(sparse.ToCSR(tensor.Of([]int64{0, 2, 3, 0}, 2, 2))).Indices()), "[1 0]"},
		"of the other": {show(tenon.Must(sparse.ToCSC(csr)).Values()), "[-2 1 4 3]"},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: got %s, want %s", name, c[0], c[1])
		}
	}
	if csr.IsCSC() || !csc.IsCSC() || !csr.Shape().Equal(shape.Of(3, 4)) || !csc.Shape().Equal(shape.Of(3, 4)) {
		t.Errorf("%v, %v", csr.Spec(), csc.Spec())
	}
}

// Operations on both forms give what they give in coordinate form.
func TestCompressedOperations(t *testing.T) {
	grid := ops.Reshape(ops.Range(float32(0), float32(8), float32(1)), []int{4, 2})
	for name, f := range map[string]func(m T) T{
		"itself":       func(m T) T { return m },
		"transpose":    func(m T) T { return ops.Transpose(m) },
		"transpose 01": func(m T) T { return ops.Transpose(m, 0, 1) },
		"matmul":       func(m T) T { return ops.MatMul(m, grid) },
		"matmul ints":  func(m T) T { return ops.MatMul(ops.Cast(m, dtype.Int32), ops.Cast(grid, dtype.Int32)) },
		"matmul T":     func(m T) T { return ops.MatMulT(m, tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2), true, false) },
		"dense matmul": func(m T) T { return ops.MatMul(tensor.Of([]float32{1, 2, 3}, 1, 3), m) },
		"dense T":      func(m T) T { return ops.MatMulT(tensor.Of([]float32{1, 2, 3, 4}, 1, 4), m, false, true) },
		"matvec":       func(m T) T { return ops.MatVec(m, []float32{1, 2, 3, 4}) },
		"times itself": func(m T) T { return ops.MatMul(m, ops.Transpose(m)) },
		"times coo":    func(m T) T { return ops.MatMulT(matrixB(), m, false, true) },
		"abs":          func(m T) T { return ops.Abs(m) },
		"scaled":       func(m T) T { return ops.Mul(m, 3.0) },
		"clipped":      func(m T) T { return ops.Maximum(m, -1.0) },
		"add":          func(m T) T { return ops.Add(m, matrixB()) },
		"sum":          func(m T) T { return ops.Sum(m, 1) },
		"row":          func(m T) T { return ops.Index(m, 1) },
		"stop":         func(m T) T { return ops.StopGradient(m) },
		"mul dense":    func(m T) T { return ops.Mul(m, tensor.Of([]float32{1, 2, 3}, 3, 1)) },
	} {
		want := f(matrixA())
		for form, m := range map[string]T{"csr": tenon.Must(sparse.ToCSR(matrixA())), "csc": tenon.Must(sparse.ToCSC(matrixA()))} {
			got, err := tenon.Try(func() T { return f(m) })
			if err != nil || !tensor.Equal(anyDense(want), anyDense(got), tensor.EqualOptions{}) {
				t.Errorf("%s of %s: got %v, want %s, %v", name, form, got, show(want), err)
			}
			traced, err := function.New(func(m *sparse.Matrix) (T, error) { return f(m), nil }).Call(m.(*sparse.Matrix))
			if err != nil || !tensor.Equal(anyDense(want), anyDense(traced), tensor.EqualOptions{}) {
				t.Errorf("%s of %s, traced: got %v, want %s, %v", name, form, traced, show(want), err)
			}
		}
	}
	if _, err := tenon.Try(func() T { return ops.Cos(tenon.Must(sparse.ToCSR(matrixA()))) }); !errors.Is(err, tenon.ErrUnsupported) {
		t.Errorf("cos: %v", err)
	}
}

func anyDense(x T) T {
	if m, ok := x.(*sparse.Matrix); ok {
		return tenon.Must(m.ToDense())
	}
	return dense(x)
}

func TestMatrixRefused(t *testing.T) {
	for name, f := range map[string]func() (*sparse.Matrix, error){
		"column outside":   func() (*sparse.Matrix, error) { return sparse.NewCSR([]int64{0, 1}, []int64{3}, []float32{1}, 3) },
		"negative column":  func() (*sparse.Matrix, error) { return sparse.NewCSR([]int64{0, 1}, []int64{-1}, []float32{1}, 3) },
		"splits end early": func() (*sparse.Matrix, error) { return sparse.NewCSR([]int64{0, 1}, []int64{0, 1}, []float32{1, 2}, 3) },
		"splits fall":      func() (*sparse.Matrix, error) { return sparse.NewCSC([]int64{0, 2, 1}, []int64{0}, []float32{1}, 3) },
		"no splits":        func() (*sparse.Matrix, error) { return sparse.NewCSR([]int64{}, []int64{}, []float32{}, 3) },
		"negative width":   func() (*sparse.Matrix, error) { return sparse.NewCSR([]int64{0}, []int64{}, []float32{}, -1) },
		"int32":            func() (*sparse.Matrix, error) { return sparse.NewCSR([]int32{0}, []int64{}, []float32{}, 1) },
		"lengths":          func() (*sparse.Matrix, error) { return sparse.NewCSR([]int64{0, 1}, []int64{0, 1}, []float32{1}, 3) },
		"rank 3":           func() (*sparse.Matrix, error) { return sparse.ToCSR(at([]int64{1, 1, 1}, []float32{1}, 0, 0, 0)) },
	} {
		if m, err := f(); !errors.As(err, new(*tenon.Error)) {
			t.Errorf("%s: got %v, %v", name, m, err)
		}
	}
	if _, err := sparse.NewMatrixSpec(dtype.Float32, shape.Of(1), false); !errors.Is(err, tenon.ErrShape) {
		t.Error(err)
	}
}

func TestMatrixLaws(t *testing.T) {
	empty := tenon.Must(sparse.NewCSR([]int64{0, 0, 0}, []int64{}, []float32{}, 3))
	spectest.Laws(t, spectest.Options{}, tenon.Must(sparse.ToCSR(matrixA())), tenon.Must(sparse.ToCSC(matrixA())), empty)
}

func ExampleToCSR() {
	eye, _ := sparse.Eye(dtype.Float64, 2, 3)
	m, _ := sparse.ToCSR(eye)
	fmt.Println(ops.MatVec(m, []float64{4, 5, 6}))
	// Output: [4. 5.] float64[2]
}
