package window

// An Axis is an axis of positions with windows that slide along it: element k of window o is at
// position o·Stride + k·Dilation - Before, which may be out of range.
type Axis struct {
	In, Out                int // number of positions and of windows
	Size, Stride, Dilation int // number of elements of a window, and the steps between windows and between elements
	Before                 int
}

// Inside reports whether every element of every window is at a position.
func Inside(axes []Axis) bool {
	for _, a := range axes {
		if a.Before > 0 || a.Out > 0 && a.Size > 0 && (a.Out-1)*a.Stride+(a.Size-1)*a.Dilation-a.Before >= a.In {
			return false
		}
	}
	return true
}

// Each calls f for the windows [lo, hi), counted with the last axis varying fastest: n window
// elements, starting at number at over all windows, lie at n consecutive positions, starting at
// number from.
func Each(axes []Axis, lo, hi int, f func(at, from, n int)) {
	elements, last := 1, len(axes)-1
	for _, a := range axes {
		elements *= a.Size
	}
	if elements == 0 {
		return
	}
	start := make([]int, len(axes)) // position of the window's first element
	k := make([]int, len(axes))     // index of the element along all but the last axis
	for o := lo; o < hi; o++ {
		for i, rest := last, o; i >= 0; i-- {
			a := axes[i]
			start[i] = rest%a.Out*a.Stride - a.Before
			rest /= a.Out
			k[i] = 0
		}
		for at := o * elements; at < (o+1)*elements; at += axes[last].Size {
			if from, ok := origin(axes[:last], start, k); ok {
				run(axes[last], start[last], at, from*axes[last].In, f)
			}
			for i := last - 1; i >= 0; i-- {
				if k[i]++; k[i] < axes[i].Size {
					break
				}
				k[i] = 0
			}
		}
	}
}

// origin returns the row-major number of a position along the given axes, and whether it is in
// range.
func origin(axes []Axis, start, k []int) (n int, ok bool) {
	for i, a := range axes {
		p := start[i] + k[i]*a.Dilation
		if p < 0 || p >= a.In {
			return 0, false
		}
		n = n*a.In + p
	}
	return n, true
}

// run calls f for the elements of one window along the last axis.
func run(a Axis, start, at, from int, f func(at, from, n int)) {
	if a.Dilation == 1 {
		lo, hi := max(0, -start), min(a.Size, a.In-start)
		if lo < hi {
			f(at+lo, from+start+lo, hi-lo)
		}
		return
	}
	for k := range a.Size {
		if p := start + k*a.Dilation; p >= 0 && p < a.In {
			f(at+k, from+p, 1)
		}
	}
}
