package sparse

import (
	"fmt"
	"math"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// build returns a tensor from columns of coordinates and sizes, each an int or a scalar tensor.
func (t *Tensor) build(columns []tensor.Tensor, values tensor.Tensor, ns []any) *Tensor {
	return trusted(stacked(columns, values), values, vector(ns...), shapeOf(ns))
}

// shapeOf returns sizes, each an int or a scalar tensor, as a static shape.
func shapeOf(ns []any) shape.Shape {
	dims := make([]int, len(ns))
	for i, n := range ns {
		dims[i] = dimOf(n)
	}
	return shape.Of(dims...)
}

// rebuilt is build for values in the order of those of t.
func (t *Tensor) rebuilt(columns []tensor.Tensor, values tensor.Tensor, ns []any) *Tensor {
	r := t.build(columns, values, ns)
	r.canonical = t.canonical && len(ns) > 0
	return r
}

// parts returns the columns of coordinates and the sizes.
func (t *Tensor) parts() (columns []tensor.Tensor, ns []any) {
	for a := range t.rank() {
		columns = append(columns, t.column(a))
		ns = append(ns, t.size(a))
	}
	return columns, ns
}

// expanded returns the tensor with a new axis of size 1, whose position may count from the end of
// the result.
func (t *Tensor) expanded(axis int) *Tensor {
	k := t.rank() + 1
	if axis < -k || axis >= k {
		tenon.Throw(bad("ExpandDims", tenon.ErrAxis, "axis", "%v has no position %d for a new axis", t.spec, axis))
	}
	a := (axis + k) % k
	columns, ns := t.parts()
	zero := ops.Zeros(t.indices.DType(), vector(length(t.values)))
	return t.rebuilt(slices.Insert(columns, a, zero), t.values, slices.Insert(ns, a, any(1)))
}

// squeezed drops axes of size 1, or all of them if none is named.
func (t *Tensor) squeezed(axes []int) *Tensor {
	drop := map[int]bool{}
	for _, a := range axes {
		a = t.axis("Squeeze", a)
		if n := t.dim(a); n >= 0 && n != 1 {
			tenon.Throw(bad("Squeeze", tenon.ErrShape, "axis", "axis %d of %v has the size %d, not 1", a, t.spec, n))
		}
		drop[a] = true
	}
	columns, ns := t.parts()
	var keptColumns []tensor.Tensor
	var keptSizes []any
	for a := range columns {
		if !drop[a] && (len(axes) > 0 || t.dim(a) != 1) {
			keptColumns, keptSizes = append(keptColumns, columns[a]), append(keptSizes, ns[a])
		}
	}
	return t.rebuilt(keptColumns, t.values, keptSizes)
}

// transposed returns the tensor with its axes permuted, or reversed without perm, and its values in
// row-major order.
func (t *Tensor) transposed(perm []int) *Tensor {
	k := t.rank()
	if len(perm) == 0 {
		for a := k - 1; a >= 0; a-- {
			perm = append(perm, a)
		}
	}
	if len(perm) != k {
		tenon.Throw(bad("Transpose", tenon.ErrAxis, "perm", "%v are not the axes of %v", perm, t.spec))
	}
	columns, ns := t.parts()
	newColumns, newSizes, seen := make([]tensor.Tensor, k), make([]any, k), make([]bool, k)
	for i, a := range perm {
		a = t.axis("Transpose", a)
		if seen[a] {
			tenon.Throw(bad("Transpose", tenon.ErrAxis, "perm", "axis %d appears twice", a))
		}
		seen[a] = true
		newColumns[i], newSizes[i] = columns[a], ns[a]
	}
	r := t.build(newColumns, t.values, newSizes).sorted()
	r.canonical = t.canonical
	return r
}

// reshaped returns the same elements in row-major order with other sizes, of which one may be -1.
// The shape of t must be known, since positions are computed from it.
func (t *Tensor) reshaped(dims []int) *Tensor {
	from := t.spec.shape
	size := from.Size()
	if !from.IsFull() || size == math.MaxInt {
		tenon.Throw(bad("Reshape", tenon.ErrShape, "", "the positions in %v are not known or do not fit in an int64", t.spec))
	}
	fail := func() {
		tenon.Throw(bad("Reshape", tenon.ErrInvalid, "", "%v has %d elements, which do not fill %v", t.spec, size, dims))
	}
	to, rest, known := append([]int{}, dims...), -1, 1
	for i, n := range dims {
		switch {
		case n == -1 && rest < 0:
			rest = i
		case n < 0 || n > 0 && known > math.MaxInt/n:
			fail()
		default:
			known *= n
		}
	}
	if rest >= 0 {
		if known == 0 || size%known != 0 {
			fail()
		}
		to[rest] = size / known
	} else if known != size {
		fail()
	}
	place, _ := t.places()
	columns, ns := make([]tensor.Tensor, len(to)), make([]any, len(to))
	step := 1
	for a := len(to) - 1; a >= 0; a-- {
		columns[a] = ops.Mod(ops.FloorDiv(place, int64(max(step, 1))), int64(max(to[a], 1)))
		step *= to[a]
		ns[a] = to[a]
	}
	return t.rebuilt(columns, t.values, ns)
}

// ResetShape returns the tensor with a larger shape of the same rank. Without dims, the shape is
// the smallest one that holds all values.
func (t *Tensor) ResetShape(dims ...int) (r *Tensor, err error) {
	defer tenon.Catch(&err)
	k := t.rank()
	ns := make([]any, k)
	if len(dims) == 0 {
		for a := range ns {
			// One more than the largest coordinate, or 0 if there are none.
			past := ops.Concat([]tensor.Tensor{tensor.Vector([]int64{0}), ops.Add(t.column(a), int64(1))}, 0)
			ns[a] = ops.Max(past, 0)
		}
	} else {
		if len(dims) != k {
			return nil, bad("ResetShape", tenon.ErrShape, "", "%v has %d dimensions, not %d", t.spec, k, len(dims))
		}
		for a, n := range dims {
			if old := t.dim(a); n < old || old < 0 {
				return nil, bad("ResetShape", tenon.ErrInvalid, "", "%v does not fit in %v", t.spec, dims)
			}
			ns[a] = n
		}
	}
	columns, _ := t.parts()
	return t.rebuilt(columns, t.values, ns), nil
}

// Slice returns the part of the tensor that begins at start and has the given size, cut off at the
// ends of the tensor.
func (t *Tensor) Slice(start, size []int) (r *Tensor, err error) {
	defer tenon.Catch(&err)
	k := t.rank()
	if len(start) != k || len(size) != k {
		return nil, bad("Slice", tenon.ErrShape, "", "%v and %v are not a valid start and size in %v", start, size, t.spec)
	}
	for a := range k {
		if start[a] < 0 || size[a] < 0 {
			return nil, bad("Slice", tenon.ErrInvalid, "", "a start or size of axis %d is negative", a)
		}
		if start[a] > math.MaxInt-size[a] {
			size = append([]int{}, size...)
			size[a] = math.MaxInt - start[a]
		}
		t = t.ranged(a, start[a], start[a]+size[a])
	}
	return t, nil
}

// ranged returns the part of an axis from lo up to, but not including, hi, cut
// off at the end of the axis.
func (t *Tensor) ranged(a, lo, hi int) *Tensor {
	columns, ns := t.parts()
	inside := ops.LogicalAnd(ops.GreaterEqual(columns[a], int64(lo)), ops.Less(columns[a], int64(hi)))
	r := t.retained(inside)
	columns, _ = r.parts()
	columns[a] = ops.Sub(columns[a], int64(lo))
	switch n := ns[a].(type) {
	case int:
		ns[a] = max(0, min(n, hi)-lo)
	case tensor.Tensor:
		ns[a] = ops.Maximum(ops.Sub(ops.Minimum(n, int64(hi)), int64(lo)), int64(0))
	}
	return t.rebuilt(columns, r.values, ns)
}

// ConcatOptions says which shapes [Concat] accepts. With the zero value, they must be equal except
// along the axis.
type ConcatOptions struct {
	Expand bool // tensors may be smaller along the other axes
}

// Concat concatenates tensors of the same rank along an axis. The result is in row-major order.
func Concat(ts []*Tensor, axis int, o ConcatOptions) (r *Tensor, err error) {
	defer tenon.Catch(&err)
	if len(ts) == 0 {
		return nil, bad("Concat", tenon.ErrInvalid, "", "there are no tensors")
	}
	k := ts[0].rank()
	a := ts[0].axis("Concat", axis)
	_, ns := ts[0].parts()
	indices, values := []tensor.Tensor{}, []tensor.Tensor{}
	var offset any = 0
	for i, t := range ts {
		if t.rank() != k || t.DType() != ts[0].DType() {
			return nil, bad("Concat", tenon.ErrShape, "", "%v and %v differ in rank or element type", ts[0].spec, t.spec)
		}
		columns, mine := t.parts()
		for b := range mine {
			if x, y := dimOf(ns[b]), dimOf(mine[b]); b != a && x != y {
				if !o.Expand || x < 0 || y < 0 {
					return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: "sparse.Concat", Msg: fmt.Sprintf("sizes of axis %d differ between tensors 0 and %d", b, i),
						Hint: "set Expand to allow smaller tensors"}
				}
				ns[b] = max(x, y)
			}
		}
		columns[a] = ops.Add(columns[a], scalarOf(offset))
		offset = plus(offset, mine[a])
		indices, values = append(indices, stacked(columns, t.values)), append(values, t.values)
	}
	ns[a] = offset
	r = trusted(ops.Concat(indices, 0), ops.Concat(values, 0), vector(ns...), shapeOf(ns)).sorted()
	r.canonical = !slices.ContainsFunc(ts, func(t *Tensor) bool { return !t.canonical })
	return r, nil
}

