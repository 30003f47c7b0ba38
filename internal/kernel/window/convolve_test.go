package window

import (
	"slices"
	"testing"
)

// TestConvolution compares the three products with their definition: several stretches of
// windows, several products for one window, several blocks and ranges of sums, windows one position
// apart and more. The factors are small integers, so that all sums are exact.
func TestConvolution(t *testing.T) {
	for _, c := range []Convolution{
		{Axes: []Axis{{In: 7, Out: 3, Size: 3, Stride: 2, Dilation: 1}}, Items: 2, Features: 4, Out: 6, Groups: 2},
		{Axes: []Axis{{In: 90, Out: 90, Size: 3, Stride: 1, Dilation: 1, Before: 1}}, Items: 2, Features: 300, Out: 5, Groups: 1},
		{Axes: []Axis{{In: 200, Out: 66, Size: 5, Stride: 3, Dilation: 2, Before: 3}}, Items: 1, Features: 130, Out: 20, Groups: 1},
		{Axes: []Axis{{In: 9, Out: 9, Size: 3, Stride: 1, Dilation: 1, Before: 1}, {In: 40, Out: 40, Size: 3, Stride: 1, Dilation: 1, Before: 1}}, Items: 3, Features: 32, Out: 40, Groups: 1},
		{Axes: []Axis{{In: 20, Out: 20, Size: 3, Stride: 1, Dilation: 1, Before: 1}, {In: 70, Out: 70, Size: 3, Stride: 1, Dilation: 1, Before: 1}}, Items: 2, Features: 3, Out: 33, Groups: 1},
		{Axes: []Axis{{In: 4, Out: 2, Size: 2, Stride: 2, Dilation: 1}, {In: 5, Out: 6, Size: 2, Stride: 1, Dilation: 2, Before: 2}, {In: 6, Out: 4, Size: 3, Stride: 2, Dilation: 1, Before: 2}}, Items: 2, Features: 34, Out: 4, Groups: 2},
		{Axes: []Axis{{In: 30, Out: 30, Size: 3, Stride: 1, Dilation: 1, Before: 40}}, Items: 1, Features: 2, Out: 2, Groups: 1},
		{Axes: []Axis{{In: 5, Out: 4, Size: 3, Stride: 1, Dilation: 2, Before: 5}, {In: 300, Out: 290, Size: 4, Stride: 1, Dilation: 1, Before: 1}}, Items: 2, Features: 66, Out: 6, Groups: 2},
		{Axes: []Axis{{In: 40, Out: 15, Size: 3, Stride: 2, Dilation: 2, Before: 3}, {In: 50, Out: 50, Size: 2, Stride: 1, Dilation: 1}}, Items: 1, Features: 8, Out: 33, Groups: 1},
		{Axes: []Axis{{In: 60, Out: 30, Size: 3, Stride: 2, Dilation: 1, Before: 1}, {In: 50, Out: 50, Size: 1, Stride: 1, Dilation: 1}}, Items: 1, Features: 64, Out: 33, Groups: 1},
	} {
		positions, windows, elements := 1, 1, 1
		for _, a := range c.Axes {
			positions, windows, elements = positions*a.In, windows*a.Out, elements*a.Size
		}
		in, out := c.Features/c.Groups, c.Out/c.Groups
		small := func(n, step int) []float32 {
			x := make([]float32, n)
			for i := range x {
				x[i] = float32((i*step+i/7)%5 - 2)
			}
			return x
		}
		x, y, kernel := small(c.Items*positions*c.Features, 3), small(c.Items*windows*c.Out, 2), small(elements*in*c.Out, 1)
		wantX, wantY, wantK := make([]float32, len(x)), make([]float32, len(y)), make([]float32, len(kernel))
		for item := range c.Items {
			Each(c.Axes, 0, windows, func(at, from, n int) {
				for i := range n {
					w, e := (at+i)/elements, (at+i)%elements
					for o := range c.Out {
						for f := range in {
							xi := (item*positions+from+i)*c.Features + o/out*in + f
							yi, ki := (item*windows+w)*c.Out+o, (e*in+f)*c.Out+o
							wantX[xi] += y[yi] * kernel[ki]
							wantY[yi] += x[xi] * kernel[ki]
							wantK[ki] += x[xi] * y[yi]
						}
					}
				}
			})
		}
		gotX, gotY, gotK := small(len(x), 1), small(len(y), 1), small(len(kernel), 2)
		Forward(c, gotY, x, kernel)
		Input(c, gotX, y, kernel)
		Kernel(c, gotK, x, y)
		for _, r := range []struct {
			name      string
			got, want []float32
		}{{"y", gotY, wantY}, {"x", gotX, wantX}, {"kernel", gotK, wantK}} {
			if !slices.Equal(r.got, r.want) {
				i := 0
				for r.got[i] == r.want[i] {
					i++
				}
				t.Errorf("%+v: %s[%d] is %v, want %v", c.Axes, r.name, i, r.got[i], r.want[i])
			}
		}
	}
}
