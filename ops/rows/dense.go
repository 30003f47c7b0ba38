package rows

import (
	"errors"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/internal/kernel/str"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

var toDenseOp, fromDenseOp *op.Op

func init() {
	toDenseOp = op.Register(&op.Op{
		Name: "ragged.to_dense", Statement: op.Statement{Axes: op.Regroup, By: op.ByRows, Moves: one | four, Control: two | three, Fills: true, Zero: op.Zero{Keeps: true, Linear: []op.Operands{one | four}}}, Doc: "Rows padded to equal length.",
		Params: []op.Param{{Name: "values", Group: 1}, splitsParam, sizeParam("width"), {Name: "fill", Group: 1, Optional: true}}, Results: 1,
		Shape: func(c *op.Call) (shape.Shape, error) {
			nrows, item := rowsOf(c)
			wantFill(c, 3, item)
			return outer(nrows, outer(count(c, 2), item)), nil
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			x, s := c.Tensor(0), outShape(c, 0)
			splits := rowSplits(c, 1, lead(x))
			if x, ok := x.(*tensor.Strings); ok && x.Shape().Rank() == 1 {
				fill := move.Column(fillOf(c, 3).(*tensor.Strings)).At(0)
				return results(move.Tensor(str.Pad(move.Column(x), splits, s.Dim(1), fill), s))
			}
			return results(move.ApplyList([]tenon.Value{x, fillOf(c, 3)}, func(ds []*tensor.Dense) *tensor.Dense {
				out := tensor.Uninit(ds[0].DType(), s)
				if out.Len() > 0 {
					moverOf(out).pad(out, ds[0], splits, s.Dim(1), innerSize(ds[0]), ds[1])
				}
				return out
			}))
		},
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			g := make([]tensor.Tensor, len(c.Values()))
			x := c.Tensor(0)
			g[0] = known(op.Eval(fromDenseOp, ct[0], c.Value(1), true), x.Shape())
			if c.Has(3) {
				// Everything that does not come from a value is fill.
				margin := ops.Sub(ct[0], ToDense(g[0], c.Value(1), c.Value(2), nil))
				g[3] = ops.SumTo(margin, ops.Shape(c.Tensor(3)))
			}
			return g
		},
	})
	fromDenseOp = op.Register(&op.Op{
		Name: "ragged.from_dense", Statement: op.Statement{Axes: op.Regroup, By: op.ByRows, Moves: one, Control: two, Fills: true, Zero: movedZero}, Doc: "The first items of each row.",
		Params: []op.Param{{Name: "dense", Rank: 2}, splitsParam, {Name: "partial", Kind: op.Attr, Type: op.BoolType, Default: false}}, Results: 1,
		Shape: func(c *op.Call) (shape.Shape, error) {
			nrows, nvals := partition(c, 1)
			s := c.Tensor(0).Shape()
			if !s.HasRank() {
				return s, nil
			}
			agree(c, tenon.ErrShape, "dense has %d rows, the row splits %d", s.Dim(0), nrows)
			return outer(nvals, s.Tail(2)), nil
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			splits := rowSplits(c, 1, -1)
			x := c.Tensor(0)
			out, err := taken(x, splits)
			if err != nil && !c.Bool(2) {
				return nil, tooLong(c, splits, x.Shape().Dim(1))
			} else if err != nil {
				out = tenon.Must(taken(widened(x, int(segment.MaxLength(splits))), splits))
			}
			return results(out)
		},
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			x := c.Tensor(0)
			g := ToDense(ct[0], c.Value(1), ops.Index(ops.Shape(x), 1), nil)
			return []tensor.Tensor{known(g, x.Shape())}
		},
	})
}

// taken returns the first items of each row of x. It is an error if a row has more values than x
// has columns.
func taken(x tensor.Tensor, splits []int64) (out tensor.Tensor, err error) {
	width, item, n := x.Shape().Dim(1), x.Shape().Tail(2), int(splits[len(splits)-1])
	// Allocate nothing for rows that cannot be valid.
	if n > (len(splits)-1)*width || item.Size() == 0 && segment.MaxLength(splits) > int64(width) {
		return nil, errNarrow
	}
	s := outer(n, item)
	out = move.Apply(x, func(d *tensor.Dense) *tensor.Dense {
		y := tensor.Uninit(d.DType(), s)
		if y.Len() > 0 && err == nil {
			if err = moverOf(d).unpad(y, d, splits, width, item.Size()); err != nil {
				y = tensor.NewDense(d.DType(), s) // strings are looked up by position afterwards
			}
		}
		return y
	})
	return out, err
}

var errNarrow = errors.New("rows are longer than dense is wide")

