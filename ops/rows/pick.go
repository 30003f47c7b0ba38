package rows

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/arena"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/internal/kernel/str"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

var gatherOp, gatherIndexOp *op.Op

func init() {
	gatherOp = op.Register(&op.Op{
		Name: "ragged.gather", Statement: moves(op.Select, two|three), Doc: "Rows, by number.",
		Params: []op.Param{{Name: "values"}, splitsParam, indices("indices")}, Results: 2,
		Infer: func(c *op.Call) ([]tenon.Spec, error) {
			_, item := rowsOf(c)
			return specs(like(c, 0, outer(shape.Unknown, item)), ends(c, 1, length(c, 2)))
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			x := c.Tensor(0)
			splits := rowSplits(c, 1, lead(x))
			idx := wide(c.Dense(2))
			lent, starts := arena.Lend[int64](len(idx))
			defer lent.Release()
			to, out := gatheredSplits(c, starts, splits, idx)
			s := outer(int(out[len(idx)]), x.Shape().Tail(1))
			fits(c, x.DType(), s)
			return results(rowsFrom(x, s, out, starts), splitsIn(c, c.Tensor(1).DType(), to))
		},
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			_, at := GatherIndex(c.Value(1), c.Value(2))
			return []tensor.Tensor{scattered(c, ct[0], at)}
		},
	})
	gatherIndexOp = op.Register(&op.Op{
		Name: "ragged.gather_index", Statement: makes(op.First, 0), Doc: "Rows, by number, as an index.",
		Params: []op.Param{splitsParam, indices("indices")}, Results: 2,
		Infer: func(c *op.Call) ([]tenon.Spec, error) {
			partition(c, 0)
			return specs(ends(c, 0, length(c, 1)), positions(shape.Unknown))
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			splits := rowSplits(c, 0, -1)
			idx := wide(c.Dense(1))
			lent, starts := arena.Lend[int64](len(idx))
			defer lent.Release()
			to, out := gatheredSplits(c, starts, splits, idx)
			index, at := fresh(int(out[len(idx)]))
			segment.GatherPositions(at, out, starts)
			return results(splitsIn(c, c.Tensor(0).DType(), to), index)
		},
	})
}

// gatheredSplits returns the row splits of the rows idx, and sets starts to the beginnings of these
// rows. It checks the indices, and that memory can hold all the values.
func gatheredSplits(c *op.Call, starts, splits, idx []int64) (*tensor.Dense, []int64) {
	to, out := fresh(len(idx) + 1)
	total, err := segment.GatherSplits(out, starts, splits, idx)
	tenon.Throw(rowError(c, "indices", err))
	fits(c, dtype.Int64, shape.Of(int(total)))
	return to, out
}

// scattered adds up cotangents at the positions from which the values came.
func scattered(c *op.Call, ct, at tensor.Tensor) tensor.Tensor {
	x := c.Tensor(0)
	n := ops.Index(ops.Shape(x), 0)
	return known(ops.SegmentSum(ct, at, n), x.Shape())
}

// known adds the sizes in s to what is known of the shape of x.
func known(x tensor.Tensor, s shape.Shape) tensor.Tensor {
	if x.Shape().SubtypeOf(s) {
		return x
	}
	return ops.EnsureShape(x, s)
}

// Gather returns rows by number, concatenated. A number out of range is an error that names it.
//
//	values: [nvals, a], splits, indices: int[n] → [m, a], int[n+1], any element type.
//	Gradient: each value gets the sum of the cotangents of its copies.
func Gather(values, splits, indices any) (outValues, outSplits tensor.Tensor) {
	out := op.EvalN(gatherOp, values, splits, indices)
	return out[0], out[1]
}

// GatherIndex returns the row splits of rows selected by number, and the positions of their values.
//
//	splits, indices: int[n] → int[n+1], int64[m]. No gradient.
func GatherIndex(splits, indices any) (outSplits, index tensor.Tensor) {
	out := op.EvalN(gatherIndexOp, splits, indices)
	return out[0], out[1]
}

var maskSplitsOp = op.Register(&op.Op{
	Name: "ragged.mask_splits", Statement: makes(op.First, 0), Doc: "The row splits that remain if only some values are kept.",
	Params: []op.Param{splitsParam, {Name: "mask", Takes: op.Bools, Rank: op.Vector}}, Results: 1,
	Elem: same,
	Shape: func(c *op.Call) (shape.Shape, error) {
		nrows, nvals := partition(c, 0)
		agree(c, tenon.ErrShape, "the mask has %d entries, there are %d values", length(c, 1), nvals)
		return shape.Of(plusOne(nrows)), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		mask := tensor.Elems[bool](c.Dense(1))
		splits := rowSplits(c, 0, len(mask))
		to, out := fresh(len(splits))
		segment.MaskSplits(out, splits, mask)
		return results(splitsIn(c, c.Tensor(0).DType(), to))
	},
})

