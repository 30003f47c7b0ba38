package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Broadcasting aligns dimensions at the end and compares lengths. A uniform dimension of size 1, or
// a missing one in front, stretches to the rows of the other operands; all others must have the
// same lengths, however they are encoded. A ragged dimension whose rows happen to have length 1
// does not stretch, so that broadcasting does not depend on data.
//
// It proceeds from the outermost dimension inwards. At each dimension, the slices of an operand are
// the same as those of the result, or there is a single one for all slices of the result, or an
// index maps each slice of the result to one of the operand.

// A Broadcaster maps flat values of one shape to those of the shape that it was
// broadcast to.
type Broadcaster struct {
	from  *Shape
	depth int // number of partitions of the result
	at    alignment
	index tensor.Tensor // for mapped slices
	by    *RowPartition // the partition whose row ids are index, if there is one
	inner bool          // no dimension of the source is partitioned in the result
}

// alignment is how the slices of an operand relate to those of the result.
type alignment uint8

const (
	same   alignment = iota // each slice corresponds to one of the result
	single                  // a single slice for all of the result
	mapped                  // mapped by an index
)

// BroadcastShapes returns the shape that several shapes broadcast to and, for each of them, a
// Broadcaster that maps its flat values. If rows differ, the error names the first one.
func BroadcastShapes(shapes ...*Shape) (s *Shape, to []*Broadcaster, err error) {
	defer tenon.Catch(&err)
	s, to = broadcast("ragged.BroadcastShapes", shapes...)
	return s, to, nil
}

// Apply maps flat values of the source shape, or a dense tensor of that shape, to flat values of
// the result. They are gathered if slices repeat; inner dimensions are left to ordinary
// broadcasting.
func (b *Broadcaster) Apply(flat tensor.Tensor) tensor.Tensor {
	flat = b.folded(flat)
	switch {
	case b.at != mapped || b.inner:
		return flat
	case b.by != nil:
		return rows.Repeat(flat, b.by.RowSplits(), b.by.nvals)
	}
	return ops.Gather(flat, b.index, 0)
}

// Index returns, for each slice of the result, the number of the corresponding
// slice of the source, or nil if both are the same.
func (b *Broadcaster) Index() tensor.Tensor {
	if b.at == same {
		return nil
	}
	return b.index
}

// folded merges the inner axes that are partitioned in the result.
func (b *Broadcaster) folded(flat tensor.Tensor) tensor.Tensor {
	s := b.from
	n := min(b.depth-len(s.parts), s.inner.Rank()-1) // number of axes to merge with the first
	if n <= 0 {
		return flat
	}
	sizes := []size{s.slices(len(s.parts) + n)}
	for j := n + 1; j < s.inner.Rank(); j++ {
		sizes = append(sizes, s.innerSize(j))
	}
	return reshapeTo(flat, sizes, s.dtype)
}

// reshapeTo is ops.Reshape to sizes some of which may be known only at run time.
func reshapeTo(t tensor.Tensor, sizes []size, d dtype.DType) tensor.Tensor {
	dims := make([]int, len(sizes))
	open, free := 0, 0
	for i, z := range sizes {
		dims[i] = z.n
		if z.n < 0 {
			open, free = open+1, i
		}
	}
	if open == 1 && dims[free] < 0 {
		rest := 1
		for i, n := range dims {
			if i != free {
				rest *= n
			}
		}
		if rest > 0 { // the unknown size can be inferred
			return ops.Reshape(t, dims)
		}
	}
	if open > 0 {
		return ops.Reshape(t, sizeVector(sizes, d))
	}
	return ops.Reshape(t, dims)
}

// broadcast implements BroadcastShapes. It throws.
func broadcast(fn string, shapes ...*Shape) (*Shape, []*Broadcaster) {
	return (&broadcasting{fn: fn}).run(shapes)
}

