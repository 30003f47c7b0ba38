package named

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// ConvOptions say how a convolution moves its window. With the zero value, the window moves in
// steps of one over the positions in which it fits.
type ConvOptions struct {
	Stride   int  // steps from one window to the next; 0 means 1
	Dilation int  // steps from one element of a window to the next; 0 means 1
	Before   int  // number of zeros before the first element
	After    int  // number of zeros after the last element
	Same     bool // add as many zeros as make the result as long as x for stride 1; Before and After are ignored
}

// Conv slides a window along a dimension and contracts the elements in it with a kernel, over the
// window and over the dimensions in Over, which both must have:
//
//	named.Conv[Seq, Window, Channel](x, kernel, named.ConvOptions{})
//	{Batch, Seq, Channel} with {Window, Channel, Out} → {Batch, Seq, Out}
//
// Like the convolution of most libraries, it is a correlation: the kernel is not reversed. If Dim
// and Window are sets, they list the same number of dimensions, each with its window, and the
// options apply to all of them. Other dimensions that both have, such as groups of channels, are
// batch dimensions.
func Conv[Dim Is[Dim], Window Is[Window], Over Is[Over]](x, kernel tenon.Value, o ConvOptions) *Tensor {
	return Dims{groupOf[Dim]()}.Conv(x, kernel, Dims{groupOf[Window]()}, Dims{groupOf[Over]()}, o)
}

// Conv is the function [Conv] for the names in the list.
func (d Dims) Conv(x, kernel tenon.Value, window, channels Dims, o ConvOptions) *Tensor {
	const fn = "named.Conv"
	t, k := tensorOf(fn, x), tensorOf(fn, kernel)
	dims, windows := d.group(), window.group()
	if len(dims.ids) != len(windows.ids) {
		fail(tenon.ErrInvalid, over(fn, dims), "%d dimensions have windows along {%v}", len(dims.ids), windows)
	}
	for _, n := range dims.ids {
		if k.spec.names.has(n) {
			tenon.Throw(newError(tenon.ErrInvalid, over(fn, dims), fmt.Sprintf("the kernel has %v too\n%s", n, lines(one{"tensor", t}, one{"kernel", k}))).
				WithHint("give the kernel's window a name of its own"))
		}
	}
	for i, w := range windows.ids {
		at := k.spec.names.index(w)
		if at < 0 {
			throwMissing(over(fn, dims), w, one{"kernel", k}, one{"tensor", t})
		}
		n := k.data.Shape().Dim(at)
		if along := t.spec.names.index(dims.ids[i]); along >= 0 && !t.raggedAxis(along) && (n < 0 || t.data.Shape().Dim(along) < 0) {
			t = openWindows(over(fn, dims), t, along, w, k.length(w), o)
			continue
		}
		if n < 0 {
			fail(tenon.ErrShape, over(fn, dims), "the size of the window %v is not known\n%s", w, k.line("kernel"))
		}
		t = windowsAlong(over(fn, dims), t, dims.ids[i], w, n, o)
	}
	return windows.and(channels.group()).of().Contract(t, k)
}

// windowSteps says how a window moves.
type windowSteps struct{ stride, dilation, before, after int }

// stepsOf returns the steps for a window of size n.
func stepsOf(fn string, n int, o ConvOptions) windowSteps {
	s := windowSteps{max(o.Stride, 1), max(o.Dilation, 1), o.Before, o.After}
	if o.Same {
		s.before = (s.reach(n) - 1) / 2
		s.after = s.reach(n) - 1 - s.before
	}
	if o.Stride < 0 || o.Dilation < 0 || s.before < 0 || s.after < 0 {
		fail(tenon.ErrInvalid, fn, "the options %+v have a negative number", o)
	}
	return s
}

// reach returns the number of positions from the first element of a window of size n to the last.
func (s windowSteps) reach(n int) int { return (n-1)*s.dilation + 1 }

// windowsAlong replaces a dimension by the windows along it and a dimension w of size n for the
// elements of a window. The windows of a dense tensor are a view.
func windowsAlong(fn string, t *Tensor, dim, w id, n int, o ConvOptions) *Tensor {
	d := layoutOf([]id{dim}).of()
	steps := stepsOf(fn, n, o)
	stride, dilation, before, after, reach := steps.stride, steps.dilation, steps.before, steps.after, steps.reach(n)
	if at := t.spec.names.index(dim); at > 0 && t.raggedAxis(at) {
		if t.spec.names.has(w) {
			tenon.Throw(errTaken(fn, w, one{"tensor", t}))
		}
		return windowsInRows(fn, t, dim, w, n, steps)
	}
	if before != 0 || after != 0 {
		t = d.Pad(t, before, after, PadOptions{})
	} else {
		d.axesOf(fn, t)
	}
	if t.spec.names.has(w) {
		tenon.Throw(errTaken(fn, w, one{"tensor", t}))
	}
	size := t.size(dim)
	count := 0
	if n > 0 && size >= reach {
		count = (size-reach)/stride + 1
	}
	if x, ok := t.data.(*tensor.Dense); ok && count > 0 {
		at := t.spec.names.index(dim)
		strides := x.Strides()
		s := x.Shape().With(at, count).Insert(x.Rank(), n)
		view := append(strides, strides[at]*dilation)
		view[at] *= stride
		return newTensor(x.View(0, s, view), t.spec.names.and(layoutOf([]id{w})), t.own())
	}
	index := make([]int64, 0, count*n)
	for i := range count {
		for j := range n {
			index = append(index, int64(i*stride+j*dilation))
		}
	}
	positions := newTensor(ops.Reshape(ops.Cast(index, dtype.Int64), []int{count, n}), layoutOf([]id{dim, w}), nil)
	return d.Take(t, positions)
}

// openWindows is windowsAlong for an axis whose size, or the size of whose window, is known only at
// run time.
func openWindows(fn string, t *Tensor, axis int, w id, n tensor.Tensor, o ConvOptions) *Tensor {
	if t.spec.names.has(w) {
		tenon.Throw(errTaken(fn, w, one{"tensor", t}))
	}
	dim, steps := t.spec.names.ids[axis], stepsOf(fn, 1, o)
	behind := ops.Mul(ops.Sub(n, int64(1)), int64(steps.dilation)) // from the first element of a window to the last
	margins := []any{int64(steps.before), int64(steps.after)}
	if o.Same {
		front := ops.FloorDiv(behind, int64(2))
		margins = []any{front, ops.Sub(behind, front)}
	}
	for i, m := range margins {
		margins[i] = ops.Reshape(ops.Cast(m, dtype.Int64), []int{1, 1})
	}
	others := func(k int) tensor.Tensor { return ops.Zeros(dtype.Int64, shape.Of(k, 2)) }
	row := ops.Concat([]tensor.Tensor{margins[0].(tensor.Tensor), margins[1].(tensor.Tensor)}, 1)
	paddings := ops.Concat([]tensor.Tensor{others(axis), row, others(len(t.spec.names.ids) - axis - 1)}, 0)
	t = newTensor(ops.Pad(t.data, paddings, PadOptions{}), t.spec.names, t.own())
	room := ops.Sub(t.length(dim), behind)
	starts := ops.Range(int64(0), ops.Maximum(room, int64(0)), int64(steps.stride))
	within := ops.Range(int64(0), ops.Mul(n, int64(steps.dilation)), int64(steps.dilation))
	positions := newTensor(ops.Add(ops.ExpandDims(starts, 1), within), layoutOf([]id{dim, w}), nil)
	return layoutOf([]id{dim}).of().Take(t, positions)
}
