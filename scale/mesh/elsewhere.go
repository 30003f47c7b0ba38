package mesh

import (
	"slices"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Positions along a divided axis are known to all ranks, and each rank handles those that it holds. A read gives an
// open sum, to which one rank contributes each entry and the others zeros, so it is exact; the result of a write
// stays divided. A position outside of the whole axis is an error, as it is without ranks.

// elsewhere handles a call that reads or writes entries at positions along a divided axis. It returns nil if the call
// is not of this kind.
func (t *tracer) elsewhere(c *op.Call, vars []*variable) ([]*variable, error) {
	o := c.Op
	i := o.Param("indices")
	if i < 0 || len(vars) < 2 || c.Args[i] != c.Values()[1] {
		return nil, nil // the operand does not consist of positions
	}
	switch {
	case o.By != op.ByAxis || !o.Control.Has(1) || o.Control&^op.Second != 0 || !vars[1].DType().IsInteger():
		return nil, nil
	case o.Axes == op.Select && len(vars) == 2 && o.Moves == op.First && o.Zero.LinearIn(op.First) && vars[0].DType().IsNumeric():
		return t.read(c, vars)
	case o.Axes == op.Scatter && len(vars) == 3:
		return t.write(c, vars)
	}
	return nil, nil
}

// positionsOf returns the divided axis of the first operand along which positions are, and the index along it in
// tuples of positions, or -1 if there are no tuples. It returns false if there is no such axis, or several.
func (t *tracer) positionsOf(c *op.Call, x, at *variable) (axis, number int, ok bool) {
	rank := x.Shape().Rank()
	if c.Op.AxisParam() >= 0 {
		axes, err := c.Axes(rank)
		if err != nil || len(axes) != 1 {
			return 0, 0, false
		}
		return axes[0], -1, t.positional(x, at, axes[0])
	}
	first, depth := 0, at.Shape().Dim(-1)
	if n, ok := c.Attr("batch_dims").(int); ok {
		first = n
	}
	for a := first; a < first+depth && a < rank; a++ {
		if !x.cuts[a].whole() {
			if ok {
				return 0, 0, false
			}
			axis, number, ok = a, a-first, t.positional(x, at, a)
		}
	}
	return axis, number, ok
}

// positional reports whether an axis is divided and positions are not divided among the same ranks.
func (t *tracer) positional(x, at *variable, axis int) bool {
	k := x.cuts[axis]
	return !k.whole() && !k.ragged() && x.Shape().Dim(axis) > 0 && !slices.ContainsFunc(at.cuts, func(l cut) bool { return l.over.has(k.over) })
}

// A window is the entries of an axis that this rank has, followed by one that stands for all others.
type window struct {
	axis      int
	cut       cut
	n, lo, hi int
	room      int // maximum number of entries of any rank's part, including the additional one
}

func (t *tracer) window(x *variable, axis int) window {
	k := x.cuts[axis]
	w := window{axis: axis, cut: k, n: x.Shape().Dim(axis)}
	w.lo, w.hi = t.mesh.share(k)
	parts := t.mesh.parts(k.over)
	w.room = (k.blocks+parts-1)/parts*k.block + 1
	return w
}

// of returns the part of a tensor with an additional entry.
func (w window) of(t *tracer, x *variable) *variable {
	s := t.mesh.shapeOf(x.Shape(), x.cuts).With(w.axis, w.room-(w.hi-w.lo))
	cuts := slices.Clone(x.cuts)
	cuts[w.axis] = cut{}
	local := ops.Concat([]tensor.Tensor{x.part(x.cuts), ops.Zeros(x.DType(), s.Dims())}, w.axis)
	return &variable{tracer: t, spec: tensor.NewSpec(x.DType(), x.Shape().With(w.axis, w.room)), cuts: cuts, local: local}
}

// places converts positions in the whole axis to positions in the part of this rank.
func (w window) places(t *tracer, at *variable, number int) *variable {
	i := ops.Cast(at.part(at.cuts), dtype.Int64)
	own := ops.LogicalAnd(ops.GreaterEqual(i, int64(w.lo)), ops.Less(i, int64(w.hi)))
	x := ops.Where(own, ops.Sub(i, int64(w.lo)), int64(w.room-1))
	all := ops.Fill(shape.Of(w.n), int64(0)) // one element, seen as n
	if number < 0 {
		x = ops.Add(x, ops.Gather(all, i, 0)) // adds zeros, or fails
	} else {
		is := ops.Equal(ops.Range(int64(0), int64(at.Shape().Dim(-1)), int64(1)), int64(number))
		x = ops.Where(is, ops.Add(x, ops.Gather(all, ops.Where(is, i, int64(0)), 0)), i)
	}
	return &variable{tracer: t, spec: tensor.NewSpec(dtype.Int64, at.Shape()), cuts: at.cuts, local: x}
}

// read handles a call that selects entries.
func (t *tracer) read(c *op.Call, vars []*variable) ([]*variable, error) {
	x, at := t.close(vars[0]), t.close(vars[1])
	axis, number, ok := t.positionsOf(c, x, at)
	if !ok || !x.Shape().IsFull() {
		return nil, nil
	}
	w := t.window(x, axis)
	part, places := w.of(t, x), w.places(t, at, number)
	part.open = w.cut.over
	both := []*variable{part, places}
	return t.apart(c.WithValues(valuesOf(both)), both)
}

// write handles a call that puts entries of its third operand among those of the first.
func (t *tracer) write(c *op.Call, vars []*variable) ([]*variable, error) {
	x, at, from := t.close(vars[0]), t.close(vars[1]), t.close(vars[2])
	if out := t.added(c, x, at, from); out != nil {
		return []*variable{out}, nil
	}
	axis, number, ok := t.positionsOf(c, x, at)
	if !ok || !x.Shape().IsFull() || slices.ContainsFunc(from.cuts, func(k cut) bool { return k.over.has(x.cuts[axis].over) }) {
		return nil, nil
	}
	w := t.window(x, axis)
	all := []*variable{w.of(t, x), w.places(t, at, number), from}
	out, err := t.apart(c.WithValues(valuesOf(all)), all)
	if err != nil {
		return nil, err
	}
	y := t.close(out[0])
	cuts := slices.Clone(y.cuts)
	begin, size := make([]int, len(cuts)), t.mesh.shapeOf(y.Shape(), cuts).Dims()
	cuts[axis], size[axis] = w.cut, w.hi-w.lo
	return []*variable{{tracer: t, spec: x.spec, cuts: cuts, local: ops.Slice(y.part(y.cuts), begin, size)}}, nil
}

// added adds the ranks' contributions to a whole tensor: the result is an open sum, to which one rank
// contributes the tensor.
func (t *tracer) added(c *op.Call, x, at, from *variable) *variable {
	if c.Op.Monoid == nil || dist.Reduction(c.Op.Monoid.Combine) != dist.Sum || c.Op.AxisParam() >= 0 || x.divided() || len(at.cuts) < 2 || len(from.cuts) == 0 {
		return nil
	}
	k := at.cuts[0]
	rest := func(k cut) bool { return !k.whole() }
	if k.whole() || from.cuts[0] != k || slices.ContainsFunc(at.cuts[1:], rest) || slices.ContainsFunc(from.cuts[1:], rest) {
		return nil
	}
	first := true
	for i := range len(k.over) {
		first = first && t.mesh.at[k.over[i]] == 0
	}
	own := x.part(x.cuts)
	if !first {
		own = ops.ZerosLike(own)
	}
	parts := []*variable{{local: own, cuts: x.cuts, tracer: t, spec: x.spec}, at, from}
	out, err := c.WithValues(localsOf(parts, nil)).DoTensors()
	if err != nil {
		return nil
	}
	return &variable{tracer: t, spec: tensor.NewSpec(out[0].DType(), x.Shape()), cuts: make([]cut, len(x.cuts)), local: out[0], open: k.over}
}