func (b *broadcasting) run(shapes []*Shape) (*Shape, []*Broadcaster) {
	b.operands, b.dtype = make([]*operand, len(shapes)), dtype.Int32
	all := make([]operand, len(shapes))
	depth := 0
	for _, s := range shapes { // dense operands adopt the type of the others' splits
		b.rank = max(b.rank, s.Rank())
		if len(s.parts) > 0 {
			depth = 1
		}
	}
	for _, s := range shapes {
		if s.dtype == dtype.Int64 && (depth == 0 || len(s.parts) > 0) {
			b.dtype = dtype.Int64
		}
	}
	depth = 0
	for i, s := range shapes {
		if s.dtype != b.dtype {
			s = s.as(b.dtype)
		}
		b.operands[i] = &all[i]
		all[i].from, all[i].off = s, b.rank-s.Rank()
		if len(s.parts) > 0 {
			depth = max(depth, len(s.parts)+b.rank-s.Rank())
		}
	}
	out := make([]*Broadcaster, len(shapes))
	for i, o := range b.operands {
		o.depth, o.inner = max(0, depth-o.off), o.off > depth
		out[i] = &o.Broadcaster
	}
	if b.rank == 0 {
		return shapes[0], out
	}
	if depth == 0 {
		return b.dense(), out
	}
	n := b.outermost()
	var parts []*RowPartition
	for a := 1; a <= depth; a++ {
		p, axes := b.dimension(a, n)
		for i, o := range b.operands {
			o.descend(&axes[i], p, b.dtype)
		}
		parts = append(parts, p)
		n = size{p.nvals, p.NVals}
	}
	sizes := []size{n}
	for a := depth + 1; a < b.rank; a++ {
		sizes = append(sizes, b.inner(a))
	}
	return shapeOfSizes(parts, sizes, b.dtype), out
}

// broadcasting is a broadcast in progress.
type broadcasting struct {
	fn       string
	to       bool // the first operand is the shape of the result, which does not stretch
	operands []*operand
	rank     int
	dtype    dtype.DType
}

// operand is one of the shapes that are broadcast.
type operand struct {
	Broadcaster
	off int // number of leading dimensions of the result that it lacks
}

// dense broadcasts shapes without partitions, for which no index is needed.
func (b *broadcasting) dense() *Shape {
	sizes := make([]size, b.rank)
	for a := range sizes {
		sizes[a] = b.inner(a)
	}
	return shapeOfSizes(nil, sizes, b.dtype)
}

// inner returns the result's size of an axis after the partitions.
func (b *broadcasting) inner(a int) size {
	var zs []size
	for _, o := range b.operands {
		if a >= o.off {
			zs = append(zs, o.from.size(a-o.off))
		}
	}
	z, _ := b.common(zs, "axis", a)
	return z
}

// outermost aligns the outermost dimension and returns the result's size.
func (b *broadcasting) outermost() size {
	zs := make([]size, len(b.operands))
	open := 0
	for i, o := range b.operands {
		zs[i] = staticSize(1)
		if o.off == 0 {
			zs[i] = o.from.size(0)
		}
		if zs[i].n < 0 {
			open++
		}
	}
	n, scalars := b.common(zs, "dimension", 0)
	for i, o := range b.operands {
		switch {
		case zs[i].n == n.n && n.n >= 0, b.to && i == 0:
		case zs[i].n == 1:
			o.at = single
		case open == 1 && n.n < 0 && !b.to:
		default: // known only at run time to be 1 or n
			d := b.dtype
			o.at = mapped
			o.index = ops.Mul(ops.Range(scalar(0, d), n.scalar(d), scalar(1, d)), ops.Cast(ops.NotEqual(scalars[i], 1), d))
		}
	}
	return n
}

