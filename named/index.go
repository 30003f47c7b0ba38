package named

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/dimtext"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// Index selects along a dimension. The key is a position, which removes the dimension, a range, or
// a named tensor of positions, as in [Take]:
//
//	named.Index[Seq](x, -1)                        // the last position
//	named.Index[Seq](x, key.Range(nil, nil, -1))   // all of them backwards
//
// Positions and bounds have the same meaning as in Python. A position that is out of bounds, in any
// row of a ragged dimension, is an error of kind ErrRange.
func (d Dims) Index(x tenon.Value, k any) *Tensor {
	const fn = "named.Index"
	if i, ok := asNamed(k); ok {
		return d.Take(x, i)
	}
	t := tensorOf(fn, x)
	d.single(fn)
	r := d.axesOf(fn, t)
	ks, err := key.List(k)
	if err != nil || ks[0].Kind != key.AtKind && ks[0].Kind != key.RangeKind {
		tenon.Throw(newError(tenon.ErrDType, over(fn, d.group()), fmt.Sprintf("a %T selects nothing along a dimension", k)).
			WithHint("use a position, a key.Range, or a named tensor of positions"))
	}
	if x, ok := ragged.As(t.data); ok && ks[0].Kind == key.AtKind && t.raggedAxis(r.axes[0]) {
		data := inNames(over(fn, d.group()), several([]*Tensor{t}), func() tensor.Tensor {
			return tenon.Must(ragged.Pick(x, ks[0].Start, ragged.PickOptions{Axis: r.axes[0]}))
		})
		return newTensor(data, r.rest, t.own())
	}
	if i, ok := ks[0].Start.(int); ok && ks[0].Kind == key.AtKind {
		if n := t.data.Shape().Dim(r.axes[0]); n >= 0 && (i < -n || i >= n) {
			msg, hint := dimtext.OutOfBounds(d.group().String(), i, one{"tensor", t}.text())
			tenon.Throw(worded(tenon.ErrRange, over(fn, d.group()), msg, hint))
		}
	}
	keys := make([]any, r.axes[0]+1)
	for i := range keys {
		keys[i] = key.All
	}
	keys[r.axes[0]] = ks[0]
	l := t.spec.names
	if ks[0].Kind == key.AtKind {
		l = r.rest
	}
	return newTensor(ops.Index(t.data, keys...), l, t.own())
}

// Take selects positions along a dimension, which is replaced by the dimensions of the indices.
// Dimensions that both have are batch dimensions.
//
//	{Vocab, Rep} by {Batch, Seq} over Vocab → {Batch, Seq, Rep}
//	{Batch, Vocab} by {Batch} over Vocab → {Batch}
//
// Indices are int32 or int64 tensors; one that is out of bounds is an error of kind ErrInvalid.
func (d Dims) Take(x, indices tenon.Value) *Tensor {
	const fn = "named.Take"
	d.single(fn)
	t, i := tensorOf(fn, x), tensorOf(fn, indices)
	r := d.axesOf(fn, t)
	checkSizes2(over(fn, d.group()), t, i, d.group())
	s := sideOf2(fn, t, i)
	if t.inside(d.group()) {
		return d.takeInside(over(fn, d.group()), t, i)
	}
	batch := r.rest.both(i.spec.names)
	own := i.spec.names.without(batch)
	rest := r.rest.without(batch)
	u, v := t.ordered(batch.and(d.group()).and(rest)), i.ordered(batch.and(own))
	k := len(batch.ids)
	data := inNames(over(fn, d.group()), []one{{"tensor", t}, {"indices", i}}, func() tensor.Tensor {
		return ops.GatherBatched(u.data, v.data, k, k)
	})
	return newTensor(data, batch.and(own).and(rest), s)
}

// checkSizes2 checks the sizes of the names that two tensors share, except for
// some.
func checkSizes2(fn string, a, b *Tensor, except *layout) {
	for i, n := range a.spec.names.ids {
		if at := b.spec.names.index(n); at >= 0 && !except.has(n) {
			if p, q := a.data.Shape().Dim(i), b.data.Shape().Dim(at); p != q && p >= 0 && q >= 0 {
				tenon.Throw(errSizes(fn, n, pair(a, b)...))
			}
		}
	}
}

// ScatterAdd adds updates to the elements at positions along a dimension. It is the reverse of
// [Take]: the updates have the dimensions of the indices, and those of x without the dimension.
// Updates at the same position add up.
func (d Dims) ScatterAdd(x, indices, updates tenon.Value) *Tensor {
	return d.scatter("named.ScatterAdd", ops.TensorScatterAdd, x, indices, updates)
}

// ScatterUpdate replaces the elements at positions along a dimension; see [ScatterAdd]. Of several
// updates at the same position, the last one is kept.
func (d Dims) ScatterUpdate(x, indices, updates tenon.Value) *Tensor {
	return d.scatter("named.ScatterUpdate", ops.TensorScatterUpdate, x, indices, updates)
}