// MaskSplits returns the row splits that remain if only the values for which mask is true are kept;
// ops.BooleanMask keeps these.
//
//	splits, mask: bool[nvals] → int[rows+1]. No gradient.
func MaskSplits(splits, mask any) tensor.Tensor { return op.Eval(maskSplitsOp, splits, mask) }

var sliceOp, sliceIndexOp *op.Op

var sliceParams = []op.Param{optional(sizeParam("start")), optional(sizeParam("stop")), optional(sizeParam("step"))}

func init() {
	sliceOp = op.Register(&op.Op{
		Name: "ragged.slice", Statement: moves(op.Select, two|three|four|five), Doc: "A range of each row.",
		Params: append(append([]op.Param{}, valuesParams...), sliceParams...), Results: 2,
		Infer: func(c *op.Call) ([]tenon.Spec, error) {
			nrows, item := rowsOf(c)
			sliceOf(c, 2)
			return specs(like(c, 0, outer(shape.Unknown, item)), ends(c, 1, nrows))
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			x := c.Tensor(0)
			splits := rowSplits(c, 1, lead(x))
			sl := sliceOf(c, 2)
			to, out := fresh(len(splits))
			s := outer(int(segment.SliceSplits(out, splits, sl)), x.Shape().Tail(1))
			if x, ok := x.(*tensor.Strings); ok && s.Rank() == 1 {
				lent, at := arena.Lend[int64](s.Dim(0))
				defer lent.Release()
				segment.SelectPositions(at, out, splits, sl)
				col, err := str.Gather(move.Column(x), at)
				tenon.Throw(err)
				return results(move.Tensor(col, s), splitsIn(c, c.Tensor(1).DType(), to))
			}
			values := move.Apply(x, func(d *tensor.Dense) *tensor.Dense {
				y := tensor.Uninit(d.DType(), s)
				if y.Len() > 0 {
					moverOf(d).choose(y, d, out, splits, sl, innerSize(d))
				}
				return y
			})
			return results(values, splitsIn(c, c.Tensor(1).DType(), to))
		},
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			index := op.EvalN(sliceIndexOp, c.Value(1), c.Args[2], c.Args[3], c.Args[4])
			return []tensor.Tensor{scattered(c, ct[0], index[1])}
		},
	})
	sliceIndexOp = op.Register(&op.Op{
		Name: "ragged.slice_index", Statement: makes(op.First, 0), Doc: "A range of each row, as an index.",
		Params: append([]op.Param{splitsParam}, sliceParams...), Results: 2,
		Infer: func(c *op.Call) ([]tenon.Spec, error) {
			nrows, _ := partition(c, 0)
			sliceOf(c, 1)
			return specs(ends(c, 0, nrows), positions(shape.Unknown))
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			splits := rowSplits(c, 0, -1)
			sl := sliceOf(c, 1)
			to, out := fresh(len(splits))
			at := make([]int64, segment.SliceSplits(out, splits, sl))
			segment.SelectPositions(at, out, splits, sl)
			return results(splitsIn(c, c.Tensor(0).DType(), to), tensor.Vector(at))
		},
	})
}

// sliceOf reads the bounds of a range, arguments i to i+2, if they are known.
func sliceOf(c *op.Call, i int) (s segment.Slice) {
	bound := func(i int) (n int64, has bool) {
		if v, ok := c.ConstInts(i); ok && c.Has(i) {
			return int64(v[0]), true
		}
		return 0, false
	}
	s.Start, s.HasStart = bound(i)
	s.Stop, s.HasStop = bound(i + 1)
	step, has := bound(i + 2)
	if s.Step = step; has && step == 0 {
		tenon.Throw(c.Errorf(tenon.ErrInvalid, "the step is 0"))
	}
	return s
}

// Slice returns the part of each row that k, a range of package key, selects.
//
//	values: [nvals, a], splits → [m, a], int[rows+1], any element type.
//	Gradient: the cotangent at the selected values, 0 elsewhere.
func Slice(values, splits any, k key.Key) (outValues, outSplits tensor.Tensor) {
	out := op.EvalN(sliceOp, values, splits, k.Start, k.Stop, k.Step)
	return out[0], out[1]
}

// SliceIndex returns the row splits of the part of each row that k, a range of
// package key, selects, and the positions of its values.
//
//	splits → int[rows+1], int64[m]. No gradient.
func SliceIndex(splits any, k key.Key) (outSplits, index tensor.Tensor) {
	out := op.EvalN(sliceIndexOp, splits, k.Start, k.Stop, k.Step)
	return out[0], out[1]
}