// dimension aligns dimension a > 0, below n slices, and returns the partition of
// the result and the axes of the operands.
func (b *broadcasting) dimension(a int, n size) (q *RowPartition, axes []axis) {
	var uniform []size // sizes of uniform dimensions
	var chosen *operand
	axes = make([]axis, len(b.operands))
	for i, o := range b.operands {
		x := o.axis(a)
		axes[i] = x
		if x.p != nil && !x.p.IsUniform() {
			// Prefer a partition that can be shared to one that must be made.
			if chosen == nil || chosen.at != same && o.at == same {
				chosen = o
			}
			continue
		}
		uniform = append(uniform, x.length)
	}
	if b.to {
		chosen = b.operands[0]
	}
	if chosen == nil {
		return b.uniform(a, n, axes, uniform), axes
	}
	for i, o := range b.operands {
		if o == chosen {
			q = b.rowsOf(o, &axes[i], n)
		}
	}
	for i, o := range b.operands {
		x := &axes[i]
		switch {
		case o == chosen && o.at == same, x.p == q:
			continue
		case x.stretches():
			continue
		case x.isUniform() && q.spec.length >= 0 && x.length.n >= 0:
			if x.length.n != q.spec.length {
				b.fail(tenon.ErrShape, "dimension %d has the sizes %d and %d", a, q.spec.length, x.length.n)
			}
		case x.dynamic():
			// 1 or the lengths of the rows
			d := b.dtype
			want := ops.Where(ops.Equal(x.length.scalar(d), 1), q.RowLengths(), x.length.scalar(d))
			q = b.agree(a, q, rows.FromLengths(want))
		case o != chosen:
			q = b.agree(a, q, b.rowsOf(o, x, n).RowSplits())
		}
	}
	return q, axes
}

// agree returns q after checking that splits describe the same rows.
func (b *broadcasting) agree(a int, q *RowPartition, splits tensor.Tensor) *RowPartition {
	if q.RowSplits() == splits {
		return q
	}
	x, okx := q.Splits64()
	y, oky := splits64(splits)
	if okx && oky {
		r := firstDifference(x, y)
		if r < 0 {
			return q
		}
		if r >= len(x)-1 || r >= len(y)-1 {
			b.fail(tenon.ErrShape, "dimension %d divides %d and %d rows", a, len(x)-1, len(y)-1)
		}
		tenon.Throw(failed(tenon.ErrShape, b.fn, fmtRow(r), "dimension %d has %d and %d values there", a, x[r+1]-x[r], y[r+1]-y[r]))
	}
	checked := rows.AssertSame(q.RowSplits(), splits)
	return newPartition(checked, q.nvals)
}

// uniform aligns a dimension that is uniform in every operand.
func (b *broadcasting) uniform(a int, n size, axes []axis, lengths []size) *RowPartition {
	length, _ := b.common(lengths, "dimension", a)
	for i, o := range b.operands {
		if x := axes[i]; o.at == same && x.p != nil && length.n >= 0 && x.length.n == length.n {
			return x.p
		}
	}
	return newUniform(n.scalar(b.dtype), length.scalar(b.dtype))
}

// rowsOf returns the partition of the n slices of the result that follows from a
// dimension of the operand.
func (b *broadcasting) rowsOf(o *operand, x *axis, n size) *RowPartition {
	d := b.dtype
	switch {
	case x.p == nil || x.p.IsUniform():
		return newUniform(n.scalar(d), x.length.scalar(d))
	case o.at == same:
		return x.p
	case o.at == single:
		return newUniform(n.scalar(d), ops.Reshape(x.p.RowLengths(), []int{}))
	}
	return newPartition(rows.FromLengths(ops.Gather(x.p.RowLengths(), o.index, 0)), shape.Unknown)
}

func (b *broadcasting) fail(kind error, format string, args ...any) {
	tenon.Throw(failed(kind, b.fn, "", format, args...))
}

// BroadcastTo broadcasts a tensor to a shape.
func BroadcastTo(x tensor.Tensor, s *Shape) (y tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	from := ShapeOf(x)
	if from.Rank() > s.Rank() {
		return nil, failed(tenon.ErrShape, "ragged.BroadcastTo", "", "%v has more dimensions than %v", from, s)
	}
	b := &broadcasting{fn: "ragged.BroadcastTo", to: true}
	out, to := b.run([]*Shape{s, from})
	flat, _ := split(x)
	flat = to[1].Apply(flat)
	sizes := out.InnerSizes()
	if c, ok := op.Known(sizes); ok {
		dims, _ := op.Ints(c)
		if !flat.Shape().Equal(shape.Of(dims...)) {
			flat = ops.BroadcastTo(flat, dims)
		}
	} else {
		flat = ops.BroadcastTo(flat, sizes)
	}
	return build(flat, out.parts), nil
}
