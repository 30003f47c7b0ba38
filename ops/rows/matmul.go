package rows

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/gemm"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// matMulOp multiplies pairs of matrices of different sizes.
var matMulOp *op.Op

func init() {
	matMulOp = op.Register(&op.Op{
		Name: "ragged.matmul", Statement: contracts([]op.Operands{one, two}, three|four), Doc: "Products of pairs of matrices of different sizes.",
		Params: []op.Param{
			{Name: "a", Group: 1}, {Name: "b", Group: 1}, {Name: "a_sizes"}, {Name: "b_sizes"},
			{Name: "transpose_a", Kind: op.Attr, Type: op.BoolType, Default: false},
			{Name: "transpose_b", Kind: op.Attr, Type: op.BoolType, Default: false},
		},
		Results: 1,
		Infer: func(c *op.Call) ([]tenon.Spec, error) {
			for i := range 2 {
				d := c.Tensor(i).DType()
				if !d.IsNumeric() {
					return nil, c.Errorf(tenon.ErrDType, "%s has the element type %v, want numbers", name(c, i), d)
				}
				if s := c.Tensor(i).Shape(); s.HasRank() && s.Rank() != 1 {
					return nil, c.Errorf(tenon.ErrShape, "%s has shape %v, want a vector of all matrices' elements", name(c, i), s)
				}
				s := c.Tensor(2 + i)
				if s.DType() != dtype.Int64 || s.Shape().HasRank() && (s.Shape().Rank() != 2 || s.Shape().Dim(1) != 2 && s.Shape().Dim(1) >= 0) {
					return nil, c.Errorf(tenon.ErrShape, "%s is %s, want int64[n, 2]", name(c, 2+i), tenon.String(s.Spec()))
				}
			}
			return specs(spec(c.Tensor(0).DType(), shape.Of(shape.Unknown)))
		},
		Kernel: matMulKernel,
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			a, b, as, bs := c.Tensor(0), c.Tensor(1), c.Tensor(2), c.Tensor(3)
			ta, tb := c.Bool(4), c.Bool(5)
			if a.DType().IsComplex() {
				a, b = ops.Conj(a), ops.Conj(b)
			}
			column := func(s tensor.Tensor, k int) tensor.Tensor { return ops.Gather(s, int64(k), 1) }
			pick := func(s tensor.Tensor, t bool, k int) tensor.Tensor {
				if t {
					k = 1 - k
				}
				return column(s, k)
			}
			cs := ops.Stack([]tensor.Tensor{pick(as, ta, 0), pick(bs, tb, 1)}, 1)
			var da, db tensor.Tensor
			if ta {
				da = MatMul(b, ct[0], bs, cs, tb, true)
			} else {
				da = MatMul(ct[0], b, cs, bs, false, !tb)
			}
			if tb {
				db = MatMul(ct[0], a, cs, as, true, ta)
			} else {
				db = MatMul(a, ct[0], as, cs, !ta, false)
			}
			return []tensor.Tensor{da, db, nil, nil}
		},
	})
}

// MatMul multiplies pairs of matrices of different sizes. The elements of all matrices of one side
// are concatenated in a vector, each in row-major order, and their numbers of rows and columns are
// the rows of its sizes.
//
//	a: [Σ mᵢkᵢ], b: [Σ kᵢnᵢ], aSizes, bSizes: int64[pairs, 2] → [Σ mᵢnᵢ], numbers
//
// The sizes of a transposed side are those before transposing. Gradient: products of the same kind.
func MatMul(a, b, aSizes, bSizes any, transposeA, transposeB bool) tensor.Tensor {
	return op.Eval(matMulOp, a, b, aSizes, bSizes, transposeA, transposeB)
}

// products are pairs of matrices.
type products struct {
	as, bs []int64 // rows and columns of each
	ta, tb bool
}

// product is one pair of matrices.
type product struct{ m, k, n, a, b, c, ar, ac, br, bc int }

// A misfit says why matrices cannot be multiplied, and which pair it is if it is one.
type misfit struct {
	pair    int // or -1
	problem string
}