var pickOp = op.Register(&op.Op{
	Name: "ragged.pick", Statement: op.Statement{Axes: op.Select, By: op.ByRows, Moves: one | four, Control: two | three, Fills: true, Zero: op.Zero{Keeps: true, Linear: []op.Operands{one | four}}}, Doc: "One item of each row.",
	Params: []op.Param{{Name: "values", Group: 1}, splitsParam, {Name: "at", Takes: op.Indices}, {Name: "fill", Group: 1, Optional: true}}, Results: 2,
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		nrows, item := rowsOf(c)
		forRows(c, 2, nrows)
		wantFill(c, 3, item)
		return specs(like(c, 0, outer(nrows, item)), spec(dtype.Bool, shape.Of(nrows)))
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x := c.Tensor(0)
		splits := rowSplits(c, 1, lead(x))
		s := outShape(c, 0)
		found, has := tensor.Make[bool](outShape(c, 1))
		at := wide(c.Dense(2))
		out := move.ApplyList([]tenon.Value{x, fillOf(c, 3)}, func(ds []*tensor.Dense) *tensor.Dense {
			y := tensor.Uninit(ds[0].DType(), s)
			if inner := innerSize(ds[0]); len(has) > 0 {
				moverOf(y).pick(y, has, ds[0], splits, at, inner, ds[1])
			}
			return y
		})
		return results(out, found)
	},
	VJP: func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		g := make([]tensor.Tensor, len(c.Values()))
		found := perRow(c, out[1])
		zero := ops.Cast(0, ct[0].DType())
		starts := ops.Index(ops.Cast(c.Value(1), dtype.Int64), key.To(-1))
		p := ops.Cast(c.Value(2), dtype.Int64)
		p = ops.Where(ops.Less(p, 0), ops.Add(p, ops.Cast(Lengths(c.Value(1)), dtype.Int64)), p)
		at := ops.Where(out[1], ops.Add(starts, p), int64(-1)) // negative ids belong to no item
		g[0] = scattered(c, ops.Where(found, ct[0], zero), at)
		if c.Has(3) {
			g[3] = ops.SumTo(ops.Where(found, zero, ct[0]), ops.Shape(c.Tensor(3)))
		}
		return g
	},
})

// wantFill checks that argument i, if there is one, is a single element or an item.
func wantFill(c *op.Call, i int, item shape.Shape) {
	if !c.Has(i) {
		return
	}
	if s := c.Tensor(i).Shape(); s.HasRank() && s.Rank() != 0 && !s.CompatibleWith(item) {
		tenon.Throw(c.Errorf(tenon.ErrShape, "%s has the shape %v, want a scalar or an item's %v", name(c, i), s, item))
	}
}

// forRows checks that argument i is a scalar or has an entry for each row.
func forRows(c *op.Call, i, nrows int) {
	if s := c.Tensor(i).Shape(); s.HasRank() && s.Rank() != 0 && !s.CompatibleWith(shape.Of(nrows)) {
		tenon.Throw(c.Errorf(tenon.ErrShape, "%s has the shape %v, want a scalar or one entry for each of %d rows", name(c, i), s, nrows))
	}
}

// fillOf returns argument i or, if it is omitted, zero, false or the empty string.
func fillOf(c *op.Call, i int) tensor.Tensor {
	if c.Has(i) {
		return c.Tensor(i)
	}
	return zero(c.Tensor(0).DType())
}

func zero(d dtype.DType) tensor.Tensor {
	if d.IsString() {
		return tensor.Scalar("")
	}
	return tensor.NewDense(d, shape.Shape{})
}

// Pick returns the item at a position of each row, and whether there is one. A negative position
// counts from the end of the row. A missing item is replaced by fill, a scalar or an item, or by
// zero if it is nil. at is one integer for all rows, or one for each.
//
//	values: [nvals, a], splits, at: int[] or int[rows] → [rows, a], bool[rows], any element type.
//	Gradient: each picked item gets its row's cotangent, fill the others.
func Pick(values, splits, at, fill any) (items, found tensor.Tensor) {
	out := op.EvalN(pickOp, values, splits, at, fill)
	return out[0], out[1]
}

// rowsFrom returns rows of x, in shape s, that begin at starts and have the row splits out.
func rowsFrom(x tensor.Tensor, s shape.Shape, out, starts []int64) tensor.Tensor {
	if x, ok := x.(*tensor.Strings); ok && x.Shape().Rank() == 1 {
		if col, ok := str.GatherRows(move.Column(x), out, starts); ok {
			return move.Tensor(col, s)
		}
	}
	return move.Apply(x, func(d *tensor.Dense) *tensor.Dense {
		y := tensor.Uninit(d.DType(), s)
		if y.Len() > 0 {
			moverOf(d).gather(y, d, out, starts, innerSize(d))
		}
		return y
	})
}
