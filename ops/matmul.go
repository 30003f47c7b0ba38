package ops

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// MatMul returns the matrix products of a and b; their leading axes broadcast.
// Numbers may have any type; integers wrap, and half precision is summed in
// float32.
//
//	a: […, m, k], b: […, k, n]  →  […, m, n]
//
// Gradient: ct·bᵀ for a, aᵀ·ct for b, summed over stretched axes.
func MatMul(a, b any) tensor.Tensor { return MatMulT(a, b, false, false) }

// MatMulT is [MatMul] with a, b or both transposed first.
func MatMulT(a, b any, transposeA, transposeB bool) tensor.Tensor {
	return op.Eval(matMulOp, a, b, transposeA, transposeB)
}

// multiplied is a fast path for two dense matrices. If to is not nil, the product is added to it: a matrix
// of that shape, or a row. It returns nil if it does not apply.
func multiplied(a, b any, ta, tb bool, to *tensor.Dense) tensor.Tensor {
	x, _ := a.(*tensor.Dense)
	y, _ := b.(*tensor.Dense)
	if x == nil || y == nil || x.Rank() != 2 || y.Rank() != 2 || x.DType() != y.DType() || !hasProducts(x.DType()) ||
		!x.IsContiguous() || !y.IsContiguous() {
		return nil
	}
	l := contractLayout{m: strided{size: x.Dim(0), a: x.Dim(1)}, k: strided{size: x.Dim(1), a: 1, b: y.Dim(1)}, n: strided{size: y.Dim(1), b: 1, c: 1}}
	k := y.Dim(0)
	if ta {
		l.m.size, l.m.a, l.k.size, l.k.a = l.k.size, l.k.a, l.m.size, l.m.a
	}
	if tb {
		k, l.k.b, l.n.size, l.n.b = l.n.size, l.n.b, k, l.k.b
	}
	if k != l.k.size {
		return nil
	}
	s := shape.Of(l.m.size, l.n.size)
	if to != nil && (to.DType() != x.DType() || !to.IsContiguous() || !to.Shape().Equal(s) && !to.Shape().Equal(shape.Of(l.n.size))) {
		return nil
	}
	l.m.c = l.n.size
	out := tensor.Uninit(x.DType(), s)
	if out.Len() > 0 {
		l.multiply(x, y, out, to)
	}
	return out
}

var matMulOp = op.Register(&op.Op{
	Name: "matmul", Statement: contracts, GoName: "ops.MatMul", Doc: "matrix products", Results: 1, Strided: true,
	Params: []op.Param{
		{Name: "a", Group: 1, Takes: op.Numbers}, {Name: "b", Group: 1},
		{Name: "transpose_a", Kind: op.Attr, Type: op.BoolType, Default: false},
		{Name: "transpose_b", Kind: op.Attr, Type: op.BoolType, Default: false},
	},
	Shape: func(c *op.Call) (shape.Shape, error) {
		a, b := c.Tensor(0).Shape(), c.Tensor(1).Shape()
		for i, s := range []shape.Shape{a, b} {
			if s.HasRank() && s.Rank() < 2 {
				return s, c.Errorf(tenon.ErrShape, "%s has rank %d, at least 2 is needed", c.Op.Params[i].Name, s.Rank()).WithHint("ops.MatVec and ops.Dot take vectors")
			}
		}
		m, k := matrixSizes(a, c.Bool(2))
		k2, n := matrixSizes(b, c.Bool(3))
		if k >= 0 && k2 >= 0 && k != k2 {
			e := c.Errorf(tenon.ErrShape, "inner sizes %d and %d differ", k, k2)
			switch k {
			case n:
				e.Hint = "did you mean the second operand transposed?"
			default:
				e.Hint = fmt.Sprintf("no matrix dimension of the second operand is %d", k)
			}
			return a, e
		}
		batch, err := broadcastPrefix(c, a, b, 2)
		return shape.Concat(batch, shape.Of(m, n)), err
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		batch := outShape(c, 0).Rank() - 2
		if batch == 0 {
			return c.Result(matrixProduct(c.Bool(2), c.Bool(3)).Dense(c.Dense(0), c.Dense(1)))
		}
		m, k, n := batch, batch+1, batch+2
		rows, cols := []int{m, k}, []int{k, n}
		if c.Bool(2) {
			slices.Reverse(rows)
		}
		if c.Bool(3) {
			slices.Reverse(cols)
		}
		return c.Result(contractOwn(c, rows, cols, m, n))
	},
	Onto: func(c *op.Call, to tensor.Tensor) tensor.Tensor {
		if t, ok := to.(*tensor.Dense); ok && (t.DType() == dtype.Float32 || t.DType() == dtype.Float64) {
			return multiplied(c.Args[0], c.Args[1], c.Bool(2), c.Bool(3), t)
		}
		return nil
	},
	Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
		return batchAligned(c, batched, 2)
	},
})

