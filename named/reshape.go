package named

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Merge merges the dimensions of a set into one, in the order in which the set lists them: the last
// one varies fastest. They need not be adjacent in memory.
//
//	named.Merge[Spatial, Pixel](image)   // pixel = row·width + column
func Merge[S Is[S], To Is[To]](x tenon.Value) *Tensor {
	return Dims{groupOf[S]()}.Merge(x, Dims{groupOf[To]()})
}

// Merge is the function [Merge] for the names in the list.
func (d Dims) Merge(x tenon.Value, to Name) *Tensor {
	const fn = "named.Merge"
	t := tensorOf(fn, x)
	return d.regroup(fn, t, []id{By(to).single(fn)}, nil)
}

// Split splits a dimension into several, the last of which varies fastest. One of the sizes may be
// -1, for whatever the others leave.
//
//	named.Split[Rep](x, Head{}.Of(4), HeadRep{}.Of(64))
func (d Dims) Split(x tenon.Value, into ...Sized) *Tensor {
	const fn = "named.Split"
	t := tensorOf(fn, x)
	d.single(fn)
	return d.reshape(fn, t, into)
}

// Reshape replaces the dimensions of a set by others: their elements, in the order in which the set
// lists the dimensions, fill the new ones, in the order in which these are listed. One of the sizes
// may be -1.
func (d Dims) Reshape(x tenon.Value, to ...Sized) *Tensor {
	const fn = "named.Reshape"
	return d.reshape(fn, tensorOf(fn, x), to)
}

func (d Dims) reshape(fn string, t *Tensor, to []Sized) *Tensor {
	ids, ns := make([]id, len(to)), make([]int, len(to))
	open := 0
	for i, s := range to {
		ids[i], ns[i] = By(s.Name()).single(fn), s.size
		if s.size == -1 {
			open++
		} else if s.size < 0 {
			fail(tenon.ErrInvalid, fn, "%v has the size %d", s.names, s.size)
		}
	}
	if open > 1 {
		fail(tenon.ErrInvalid, fn, "more than one of the new sizes is -1")
	}
	return d.regroup(fn, t, ids, ns)
}

// regroup replaces the dimensions in the list by others. If sizes is nil, there is only one, which
// takes all elements.
func (d Dims) regroup(fn string, t *Tensor, to []id, sizes []int) *Tensor {
	d.axesOf(fn, t) // throws if a dimension is missing
	return d.regrouped(over(fn, d.group()), t, t, to, sizes)
}

// regrouped is regroup of t, whose errors show another tensor, of which t is the inside.
func (d Dims) regrouped(fn string, shown, t *Tensor, to []id, sizes []int) *Tensor {
	dims := d.group()
	r := d.axesOf(fn, t)
	l := layoutOf(to)
	for i, n := range to {
		if r.rest.has(n) {
			tenon.Throw(errTaken(fn, n, one{"tensor", shown}))
		}
		if l.index(n) != i {
			throwTwice(fn, n, l)
		}
	}
	if t.side != nil {
		t.side.refuse(fn, l, one{"tensor", shown})
	}
	if isRagged(t.data) {
		return d.regroupRagged(fn, t, l, sizes)
	}
	// The new dimensions replace the first of the old ones, so that adjacent dimensions in order
	// are not moved.
	at := len(r.rest.ids)
	for i, n := range t.spec.names.ids {
		if dims.has(n) {
			at = i
			break
		}
	}
	before, after := layoutOf(r.rest.ids[:at]), layoutOf(r.rest.ids[at:])
	u := t.ordered(before.and(dims).and(after))
	n, known := 1, true
	for _, k := range u.data.Shape().Dims()[at : at+len(dims.ids)] {
		n, known = n*k, known && k >= 0
	}
	if sizes == nil {
		sizes = []int{-1}
		if known {
			sizes[0] = n
		}
	}
	given := sizes
	sizes = filledIn(sizes, n, known)
	if m := product(sizes); known && m != n {
		fail(tenon.ErrInvalid, fn, "%d elements do not fill the sizes %v\n%s", n, given, shown.line("tensor"))
	}
	out := before.and(l).and(after)
	return newTensor(ops.Reshape(u.data, newShape(u.data, at, len(dims.ids), sizes)), out, t.own())
}

// filledIn replaces an unknown size if the number of elements is known.
func filledIn(sizes []int, n int, known bool) []int {
	out := append([]int{}, sizes...)
	if !known {
		return out
	}
	for i, s := range out {
		if s == -1 {
			out[i] = 1
			if p := product(out); p > 0 && n%p == 0 {
				out[i] = n / p
			} else {
				out[i] = 0
			}
		}
	}
	return out
}

func product(sizes []int) int {
	n := 1
	for _, s := range sizes {
		n *= s
	}
	return n
}

// newShape returns the shape of x with k axes from at on replaced by others: a list of sizes if
// they are known, and otherwise a tensor.
func newShape(x tensor.Tensor, at, k int, sizes []int) any {
	s := x.Shape()
	rest := append(append([]int{}, s.Dims()[:at]...), s.Dims()[at+k:]...)
	for _, d := range rest {
		if d < 0 {
			have := ops.Shape(x)
			return ops.Concat([]tensor.Tensor{
				ops.Slice(have, []int{0}, []int{at}), ops.Cast(tensor.Of(sizes), have.DType()), ops.Slice(have, []int{at + k}, []int{len(rest) - at}),
			}, 0)
		}
	}
	return append(append(append([]int{}, rest[:at]...), sizes...), rest[at:]...)
}

// ExpandDims adds dimensions of size 1.
func ExpandDims(x tenon.Value, dims ...Name) *Tensor {
	const fn = "named.ExpandDims"
	t := tensorOf(fn, x)
	l := By(dims...).group()
	for i, n := range l.ids {
		if t.spec.names.has(n) || l.index(n) != i {
			tenon.Throw(errTaken(fn, n, one{"tensor", t}))
		}
	}
	if len(l.ids) == 0 {
		return t
	}
	if t.side != nil {
		t.side.refuse(fn, l, one{"tensor", t})
	}
	axes := make([]int, len(l.ids))
	for i := range axes {
		axes[i] = len(t.spec.names.ids) + i
	}
	return newTensor(ops.ExpandDims(t.data, axes...), t.spec.names.and(l), t.own())
}

// Squeeze removes a dimension of size 1, or those of a set.
func (d Dims) Squeeze(x tenon.Value) *Tensor {
	const fn = "named.Squeeze"
	t := tensorOf(fn, x)
	r := d.axesOf(fn, t)
	for i, a := range r.axes {
		if n := t.data.Shape().Dim(a); n != 1 && n >= 0 {
			tenon.Throw(newError(tenon.ErrInvalid, over(fn, d.group()), fmt.Sprintf("%v has size %d, not 1\n%s", d.group().ids[i], n, t.line("tensor"))))
		}
	}
	if len(r.axes) == 0 {
		return t
	}
	return newTensor(ops.Squeeze(t.data, r.axes...), r.rest, t.own())
}
