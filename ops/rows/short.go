package rows

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// The short ways of operations on tensors in memory: past binding, dispatch and
// inference, which take longer than the work where there are few values. Each does
// what the kernel does. They return nil where the general way has to be taken, which
// also says what is wrong.

// shortSize is the number of values up to which a result needs no look at memory.
const shortSize = 1 << 31

// divided returns the entries of row splits, which divide the rows of x, if all of it
// is in memory and right.
func divided(x *tensor.Dense, splits *tensor.Dense) []int64 {
	if x == nil || x.Rank() == 0 || !x.IsContiguous() {
		return nil
	}
	s := entries(splits)
	if s == nil || s[len(s)-1] != int64(x.Dim(0)) {
		return nil
	}
	return s
}

// entries returns the entries of row splits in memory if they are a partition.
func entries(splits *tensor.Dense) []int64 {
	if splits == nil || splits.Rank() != 1 || splits.Len() == 0 || !isIndex(splits.DType()) {
		return nil
	}
	s, err := Entries(splits)
	if err != nil {
		return nil
	}
	return s
}

// dense returns the arguments as tensors in memory, nil where one is something else.
func dense(x, y any) (a, b *tensor.Dense) {
	a, _ = x.(*tensor.Dense)
	b, _ = y.(*tensor.Dense)
	return a, b
}

// short2 is the short way of a reduction of values and splits.
func (r *reduction) short2(x, splits *tensor.Dense) *tensor.Dense {
	s := divided(x, splits)
	if s == nil || !r.accepts(x.DType()) {
		return nil
	}
	return r.run(x, s, 0)
}

// short is the short way of a reduction with an attribute.
func (r *reduction) short(values, splits any, n int) tensor.Tensor {
	x, d := dense(values, splits)
	s := divided(x, d)
	if s == nil || !r.accepts(x.DType()) {
		return nil
	}
	return r.run(x, s, n)
}

// short is the short way of an operation that keeps the rows.
func (o *alongRows[A]) short(values, splits any, how A) tensor.Tensor {
	x, d := dense(values, splits)
	s := divided(x, d)
	if s == nil || !o.accepts(x.DType()) {
		return nil
	}
	return o.run(x, s, how)
}

func shortLinearScan(a, b, splits any, reverse bool) tensor.Tensor {
	x, d := dense(a, splits)
	s := divided(x, d)
	y, ok := b.(*tensor.Dense)
	if s == nil || !ok || y == nil || !y.IsContiguous() || x.DType() != y.DType() || !x.DType().IsDifferentiable() || !x.Shape().Equal(y.Shape()) {
		return nil
	}
	return scanned(x, y, s, reverse)
}

func shortRepeat(items, splits any, nvals int) tensor.Tensor {
	x, d := dense(items, splits)
	s := entries(d)
	if s == nil || x == nil || x.Rank() == 0 || !x.IsContiguous() || x.Dim(0) != len(s)-1 {
		return nil
	}
	n := s[len(s)-1]
	if n > shortSize || nvals >= 0 && int64(nvals) != n {
		return nil
	}
	out := tensor.Uninit(x.DType(), x.Shape().With(0, int(n)))
	if out.Len() > 0 {
		moverOf(x).repeat(out, x, s, innerSize(x))
	}
	return out
}

// shortFromLengths is the short way of row splits for given lengths.
func shortFromLengths(lengths any) tensor.Tensor {
	d, _ := lengths.(*tensor.Dense)
	if d == nil || d.Rank() != 1 || d.DType().Size() != 8 || !d.IsContiguous() || !isIndex(d.DType()) {
		return nil
	}
	out, s := fresh(d.Len() + 1)
	if segment.SplitsFromLengths(s, tensor.Data[int64](d)) != nil {
		return nil
	}
	return valid(out, s)
}

// shortWithin is the short way of row splits for given lengths that are from 0 to most.
func shortWithin(lengths *tensor.Dense, most int64) tensor.Tensor {
	out, s := fresh(lengths.Len() + 1)
	if !segment.SplitsWithin(s, tensor.Data[int64](lengths), most) {
		return nil
	}
	return valid(out, s)
}

// shortFromRowIDs is the short way of row splits for row ids, of which there are nrows.
func shortFromRowIDs(ids, nrows any) tensor.Tensor {
	d, _ := ids.(*tensor.Dense)
	if d == nil || d.Rank() != 1 || d.Len() > fewSplits || d.DType().Size() != 8 || !d.IsContiguous() || !isIndex(d.DType()) {
		return nil
	}
	at := tensor.Data[int64](d)
	n := int64(0)
	if nrows == nil {
		if k := len(at); k > 0 {
			n = at[k-1] + 1
		}
	} else if given, ok := scalarOf(nrows); ok {
		n = given
	} else {
		return nil
	}
	if n < 0 || n > fewSplits || segment.CheckRowIDs(at, n) != nil {
		return nil
	}
	out, s := fresh(int(n) + 1)
	segment.SplitsFromRowIDs(s, at)
	return valid(out, s)
}

// shortUniform is the short way of row splits for rows of one length.
func shortUniform(length, nrows any) tensor.Tensor {
	l, _ := length.(*tensor.Dense)
	n, ok := scalarOf(nrows)
	if l == nil || l.Rank() != 0 || l.DType() != dtype.Int64 || !ok || n < 0 || n > fewSplits {
		return nil
	}
	by := tensor.Data[int64](l)[0]
	if by < 0 || by > shortSize {
		return nil
	}
	out, s := fresh(int(n) + 1)
	segment.UniformSplits(s, by)
	return valid(out, s)
}

func shortLengths(splits any) tensor.Tensor {
	d, _ := splits.(*tensor.Dense)
	s := entries(d)
	if s == nil || d.DType().Size() != 8 {
		return nil
	}
	out, lengths := fresh(len(s) - 1)
	segment.Lengths(lengths, s)
	return out
}

