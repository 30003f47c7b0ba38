package ops

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/kernel/gather"
	"github.com/tenonml/tenon/internal/kernel/str"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

var gatherOp *op.Op

func init() {
	gatherOp = op.Register(&op.Op{
		Name: "gather", Statement: moves(op.Select, two), Doc: "Slices along an axis, by position.",
		Params: []op.Param{{Name: "x"}, {Name: "indices", Takes: op.Indices}, {Name: "axis", Kind: op.Attr, Type: op.IntType, Default: 0},
			{Name: "batch_dims", Kind: op.Attr, Type: op.IntType, Default: 0}}, Results: 1,
		Shape: func(c *op.Call) (shape.Shape, error) {
			s, is := c.Tensor(0).Shape(), c.Tensor(1).Shape()
			axis, err := c.Axis(c.Int(2), s)
			if err != nil {
				return s, err
			}
			batch, err := batchDims(c, c.Int(3), is)
			if err != nil || !s.HasRank() || !is.HasRank() {
				return shape.UnknownRank, err
			}
			if axis < batch {
				return s, c.Errorf(tenon.ErrAxis, "axis %d is one of the %d batch axes", axis, batch)
			}
			front := s.Slice(0, axis)
			for i := range batch {
				if err := sameSize(c, "the sizes of a batch axis", s.Dim(i), is.Dim(i)); err != nil {
					return s, err
				}
				if s.Dim(i) < 0 {
					front = front.With(i, is.Dim(i))
				}
			}
			return shape.Concat(front, is.Tail(batch), s.Tail(axis+1)), nil
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			axis, _ := c.Tensor(0).Shape().Axis(c.Int(2))
			batch, err := batchDims(c, c.Int(3), c.Tensor(1).Shape())
			if err != nil {
				return nil, err
			}
			s, idx := outShape(c, 0), c.Dense(1)
			if x, ok := c.Tensor(0).(*tensor.Strings); ok && x.Shape().Rank() == 1 {
				col, err := str.Gather(move.Column(x), wide(idx))
				if err != nil {
					return nil, indexError(c, 1, err)
				}
				return c.Result(move.Tensor(col, s))
			}
			out := move.Apply(c.Tensor(0), func(x *tensor.Dense) *tensor.Dense {
				var y *tensor.Dense
				if y, err = gathered(x, idx, s, axis, batch); err != nil {
					return tensor.NewDense(x.DType(), shape.Of(0))
				}
				return y
			})
			if err != nil {
				return nil, indexError(c, 1, err)
			}
			return c.Result(out)
		},
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			return []tensor.Tensor{gatherGrad(c, ct[0]), nil}
		},
		Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
			x, idx, axis, batch := c.Tensor(0), c.Tensor(1), c.Int(2), c.Int(3)
			switch {
			case !batched[0] && batch == 0 && axis == 0:
				return c.Result(Gather(x, idx, 0))
			case !batched[1] && batch == 0:
				return c.Result(Gather(x, idx, shiftAxis(axis)))
			case batch < 0:
				return nil, op.NotHandled
			}
			v := allInFront(c.Values(), batched)
			return c.Result(GatherBatched(v[0], v[1], shiftAxis(axis), batch+1))
		},
	})
}

// Gather returns the slices of x along an axis at the given positions. These are
// an integer tensor of any shape, whose axes replace the axis in the result. A
// position outside [0, n), including a negative one, is an error that names it.
//
//	x: [a, n, b], indices: int[i, j], axis 1 → [a, i, j, b], any element type.
//	Gradient: each slice gets the sum of the cotangents of its copies.
func Gather(x, indices any, axis int) tensor.Tensor {
	return op.Eval(gatherOp, x, indices, axis, 0)
}

// GatherBatched is [Gather] for each entry of the first batchDims axes, which x and indices share
// and which axis must not be one of.
//
//	x: [m, n, b], indices: int[m, i], axis 1, batchDims 1 → [m, i, b], any element type.
func GatherBatched(x, indices any, axis, batchDims int) tensor.Tensor {
	return op.Eval(gatherOp, x, indices, axis, batchDims)
}

// batchDims checks a number of batch axes; a negative number counts from the rank of the indices.
func batchDims(c *op.Call, n int, indices shape.Shape) (int, error) {
	if !indices.HasRank() {
		return n, nil
	}
	if n < 0 {
		n += indices.Rank()
	}
	if n < 0 || n > indices.Rank() {
		return 0, c.Errorf(tenon.ErrAxis, "batch_dims is %d, the indices have rank %d", c.Attr("batch_dims"), indices.Rank())
	}
	return n, nil
}

