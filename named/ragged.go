package named

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// In a ragged tensor, the dimensions that its partitions divide come first and keep their order;
// the others are inside its flat values. Operations that involve only the latter run on the flat
// values, whose first axis stands for all the others.

// raggedAxis reports whether the rows along an axis have different lengths.
func raggedAxis(s ragged.DividedSpec, axis int) bool {
	parts := s.Partitions()
	return axis > 0 && axis <= len(parts) && !parts[axis-1].IsUniform()
}

// permutedRagged returns a ragged tensor with its axes in another order.
func permutedRagged(x *ragged.Tensor, perm []int) tensor.Tensor {
	inner, err := innerPerm(x.RaggedRank(), perm)
	if err != nil {
		return ops.Transpose(x, perm...) // if that is supported
	}
	return tenon.Must(x.WithFlatValues(permuted(x.FlatValues(), inner)))
}

// innerPerm returns the permutation of the axes of the flat values of a tensor
// with k partitions. The partitioned axes must stay in place.
func innerPerm(k int, perm []int) ([]int, error) {
	out := []int{0}
	for i, a := range perm {
		if i <= k && a != i {
			return nil, newError(tenon.ErrUnsupported, "named.Order", fmt.Sprintf("axis %d of a ragged tensor cannot be stored at position %d", a, i))
		}
		if i > k {
			out = append(out, a-k)
		}
	}
	return out, nil
}

// raggedInOrder returns the Spec of ragged tensors stored in another order.
func raggedInOrder(s ragged.DividedSpec, perm []int) (tenon.Spec, error) {
	inner, err := innerPerm(len(s.Partitions()), perm)
	if err != nil {
		return nil, err
	}
	flat, ok := s.Flat().(*tensor.Spec)
	if !ok {
		return nil, newError(tenon.ErrUnsupported, "named.Spec", fmt.Sprintf("%v cannot be stored in another order", s))
	}
	dims := make([]int, len(inner))
	for i, a := range inner {
		dims[i] = flat.Shape().Dim(a)
	}
	return ragged.FromSpecs(tensor.NewSpec(flat.DType(), shape.Of(dims...)), s.Partitions()), nil
}

// packedID is the name of the first axis of flat values.
var packedID = intern("packed rows", nil)

// inRows returns the contents of a tensor for which isRagged is true.
func (t *Tensor) inRows() *ragged.Tensor {
	r, _ := ragged.As(t.data)
	return r
}

// outer returns the names of the partitioned dimensions; there are none for a
// dense tensor.
func (t *Tensor) outer() *layout {
	if r, ok := ragged.As(t.data); ok {
		return layoutOf(t.spec.names.ids[:r.RaggedRank()+1])
	}
	return none
}

// packed returns the flat values, with packedID instead of the partitioned
// dimensions.
func (t *Tensor) packed() *Tensor {
	r := t.inRows()
	ids := append([]id{packedID}, t.spec.names.ids[r.RaggedRank()+1:]...)
	return newTensor(r.FlatValues(), layoutOf(ids), t.own())
}

// unpacked is the inverse of packed for flat values that were computed from those
// of t.
func (t *Tensor) unpacked(flat *Tensor) *Tensor {
	u := flat.ordered(layoutOf([]id{packedID}).and(flat.spec.names))
	data := tenon.Must(t.inRows().WithFlatValues(u.data))
	return newTensor(data, t.outer().and(layoutOf(u.spec.names.ids[1:])), flat.own())
}

// raggedElementwise runs an elementwise operation on operands some of which are ragged. It uses the
// order of the one with the most partitions, to which the others are broadcast.
func raggedElementwise(fn string, ts []*Tensor, out *layout, s *side, f func([]tensor.Tensor) tensor.Tensor) *Tensor {
	base := ts[0]
	for _, t := range ts {
		if len(t.outer().ids) > len(base.outer().ids) {
			base = t
		}
	}
	l := base.outer().and(out)
	xs := make([]tensor.Tensor, len(ts))
	for i, t := range ts {
		a := alignmentTo(t.spec.names, l)
		xs[i] = a.apply(t.data)
	}
	return newTensor(inNames(fn, several(ts), func() tensor.Tensor { return f(xs) }), l, s)
}

