package rows

import (
	"strconv"

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

func rowName(r int) string { return "row " + strconv.Itoa(r) }

func positionName(i int) string { return "position " + strconv.Itoa(i) }

// Rows that are padded, and items some of which are missing.

// filledSplits returns the row splits of rows padded to at least the given width.
func filledSplits(c *op.Call, splits []int64, width int) (*tensor.Dense, []int64) {
	n := len(splits) - 1
	if width > 0 && n > (1<<60)/width {
		tenon.Throw(c.Errorf(tenon.ErrShape, "%d rows of %d entries are more than memory holds", n, width))
	}
	d, out := fresh(n + 1)
	segment.FillUpSplits(out, splits, width)
	fits(c, dtype.Int64, shape.Of(int(out[n])))
	return d, out
}

var fillUpOp, takePresentOp *op.Op

func init() {
	fillUpOp = op.Register(&op.Op{
		Name: "ragged.fill_up", Statement: op.Statement{Axes: op.Regroup, By: op.ByRows, Moves: one, Control: two | three, Fills: true, Zero: movedZero}, Doc: "Rows padded at their ends to a minimum length.",
		Params: []op.Param{{Name: "values"}, splitsParam, sizeParam("width")}, Results: 2,
		Infer: func(c *op.Call) ([]tenon.Spec, error) {
			nrows, item := rowsOf(c)
			count(c, 2)
			return specs(like(c, 0, outer(shape.Unknown, item)), ends(c, 1, nrows))
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			x, width := c.Tensor(0), int(wide(c.Dense(2))[0])
			splits := rowSplits(c, 1, lead(x))
			d, ends := filledSplits(c, splits, width)
			s := x.Shape().With(0, int(ends[len(ends)-1]))
			fits(c, x.DType(), s)
			t := splitsIn(c, c.Tensor(1).DType(), d)
			if x, ok := x.(*tensor.Dense); ok {
				out := tensor.Uninit(x.DType(), s)
				segment.FillUp(out.Bytes(), ends, x.Bytes(), splits, width, innerSize(x)*x.DType().Size())
				return results(out, t)
			}
			at, there := make([]int64, s.Dim(0)), make([]bool, s.Dim(0))
			for r := range len(splits) - 1 {
				for i := splits[r]; i < splits[r+1]; i++ {
					to := ends[r] + i - splits[r]
					at[to], there[to] = i, true
				}
			}
			out, _ := present(x, at, there)
			return results(out, t)
		},
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			g := ops.BooleanMask(ct[0], Present(c.Value(1), c.Value(2), false), 0)
			return []tensor.Tensor{known(g, c.Tensor(0).Shape())}
		},
	})
	takePresentOp = op.Register(&op.Op{
		Name: "ragged.take_present", Statement: op.Statement{Axes: op.Select, By: op.ByRows, Moves: one, Control: two | three, Fills: true, Zero: movedZero}, Doc: "Items by number, with zero for missing ones.",
		Params: []op.Param{{Name: "values"}, indices("at"), {Name: "there", Takes: op.Bools, Rank: op.Vector}}, Results: 1,
		Shape: func(c *op.Call) (shape.Shape, error) {
			n := agree(c, tenon.ErrShape, "there are %d positions and %d booleans", length(c, 1), length(c, 2))
			return outer(n, items(c, 0, shape.Unknown)), nil
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			x, at, there := c.Tensor(0), wide(c.Dense(1)), tensor.Data[bool](c.Dense(2))
			fits(c, x.DType(), x.Shape().With(0, len(at)))
			out, bad := present(x, at, there)
			if bad >= 0 {
				return nil, c.Errorf(tenon.ErrRange, "%d is out of bounds for %d items", at[bad], lead(x)).At(positionName(bad))
			}
			return results(out)
		},
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			at := ops.Where(c.Value(2), ops.Cast(c.Value(1), dtype.Int64), int64(-1)) // negative numbers belong to no item
			return []tensor.Tensor{scattered(c, ct[0], at)}
		},
	})
}

