package ops

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

var scatterNDOp *op.Op

func init() {
	scatterNDOp = op.Register(&op.Op{
		Name: "scatter_nd", Statement: op.Statement{Axes: op.Scatter, Monoid: op.Sums, Fills: true, Control: one | three, Zero: op.Zero{Keeps: true, Linear: []op.Operands{two}}}, GoName: "ops.ScatterND", Doc: "Zeros with updates added at tuples of positions.",
		Params: []op.Param{{Name: "indices", Takes: op.Indices, Rank: 1}, {Name: "updates", Takes: op.Numbers}, sizesParam("shape")}, Results: 1,
		Elem: func(c *op.Call, _ dtype.DType) dtype.DType { return c.Tensor(1).DType() },
		Shape: func(c *op.Call) (shape.Shape, error) {
			s, err := shapeFrom(c, 2)
			if err != nil {
				return s, err
			}
			return s, scatterShapes(c, s, 0, 1)
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			u := c.Dense(1)
			out := tensor.NewDense(u.DType(), outShape(c, 0))
			at, width, err := flatIndex(c, out.Shape(), 0, 0)
			if err != nil || width == 0 {
				return []tensor.Tensor{out}, err
			}
			return []tensor.Tensor{out}, byType[u.DType()].scatterAdd(out, u, at, width)
		},
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			return []tensor.Tensor{nil, known(GatherND(ct[0], c.Value(0), 0), c.Tensor(1).Shape()), nil}
		},
		Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
			if batched[2] {
				return nil, op.NotHandled
			}
			n := batchSize(c.Values(), batched)
			idx := withBatch(castIndex(inFront(c.Value(0), batched[0], n)), 1)
			return c.Result(ScatterND(idx, inFront(c.Value(1), batched[1], n), prepended(n, c.Tensor(2))))
		},
	})
}

// ScatterND returns a tensor of zeros of the given shape to which updates are
// added: indices holds tuples of positions along its last axis, updates the
// element, or for shorter tuples the slice, that goes with each. Updates at the
// same position add up. A position out of bounds is an error that names it.
//
//	indices: int[i, 2], updates: [i, c], shape a, b, c → [a, b, c], numbers.
//	Gradient: the cotangent gathered at the positions.
func ScatterND(indices, updates, shape any) tensor.Tensor {
	return op.Eval(scatterNDOp, indices, updates, shape)
}

// scatterShapes checks the indices (argument i) and updates (argument u) against
// the shape that they are scattered to.
func scatterShapes(c *op.Call, s shape.Shape, i, u int) error {
	is, us := c.Tensor(i).Shape(), c.Tensor(u).Shape()
	if !is.HasRank() || is.Dim(-1) < 0 || !s.HasRank() {
		return nil
	}
	k := is.Dim(-1)
	if k > s.Rank() {
		return c.Errorf(tenon.ErrShape, "%d indices are too many for rank %d", k, s.Rank())
	}
	if want := shape.Concat(is.Slice(0, is.Rank()-1), s.Tail(k)); !us.CompatibleWith(want) {
		return c.Errorf(tenon.ErrShape, "the updates have the shape %v, want %v", us, want)
	}
	return nil
}

// A way to combine an update with the existing element.
type scatterMode struct {
	name, doc string
	says      op.Statement
	takes     *op.Elements
	kernel    indexed
}

// scatterInto registers an operation that combines updates with a tensor.
func scatterInto(m scatterMode, vjp func(c *op.Call, y, ct tensor.Tensor) (gx, gu tensor.Tensor)) *op.Op {
	var o *op.Op
	o = op.Register(&op.Op{
		Name: m.name, Statement: m.says, Doc: m.doc,
		Params: []op.Param{{Name: "x", Group: 1, Takes: m.takes}, {Name: "indices", Takes: op.Indices, Rank: 1}, {Name: "updates", Group: 1}}, Results: 1,
		Check: func(c *op.Call) error { return scatterShapes(c, c.Tensor(0).Shape(), 1, 2) },
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			at, width, err := flatIndex(c, c.Tensor(0).Shape(), 1, 0)
			if err != nil {
				return nil, err
			}
			return c.Result(move.ApplyList([]tenon.Value{c.Value(0), c.Value(2)}, func(ds []*tensor.Dense) *tensor.Dense {
				out := move.Copied(ds[0])
				if width > 0 {
					tenon.Throw(m.kernel(out, ds[1], at, width))
				}
				return out
			}))
		},
		VJP: func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
			gx, gu := vjp(c, out[0], ct[0])
			return []tensor.Tensor{known(gx, c.Tensor(0).Shape()), nil, known(gu, c.Tensor(2).Shape())}
		},
		Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
			v := allInFront(c.Values(), batched)
			return c.Result(op.Eval(o, v[0], withBatch(castIndex(v[1]), 1), v[2]))
		},
	})
	return o
}

