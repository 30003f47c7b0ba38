package sparse

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// AddOptions says what [Add] drops. The zero value drops nothing.
type AddOptions struct {
	Threshold float64 // sums with a smaller absolute value are dropped
}

// Add returns the sum of two sparse tensors. It has a value where either of them has one. Their
// shapes broadcast. The result is in row-major order.
func Add(x, y *Tensor, o AddOptions) (t *Tensor, err error) {
	defer tenon.Catch(&err)
	t = united(x, y, func(a, b tensor.Tensor) tensor.Tensor { return ops.Add(a, b) })
	if o.Threshold > 0 {
		t = t.retained(ops.GreaterEqual(ops.Cast(ops.Abs(t.values), dtype.Float64), o.Threshold))
	}
	return t, nil
}

// united applies f to the elements of two tensors where either has a value, with zero for the
// other. f of two zeros must be zero.
func united(x, y *Tensor, f func(a, b tensor.Tensor) tensor.Tensor) *Tensor {
	x, y = broadcast2(x, y)
	x, y = x.coalesced(), y.coalesced()
	all := x.withValues(x.values)
	all.indices = ops.Concat([]tensor.Tensor{x.indices, y.indices}, 0)
	ids, first, _ := rows.Group(all.columns(upTo(all.rank()))...)
	n, nx := length(first), length(x.values)
	indices := ops.Gather(all.indices, first, 0)
	r := trusted(indices, f(spread(x.values, ops.Index(ids, key.To(nx)), n), spread(y.values, ops.Index(ids, key.From(nx)), n)), x.denseShape, x.spec.shape)
	r = r.sorted()
	r.canonical = true
	return r
}

// spread returns n elements that are zero except for values at the given positions, which must all
// be different.
func spread(values, at tensor.Tensor, n any) tensor.Tensor {
	if values.DType() == dtype.Bool {
		return ops.Cast(ops.SegmentSum(ops.Cast(values, dtype.Int64), at, n), dtype.Bool)
	}
	return ops.SegmentSum(values, at, n)
}

// common applies f to the elements of two tensors where both have a value. f must be zero if one of
// its operands is.
func common(x, y *Tensor, f func(a, b tensor.Tensor) tensor.Tensor) *Tensor {
	x, y = broadcast2(x, y)
	x, y = x.coalesced(), y.coalesced()
	axes := upTo(x.rank())
	splits, index := rows.Match(x.columns(axes), y.columns(axes))
	at := rows.RowIDs(splits, shape.Unknown)
	r := trusted(ops.Gather(x.indices, at, 0), f(ops.Gather(x.values, at, 0), ops.Gather(y.values, index, 0)), x.denseShape, x.spec.shape)
	r.canonical = true
	return r
}

// broadcast2 broadcasts two tensors to a common shape.
func broadcast2(x, y *Tensor) (*Tensor, *Tensor) {
	a, b := x.spec.shape, y.spec.shape
	if a.Equal(b) && a.HasRank() {
		return x, y
	}
	s, err := shape.Broadcast(a, b)
	if err != nil {
		tenon.Throw(bad("Broadcast", tenon.ErrShape, "", "%v and %v do not broadcast: %v", x.spec, y.spec, err))
	}
	return x.broadcast(s), y.broadcast(s)
}

// broadcastTo is broadcast to a shape, which it checks.
func (t *Tensor) broadcastTo(s shape.Shape) *Tensor {
	if both, err := shape.Broadcast(t.spec.shape, s); err != nil || !both.Equal(s) {
		tenon.Throw(bad("BroadcastTo", tenon.ErrShape, "", "%v does not broadcast to %v", t.spec, s))
	}
	return t.broadcast(s)
}

// broadcast returns the tensor with dimensions of size 1 repeated and new ones in front. Both
// shapes must be known.
func (t *Tensor) broadcast(s shape.Shape) *Tensor {
	from := t.spec.shape
	if from.Equal(s) {
		return t
	}
	if !from.IsFull() || !s.IsFull() {
		tenon.Throw(bad("BroadcastTo", tenon.ErrShape, "", "%v broadcasts to %v only where both shapes are known", t.spec, s))
	}
	lead := s.Rank() - from.Rank()
	// Each value is repeated for every coordinate along new and stretched axes.
	copies := 1
	steps := make([]int, s.Rank()) // of the copy number, along each axis
	for a := s.Rank() - 1; a >= 0; a-- {
		if a < lead || from.Dim(a-lead) == 1 && s.Dim(a) != 1 {
			steps[a] = copies
			copies *= s.Dim(a)
		}
	}
	place := ops.Range(int64(0), ops.Mul(scalarOf(length(t.values)), int64(copies)), int64(1))
	source := ops.Range(int64(0), int64(0), int64(1))
	copyOf := source
	if copies > 0 {
		source, copyOf = ops.FloorDiv(place, int64(copies)), ops.Mod(place, int64(copies))
	}
	columns := make([]tensor.Tensor, s.Rank())
	for a := range columns {
		if steps[a] > 0 {
			columns[a] = ops.Mod(ops.FloorDiv(copyOf, int64(steps[a])), int64(s.Dim(a)))
		} else {
			columns[a] = ops.Gather(t.column(a-lead), source, 0)
		}
	}
	return trusted(stacked(columns, source), ops.Gather(t.values, source, 0), sizes(s), s)
}

// stacked combines columns of coordinates; like gives the number of entries if
// there are no columns.
func stacked(columns []tensor.Tensor, like tensor.Tensor) tensor.Tensor {
	if len(columns) == 0 {
		return ops.Zeros(dtype.Int64, vector(length(like), 0))
	}
	return ops.Stack(columns, 1)
}

// sizes returns a known shape as a tensor.
func sizes(s shape.Shape) tensor.Tensor {
	out := make([]int64, s.Rank())
	for i := range out {
		out[i] = int64(s.Dim(i))
	}
	return tensor.Vector(out)
}

// vector returns sizes, each an int or a scalar tensor, as a tensor.
func vector(ns ...any) tensor.Tensor {
	out := make([]int64, len(ns))
	parts := make([]tensor.Tensor, len(ns))
	known := true
	for i, n := range ns {
		switch n := n.(type) {
		case int:
			out[i], parts[i] = int64(n), tensor.Scalar(int64(n))
		case tensor.Tensor:
			known, parts[i] = false, n
		}
	}
	if known {
		return tensor.Vector(out)
	}
	return ops.Stack(parts, 0)
}

// dimOf returns a size for use in a static shape.
func dimOf(n any) int {
	if n, ok := n.(int); ok {
		return n
	}
	return shape.Unknown
}

// plus adds sizes, each an int or a scalar tensor.
func plus(a, b any) any {
	if x, ok := a.(int); ok {
		if y, ok := b.(int); ok {
			return x + y
		}
	}
	return ops.Add(scalarOf(a), scalarOf(b))
}

func scalarOf(n any) tensor.Tensor {
	if n, ok := n.(int); ok {
		return tensor.Scalar(int64(n))
	}
	return n.(tensor.Tensor)
}