// present returns items by number, with zero for missing ones, and the first number that is out of
// range, or -1.
func present(x tensor.Tensor, at []int64, there []bool) (tensor.Tensor, int) {
	n := int64(lead(x))
	for i, k := range at {
		if there[i] && uint64(k) >= uint64(n) {
			return nil, i
		}
	}
	s := x.Shape().With(0, len(at))
	switch x := x.(type) {
	case *tensor.Dense:
		out := tensor.NewDense(x.DType(), s)
		size := innerSize(x) * x.DType().Size()
		dst, src := out.Bytes(), x.Bytes()
		for i, k := range at {
			if there[i] {
				copy(dst[i*size:(i+1)*size], src[int(k)*size:])
			}
		}
		return out, -1
	case *tensor.Strings:
		if c, ok := str.GatherWhere(move.Column(x), at, there); ok && s.Rank() == 1 {
			return move.Tensor(c, s), -1
		}
	}
	behind := make([]int64, len(at))
	for i, k := range at {
		if behind[i] = n; there[i] {
			behind[i] = k
		}
	}
	filler := ops.Zeros(x.DType(), x.Shape().With(0, 1))
	return ops.Gather(ops.Concat([]tensor.Tensor{x, filler}, 0), tensor.Vector(behind), 0), -1
}

// FillUp returns rows padded to at least the given width, an integer or a scalar tensor: zeros,
// false or empty strings are appended to shorter ones.
//
//	values: [nvals, a], splits, width → [m, a], int[rows+1], any element type.
//	Gradient: the cotangents of the values.
func FillUp(values, splits, width any) (outValues, outSplits tensor.Tensor) {
	out := op.EvalN(fillUpOp, values, splits, width)
	return out[0], out[1]
}

// TakePresent returns the items of values by number where there is true, and zeros, false or empty
// strings elsewhere. A number out of range is an error that names it.
//
//	values: [n, a], at: int[m], there: bool[m] → [m, a], any element type.
//	Gradient: each item gets the sum of the cotangents of its copies.
func TakePresent(values, at, there any) tensor.Tensor {
	return op.Eval(takePresentOp, values, at, there)
}

var presentOp = op.Register(&op.Op{
	Name: "ragged.present", Statement: makes(0, 0), Doc: "Which items of padded rows are not padding.",
	Params: []op.Param{splitsParam, sizeParam("width"), {Name: "clip", Kind: op.Attr, Type: op.BoolType, Default: false}}, Results: 1,
	Elem: func(*op.Call, dtype.DType) dtype.DType { return dtype.Bool },
	Shape: func(c *op.Call) (shape.Shape, error) {
		nrows, _ := partition(c, 0)
		width, n := count(c, 1), shape.Unknown
		if c.Bool(2) && width >= 0 && nrows >= 0 {
			if _, err := shape.Of(nrows, width).CheckedSize(1); err != nil {
				return shape.Shape{}, c.Errorf(tenon.ErrShape, "%d rows of %d entries are more than memory holds", nrows, width)
			}
			n = nrows * width
		}
		return shape.Of(n), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		width := int(wide(c.Dense(1))[0])
		splits := rowSplits(c, 0, -1)
		var ends []int64
		n := (len(splits) - 1) * width
		if !c.Bool(2) {
			_, ends = filledSplits(c, splits, width)
			n = int(ends[len(ends)-1])
		}
		out, there := tensor.Make[bool](shape.Of(n))
		segment.Present(there, ends, splits, width)
		return results(out)
	},
})

// Present returns which items of the rows returned by [FillUp] are not padding or, if clip is set,
// of the rows of this width returned by [ToDense].
//
//	splits, width → bool[m]. No gradient.
func Present(splits, width any, clip bool) tensor.Tensor {
	return op.Eval(presentOp, splits, width, clip)
}