// Split divides an axis, whose size must be known, into n parts. If the size is not a multiple of
// n, the first parts are larger by one.
func (t *Tensor) Split(n, axis int) (parts []*Tensor, err error) {
	defer tenon.Catch(&err)
	a := t.axis("Split", axis)
	size := t.dim(a)
	if size < 0 || n < 1 || n > size {
		return nil, bad("Split", tenon.ErrInvalid, "", "axis %d of %v cannot be divided into %d parts", a, t.spec, n)
	}
	at := 0
	for i := range n {
		width := size / n
		if i < size%n {
			width++
		}
		parts = append(parts, t.ranged(a, at, at+width))
		at += width
	}
	return parts, nil
}

// pad adds margins of zeros.
func pad(c *op.Call) ([]tenon.Value, error) {
	x, ok := c.Value(0).(*Tensor)
	margins, known := c.ConstInts(1)
	if !ok || !known || c.Value(2) != nil {
		return wouldBeDense(c)
	}
	if len(margins) != 2*x.rank() {
		return nil, c.Errorf(tenon.ErrShape, "the paddings are %d numbers, want two for each of the %d axes", len(margins), x.rank())
	}
	columns, ns := x.parts()
	for a := range columns {
		before, after := margins[2*a], margins[2*a+1]
		if before < 0 || after < 0 {
			return nil, c.Errorf(tenon.ErrInvalid, "the margins %d and %d of axis %d are negative", before, after, a)
		}
		columns[a], ns[a] = ops.Add(columns[a], int64(before)), plus(ns[a], before+after)
	}
	return op.One(x.rebuilt(columns, x.values, ns))
}