// matrixProducts are the products of two matrices, indexed by whether each is transposed.
var matrixProducts = func() (all [2][2]*Contraction) {
	for ta, a := range [2][]int{{0, 1}, {1, 0}} {
		for tb, b := range [2][]int{{1, 2}, {2, 1}} {
			all[ta][tb] = tenon.Must(NewContraction(a, b, []int{0, 2}))
		}
	}
	return all
}()

// matrixProduct returns the product of two matrices, transposed or not.
func matrixProduct(ta, tb bool) *Contraction {
	of := &matrixProducts[0]
	if ta {
		of = &matrixProducts[1]
	}
	if tb {
		return of[1]
	}
	return of[0]
}

var _ = gradient(matMulOp, func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	a, b, ta, tb, g := c.Tensor(0), c.Tensor(1), c.Bool(2), c.Bool(3), ct[0]
	var ga tensor.Tensor
	if ta {
		ga = MatMulT(conj(b), g, tb, true)
	} else {
		ga = MatMulT(g, conj(b), false, !tb)
	}
	return []tensor.Tensor{sumTo(ga, a), matMulGradB(a, b, g, ta, tb)}
})

// matMulGradB returns the cotangent of b. If b is a single matrix for a batch of a's rows, these
// are taken as the rows of one matrix, so that the sum over the batch is part of the product.
func matMulGradB(a, b, g tensor.Tensor, ta, tb bool) tensor.Tensor {
	a = conj(a)
	if s := a.Shape(); b.Shape().Rank() == 2 && s.Rank() > 2 && !ta && s.Dim(-1) >= 0 && g.Shape().Rank() == s.Rank() && g.Shape().Dim(-1) >= 0 {
		a, g = Reshape(a, []int{-1, s.Dim(-1)}), Reshape(g, []int{-1, g.Shape().Dim(-1)})
	}
	if tb {
		return sumTo(MatMulT(g, a, true, ta), b)
	}
	return sumTo(MatMulT(a, g, !ta, false), b)
}

// matrixSizes returns the sizes of the last two axes, swapped if transposed.
func matrixSizes(s shape.Shape, transposed bool) (rows, cols int) {
	rows, cols = shape.Unknown, shape.Unknown
	if s.HasRank() {
		rows, cols = s.Dim(-2), s.Dim(-1)
	}
	if transposed {
		rows, cols = cols, rows
	}
	return rows, cols
}

// contractOwn contracts the operands of a call whose last axes have the labels aOwn and bOwn. The
// axes before them broadcast; their label is their index in the result. The result's last axes are
// out.
func contractOwn(c *op.Call, aOwn, bOwn []int, out ...int) *tensor.Dense {
	s := outShape(c, 0)
	batch := s.Slice(0, s.Rank()-len(out))
	a, aLabels := onBatch(c.Dense(0), batch, aOwn)
	b, bLabels := onBatch(c.Dense(1), batch, bOwn)
	labels := make([]int, 0, s.Rank())
	for i := range batch.Rank() {
		labels = append(labels, i)
	}
	return tenon.Must(NewContraction(aLabels, bLabels, append(labels, out...))).dense(a, b)
}

// onBatch labels the axes of x: the last ones with own, and those before them with their index in
// batch. An axis that broadcasts is dropped.
func onBatch(x *tensor.Dense, batch shape.Shape, own []int) (*tensor.Dense, []int) {
	leading := x.Rank() - len(own)
	t := einsumTerm{axes: make([]int, 0, x.Rank()), labels: make([]int, 0, x.Rank())}
	for i := range leading {
		l := batch.Rank() - leading + i
		if x.Dim(i) == 1 && batch.Dim(l) != 1 {
			t.axes = append(t.axes, -1)
			continue
		}
		t.axes, t.labels = append(t.axes, l), append(t.labels, l)
	}
	t.axes, t.labels = append(t.axes, own...), append(t.labels, own...)
	return t.diagonal(x), t.labels
}

// batchAligned is the Batch rule of operations whose leading axes (all but the last own ones)
// broadcast: batched operands get axes of size 1 after the batch axis until they have the same
// rank.
func batchAligned(c *op.Call, batched []bool, own int) ([]tensor.Tensor, error) {
	values := c.Values()
	ranks := make([]int, len(values))
	most := 0
	for i, v := range values {
		r, err := batchRank(c, v.(tensor.Tensor))
		if err != nil {
			return nil, err
		}
		if batched[i] {
			r--
		}
		ranks[i] = r
		most = max(most, r)
	}
	for i, v := range values {
		if !batched[i] || ranks[i] == most {
			continue
		}
		axes := make([]int, most-ranks[i])
		for k := range axes {
			axes[k] = k + 1
		}
		values[i] = ExpandDims(v, axes...)
	}
	return c.WithValues(values).DoTensors()
}
