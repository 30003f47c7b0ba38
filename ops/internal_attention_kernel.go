package ops

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/attention"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/internal/par"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// An attended is an operand or result as the kernel sees it: the features of each item are
// consecutive.
type attended struct {
	d      *tensor.Dense
	labels []int
}

// step returns the distance between entries of an axis, or 0 if there is one entry or no such axis.
func (x attended) step(label int) int {
	i := slices.Index(x.labels, label)
	switch {
	case i < 0 || x.d.Dim(i) == 1:
		return 0
	case x.d.Len() == 0:
		return 1 // heads without elements share nothing
	}
	return x.d.Strides()[i]
}

// row returns the distance between items.
func (x attended) row(label int) int { return x.d.Strides()[slices.Index(x.labels, label)] }

// featuresLast returns the labels with the features last, in the order given.
func featuresLast(labels []int, item int, features []int) []int {
	if n := len(labels) - len(features); slices.Equal(labels[n:], features) {
		return labels
	}
	order := slices.DeleteFunc(slices.Clone(labels), func(l int) bool { return l == item || slices.Contains(features, l) })
	return slices.Concat(order, []int{item}, features)
}

// in returns an operand, copied if the features of an item are not consecutive.
func (a *attending) in(d *tensor.Dense, labels []int, item int, features []int) attended {
	order := featuresLast(labels, item, features)
	return attended{tensor.Contiguous(arranged(d, labels, order)), order}
}

// whole is like in but keeps all batch axes, for gradients, which have as many elements.
func (a *attending) whole(d *tensor.Dense, labels []int, item int, features []int) attended {
	own := a.full(labels, d.Shape())
	more := slices.DeleteFunc(slices.Clone(a.batch), func(l int) bool { return slices.Contains(own, l) })
	if len(more) == 0 {
		return a.in(d, labels, item, features)
	}
	all := slices.Concat(more, own)
	one := onesOf(tensor.Uninit(d.DType(), a.shape(more)))
	return a.in(tenon.Must(NewContraction(own, more, all)).dense(d.Reshaped(a.shape(own)), one), all, item, features)
}

// summed is the inverse of whole for a gradient: it sums over the axes that the operand lacks.
func (a *attending) summed(x attended, labels []int, s shape.Shape) *tensor.Dense {
	own := a.full(labels, s)
	more := slices.DeleteFunc(slices.Clone(x.labels), func(l int) bool { return slices.Contains(own, l) })
	if len(more) == 0 {
		return arranged(x.d, x.labels, labels)
	}
	one := onesOf(tensor.Uninit(x.d.DType(), a.shape(more)))
	return tenon.Must(NewContraction(x.labels, more, own)).dense(x.d, one).Reshaped(s)
}

// full returns the labels of the axes along which a shape has one entry per entry of the batch.
func (a *attending) full(labels []int, s shape.Shape) []int {
	var own []int
	for i, l := range labels {
		if s.Dim(i) == a.size[l] {
			own = append(own, l)
		}
	}
	return own
}

// A description holds the kernel's arguments for all rows, and for one of them.
type description[T float32 | float64] struct {
	attention.Params[T]
	batch    []attention.Batch
	qs, ks   []int64 // row splits, or nil
	masks    []int   // where the mask of each row begins, if it has an element for each pair
	gradient attention.Gradients[T]
}

func describe[T float32 | float64](c *op.Call, a *attending, q, k, v, out attended) *description[T] {
	e := tensor.Elems[T]
	d := &description[T]{Params: attention.Params[T]{
		Queries: a.size[queryLabel], Keys: a.size[keyLabel], Depth: a.product(a.depth), Width: a.product(a.width),
		Q: e(q.d), K: e(k.d), V: e(v.d), Out: e(out.d),
		QRow: q.row(queryLabel), KRow: k.row(keyLabel), VRow: v.row(keyLabel), OutRow: out.row(queryLabel),
		Scale: T(a.scale), Causal: a.causal,
	}}
	var seen attended
	if m := c.Dense(a.at); m != nil {
		seen = attended{tensor.Contiguous(m), a.labels[maskAt]}
		d.Mask, d.MaskRow, d.MaskCol = tensor.Elems[bool](seen.d), seen.step(queryLabel), seen.step(keyLabel)
	}
	heads := 1
	for i := len(a.batch) - 1; i >= 0; i-- {
		l := a.batch[i]
		b := attention.Batch{Size: a.size[l], Q: q.step(l), K: k.step(l), V: v.step(l), Out: out.step(l), LogSum: heads * d.Queries}
		if d.Mask != nil {
			b.Mask = seen.step(l)
		}
		d.batch = append(d.batch, b)
		heads *= b.Size
	}
	slices.Reverse(d.batch)
	if a.inRows(c) {
		d.qs, d.ks = a.splits(c, 1, d.Queries), a.splits(c, 2, d.Keys)
		tenon.Throw(a.sameRows(c, len(d.qs)-1, len(d.ks)-1))
	}
	if a.pairs {
		d.masks = make([]int, len(d.qs))
		for r := range len(d.qs) - 1 {
			d.masks[r+1] = d.masks[r] + int(d.qs[r+1]-d.qs[r])*int(d.ks[r+1]-d.ks[r])
		}
		if n, have := d.masks[len(d.qs)-1], seen.d.Dim(slices.Index(seen.labels, queryLabel)); n != have {
			tenon.Throw(c.Errorf(tenon.ErrShape, "the mask has %d elements for %d pairs of a query and a key of the same row", have, n))
		}
		d.MaskCol = seen.row(queryLabel)
	}
	return d
}

