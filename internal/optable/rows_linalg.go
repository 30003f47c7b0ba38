package optable

import (
	"fmt"
	"math"

	"github.com/tenonml/tenon/dtype"
	_ "github.com/tenonml/tenon/linalg" // registers the operations
	"github.com/tenonml/tenon/tensor"
)

var matrixShapes = [][]int{{1, 1}, {3, 3}, {2, 2, 2}, {0, 2, 2}, {0, 0}}

// dominant returns well-conditioned matrices: random ones with a large diagonal.
func dominant(d dtype.DType, dims []int, symmetric bool) tensor.Tensor {
	a := ArrayOf(UniformSeed(d, dims, -1, 1, 3))
	x := a.Floats()
	n := dims[len(dims)-1]
	for i := range x {
		r, c := i/max(n, 1)%max(n, 1), i%max(n, 1)
		if r == c {
			x[i] += float64(n) + 1 + float64(r) // distinct eigenvalues
		} else if symmetric && r > c {
			x[i] = x[i-r*n-c+c*n+r]
		}
	}
	return Shaped(d, dims, x...)
}

// eachMatrix calls f with the elements of each matrix of the arrays, by number.
func eachMatrix(f func(ms [][]float64) error, arrays ...Array) error {
	count := 1
	for _, a := range arrays {
		if n := Size(a.Shape[:len(a.Shape)-2]); n != 1 {
			count = n
		}
	}
	for i := range count {
		ms := make([][]float64, len(arrays))
		for k, a := range arrays {
			n := a.Shape[len(a.Shape)-1] * a.Shape[len(a.Shape)-2]
			if n == 0 {
				continue
			}
			at := i % (len(a.X) / n)
			ms[k] = Array{X: a.X[at*n : (at+1)*n]}.Floats()
		}
		if err := f(ms); err != nil {
			return err
		}
	}
	return nil
}

// times multiplies an [m, k] and a [k, n] matrix.
func times(a, b []float64, m, k, n int) []float64 {
	out := make([]float64, m*n)
	for i := range m {
		for j := range n {
			for t := range k {
				out[i*n+j] += a[i*k+t] * b[t*n+j]
			}
		}
	}
	return out
}

func flip(a []float64, m, n int) []float64 {
	out := make([]float64, m*n)
	for i := range m {
		for j := range n {
			out[j*m+i] = a[i*n+j]
		}
	}
	return out
}

func alike(what string, got, want []float64) error {
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 1e-4*math.Max(1, math.Abs(want[i]))) {
			return fmt.Errorf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
	return nil
}

func identity(n int) []float64 {
	out := make([]float64, n*n)
	for i := range n {
		out[i*n+i] = 1
	}
	return out
}

// determinant is Laplace's expansion.
func determinant(a []float64, n int) float64 {
	if n == 0 {
		return 1
	}
	sum, sign := 0.0, 1.0
	for j := range n {
		sum += sign * a[j] * determinant(minor(a, n, 0, j), n-1)
		sign = -sign
	}
	return sum
}

func minor(a []float64, n, row, col int) []float64 {
	var out []float64
	for i := range n {
		for j := range n {
			if i != row && j != col {
				out = append(out, a[i*n+j])
			}
		}
	}
	return out
}

func wideCalls(f func(d dtype.DType, dims []int) []any, shapes ...[]int) []Call {
	var out []Call
	for _, d := range Wide {
		for _, s := range shapes {
			out = append(out, Args(f(d, s)...))
		}
	}
	return out
}

func side(a Array) (m, n int) { return a.Shape[len(a.Shape)-2], a.Shape[len(a.Shape)-1] }

// perMatrix is the reference of a number for each matrix.
func perMatrix(a Array, f func(x []float64, n int) float64) Array {
	_, n := side(a)
	out := Array{Shape: append([]int{}, a.Shape[:len(a.Shape)-2]...)}
	for i := range Size(out.Shape) {
		out.X = append(out.X, complex(f(Array{X: a.X[i*n*n : (i+1)*n*n]}.Floats(), n), 0))
	}
	return out
}