// taken gathers slices along an axis by indices that are known to be in range.
func taken(x, idx *tensor.Dense, s shape.Shape, axis int) *tensor.Dense {
	return tenon.Must(gathered(move.RowMajor(x), idx, s, axis, 0))
}

// gathered gathers slices along an axis of x, [batch, outer, n, inner], by indices
// [batch, m].
func gathered(x, idx *tensor.Dense, s shape.Shape, axis, batch int) (*tensor.Dense, error) {
	dims := x.Shape().Dims()
	n, inner := dims[axis], product(dims[axis+1:])
	b, outer := product(dims[:batch]), product(dims[batch:axis])
	whole := b*outer == 1 && inner > 0 // the kernel then checks the index
	if !whole {
		if err := checkIndex(idx, n); err != nil {
			return nil, err
		}
	}
	out := tensor.Uninit(x.DType(), s)
	if out.Len() == 0 {
		return out, nil
	}
	kernels := moverOf(x.DType())
	if whole {
		return out, kernels.rows(out, x, idx, inner)
	}
	m := idx.Len() / b
	at := make([]int64, b*outer*m)
	k := 0
	from := wide(idx)
	for i := range b {
		for o := range outer {
			base := int64((i*outer + o) * n)
			for _, p := range from[i*m : (i+1)*m] {
				at[k] = base + p
				k++
			}
		}
	}
	return out, kernels.rows(out, x, tensor.Vector(at), inner)
}

// checkIndex returns an error for the first index outside [0, n).
func checkIndex(idx *tensor.Dense, n int) error {
	return gather.Check(wide(idx), int64(n))
}

// gatherGrad sums the cotangent's slices by their positions. The positions of
// each batch entry are offset by the sizes of the entries before it, so that a
// single segment sum suffices.
func gatherGrad(c *op.Call, ct tensor.Tensor) tensor.Tensor {
	x, idx := c.Tensor(0), c.Tensor(1)
	s, is := x.Shape(), idx.Shape()
	rankOf(c, x)
	rankOf(c, idx)
	axis := tenon.Must(s.Axis(c.Int(2)))
	batch := tenon.Must(batchDims(c, c.Int(3), is))
	n, k := sizeOperand(x, axis), is.Rank()-batch
	// Bring the cotangent from [batch, outer, indices, inner] to [batch, indices, outer, inner].
	var order []int
	for i := range batch {
		order = append(order, i)
	}
	for i := range k {
		order = append(order, axis+i)
	}
	for i := batch; i < axis; i++ {
		order = append(order, i)
	}
	for i := axis + k; i < s.Rank()-1+k; i++ {
		order = append(order, i)
	}
	g := inOrder(ct, order)
	total, ids := n, idx
	if batch > 0 {
		lead := Prod(leading(x, batch))
		step := Reshape(Mul(Range(0, lead, 1), n), Concat([]any{leading(x, batch), slices.Repeat([]int{1}, k)}, 0))
		ids, total = Add(castIndex(idx), step), Mul(n, lead)
	}
	g = SegmentSum(g, ids, total)
	if batch > 0 { // [lead·n, outer, inner] → [batch, n, outer, inner]
		rest := []any{leading(x, batch), Reshape(n, []int{1})}
		for i := batch; i < s.Rank(); i++ {
			if i != axis {
				rest = append(rest, Reshape(sizeOperand(x, i), []int{1}))
			}
		}
		g = Reshape(g, Concat(rest, 0))
	}
	if batch != axis {
		g = MoveAxis(g, batch, axis)
	}
	return known(g, s)
}

// leading returns the first n sizes of x as a vector.
func leading(x tensor.Tensor, n int) tensor.Tensor { return Slice(Shape(x), []int{0}, []int{n}) }

// inOrder transposes x unless its axes are already in order.
func inOrder(x tensor.Tensor, order []int) tensor.Tensor {
	for i, a := range order {
		if i != a {
			return Transpose(x, order...)
		}
	}
	return x
}

var gatherNDOp *op.Op