// ScatterMax replaces the elements at positions along a dimension by updates that are larger; see
// [ScatterAdd].
func (d Dims) ScatterMax(x, indices, updates tenon.Value) *Tensor {
	return d.scatter("named.ScatterMax", ops.TensorScatterMax, x, indices, updates)
}

// ScatterMin replaces the elements at positions along a dimension by updates that are
// smaller; see [ScatterAdd].
func (d Dims) ScatterMin(x, indices, updates tenon.Value) *Tensor {
	return d.scatter("named.ScatterMin", ops.TensorScatterMin, x, indices, updates)
}

// scatter applies an operation whose indices have, for each update, a row of positions, one for
// each leading axis of x.
func (d Dims) scatter(fn string, f func(x, indices, updates any) tensor.Tensor, x, indices, updates tenon.Value) *Tensor {
	d.single(fn)
	t, i, w := tensorOf(fn, x), tensorOf(fn, indices), tensorOf(fn, updates)
	r := d.axesOf(fn, t)
	fn = over(fn, d.group())
	batch := r.rest.both(i.spec.names)
	own, rest := i.spec.names.without(batch), r.rest.without(batch)
	want := batch.and(own).and(rest)
	if n, ok := firstOf(own, d.group()); ok {
		tenon.Throw(errTaken(fn, n, one{"tensor", i}))
	}
	if !equalNames(want, w.spec.names) {
		msg := fmt.Sprintf("the updates have {%v}, and not the dimensions {%v} of indices and the rest of the tensor\n%s",
			w.spec.names, want, lines(one{"tensor", t}, one{"indices", i}, one{"updates", w}))
		tenon.Throw(newError(tenon.ErrInvalid, fn, msg))
	}
	checkSizes2(fn, t, i, none)
	checkSizes2(fn, t, w, d.group())
	checkSizes2(fn, i, w, none)
	s := sideOf(fn, t, i, w)
	if isRagged(t.data) || isRagged(i.data) || isRagged(w.data) {
		return d.scatterRagged(fn, f, t, i, w, s)
	}
	u := t.ordered(batch.and(d.group()).and(rest))
	positions := make([]tensor.Tensor, 0, len(batch.ids)+1)
	at := i.ordered(batch.and(own)).data
	for b := range batch.ids {
		positions = append(positions, positionsAlong(at, b))
	}
	positions = append(positions, ops.Cast(at, dtype.Int64))
	data := inNames(fn, []one{{"tensor", t}, {"indices", i}, {"updates", w}}, func() tensor.Tensor {
		return f(u.data, ops.Stack(positions, -1), w.ordered(want).data)
	})
	return newTensor(data, u.spec.names, s).ordered(t.spec.names)
}

// firstOf returns a name that both lists have.
func firstOf(a, b *layout) (id, bool) {
	i := slices.IndexFunc(a.ids, b.has)
	if i < 0 {
		return 0, false
	}
	return a.ids[i], true
}

// positionsAlong returns a tensor of x's shape that holds each element's position along
// an axis.
func positionsAlong(x tensor.Tensor, axis int) tensor.Tensor {
	ones := ops.Cast(ops.OnesLike(x), dtype.Int64)
	return ops.CumSum(ones, axis, ops.CumOptions{Exclusive: true})
}

// OneHotOptions are the element type and the values of [OneHot]; see ops.OneHotOptions.
type OneHotOptions = ops.OneHotOptions

// OneHot returns a tensor with a new dimension of a given size along which the element at the index
// is 1 and all others are 0. An index that is out of range gives only zeros. The element type is
// float32, unless the options say otherwise.
func (d Dims) OneHot(indices tenon.Value, size int, o OneHotOptions) *Tensor {
	const fn = "named.OneHot"
	n := d.single(fn)
	t := tensorOf(fn, indices)
	if t.spec.names.has(n) {
		tenon.Throw(errTaken(over(fn, d.group()), n, one{"tensor", t}))
	}
	if t.side != nil {
		t.side.refuse(fn, d.group(), one{"tensor", t})
	}
	if size < 0 {
		fail(tenon.ErrInvalid, over(fn, d.group()), "the size is %d", size)
	}
	return newTensor(ops.OneHot(t.data, size, -1, o), t.spec.names.and(d.group()), t.own())
}

// PadOptions say how margins are filled; see ops.PadOptions.
type PadOptions = ops.PadOptions

// Pad adds margins along a dimension, filled with zeros unless the options say
// otherwise.
func (d Dims) Pad(x tenon.Value, before, after int, o PadOptions) *Tensor {
	const fn = "named.Pad"
	if before < 0 || after < 0 {
		fail(tenon.ErrInvalid, over(fn, d.group()), "the margins are %d and %d: neither may be negative", before, after)
	}
	return d.along(fn, func(x tensor.Tensor, axis int) tensor.Tensor {
		paddings := make([][]int, x.Shape().Rank())
		for i := range paddings {
			paddings[i] = []int{0, 0}
		}
		paddings[axis] = []int{before, after}
		return ops.Pad(x, paddings, o)
	}, x)
}