// regroupRagged replaces inner dimensions of a ragged tensor, or merges all partitioned
// ones.
func (d Dims) regroupRagged(fn string, t *Tensor, to *layout, sizes []int) *Tensor {
	dims := d.group()
	switch outer := t.outer(); {
	case dims == outer && len(to.ids) == 1 && (sizes == nil || sizes[0] == -1):
		return rename(fn, t.packed(), layoutOf([]id{packedID}), to)
	case len(dims.both(outer).ids) > 0:
		tenon.Throw(newError(tenon.ErrUnsupported, fn, fmt.Sprintf("rows of different lengths lie along {%v}\n%s", dims.both(outer), t.line("tensor"))).
			WithHint(fmt.Sprintf("all of {%v} can be merged, in this order", outer)))
	}
	return t.unpacked(d.regrouped(fn, t, t.packed(), to.ids, sizes))
}

// ragged contracts two tensors, at least one of which is ragged.
func (c *contraction) ragged(fn string, x, y *Tensor) *Tensor {
	switch {
	case !isRagged(y.data):
		return c.raggedDense(fn, x, y)
	case !isRagged(x.data):
		return c.raggedDense(fn, y, x)
	}
	return c.raggedRagged(fn, x, y)
}

// raggedDense contracts a ragged and a dense tensor: all rows at once.
func (c *contraction) raggedDense(fn string, x, y *Tensor) *Tensor {
	outer := x.outer()
	shared := outer.both(y.spec.names)
	flat := x.packed()
	if len(shared.ids) == 0 {
		return x.unpacked(contract2(fn, flat, y, c.dims))
	}
	// The dense tensor's entries for the rows are repeated for the contents of
	// the rows.
	repeated := x.spread(fn, y)
	z := x.unpacked(contract2(fn, flat, repeated, c.dims.without(shared)))
	return c.dims.both(shared).of().Sum(z)
}

// rowsOf returns, for each row of the flat values, its position along a partitioned axis.
func (t *Tensor) rowsOf(axis int) tensor.Tensor {
	parts := t.inRows().Partitions()
	at := parts[len(parts)-1].ValueRowIDs()
	for i := len(parts) - 2; i >= axis; i-- {
		at = ops.Gather(parts[i].ValueRowIDs(), at, 0)
	}
	return at
}

// raggedRagged contracts two ragged tensors with the same first dimension by a matrix product for
// each row.
func (c *contraction) raggedRagged(fn string, x, y *Tensor) *Tensor {
	if x.spec.names.ids[0] != y.spec.names.ids[0] || c.dims.has(x.spec.names.ids[0]) {
		tenon.Throw(newError(tenon.ErrUnsupported, fn, "ragged tensors are contracted row by row: their first dimension must be the same, and is kept\n"+lines(pair(x, y)...)))
	}
	first := layoutOf(x.spec.names.ids[:1])
	same := x.outer() == y.outer()
	if same {
		matchRows(fn, x, y)
	}
	inside := c.dims.without(x.outer())
	shared := x.spec.names.both(y.spec.names).without(c.dims).without(first)
	switch {
	case same && len(inside.ids) == len(c.dims.ids): // no sum along rows
		return x.unpacked(contract2(fn, x.packed(), y.packed(), c.dims))
	case same && (len(inside.ids) > 0 || len(shared.ids) > 0 || len(x.outer().ids) > 2):
		z := x.unpacked(contract2(fn, x.packed(), y.packed(), inside))
		return c.dims.without(inside).of().Sum(z)
	}
	// Split off a dimension inside rows that both have, or that does not fit in a matrix.
	for _, t := range []*Tensor{x, y} {
		inner := t.spec.names.without(t.outer())
		apart := inner.both(shared)
		if free := inner.without(c.dims); len(apart.ids) == 0 && len(free.ids) > 0 && (len(inner.ids) > len(free.ids) || len(t.outer().ids) > 2) {
			apart = free
		}
		if len(apart.ids) > 0 {
			return c.apart(fn, x, y, apart.ids[0])
		}
	}
	a, transposeA := c.matrices(fn, x, false)
	b, transposeB := c.matrices(fn, y, true)
	data := ops.MatMulT(a.data, b.data, transposeA, transposeB)
	l := first.and(a.spec.names.without(c.dims)).and(b.spec.names.without(c.dims))
	return newTensor(splitAxes(data, []*Tensor{x, y}, l), l, sideOf2(fn, x, y))
}