var tensorScatterAddOp *op.Op

func init() {
	tensorScatterAddOp = scatterInto(scatterMode{
		name: "tensor_scatter_add", says: scatters(op.Sums), doc: "A tensor with updates added at tuples of positions.",
		takes: op.Numbers, kernel: typed(func(k *kernels) indexed { return k.scatterAdd }),
	}, func(c *op.Call, _, ct tensor.Tensor) (gx, gu tensor.Tensor) {
		return ct, GatherND(ct, c.Value(1), 0)
	})
}

// TensorScatterAdd returns x with updates added at tuples of positions; see
// [ScatterND] for the indices.
//
//	x: [a, b, c], indices: int[i, 2], updates: [i, c] → [a, b, c], numbers.
//	Gradient: for x the cotangent, for updates the cotangent gathered.
func TensorScatterAdd(x, indices, updates any) tensor.Tensor {
	return op.Eval(tensorScatterAddOp, x, indices, updates)
}

var tensorScatterUpdateOp *op.Op

func init() {
	tensorScatterUpdateOp = scatterInto(scatterMode{
		name: "tensor_scatter_update", says: scatters(nil), doc: "A tensor with other elements at tuples of positions.",
		kernel: func(dst, u *tensor.Dense, at []int64, width int) error {
			return moverOf(dst.DType()).update(dst, u, at, width)
		},
	}, func(c *op.Call, _, ct tensor.Tensor) (gx, gu tensor.Tensor) {
		idx, u := c.Tensor(1), c.Tensor(2)
		gx = TensorScatterUpdate(ct, idx, zerosOf(u, ct))
		// Of the updates at one position only the last one counts: the one whose number is found
		// there.
		number := Reshape(Range(0, Size(u), 1), Shape(u))
		there := GatherND(TensorScatterUpdate(zerosOf(c.Tensor(0), number), idx, number), idx, 0)
		gu = Where(Equal(there, number), GatherND(ct, idx, 0), Cast(0, ct.DType()))
		return gx, gu
	})
}

// TensorScatterUpdate returns x with the elements at tuples of positions replaced by updates; see
// [ScatterND] for the indices. Of several updates at the same position, the last one is kept.
//
//	x: [a, b, c], indices: int[i, 2], updates: [i, c] → [a, b, c], any element type.
//	Gradient: for x the cotangent with zeros at the positions, for updates the cotangent there.
func TensorScatterUpdate(x, indices, updates any) tensor.Tensor {
	return op.Eval(tensorScatterUpdateOp, x, indices, updates)
}

var tensorScatterMaxOp *op.Op

func init() {
	tensorScatterMaxOp = scatterInto(scatterMode{
		name: "tensor_scatter_max", says: scatters(op.Maxima), doc: "A tensor with the larger of element and update at tuples of positions.",
		takes: op.Reals, kernel: typed(func(k *kernels) indexed { return k.scatterMax }),
	}, scatterExtremeGrad)
}

// TensorScatterMax returns x with each element at a tuple of positions replaced
// by the largest of itself and the updates there; see [ScatterND] for the
// indices. NaN wins.
//
//	x: [a, b, c], indices: int[i, 2], updates: [i, c] → [a, b, c], real numbers.
//	Gradient: the cotangent, shared equally among the largest.
func TensorScatterMax(x, indices, updates any) tensor.Tensor {
	return op.Eval(tensorScatterMaxOp, x, indices, updates)
}

var tensorScatterMinOp *op.Op

func init() {
	tensorScatterMinOp = scatterInto(scatterMode{
		name: "tensor_scatter_min", says: scatters(op.Minima), doc: "A tensor with the smaller of element and update at tuples of positions.",
		takes: op.Reals, kernel: typed(func(k *kernels) indexed { return k.scatterMin }),
	}, scatterExtremeGrad)
}

// TensorScatterMin returns x with each element at a tuple of positions replaced
// by the smallest of itself and the updates there; see [ScatterND] for the
// indices. NaN wins.
//
//	x: [a, b, c], indices: int[i, 2], updates: [i, c] → [a, b, c], real numbers.
//	Gradient: the cotangent, shared equally among the smallest.
func TensorScatterMin(x, indices, updates any) tensor.Tensor {
	return op.Eval(tensorScatterMinOp, x, indices, updates)
}

// scatterExtremeGrad shares the cotangent among the elements and updates that
// equal the result.
func scatterExtremeGrad(c *op.Call, y, ct tensor.Tensor) (gx, gu tensor.Tensor) {
	x, idx, u := c.Tensor(0), c.Tensor(1), c.Tensor(2)
	winX := Cast(Equal(x, y), ct.DType())
	winU := Cast(Equal(u, GatherND(y, idx, 0)), ct.DType())
	share := Div(ct, TensorScatterAdd(winX, idx, winU))
	return Mul(share, winX), Mul(GatherND(share, idx, 0), winU)
}