// next sets p, which is the pair before, to pair i.
func (ps *products) next(p *product, i int) *misfit {
	if i > 0 {
		p.a += int(ps.as[2*i-2] * ps.as[2*i-1])
		p.b += int(ps.bs[2*i-2] * ps.bs[2*i-1])
		p.c += p.m * p.n
	}
	for _, n := range [...]int64{ps.as[2*i], ps.as[2*i+1], ps.bs[2*i], ps.bs[2*i+1]} {
		if n < 0 || n > 1<<40 {
			return &misfit{-1, fmt.Sprintf("matrix %d has a size of %d", i, n)}
		}
	}
	p.m, p.k = int(ps.as[2*i]), int(ps.as[2*i+1])
	p.ar, p.ac = p.k, 1
	if ps.ta {
		p.m, p.k, p.ar, p.ac = p.k, p.m, 1, p.k
	}
	inner, n := int(ps.bs[2*i]), int(ps.bs[2*i+1])
	p.n, p.br, p.bc = n, n, 1
	if ps.tb {
		inner, p.n, p.br, p.bc = n, inner, 1, n
	}
	if inner != p.k {
		return &misfit{i, fmt.Sprintf("the inner sizes %d and %d differ", p.k, inner)}
	}
	return nil
}

// multiplied returns the concatenated products of matrices whose elements are x and y.
func (ps products) multiplied(x, y *tensor.Dense) (*tensor.Dense, *misfit) {
	if len(ps.as) != len(ps.bs) {
		return nil, &misfit{-1, fmt.Sprintf("there are %d and %d matrices", len(ps.as)/2, len(ps.bs)/2)}
	}
	var p product
	a, b, c := 0, 0, 0 // elements of each so far
	for i := range len(ps.as) / 2 {
		if bad := ps.next(&p, i); bad != nil {
			return nil, bad
		}
		a, b, c = p.a+p.m*p.k, p.b+p.k*p.n, p.c+p.m*p.n
	}
	if a != x.Len() || b != y.Len() {
		return nil, &misfit{-1, fmt.Sprintf("the sizes name %d and %d elements, there are %d and %d", a, b, x.Len(), y.Len())}
	}
	out := tensor.NewDense(x.DType(), shape.Of(c))
	multipliers[out.DType()](out, x, y, ps)
	return out, nil
}

func matMulKernel(c *op.Call) ([]tensor.Tensor, error) {
	x, y := c.Dense(0), c.Dense(1)
	d := x.DType()
	if multipliers[d] == nil { // 16 bits: sums have 32
		x, y = ops.Cast(x, dtype.Float32).(*tensor.Dense), ops.Cast(y, dtype.Float32).(*tensor.Dense)
	}
	out, bad := products{tensor.Elems[int64](c.Dense(2)), tensor.Elems[int64](c.Dense(3)), c.Bool(4), c.Bool(5)}.multiplied(x, y)
	if bad != nil {
		e := c.Errorf(tenon.ErrShape, "%s", bad.problem)
		if bad.pair >= 0 {
			e.Where = fmt.Sprintf("matrix %d", bad.pair)
		}
		return nil, e
	}
	return results(ops.Cast(out, d))
}

// multipliers multiply matrices of an element type.
var multipliers = [dtype.String + 1]func(out, x, y *tensor.Dense, ps products){
	dtype.Int8: multiply[int8], dtype.Int16: multiply[int16], dtype.Int32: multiply[int32], dtype.Int64: multiply[int64],
	dtype.Uint8: multiply[uint8], dtype.Uint16: multiply[uint16], dtype.Uint32: multiply[uint32], dtype.Uint64: multiply[uint64],
	dtype.Float32: multiply[float32], dtype.Float64: multiply[float64], dtype.Complex64: multiply[complex64], dtype.Complex128: multiply[complex128],
}

func multiply[T full](out, x, y *tensor.Dense, ps products) {
	dst, a, b := tensor.Elems[T](out), tensor.Elems[T](x), tensor.Elems[T](y)
	var p product
	for i := range len(ps.as) / 2 {
		if ps.next(&p, i) != nil || p.m == 0 || p.n == 0 {
			continue
		}
		gemm.Multiply(gemm.Params[T]{M: p.m, N: p.n, K: p.k, A: a[p.a:], B: b[p.b:], C: dst[p.c:],
			ARow: p.ar, ACol: p.ac, BRow: p.br, BCol: p.bc, CRow: p.n, CCol: 1, Alpha: 1})
	}
}

// full is the set of element types of products: all numbers of full precision.
type full interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64 | complex64 | complex128
}