func init() {
	square := func(d dtype.DType, s []int) []any { return []any{dominant(d, s, false)} }
	singular := Call{Args: []any{Shaped(dtype.Float64, []int{3, 3}, 1, 2, 3, 2, 4, 6, 1, 0, 1)}, Kink: true}
	spd := func(d dtype.DType, s []int) []any { return []any{dominant(d, s, true)} }
	Add(
		// The operation looks at one triangle, its gradient is symmetric: linalg's own tests
		// compare it through a symmetric product.
		Row{Op: "linalg.cholesky", Calls: withoutGrad(wideCalls(spd, matrixShapes...)), Check: func(args []any, out []Array) error {
			_, n := side(out[0])
			return eachMatrix(func(m [][]float64) error {
				return alike("L·Lᵀ", times(m[0], flip(m[0], n, n), n, n, n), m[1])
			}, out[0], args[0].(Array))
		}},
		Row{Op: "linalg.inverse", Smooth: true, Calls: wideCalls(square, matrixShapes...), Check: func(args []any, out []Array) error {
			_, n := side(out[0])
			return eachMatrix(func(m [][]float64) error {
				return alike("x·y", times(m[0], m[1], n, n, n), identity(n))
			}, out[0], args[0].(Array))
		}},
		Row{Op: "linalg.det", Smooth: true, Tol: 64, Calls: append(wideCalls(square, matrixShapes...), singular), Ref: func(a []any) []Array {
			return []Array{perMatrix(a[0].(Array), determinant)}
		}},
		Row{Op: "linalg.slog_det", Smooth: true, Tol: 64, Calls: wideCalls(square, matrixShapes...), Ref: func(a []any) []Array {
			return []Array{
				perMatrix(a[0].(Array), func(x []float64, n int) float64 { return math.Copysign(1, determinant(x, n)) }),
				perMatrix(a[0].(Array), func(x []float64, n int) float64 { return math.Log(math.Abs(determinant(x, n))) }),
			}
		}},
		Row{Op: "linalg.cofactors", Smooth: true, Tol: 256, Calls: append(wideCalls(square, matrixShapes...), NoGrad(Shaped(dtype.Float64, []int{3, 3}, 1, 2, 3, 2, 4, 6, 1, 0, 1))), Ref: func(a []any) []Array {
			x := a[0].(Array)
			_, n := side(x)
			out := Array{Shape: x.Shape}
			for i := 0; i < len(x.X); i += n * n {
				m := Array{X: x.X[i : i+n*n]}.Floats()
				for k := range m {
					sign := 1 - 2*float64((k/n+k%n)%2)
					out.X = append(out.X, complex(sign*determinant(minor(m, n, k/n, k%n), n-1), 0))
				}
			}
			return []Array{out}
		}},
		solveRow("linalg.solve"), solveRow("linalg.triangular_solve"),
		qrRow(), svdRow(), eighRow(), lstSqRow(),
	)
}

func withoutGrad(calls []Call) []Call {
	for i := range calls {
		calls[i].Grad = []int{}
	}
	return calls
}

func solveRow(name string) Row {
	triangular := name != "linalg.solve"
	r := Row{Op: name, Smooth: true, Check: func(args []any, out []Array) error {
		n, k := side(out[0])
		b, _ := side(args[1].(Array))
		if b != n {
			return fmt.Errorf("%d rows for %d", n, b)
		}
		return eachMatrix(func(m [][]float64) error {
			a := m[0]
			if triangular {
				for i := range a {
					if lower := args[2].(bool); lower && i%n > i/n || !lower && i%n < i/n {
						a[i] = 0
					}
				}
				if args[3].(bool) {
					a = flip(a, n, n)
				}
			}
			return alike("a·x", times(a, m[1], n, n, k), m[2])
		}, args[0].(Array), out[0], args[1].(Array))
	}}
	for _, d := range Wide {
		for _, s := range [][2][]int{{{3, 3}, {3, 2}}, {{2, 2, 2}, {2, 2, 1}}, {{3, 3}, {2, 3, 2}}, {{2, 3, 3}, {3, 1}}, {{0, 0}, {0, 2}}, {{3, 3}, {3, 0}}} {
			a, b := dominant(d, s[0], false), UniformSeed(d, s[1], -2, 2, 5)
			if !triangular {
				r.Calls = append(r.Calls, Args(a, b))
				continue
			}
			for flags := range 4 {
				r.Calls = append(r.Calls, Args(a, b, flags&1 == 1, flags&2 == 2))
			}
		}
	}
	return r
}

