package ops

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/internal/kernel/gemm"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// MatMul returns the matrix products of a and b; their leading axes broadcast.
// Numbers of any type; integers wrap, half precision is summed in float32.
//
//	a: […, m, k], b: […, k, n]  →  […, m, n]
//
// Gradient: ct·bᵀ for a, aᵀ·ct for b, summed over stretched axes.
func MatMul(a, b any) tensor.Tensor { return MatMulT(a, b, false, false) }

// MatMulT is [MatMul] of matrices that are transposed first, a, b or both.
func MatMulT(a, b any, transposeA, transposeB bool) tensor.Tensor {
	if out := multiplied(a, b, transposeA, transposeB); out != nil {
		return out
	}
	return op.Eval(matMulOp, a, b, transposeA, transposeB)
}

// multiplied is the short way of two dense matrices; nil where it is not open.
func multiplied(a, b any, ta, tb bool) tensor.Tensor {
	x, _ := a.(*tensor.Dense)
	y, _ := b.(*tensor.Dense)
	if x == nil || y == nil || x.Rank() != 2 || y.Rank() != 2 || x.DType() != y.DType() || !hasProducts(x.DType()) ||
		!x.IsContiguous() || !y.IsContiguous() {
		return nil
	}
	p := products{a: matrix{x, x.Dim(1), 1}, b: matrix{y, y.Dim(1), 1}, m: x.Dim(0), k: x.Dim(1), n: y.Dim(1)}
	k := y.Dim(0)
	if ta {
		p.a.row, p.a.col, p.m, p.k = p.a.col, p.a.row, p.k, p.m
	}
	if tb {
		p.b.row, p.b.col, k, p.n = p.b.col, p.b.row, p.n, k
	}
	if k != p.k {
		return nil
	}
	out := tensor.Uninit(x.DType(), shape.Of(p.m, p.n))
	p.into(out)
	return out
}

var matMulOp = op.Register(&op.Op{
	Name: "matmul", GoName: "ops.MatMul", Doc: "matrix products", Results: 1, Strided: true,
	Params: []op.Param{
		{Name: "a", Group: 1}, {Name: "b", Group: 1},
		{Name: "transpose_a", Kind: op.Attr, Type: op.BoolType, Default: false},
		{Name: "transpose_b", Kind: op.Attr, Type: op.BoolType, Default: false},
	},
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		a, b := c.Tensor(0), c.Tensor(1)
		if !hasProducts(a.DType()) {
			return nil, undefined(c, a.DType())
		}
		for i := range 2 {
			if err := wantRank(c, i, 2); err != nil {
				e := tenon.AsError(err)
				e.Hint = "ops.MatVec and ops.Dot take vectors"
				return nil, e
			}
		}
		m, k := matrixSizes(a.Shape(), c.Bool(2))
		k2, n := matrixSizes(b.Shape(), c.Bool(3))
		if k >= 0 && k2 >= 0 && k != k2 {
			e := c.Errorf(tenon.ErrShape, "inner sizes %d and %d differ", k, k2)
			switch k {
			case n:
				e.Hint = "did you mean the second operand transposed?"
			default:
				e.Hint = fmt.Sprintf("no matrix dimension of the second operand is %d", k)
			}
			return nil, e
		}
		batch, err := broadcastPrefix(c, a.Shape(), b.Shape(), 2)
		if err != nil {
			return nil, err
		}
		return specs(a.DType(), shape.Concat(batch, shape.Of(m, n)))
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		s := outShape(c, 0)
		out := tensor.Uninit(c.Dense(0).DType(), s)
		batch := s.Slice(0, s.Rank()-2)
		a, as := matrices(c.Dense(0), c.Bool(2), batch)
		b, bs := matrices(c.Dense(1), c.Bool(3), batch)
		_, k := matrixSizes(c.Dense(0).Shape(), c.Bool(2))
		p := products{m: s.Dim(-2), n: s.Dim(-1), k: k, a: a, b: b}
		for i, size := range batch.Dims() {
			p.batch = append(p.batch, gemm.Batch{Size: size, A: as[i], B: bs[i]})
		}
		p.into(out)
		return results(out)
	},
	Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
		return batchAligned(c, batched, 2)
	},
})

func init() {
	matMulOp.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		a, b, ta, tb, g := c.Tensor(0), c.Tensor(1), c.Bool(2), c.Bool(3), ct[0]
		if !a.DType().IsDifferentiable() {
			return []tensor.Tensor{nil, nil}
		}
		var ga tensor.Tensor
		if ta {
			ga = MatMulT(conj(b), g, tb, true)
		} else {
			ga = MatMulT(g, conj(b), false, !tb)
		}
		return []tensor.Tensor{sumTo(ga, a), matMulGradB(a, b, g, ta, tb)}
	}
}

