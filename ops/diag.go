package ops

import (
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/par"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Matrices are the last two axes; the axes before them are batch axes.

var diagOp *op.Op

func init() {
	diagOp = op.Register(&op.Op{
		Name: "diag", Statement: op.Statement{Axes: op.Insert, Core: 1, Moves: one, Fills: true, Zero: movedZero}, Doc: "Matrices with given diagonals and zeros elsewhere.",
		Params: []op.Param{{Name: "x", Rank: 1}}, Results: 1,
		Shape: func(c *op.Call) (shape.Shape, error) {
			s := c.Tensor(0).Shape()
			if s.HasRank() {
				s = s.Insert(s.Rank(), s.Dim(-1))
			}
			return s, nil
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			s := outShape(c, 0)
			return c.Result(movedOver(c.Tensor(0), func(x, zero *tensor.Dense) *tensor.Dense {
				out := tensor.NewDense(x.DType(), s)
				if !isZero(zero) {
					move.Fill(out, zero)
				}
				move.CopyTo(diagonals(out), x)
				return out
			}))
		},
		VJP: func(_ *op.Call, _, ct []tensor.Tensor) []tensor.Tensor { return []tensor.Tensor{DiagPart(ct[0])} },
	})
}

// Diag returns matrices whose diagonals are the rows of x, with zeros elsewhere.
//
//	x: [b, n] → [b, n, n], any element type. Gradient: the diagonals of the cotangent.
func Diag(x any) tensor.Tensor { return op.Eval(diagOp, x) }

// movedOver applies a structural kernel that also needs a zero, which is the
// empty string for strings.
func movedOver(x tensor.Tensor, f func(d, zero *tensor.Dense) *tensor.Dense) tensor.Tensor {
	if d, ok := x.(*tensor.Dense); ok {
		return f(d, zeroOf(d.DType()).(*tensor.Dense))
	}
	return move.ApplyList([]tenon.Value{x, zeroOf(x.DType())}, func(ds []*tensor.Dense) *tensor.Dense {
		return f(ds[0], ds[1])
	})
}

// diagonals returns a view of the diagonals of matrices.
func diagonals(x *tensor.Dense) *tensor.Dense {
	s, strides := x.Shape(), x.Strides()
	k := s.Rank() - 2
	n := min(s.Dim(k), s.Dim(k+1))
	return x.View(0, s.Slice(0, k).Insert(k, n), append(strides[:k:k], strides[k]+strides[k+1]))
}

var diagPartOp = op.Register(&op.Op{
	Name: "diag_part", Statement: op.Statement{Axes: op.Remove, Core: 2, Moves: one, Zero: movedZero}, Doc: "The diagonals of matrices.", Strided: true,
	Params: []op.Param{{Name: "x", Rank: 2}}, Results: 1,
	Shape: func(c *op.Call) (shape.Shape, error) {
		s := c.Tensor(0).Shape()
		if s.HasRank() {
			k := s.Rank() - 2
			n := min(s.Dim(k), s.Dim(k+1)) // -1 if one is not known
			s = s.Slice(0, k).Insert(k, n)
		}
		return s, nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) { return c.Result(move.Apply(c.Tensor(0), diagonals)) },
})

var _ = gradient(diagPartOp, func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
	x := c.Tensor(0)
	g := Diag(ct[0]) // square: pad to the sizes of the matrix
	s := x.Shape()
	if s.HasRank() && s.Dim(-1) >= 0 && s.Dim(-1) == s.Dim(-2) {
		return []tensor.Tensor{known(g, s)}
	}
	missing := Sub(Shape(x), Shape(g))
	g = Pad(g, Stack([]any{ZerosLike(missing), missing}, 1), PadOptions{})
	return []tensor.Tensor{known(g, s)}
})

// DiagPart returns the diagonals of matrices, as a view.
//
//	x: [b, m, n] → [b, min(m, n)], any element type. Gradient: the cotangent on the diagonals.
func DiagPart(x any) tensor.Tensor { return op.Eval(diagPartOp, x) }

// Trace returns the sums of the diagonals of matrices.
//
//	x: [b, m, n] → [b], numbers. Gradient: the cotangent at every place of the diagonal.
func Trace(x any) tensor.Tensor { return Sum(DiagPart(x), -1) }

var bandPartOp = op.Register(&op.Op{
	Name: "band_part", Statement: op.Statement{Axes: op.Along, Core: 2, Moves: one, Fills: true, Zero: movedZero}, Doc: "Matrices with zeros outside some diagonals.",
	Params: []op.Param{{Name: "x"}, {Name: "first", Kind: op.Attr, Type: op.IntType, Optional: true},
		{Name: "last", Kind: op.Attr, Type: op.IntType, Optional: true}}, Results: 1,
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		first, last := math.MinInt, math.MaxInt
		if c.Has(1) {
			first = c.Int(1)
		}
		if c.Has(2) {
			last = c.Int(2)
		}
		return c.Result(movedOver(c.Tensor(0), func(x, zero *tensor.Dense) *tensor.Dense { return banded(x, zero, first, last) }))
	},
})

var _ = gradient(bandPartOp, func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
	return []tensor.Tensor{op.Eval(bandPartOp, ct[0], c.Args[1], c.Args[2])}
})

// BandPart returns matrices that keep only the main diagonal, lower diagonals below it and upper
// diagonals above it, with zeros elsewhere; -1 keeps all diagonals on that side.
//
//	x: [b, m, n] → [b, m, n], any element type. Gradient: the cotangent's band.
func BandPart(x any, lower, upper int) tensor.Tensor {
	var first, last any
	if lower >= 0 {
		first = -lower
	}
	if upper >= 0 {
		last = upper
	}
	return op.Eval(bandPartOp, x, first, last)
}

// Tril returns matrices with zeros above diagonal k. Diagonal 0 is the main one; positive numbers
// are above it.
//
//	x: [b, m, n] → [b, m, n], any element type. Gradient: the cotangent's lower triangle.
func Tril(x any, k int) tensor.Tensor { return op.Eval(bandPartOp, x, nil, k) }

// Triu returns matrices with zeros below diagonal k. Diagonal 0 is the main one; positive numbers
// are above it.
//
//	x: [b, m, n] → [b, m, n], any element type. Gradient: the cotangent's upper triangle.
func Triu(x any, k int) tensor.Tensor { return op.Eval(bandPartOp, x, k, nil) }

// banded keeps the elements whose column minus row is between first and last.
func banded(x, zero *tensor.Dense, first, last int) *tensor.Dense {
	out := tensor.NewDense(x.DType(), x.Shape())
	if !isZero(zero) {
		move.Fill(out, zero)
	}
	if out.Len() == 0 {
		return out
	}
	m, n := x.Dim(-2), x.Dim(-1)
	first, last = min(max(first, -m), n), min(max(last, -m-1), n)
	size := x.DType().Size()
	dst, src := out.Bytes(), x.Bytes()
	band := func(from, to int) { // of the consecutive rows of all matrices
		for r := from; r < to; r++ {
			i := r % m
			lo, hi := max(0, i+first), min(i+last+1, n)
			if lo < hi {
				copy(dst[(r*n+lo)*size:(r*n+hi)*size], src[(r*n+lo)*size:])
			}
		}
	}
	const piece = 256 << 10
	par.For(out.Len()/n, max(1, piece/(n*size)), band)
	return out
}
