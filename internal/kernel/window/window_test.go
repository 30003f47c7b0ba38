package window

import (
	"fmt"
	"slices"
	"testing"
)

// TestEach compares the runs with the definition, element by element.
func TestEach(t *testing.T) {
	for _, axes := range [][]Axis{
		{{In: 5, Out: 3, Size: 3, Stride: 1, Dilation: 1}},
		{{In: 5, Out: 3, Size: 3, Stride: 2, Dilation: 1, Before: 1}},
		{{In: 6, Out: 4, Size: 2, Stride: 1, Dilation: 3, Before: 2}},
		{{In: 2, Out: 1, Size: 5, Stride: 1, Dilation: 1, Before: 2}},
		{{In: 3, Out: 4, Size: 1, Stride: 2, Dilation: 1, Before: 3}},
		{{In: 0, Out: 2, Size: 2, Stride: 1, Dilation: 1, Before: 1}},
		{{In: 3, Out: 2, Size: 2, Stride: 1, Dilation: 1}, {In: 4, Out: 2, Size: 3, Stride: 2, Dilation: 1, Before: 1}},
		{{In: 3, Out: 3, Size: 3, Stride: 1, Dilation: 2, Before: 2}, {In: 2, Out: 1, Size: 2, Stride: 1, Dilation: 1}, {In: 3, Out: 2, Size: 2, Stride: 2, Dilation: 2, Before: 1}},
		{{In: 3, Out: 2, Size: 0, Stride: 1, Dilation: 1}},
	} {
		windows, elements, positions := 1, 1, 1
		for _, a := range axes {
			windows, elements, positions = windows*a.Out, elements*a.Size, positions*a.In
		}
		want := make([]int, windows*elements)
		inside := true
		for at := range want {
			o, k, scale := at/elements, at%elements, 1
			for i := len(axes) - 1; i >= 0; i-- {
				a := axes[i]
				p := o%a.Out*a.Stride + k%a.Size*a.Dilation - a.Before
				if o, k = o/a.Out, k/a.Size; p < 0 || p >= a.In {
					want[at], inside = -1, false
				}
				if want[at] >= 0 {
					want[at] += p * scale
				}
				scale *= a.In
			}
		}
		got := slices.Repeat([]int{-1}, len(want))
		half := windows / 2
		for _, part := range [][2]int{{0, half}, {half, windows}} {
			Each(axes, part[0], part[1], func(at, from, n int) {
				for i := range n {
					if got[at+i] != -1 || from+i >= positions {
						t.Errorf("%v: element %d is at %d, too", axes, at+i, from+i)
					}
					got[at+i] = from + i
				}
			})
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v: got %v, want %v", axes, got, want)
		}
		if Inside(axes) != inside {
			t.Errorf("%v: Inside is %v", axes, !inside)
		}
	}
}
