package window

import (
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/elementwise"
)

// TestGreatest compares the greatest elements of windows and their gradient with the definition, by
// every family of kernels: windows that overlap, leave gaps, reach beyond the ends or lie there
// whole, several stretches, features that fill vectors and that do not, ties and NaN.
func TestGreatest(t *testing.T) {
	for _, c := range []Convolution{
		{Axes: []Axis{{In: 7, Out: 3, Size: 3, Stride: 2, Dilation: 1}}, Items: 2, Features: 4},
		{Axes: []Axis{{In: 900, Out: 900, Size: 3, Stride: 1, Dilation: 1, Before: 1}}, Items: 2, Features: 20},
		{Axes: []Axis{{In: 200, Out: 66, Size: 5, Stride: 3, Dilation: 2, Before: 3}}, Items: 1, Features: 1},
		{Axes: []Axis{{In: 8, Out: 4, Size: 2, Stride: 2, Dilation: 1}, {In: 10, Out: 5, Size: 2, Stride: 2, Dilation: 1}}, Items: 3, Features: 33},
		{Axes: []Axis{{In: 9, Out: 9, Size: 3, Stride: 1, Dilation: 1, Before: 1}, {In: 11, Out: 4, Size: 2, Stride: 3, Dilation: 1, Before: 0}}, Items: 2, Features: 16},
		{Axes: []Axis{{In: 4, Out: 2, Size: 2, Stride: 2, Dilation: 1}, {In: 5, Out: 6, Size: 2, Stride: 1, Dilation: 2, Before: 2}, {In: 6, Out: 4, Size: 3, Stride: 2, Dilation: 1, Before: 2}}, Items: 2, Features: 3},
		{Axes: []Axis{{In: 30, Out: 30, Size: 3, Stride: 1, Dilation: 1, Before: 40}}, Items: 1, Features: 2},
	} {
		for range table.Each() {
			testGreatest[float32](t, c, dtype.Float32)
			testGreatest[float64](t, c, dtype.Float64)
		}
	}
}

func testGreatest[T float32 | float64](t *testing.T, c Convolution, d dtype.DType) {
	positions, windows, elements := 1, 1, 1
	for _, a := range c.Axes {
		positions, windows, elements = positions*a.In, windows*a.Out, elements*a.Size
	}
	n := c.Features
	x := make([]T, c.Items*positions*n)
	for i := range x {
		x[i] = T((i*i + i/5) % 7)
	}
	x[len(x)/2] = T(math.NaN())
	y, ct, lowest := make([]T, c.Items*windows*n), make([]T, c.Items*windows*n), T(math.Inf(-1))
	for i := range y {
		y[i], ct[i] = lowest, T(i%5+1)
	}
	wantY, wantX, count := slices.Clone(y), make([]T, len(x)), make([]T, len(y))
	visit := func(f func(x, y int)) {
		for item := range c.Items {
			Each(c.Axes, 0, windows, func(at, from, m int) {
				for i := range m * n {
					f((item*positions+from)*n+i, (item*windows+at/elements)*n+i%n)
				}
			})
		}
	}
	visit(func(xi, yi int) { wantY[yi] = max(wantY[yi], x[xi]) })
	visit(func(xi, yi int) {
		if x[xi] == wantY[yi] {
			count[yi]++
		}
	})
	visit(func(xi, yi int) {
		if x[xi] == wantY[yi] {
			wantX[xi] += ct[yi] / count[yi]
		}
	})
	bytes := func(x []T) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), len(x)*d.Size()) }
	Greatest(c, bytes(y), bytes(x), d.Size(), elementwise.BinaryOf(elementwise.Maximum, d, elementwise.VV))
	got := make([]T, len(x))
	for i := range got {
		got[i] = 7
	}
	ShareGreatest(c, got, x, y, ct)
	for i, want := range wantY {
		if y[i] != want && (y[i] == y[i] || want == want) {
			t.Fatalf("%v, %d features: y[%d] is %v, want %v", c.Axes, n, i, y[i], want)
		}
	}
	for i, want := range wantX {
		if d := got[i] - want; !(d < 1e-5 && d > -1e-5) {
			t.Fatalf("%v, %d features: dx[%d] is %v, want %v", c.Axes, n, i, got[i], want)
		}
	}
}