var oblong = [][]int{{3, 3}, {4, 2}, {2, 4}, {2, 3, 2}, {0, 2, 3}, {3, 0}, {1, 1}}

func oblongMatrix(d dtype.DType, s []int) []any { return []any{UniformSeed(d, s, -2, 2, 11)} }

func qrRow() Row {
	return Row{Op: "linalg.qr", Smooth: true, Calls: wideCalls(oblongMatrix, oblong...), Check: func(args []any, out []Array) error {
		m, k := side(out[0])
		_, n := side(out[1])
		return eachMatrix(func(x [][]float64) error {
			if err := alike("Q·R", times(x[0], x[1], m, k, n), x[2]); err != nil {
				return err
			}
			for i := range x[1] {
				if i%n < i/n && x[1][i] != 0 || i%n == i/n && x[1][i] < 0 {
					return fmt.Errorf("the factor R has %v at %d, %d", x[1][i], i/n, i%n)
				}
			}
			return alike("Qᵀ·Q", times(flip(x[0], m, k), x[0], k, m, k), identity(k))
		}, out[0], out[1], args[0].(Array))
	}}
}

func svdRow() Row {
	return Row{Op: "linalg.svd", Smooth: true, Calls: wideCalls(oblongMatrix, oblong...), Check: func(args []any, out []Array) error {
		m, k := side(out[0])
		_, n := side(out[2])
		s := out[1]
		column := Array{Shape: append(append([]int{}, s.Shape...), 1), X: s.X}
		return eachMatrix(func(x [][]float64) error {
			us := append([]float64{}, x[0]...)
			for i := range us {
				us[i] *= x[1][i%k]
			}
			for i := 1; i < k; i++ {
				if x[1][i] > x[1][i-1] || x[1][i] < 0 {
					return fmt.Errorf("singular values %v", x[1])
				}
			}
			if err := alike("Vᵀ·V", times(x[2], flip(x[2], k, n), k, n, k), identity(k)); err != nil {
				return err
			}
			return alike("U·S·Vᵀ", times(us, x[2], m, k, n), x[3])
		}, out[0], column, out[2], args[0].(Array))
	}}
}

func eighRow() Row {
	symmetric := func(d dtype.DType, s []int) []any { return []any{dominant(d, s, true)} }
	return Row{Op: "linalg.eigh", Smooth: true, Calls: wideCalls(symmetric, matrixShapes...), Check: func(args []any, out []Array) error {
		_, n := side(out[1])
		w := Array{Shape: append(append([]int{}, out[0].Shape...), 1), X: out[0].X}
		return eachMatrix(func(x [][]float64) error {
			vw := append([]float64{}, x[1]...)
			for i := range vw {
				vw[i] *= x[0][i%n]
			}
			for i := 1; i < n; i++ {
				if x[0][i] < x[0][i-1] {
					return fmt.Errorf("eigenvalues %v", x[0])
				}
			}
			return alike("V·W·Vᵀ", times(vw, flip(x[1], n, n), n, n, n), x[2])
		}, w, out[1], args[0].(Array))
	}}
}

func lstSqRow() Row {
	r := Row{Op: "linalg.lst_sq", Smooth: true, Check: func(args []any, out []Array) error {
		a := args[0].(Array)
		m, n := side(a)
		_, k := side(out[0])
		return eachMatrix(func(x [][]float64) error {
			at := flip(x[0], m, n)
			return alike("aᵀ·a·x", times(at, times(x[0], x[1], m, n, k), n, m, k), times(at, x[2], n, m, k))
		}, a, out[0], args[1].(Array))
	}}
	for _, d := range Wide {
		for _, s := range [][2][]int{{{4, 2}, {4, 3}}, {{3, 3}, {3, 1}}, {{2, 4}, {2, 2}}, {{2, 4, 2}, {2, 4, 1}}, {{4, 2}, {3, 4, 1}}, {{0, 2}, {0, 1}}} {
			c := Args(UniformSeed(d, s[0], -2, 2, 4), UniformSeed(d, s[1], -2, 2, 5))
			if s[0][0] == 0 {
				c.Grad = []int{}
			}
			r.Calls = append(r.Calls, c)
		}
	}
	return r
}