// tooLong returns the error for the first row that has more values than dense has
// columns.
func tooLong(c *op.Call, splits []int64, width int) error {
	for r := range splits[1:] {
		if n := splits[r+1] - splits[r]; n > int64(width) {
			return c.Errorf(tenon.ErrInvalid, "row %d has %d values, dense has %d columns", r, n, width)
		}
	}
	return nil
}

// widened returns dense padded with columns of zeros to the given width.
func widened(x tensor.Tensor, width int) tensor.Tensor {
	p := make([][]int, x.Shape().Rank())
	for i := range p {
		p[i] = []int{0, 0}
	}
	p[1][1] = width - x.Shape().Dim(1)
	out := ops.Pad(x, p, ops.PadOptions{})
	if d, ok := out.(*tensor.Dense); ok {
		return tensor.Contiguous(d)
	}
	return out
}

// ToDense returns rows of equal width: longer ones are truncated, shorter ones padded with fill,
// which is a scalar or an item, or nil for zero. width is an integer or a scalar tensor.
//
//	values: [nvals, a], splits → [rows, width, a], any element type.
//	Gradient: each value gets the cotangent at its position, fill those of the padding.
func ToDense(values, splits, width, fill any) tensor.Tensor {
	return op.Eval(toDenseOp, values, splits, width, fill)
}

// FromDense returns the first items of each row of dense, as many as the row splits say. It is an
// error that names the row if dense has too few columns for it.
//
//	dense: [rows, width, a], splits → [nvals, a], any element type.
//	Gradient: the cotangent at the selected items, 0 elsewhere.
func FromDense(dense, splits any) tensor.Tensor {
	return op.Eval(fromDenseOp, dense, splits, false)
}

var unpaddedOp = op.Register(&op.Op{
	Name: "ragged.unpadded_lengths", Statement: op.Statement{Axes: op.Opaque, Control: two, Missing: op.Refuse, Counts: op.First, Why: "the second axis goes, and those behind it are one item"}, Doc: "The lengths of rows without the padding at their end.", Nondifferentiable: true,
	Params: []op.Param{{Name: "dense", Group: 1, Rank: 2}, {Name: "padding", Group: 1}}, Results: 1,
	Shape: func(c *op.Call) (shape.Shape, error) {
		s := c.Tensor(0).Shape()
		if !s.HasRank() {
			return shape.Of(shape.Unknown), nil
		}
		wantFill(c, 1, s.Tail(2))
		return shape.Of(s.Dim(0)), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x, ok := c.Tensor(0).(*tensor.Strings)
		if !ok {
			return results(unpadded(c.Dense(0), c.Dense(1)))
		}
		out, n := tensor.Make[int64](outShape(c, 0))
		if width, inner := x.Shape().Dim(1), x.Shape().Tail(2).Size(); inner > 0 {
			unpaddedStrings(n, x, c.Strings(1), width, inner)
		}
		return results(out)
	},
})

// unpadded returns the number of items of each row of x without padding.
func unpadded(x, padding *tensor.Dense) *tensor.Dense {
	out, n := tensor.Make[int64](shape.Of(x.Dim(0)))
	width, inner := x.Dim(1), x.Shape().Tail(2).Size()
	if len(n) == 0 || inner == 0 {
		return out
	}
	var by mover
	switch d := x.DType(); d { // by value: both zeros are equal
	case dtype.Float32:
		by = sized[float32]{}
	case dtype.Float64:
		by = sized[float64]{}
	case dtype.Complex64:
		by = sized[complex64]{}
	case dtype.Complex128:
		by = sized[complex128]{}
	default:
		if d.IsFloat() {
			eq := ops.Equal(x, padding)
			x, padding = tensor.Contiguous(eq.(*tensor.Dense)), tensor.Scalar(true).(*tensor.Dense)
		}
		by = moverOf(x)
	}
	by.unpadded(n, x, width, inner, padding)
	return out
}

// UnpaddedLengths returns the number of items of each row of dense without trailing items that
// equal padding, a scalar or an item.
//
//	dense: [rows, width, a], padding: [] or [a] → int64[rows], any element type. No gradient.
func UnpaddedLengths(dense, padding any) tensor.Tensor {
	return op.Eval(unpaddedOp, dense, padding)
}

func unpaddedStrings(out []int64, x, padding *tensor.Strings, width, inner int) {
	for r := range out {
		n := width
		for ; n > 0; n-- {
			if !samePadding(x, padding, (r*width+n-1)*inner, inner) {
				break
			}
		}
		out[r] = int64(n)
	}
}

func samePadding(x, padding *tensor.Strings, at, inner int) bool {
	for i := range inner {
		if x.At(at+i) != padding.At(i%padding.Len()) {
			return false
		}
	}
	return true
}