// matMulGradB is the cotangent of b. Where b is one matrix for a batch of a's rows,
// these are taken as the rows of one matrix, so that the sum over the batch is
// part of the product.
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

// matrixSizes returns the sizes of the last two axes, exchanged if transposed.
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

// matrices views the last two axes of x as matrices, and returns the strides of the
// axes of batch, to which x's other axes broadcast.
func matrices(x *tensor.Dense, transposed bool, batch shape.Shape) (matrix, []int) {
	strides := x.Strides()
	for _, s := range strides {
		if s < 0 {
			x = move.Copied(x)
			strides = x.Strides()
			break
		}
	}
	r := len(strides)
	m := matrix{x, strides[r-2], strides[r-1]}
	if transposed {
		m.row, m.col = m.col, m.row
	}
	steps := make([]int, batch.Rank())
	for i := range r - 2 {
		if x.Dim(i) != 1 {
			steps[len(steps)-(r-2)+i] = strides[i]
		}
	}
	return m, steps
}

// batchAligned is the Batch rule of operations whose leading axes, all but the last
// own ones, broadcast: batched operands get axes of size 1 behind the batch axis
// until they have the same rank.
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
	return again(c.WithValues(values))
}

// MatVec returns the products of matrices and vectors; leading axes broadcast.
//
//	a: […, m, k], x: […, k]  →  […, m]
//
// Gradient: ct⊗x for a, aᵀ·ct for x.
func MatVec(a, x any) tensor.Tensor { return op.Eval(matVecOp, a, x) }

var matVecOp = op.Register(&op.Op{
	Name: "matvec", GoName: "ops.MatVec", Doc: "products of matrices and vectors", Results: 1, Strided: true,
	Params: []op.Param{{Name: "a", Group: 1}, {Name: "x", Group: 1}},
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		a, x := c.Tensor(0), c.Tensor(1)
		if !hasProducts(a.DType()) {
			return nil, undefined(c, a.DType())
		}
		if err := wantRank(c, 0, 2); err != nil {
			return nil, err
		}
		if err := wantRank(c, 1, 1); err != nil {
			return nil, err
		}
		m, k := matrixSizes(a.Shape(), false)
		if err := sameSize(c, "sizes of the matrix's rows and the vector", k, x.Shape().Dim(-1)); err != nil {
			return nil, err
		}
		if !a.Shape().HasRank() || !x.Shape().HasRank() {
			return specs(a.DType(), shape.UnknownRank)
		}
		batch, err := broadcast(c, a.Shape().Slice(0, a.Shape().Rank()-2), x.Shape().Slice(0, x.Shape().Rank()-1))
		if err != nil {
			return nil, err
		}
		return specs(a.DType(), shape.Concat(batch, shape.Of(m)))
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		a, x, s := c.Dense(0), c.Dense(1), outShape(c, 0)
		out := tensor.Uninit(a.DType(), s)
		batch := s.Slice(0, s.Rank()-1)
		am, as := matrices(a, false, batch)
		column := x.View(0, x.Shape().Insert(x.Rank(), 1), append(x.Strides(), 1))
		xm, xs := matrices(column, false, batch)
		p := products{m: s.Dim(-1), n: 1, k: x.Dim(-1), a: am, b: xm}
		for i, size := range batch.Dims() {
			p.batch = append(p.batch, gemm.Batch{Size: size, A: as[i], B: xs[i]})
		}
		p.into(out)
		return results(out)
	},
	Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
		values := c.Values()
		column := ExpandDims(values[1], -1)
		y, err := batchAligned(tenon.Must(op.NewCall(matMulOp, values[0], column)), batched, 2)
		if err != nil {
			return nil, err
		}
		return results(Squeeze(y[0], -1))
	},
})

func init() {
	matVecOp.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		a, x, g := c.Tensor(0), c.Tensor(1), ct[0]
		ga := Mul(ExpandDims(g, -1), ExpandDims(conj(x), -2))
		gx := Squeeze(MatMulT(conj(a), ExpandDims(g, -1), true, false), -1)
		return []tensor.Tensor{sumTo(ga, a), sumTo(gx, x)}
	}
}

// Dot returns Σ x·y over the last axis; leading axes broadcast. It does not
// conjugate.
//
//	x: […, n], y: […, n]  →  […]
//
// Gradient: ct·y for x, ct·x for y.
func Dot(x, y any) tensor.Tensor { return op.Eval(dotOp, x, y) }

