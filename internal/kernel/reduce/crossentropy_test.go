package reduce

import (
	"fmt"
	"math"
	"testing"
)

func testCrossEntropy[T float](t *testing.T, tol float64) {
	const rows = 3
	for _, n := range widths {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			x, targets := normal[T](1, rows*n, 4), normal[T](2, rows*n, 1)
			labels, dy := make([]int64, rows), normal[T](3, rows, 1)
			for r := range labels {
				labels[r] = int64((r * 7) % n)
			}
			loss, lossOnly, grad, dx := make([]T, rows), make([]T, rows), make([]T, rows*n), make([]T, rows*n)
			CrossEntropy(loss, grad, x, labels, n)
			CrossEntropy(lossOnly, nil, x, labels, n)
			CrossEntropyGrad(dx, x, labels, dy, n)
			dense, denseOnly, denseGrad := make([]T, rows), make([]T, rows), make([]T, rows*n)
			CrossEntropyDense(dense, denseGrad, x, targets, n)
			CrossEntropyDense(denseOnly, nil, x, targets, n)
			for r := range rows {
				p := refSoftmax(x[r*n : (r+1)*n])
				want := -math.Log(p[labels[r]])
				wantDense, mass := 0.0, 0.0
				for i := range p {
					wantDense -= float64(targets[r*n+i]) * math.Log(p[i])
					mass += float64(targets[r*n+i])
				}
				wantGrad, wantDx, wantDenseGrad := make([]float64, n), make([]float64, n), make([]float64, n)
				for i := range p {
					wantGrad[i] = p[i]
					if int64(i) == labels[r] {
						wantGrad[i]--
					}
					wantDx[i] = wantGrad[i] * float64(dy[r])
					wantDenseGrad[i] = p[i]*mass - float64(targets[r*n+i])
				}
				checkClose(t, "loss", loss[r:], []float64{want}, 4*tol)
				checkClose(t, "loss alone", lossOnly[r:], []float64{want}, 4*tol)
				checkClose(t, "gradient", grad[r*n:], wantGrad, tol)
				checkClose(t, "gradient for a cotangent", dx[r*n:], wantDx, 4*tol)
				checkClose(t, "dense loss", dense[r:], []float64{wantDense}, 40*tol)
				checkClose(t, "dense loss alone", denseOnly[r:], []float64{wantDense}, 40*tol)
				checkClose(t, "dense gradient", denseGrad[r*n:], wantDenseGrad, 40*tol)
			}
		})
	}
}

func TestCrossEntropy(t *testing.T) {
	eachFamily(t, func(t *testing.T) {
		testCrossEntropy[float32](t, 1e-6)
		testCrossEntropy[float64](t, 4e-15)
	})
}

// A class that is ruled out takes no part.
func TestCrossEntropyOfImpossibleClass(t *testing.T) {
	eachFamily(t, func(t *testing.T) {
		x := []float32{0, 0, float32(-inf)}
		loss := make([]float32, 1)
		CrossEntropyDense(loss, x, x, []float32{0.5, 0.5, 0}, 3)
		if math.Abs(float64(loss[0])-math.Ln2) > 1e-6 || x[2] != 0 {
			t.Errorf("loss %v, gradient %v", loss[0], x)
		}
	})
}