// bounds returns a range of package key whose bounds are Go integers.
func bounds(k key.Key) (s segment.Slice, ok bool) {
	bound := func(b any) (int64, bool) {
		switch b := b.(type) {
		case nil:
			return 0, false
		case int:
			return int64(b), true
		}
		ok = false
		return 0, false
	}
	ok = k.Kind == key.RangeKind
	s.Start, s.HasStart = bound(k.Start)
	s.Stop, s.HasStop = bound(k.Stop)
	step, has := bound(k.Step)
	s.Step = step
	return s, ok && (!has || step != 0)
}

func shortSlice(values, splits any, k key.Key) (outValues, outSplits tensor.Tensor) {
	x, d := dense(values, splits)
	s := divided(x, d)
	if s == nil || d.DType().Size() != 8 {
		return nil, nil
	}
	how, ok := bounds(k)
	if !ok {
		return nil, nil
	}
	to, entries := fresh(len(s))
	n := segment.SliceSplits(entries, s, how)
	out := tensor.Uninit(x.DType(), x.Shape().With(0, int(n)))
	if out.Len() > 0 {
		moverOf(x).choose(out, x, entries, s, how, innerSize(x))
	}
	return out, valid(to, entries)
}

func shortGather(values, splits, indices any) (outValues, outSplits tensor.Tensor) {
	x, d := dense(values, splits)
	s := divided(x, d)
	i, _ := indices.(*tensor.Dense)
	if s == nil || d.DType().Size() != 8 || i == nil || i.Rank() != 1 || i.DType() != d.DType() {
		return nil, nil
	}
	at := tensor.Data[int64](i)
	to, entries := fresh(len(at) + 1)
	lent, starts := lend(len(at))
	defer lent.Release()
	n, err := segment.GatherSplits(entries, starts, s, at)
	if err != nil || n > shortSize {
		return nil, nil
	}
	out := tensor.Uninit(x.DType(), x.Shape().With(0, int(n)))
	if out.Len() > 0 {
		moverOf(x).gather(out, x, entries, starts, innerSize(x))
	}
	return out, valid(to, entries)
}

// scalarOf returns the value of an integer or an integer scalar in memory.
func scalarOf(x any) (n int64, ok bool) {
	switch x := x.(type) {
	case int:
		return int64(x), true
	case *tensor.Dense:
		if x != nil && x.Rank() == 0 && isIndex(x.DType()) {
			return wide(x)[0], true
		}
	}
	return 0, false
}

// filling returns what fills up values of x's type; ok is false where it is nothing
// that the short ways know.
func filling(x *tensor.Dense, fill any) (f *tensor.Dense, ok bool) {
	if fill == nil {
		return zero(x.DType()).(*tensor.Dense), true
	}
	f, _ = fill.(*tensor.Dense)
	return f, f != nil && f.Rank() == 0 && f.DType() == x.DType()
}

func shortToDense(values, splits, width, fill any) tensor.Tensor {
	x, d := dense(values, splits)
	s := divided(x, d)
	if s == nil {
		return nil
	}
	w, ok := scalarOf(width)
	f, okf := filling(x, fill)
	if !ok || !okf || w < 0 || w > shortSize {
		return nil
	}
	to := x.Shape().With(0, int(w)).Insert(0, len(s)-1)
	if n, err := to.CheckedSize(1); err != nil || n > shortSize {
		return nil
	}
	out := tensor.Uninit(x.DType(), to)
	if out.Len() > 0 {
		moverOf(x).pad(out, x, s, int(w), innerSize(x), f)
	}
	return out
}

func shortFromDense(x, splits any) tensor.Tensor {
	d, by := dense(x, splits)
	s := entries(by)
	if s == nil || d == nil || d.Rank() < 2 || !d.IsContiguous() || d.Dim(0) != len(s)-1 {
		return nil
	}
	item := d.Shape().Tail(2)
	if n := s[len(s)-1]; n > shortSize || n > 0 && item.Size() == 0 {
		return nil
	}
	out := tensor.Uninit(d.DType(), outer(int(s[len(s)-1]), item))
	if out.Len() > 0 && moverOf(d).unpad(out, d, s, d.Dim(1), item.Size()) != nil {
		return nil
	}
	return out
}

func shortUnpadded(x, padding any) tensor.Tensor {
	d, by := dense(x, padding)
	if d == nil || by == nil || d.DType() != by.DType() || d.Rank() < 2 || !d.IsContiguous() || by.Rank() != 0 {
		return nil
	}
	return unpadded(d, by)
}

func shortPick(values, splits, at, fill any) (items, found tensor.Tensor) {
	x, d := dense(values, splits)
	s := divided(x, d)
	i, _ := at.(*tensor.Dense)
	if s == nil || i == nil || !isIndex(i.DType()) || i.Rank() != 0 && (i.Rank() != 1 || i.Len() != len(s)-1) {
		return nil, nil
	}
	f, ok := filling(x, fill)
	if !ok {
		return nil, nil
	}
	has, there := tensor.Make[bool](shape.Of(len(s) - 1))
	out := tensor.Uninit(x.DType(), x.Shape().With(0, len(s)-1))
	if len(there) > 0 {
		moverOf(x).pick(out, there, x, s, wide(i), innerSize(x), f)
	}
	return out, has
}

// alike reports whether argument 1 of a call divides the rows of argument 0, whose
// element type is accepted.
func alike(accepts func(dtype.DType) bool) func(c *op.Call) bool {
	return func(c *op.Call) bool {
		x := c.Dense(0)
		return divided(x, c.Dense(1)) != nil && accepts(x.DType())
	}
}