// splits returns row splits for the given number of items.
func (a *attending) splits(c *op.Call, i, items int) []int64 {
	s := tensor.Elems[int64](castDense(c.Dense(a.at+i), dtype.Int64))
	if err := segment.CheckSplits(s, int64(items)); err != nil {
		tenon.Throw(c.Errorf(tenon.ErrInvalid, "%v", err).At(c.Op.Params[a.at+i].Name))
	}
	return s
}

// longest returns the largest number of keys of a row.
func (d *description[T]) longest() int {
	if d.ks == nil {
		return d.Keys
	}
	most := 0
	for r := range len(d.ks) - 1 {
		most = max(most, int(d.ks[r+1]-d.ks[r]))
	}
	return most
}

// each calls f for each row.
func (d *description[T]) each(f func(d *description[T])) {
	if d.qs == nil {
		f(d)
		return
	}
	rows := len(d.qs) - 1
	const work = 1 << 18 // multiply-adds that are worth a handover to a worker
	mean := float64(d.Queries) * float64(d.Keys) / float64(max(1, rows*rows)) * float64(d.Depth+d.Width)
	for _, b := range d.batch {
		mean *= float64(b.Size)
	}
	par.For(rows, max(1, int(work/max(1, mean))), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			one := *d
			q, k := int(d.qs[r]), int(d.ks[r])
			one.Queries, one.Keys = int(d.qs[r+1])-q, int(d.ks[r+1])-k
			one.Q, one.K, one.V, one.Out = after(d.Q, q*d.QRow), after(d.K, k*d.KRow), after(d.V, k*d.VRow), after(d.Out, q*d.OutRow)
			one.LogSum, one.Mask = after(d.LogSum, q), after(d.Mask, k*d.MaskCol)
			if d.masks != nil {
				one.Mask, one.MaskRow = after(d.Mask, d.masks[r]*d.MaskCol), one.Keys*d.MaskCol
			}
			g := &one.gradient
			g.DOut, g.DQ, g.DK, g.DV = after(g.DOut, q*d.OutRow), after(g.DQ, q*d.QRow), after(g.DK, k*d.KRow), after(g.DV, k*d.VRow)
			f(&one)
		}
	})
}

// after returns the elements of x from index i on.
func after[T any](x []T, i int) []T {
	if x == nil {
		return nil
	}
	return x[min(i, len(x)):]
}

// forward returns the result of attention.
func (a *attending) forward(c *op.Call) *tensor.Dense {
	if c.Tensor(0).DType() == dtype.Float64 {
		return attend[float64](c, a, dtype.Float64)
	}
	return castDense(attend[float32](c, a, dtype.Float32), c.Tensor(0).DType())
}

func attend[T float32 | float64](c *op.Call, a *attending, d dtype.DType) *tensor.Dense {
	arg := func(i int) *tensor.Dense { return castDense(c.Dense(i), d) }
	q, k, v := a.in(arg(0), a.labels[0], queryLabel, a.depth), a.in(arg(1), a.labels[1], keyLabel, a.depth), a.in(arg(2), a.labels[2], keyLabel, a.width)
	order := featuresLast(a.labels[resultAt], queryLabel, a.width)
	out := attended{tensor.Uninit(d, a.shape(order)), order}
	if x := describe[T](c, a, q, k, v, out); out.d.Len() > 0 {
		x.each(func(x *description[T]) { attention.Forward(x.Params, x.batch...) })
	}
	return arranged(out.d, out.labels, a.labels[resultAt])
}

// backward returns the gradients of queries, keys and values.
func (a *attending) backward(c *op.Call) []tensor.Tensor {
	if c.Tensor(0).DType() == dtype.Float64 {
		return attendBack[float64](c, a, dtype.Float64)
	}
	return attendBack[float32](c, a, dtype.Float32)
}

func attendBack[T float32 | float64](c *op.Call, a *attending, d dtype.DType) []tensor.Tensor {
	arg := func(i int) *tensor.Dense { return castDense(c.Dense(i), d) }
	q, k, v := a.whole(arg(0), a.labels[0], queryLabel, a.depth), a.whole(arg(1), a.labels[1], keyLabel, a.depth), a.whole(arg(2), a.labels[2], keyLabel, a.width)
	ct := a.in(arg(3), a.labels[resultAt], queryLabel, a.width)
	room := func(x attended) attended { return attended{tensor.Uninit(d, x.d.Shape()), x.labels} }
	dq, dk, dv := room(q), room(k), room(v)
	x := describe[T](c, a, q, k, v, ct)
	e := tensor.Elems[T]
	x.gradient = attention.Gradients[T]{DOut: e(ct.d), DQ: e(dq.d), DK: e(dk.d), DV: e(dv.d)}
	again := attention.NeedsForward[T](x.longest())
	if again {
		x.Out, x.LogSum = make([]T, len(x.Out)), make([]T, a.product(a.batch)*x.Queries)
	}
	x.each(func(x *description[T]) {
		if again {
			attention.Forward(x.Params, x.batch...)
		}
		attention.Backward(x.Params, x.gradient, x.batch...)
	})
	out := make([]tensor.Tensor, 3)
	for i, g := range []attended{dq, dk, dv} {
		out[i] = castDense(a.summed(g, a.labels[i], c.Dense(i).Shape()), c.Tensor(i).DType())
	}
	return out
}