var dotOp = op.Register(&op.Op{
	Name: "dot", Doc: "sums of products over the last axis", Results: 1, Strided: true,
	Params: binaryParams,
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		x, y := c.Tensor(0), c.Tensor(1)
		if !hasProducts(x.DType()) {
			return nil, undefined(c, x.DType())
		}
		for i := range 2 {
			if err := wantRank(c, i, 1); err != nil {
				return nil, err
			}
		}
		if err := sameSize(c, "sizes of the last axes", x.Shape().Dim(-1), y.Shape().Dim(-1)); err != nil {
			return nil, err
		}
		s, err := broadcastPrefix(c, x.Shape(), y.Shape(), 1)
		if err != nil {
			return nil, err
		}
		return specs(x.DType(), s)
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x, y, s := c.Dense(0), c.Dense(1), outShape(c, 0)
		out := tensor.Uninit(x.DType(), s)
		row := x.View(0, x.Shape().Insert(x.Rank()-1, 1), insertStride(x.Strides(), x.Rank()-1))
		column := y.View(0, y.Shape().Insert(y.Rank(), 1), append(y.Strides(), 1))
		xm, xs := matrices(row, false, s)
		ym, ys := matrices(column, false, s)
		p := products{m: 1, n: 1, k: x.Dim(-1), a: xm, b: ym}
		for i, size := range s.Dims() {
			p.batch = append(p.batch, gemm.Batch{Size: size, A: xs[i], B: ys[i]})
		}
		p.into(out)
		return results(out)
	},
	Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) { return batchAligned(c, batched, 1) },
})

func init() {
	dotOp.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		x, y := c.Tensor(0), c.Tensor(1)
		g := ExpandDims(ct[0], -1)
		return []tensor.Tensor{sumTo(Mul(g, conj(y)), x), sumTo(Mul(g, conj(x)), y)}
	}
}

func insertStride(strides []int, at int) []int {
	out := append(append([]int{}, strides[:at]...), 0)
	return append(out, strides[at:]...)
}

// Outer returns the products of all pairs of elements: its shape is x's followed by y's.
//
//	x: [s…], y: [t…]  →  [s…, t…]
//
// Gradient: Σ ct·y over y's axes for x, Σ ct·x over x's axes for y.
func Outer(x, y any) tensor.Tensor { return op.Eval(outerOp, x, y) }

var outerOp = op.Register(&op.Op{
	Name: "outer", Doc: "products of all pairs of elements", Results: 1, Strided: true, Params: binaryParams,
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		x, y := c.Tensor(0), c.Tensor(1)
		if !hasProducts(x.DType()) {
			return nil, undefined(c, x.DType())
		}
		return specs(x.DType(), shape.Concat(x.Shape(), y.Shape()))
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x, y, s := c.Dense(0), c.Dense(1), outShape(c, 0)
		wide := shape.Concat(x.Shape(), shape.Of(ones(y.Rank())...))
		strides := append(x.Strides(), make([]int, y.Rank())...)
		out, _ := binaryDense(elementwise.Mul, x.View(0, wide, strides), y, s, grainCheap)
		return results(out)
	},
	Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
		values := c.Values()
		xr, err := batchRank(c, values[0].(tensor.Tensor))
		if err != nil {
			return nil, err
		}
		yr, err := batchRank(c, values[1].(tensor.Tensor))
		if err != nil {
			return nil, err
		}
		x, y := values[0].(tensor.Tensor), values[1].(tensor.Tensor)
		if batched[1] {
			yr--
			own := xr
			if batched[0] {
				own--
			}
			y = ExpandDims(y, span(1, 1+own)...)
		}
		return results(Mul(ExpandDims(x, span(xr, xr+yr)...), y))
	},
})

func init() {
	outerOp.VJP = func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		x, y, g := c.Tensor(0), c.Tensor(1), ct[0]
		xr, yr := x.Shape().Rank(), y.Shape().Rank()
		if xr < 0 || yr < 0 {
			tenon.Throw(c.Errorf(tenon.ErrShape, "the gradient needs to know the ranks"))
		}
		gx, gy := Mul(g, conj(y)), Mul(g, ExpandDims(conj(x), span(xr, xr+yr)...))
		return []tensor.Tensor{
			op.Eval(sumOp, gx, span(xr, xr+yr), false), op.Eval(sumOp, gy, span(0, xr), false),
		}
	}
}

func ones(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

// span returns lo, lo+1, … up to hi.
func span(lo, hi int) []int {
	out := make([]int, 0, hi-lo)
	for i := lo; i < hi; i++ {
		out = append(out, i)
	}
	return out
}