// apart contracts for each position along a dimension inside rows, and stacks the
// results.
func (c *contraction) apart(fn string, x, y *Tensor, n id) *Tensor {
	d := layoutOf([]id{n}).of()
	parts := func(t *Tensor) []*Tensor {
		if !t.spec.names.has(n) {
			return nil
		}
		p := d.Unstack(t.packed())
		for i := range p {
			p[i] = t.unpacked(p[i])
		}
		return p
	}
	xs, ys := parts(x), parts(y)
	var flats []tenon.Value
	var like *Tensor
	for i := range max(len(xs), len(ys)) {
		a, b := x, y
		if xs != nil {
			a = xs[i]
		}
		if ys != nil {
			b = ys[i]
		}
		like = contract2(fn, a, b, c.dims)
		if isRagged(like.data) {
			flats = append(flats, like.packed())
		} else {
			flats = append(flats, like)
		}
	}
	if len(flats) == 0 {
		fail(tenon.ErrUnsupported, fn, "%v has size 0\n%s", n, lines(pair(x, y)...))
	}
	s := d.Stack(flats...)
	if isRagged(like.data) {
		return like.unpacked(s)
	}
	return s
}

// matrices returns a ragged tensor with three dimensions, the rows and two that form the matrix of
// a row, and whether the matrix must be transposed to move the summed dimensions to the inside.
// Dimensions inside rows are merged.
func (c *contraction) matrices(fn string, t *Tensor, second bool) (*Tensor, bool) {
	inner := t.spec.names.without(t.outer())
	if len(t.outer().ids) == 2 {
		merged := t
		if len(inner.ids) != 1 {
			merged = t.unpacked(inner.of().regroup(fn, t.packed(), []id{packedInside}, nil))
		}
		sumsRows := c.dims.has(t.spec.names.ids[1])
		return newTensor(merged.data, t.spec.names, t.own()), sumsRows != second
	}
	if len(t.outer().ids) != 3 || len(inner.ids) != 0 {
		fail(tenon.ErrUnsupported, fn, "rows inside rows of different lengths can be contracted only as matrices\n%s", t.line("tensor"))
	}
	return t, c.dims.has(t.spec.names.ids[1]) != second
}

// packedInside is the name of dimensions that are merged to form a matrix.
var packedInside = intern("packed inside", nil)

// splitAxes splits the axes that matrices has merged.
func splitAxes(data tensor.Tensor, from []*Tensor, l *layout) tensor.Tensor {
	if data.Shape().Rank() == len(l.ids) {
		return data
	}
	size := func(n id) int {
		for _, t := range from {
			if t.spec.names.has(n) {
				return t.size(n)
			}
		}
		return -1
	}
	if r, ok := ragged.As(data); ok {
		flat := r.FlatValues()
		sizes := []int{-1}
		for _, n := range l.ids[r.RaggedRank()+1:] {
			sizes = append(sizes, size(n))
		}
		return tenon.Must(r.WithFlatValues(ops.Reshape(flat, sizes)))
	}
	sizes := make([]int, len(l.ids))
	for i, n := range l.ids {
		if sizes[i] = size(n); i == 0 {
			sizes[i] = -1
		}
	}
	return ops.Reshape(data, sizes)
}

// contractLabels answers ops.Contract with a ragged operand, which results from a contraction
// inside Lift over its rows.
func contractLabels(c *op.Call) ([]tenon.Value, error) {
	for i, labels := range [][]int{c.Ints(2), c.Ints(3)} {
		if r := c.Tensor(i).Shape().Rank(); r != len(labels) {
			return nil, c.Errorf(tenon.ErrShape, "operand %d has rank %d and %d labels", i, r, len(labels))
		}
	}
	named := func(i int, labels []int) *Tensor {
		return newTensor(c.Tensor(i), labelled(labels), nil)
	}
	a, b, out := named(0, c.Ints(2)), named(1, c.Ints(3)), labelled(c.Ints(4))
	z := contract2(c.Op.Func(), a, b, a.spec.names.and(b.spec.names).without(out))
	return op.One(z.ordered(out).data)
}

// labelled returns names for the labels of axes.
func labelled(labels []int) *layout {
	ids := make([]id, len(labels))
	for i, l := range labels {
		ids[i] = intern(fmt.Sprintf("axis %d", l), nil)
	}
	return layoutOf(ids)
}

func init() {
	o, _ := op.Lookup("contract")
	_, err := op.Handle(ragged.TypeName, op.Match{Op: o}, contractLabels)
	tenon.Throw(err)
}
