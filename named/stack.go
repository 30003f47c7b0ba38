package named

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Stack stacks tensors with the same dimensions along a new one.
func (d Dims) Stack(xs ...tenon.Value) *Tensor {
	const fn = "named.Stack"
	n := d.single(fn)
	ts, values := alike(fn, xs, nil)
	if ts[0].spec.names.has(n) {
		tenon.Throw(errTaken(over(fn, d.group()), n, one{"tensor", ts[0]}))
	}
	checkSizes(over(fn, d.group()), ts)
	s := sideOf(fn, ts...)
	if s != nil {
		s.refuse(fn, d.group(), several(ts)...)
	}
	if slices.ContainsFunc(ts, func(t *Tensor) bool { return isRagged(t.data) }) {
		return d.stackRagged(over(fn, d.group()), ts)
	}
	return newTensor(ops.Stack(values, 0), d.group().and(ts[0].spec.names), s)
}

// Concat concatenates tensors along a dimension that all have. Their other dimensions must be the
// same.
func (d Dims) Concat(xs ...tenon.Value) *Tensor {
	const fn = "named.Concat"
	n := d.single(fn)
	for _, x := range xs {
		if t := tensorOf(fn, x); !t.spec.names.has(n) {
			throwMissing(over(fn, d.group()), n, one{"tensor", t})
		}
	}
	ts, values := alike(fn, xs, &n)
	return newTensor(ops.Concat(values, ts[0].spec.names.index(n)), ts[0].spec.names, sideOf(fn, ts...))
}

// alike checks that tensors have the same dimensions and, except for one, the same sizes. It
// returns the tensors and their contents in the order of the first.
func alike(fn string, xs []tenon.Value, but *id) ([]*Tensor, []tensor.Tensor) {
	if len(xs) == 0 {
		fail(tenon.ErrInvalid, fn, "there are no tensors")
	}
	ts, values := make([]*Tensor, len(xs)), make([]tensor.Tensor, len(xs))
	for i, x := range xs {
		t := tensorOf(fn, x)
		if i > 0 && !equalNames(ts[0].spec.names, t.spec.names) {
			tenon.Throw(newError(tenon.ErrInvalid, fn, "the tensors have different dimensions\n"+lines(one{"operand 0", ts[0]}, one{fmt.Sprintf("operand %d", i), t})).
				WithHint("rename them, or use named.BroadcastTo"))
		}
		if i > 0 {
			t = t.ordered(ts[0].spec.names)
			for k, n := range t.spec.names.ids {
				p, q := ts[0].data.Shape().Dim(k), t.data.Shape().Dim(k)
				if p != q && p >= 0 && q >= 0 && (but == nil || n != *but) {
					tenon.Throw(errSizes(fn, n, one{"operand 0", ts[0]}, one{fmt.Sprintf("operand %d", i), t}))
				}
			}
		}
		ts[i], values[i] = t, t.data
	}
	return ts, values
}

// Unstack takes a tensor apart along a dimension whose size must be known. It returns a tensor
// without the dimension for each position along it.
func (d Dims) Unstack(x tenon.Value) []*Tensor {
	const fn = "named.Unstack"
	t := tensorOf(fn, x)
	d.single(fn)
	r := d.axesOf(fn, t)
	parts := ops.Unstack(t.data, r.axes[0])
	out := make([]*Tensor, len(parts))
	for i, p := range parts {
		out[i] = newTensor(p, r.rest, t.own())
	}
	return out
}

// Pieces cuts a tensor into pieces of the given sizes along a dimension. One of the sizes may be
// -1, for whatever the others leave.
func (d Dims) Pieces(x tenon.Value, sizes ...int) []*Tensor {
	const fn = "named.Pieces"
	t := tensorOf(fn, x)
	d.single(fn)
	axis := d.axesOf(fn, t).axes[0]
	if n := t.data.Shape().Dim(axis); n >= 0 && !slices.Contains(sizes, -1) {
		sum := 0
		for _, k := range sizes {
			sum += k
		}
		if sum != n {
			fail(tenon.ErrInvalid, over(fn, d.group()), "the sizes %v do not add up to %d, the size of %v\n%s", sizes, n, d.group(), t.line("tensor"))
		}
	}
	parts := inNames(over(fn, d.group()), several([]*Tensor{t}), func() []tensor.Tensor { return ops.Split(t.data, sizes, axis) })
	out := make([]*Tensor, len(parts))
	for i, p := range parts {
		out[i] = newTensor(p, t.spec.names, t.own())
	}
	return out
}