func init() {
	gatherNDOp = op.Register(&op.Op{
		Name: "gather_nd", Statement: moves(op.Select, two), GoName: "ops.GatherND", Doc: "Elements or slices, by tuples of positions.",
		Params: []op.Param{{Name: "x"}, {Name: "indices", Takes: op.Indices}, {Name: "batch_dims", Kind: op.Attr, Type: op.IntType, Default: 0}}, Results: 1,
		Shape: func(c *op.Call) (shape.Shape, error) {
			s, is := c.Tensor(0).Shape(), c.Tensor(1).Shape()
			if is.HasRank() && is.Rank() <= c.Int(2) {
				return s, c.Errorf(tenon.ErrShape, "indices has rank %d, at least %d is needed", is.Rank(), c.Int(2)+1)
			}
			if !s.HasRank() || !is.HasRank() || is.Dim(-1) < 0 {
				return shape.UnknownRank, nil
			}
			batch, k := c.Int(2), is.Dim(-1)
			if batch < 0 {
				return s, c.Errorf(tenon.ErrAxis, "batch_dims is %d", batch)
			}
			if batch+k > s.Rank() {
				return s, c.Errorf(tenon.ErrShape, "%d batch axes and %d indices are too many for rank %d", batch, k, s.Rank())
			}
			for i := range batch {
				if err := sameSize(c, "the sizes of a batch axis", s.Dim(i), is.Dim(i)); err != nil {
					return s, err
				}
			}
			return shape.Concat(is.Slice(0, is.Rank()-1), s.Tail(batch+k)), nil
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			s := outShape(c, 0)
			at, inner, err := flatIndex(c, c.Tensor(0).Shape(), 1, c.Int(2))
			if err != nil {
				return nil, err
			}
			return c.Result(move.Apply(c.Tensor(0), func(x *tensor.Dense) *tensor.Dense {
				out := tensor.Uninit(x.DType(), s)
				if out.Len() > 0 {
					tenon.Throw(moverOf(x.DType()).rows(out, x, tensor.Vector(at), inner))
				}
				return out
			}))
		},
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			x := c.Tensor(0)
			idx := withBatch(castIndex(c.Tensor(1)), c.Int(2))
			return []tensor.Tensor{known(ScatterND(idx, ct[0], Shape(x)), x.Shape()), nil}
		},
		Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
			if !batched[0] && c.Int(2) == 0 {
				return c.Result(GatherND(c.Value(0), c.Value(1), 0))
			}
			v := allInFront(c.Values(), batched)
			return c.Result(GatherND(v[0], v[1], c.Int(2)+1))
		},
	})
}

// GatherND returns the elements of x at tuples of positions along the last axis of indices; shorter
// tuples give slices. The first batchDims axes are shared by both. A position out of bounds is an
// error that names it.
//
//	x: [m, a, b, c], indices: int[m, i, 2], batchDims 1 → [m, i, c], any element type.
//	Gradient: the cotangents added up at their positions.
func GatherND(x, indices any, batchDims int) tensor.Tensor {
	return op.Eval(gatherNDOp, x, indices, batchDims)
}

// flatIndex converts the tuples in operand i, for a tensor of shape s, to the numbers of the slices
// that they select, which have inner elements each.
func flatIndex(c *op.Call, s shape.Shape, i, batch int) (at []int64, inner int, err error) {
	idx := c.Dense(i)
	dims := s.Dims()
	k := idx.Dim(-1)
	tuples := product(idx.Shape().Dims()[:idx.Rank()-1])
	at = make([]int64, tuples)
	rows := product(dims[batch : batch+k])
	if k > 0 {
		if err := gather.Flatten(at, wide(idx), dims[batch:batch+k]); err != nil {
			return nil, 0, indexError(c, i, err)
		}
	}
	if b := product(dims[:batch]); batch > 0 && tuples > 0 {
		if err := gather.Batch(at, at, tuples/b, int64(rows)); err != nil {
			return nil, 0, indexError(c, i, err)
		}
	}
	return at, product(dims[batch+k:]), nil
}

// withBatch prepends the positions along the first batch axes to the tuples,
// which then need no batch axes.
func withBatch(idx tensor.Tensor, batch int) tensor.Tensor {
	if batch == 0 {
		return idx
	}
	rank := idx.Shape().Rank()
	if rank < 0 {
		tenon.Throw(tenon.NewError(tenon.ErrUnsupported, "ops.GatherND", "the gradient needs to know the rank of the indices"))
	}
	one := BroadcastTo(int64(0), Concat([]any{leading(idx, rank-1), []int{1}}, 0))
	parts := make([]any, 0, batch+1)
	for i := range batch {
		along := slices.Repeat([]int{1}, rank)
		along[i] = -1
		parts = append(parts, Add(one, Reshape(Range(0, sizeOperand(idx, i), 1), along)))
	}
	return Concat(append(parts, idx), -1)
}
