package rows

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Positions in rows, and the corresponding positions among all values.

var (
	atParam    = op.Param{Name: "at", Takes: op.Indices}
	listsParam = indices("lists")
)

// listed checks positions (argument i), the splits of their lists (i+1) and the splits of the rows
// (i+2), and returns the shape of the positions.
func listed(c *op.Call, i int) shape.Shape {
	nlists, npos := partition(c, i+1)
	nrows, _ := partition(c, i+2)
	agree(c, tenon.ErrShape, "there are %d lists of positions for %d rows", nlists, nrows)
	items(c, i, npos)
	return c.Tensor(i).Shape()
}

// listsOf returns positions, the splits of their lists and the splits of the rows, for arguments
// that [listed] has checked.
func listsOf(c *op.Call, i, nvals int) (at, lists, splits []int64) {
	d := c.Dense(i)
	lists = rowSplits(c, i+1, lead(d))
	splits = rowSplits(c, i+2, nvals)
	if inner := innerSize(d); inner != 1 {
		scaled := make([]int64, len(lists))
		for r, n := range lists {
			scaled[r] = n * int64(inner)
		}
		lists = scaled
	}
	return wide(d), lists, splits
}

// noPosition returns the error for a position that does not exist in a row.
func noPosition(c *op.Call, r int, k int64, splits []int64) error {
	return c.Errorf(tenon.ErrRange, "position %d is out of bounds for %d entries", k, splits[r+1]-splits[r]).At(rowName(r))
}

var placesOp = op.Register(&op.Op{
	Name: "ragged.places", Statement: makes(op.First, 0), Doc: "Positions in rows as positions among all values.",
	Params: []op.Param{atParam, listsParam, splitsParam}, Results: 1,
	Elem:  asInt64,
	Shape: func(c *op.Call) (shape.Shape, error) { return listed(c, 0), nil },
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		at, lists, splits := listsOf(c, 0, -1)
		out := tensor.Uninit(dtype.Int64, c.Dense(0).Shape())
		if r, k := segment.Places(tensor.Data[int64](out), at, lists, splits); r >= 0 {
			return nil, noPosition(c, r, k, splits)
		}
		return results(out)
	},
})

// Places converts positions in rows to positions among all values. lists are the splits of the
// positions: list r has positions in row r, and negative ones count from the end of the row. A
// position that does not exist is an error that names the row.
//
//	at: int[m, a], lists, splits: int[rows+1] → int64[m, a]. No gradient.
func Places(at, lists, splits any) tensor.Tensor { return op.Eval(placesOp, at, lists, splits) }

var takeOp = op.Register(&op.Op{
	Name: "ragged.take", Statement: moves(op.Select, two|three|four), Doc: "Items of rows, by their positions in the rows.",
	Params: []op.Param{{Name: "values"}, atParam, listsParam, splitsParam}, Results: 1,
	Shape: func(c *op.Call) (shape.Shape, error) {
		s := listed(c, 1)
		_, nvals := partition(c, 3)
		item := items(c, 0, nvals)
		if s.HasRank() && s.Rank() != 1 {
			return s, c.Errorf(tenon.ErrShape, "at has the shape %v, want a vector", s)
		}
		return outer(s.Dim(0), item), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x := c.Tensor(0)
		at, lists, splits := listsOf(c, 1, lead(x))
		r, k := -1, int64(0)
		if d, ok := x.(*tensor.Dense); ok && d.Rank() == 1 && d.DType().Size() <= 8 {
			out := tensor.Uninit(d.DType(), shape.Of(len(at)))
			if r, k = takenItems(out, d, at, lists, splits); r >= 0 {
				return nil, noPosition(c, r, k, splits)
			}
			return results(out)
		}
		index, places := fresh(len(at))
		if r, k = segment.Places(places, at, lists, splits); r >= 0 {
			return nil, noPosition(c, r, k, splits)
		}
		return results(ops.Gather(x, index, 0))
	},
	VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
		return []tensor.Tensor{scattered(c, ct[0], Places(c.Value(1), c.Value(2), c.Value(3)))}
	},
})

// takenItems copies single elements at positions in their rows.
func takenItems(out, x *tensor.Dense, at, lists, splits []int64) (row int, position int64) {
	dst, src := out.Bytes(), x.Bytes()
	switch x.DType().Size() {
	case 1:
		return segment.Take(dst, src, at, lists, splits)
	case 2:
		return segment.Take(elements[uint16](dst), elements[uint16](src), at, lists, splits)
	case 4:
		return segment.Take(elements[uint32](dst), elements[uint32](src), at, lists, splits)
	}
	return segment.Take(elements[uint64](dst), elements[uint64](src), at, lists, splits)
}

// Take returns the items at positions in their rows, those found by [Places], in one pass.
//
//	values: [nvals, a], at: int[m], lists, splits: int[rows+1] → [m, a], any element type.
//	Gradient: each item gets the sum of the cotangents of its copies.
func Take(values, at, lists, splits any) tensor.Tensor {
	return op.Eval(takeOp, values, at, lists, splits)
}

var placesOfOp = op.Register(&op.Op{
	Name: "ragged.places_of", Statement: makes(op.First, 0), Doc: "Positions in given rows as positions among all values.",
	Params: []op.Param{atParam, {Name: "rows", Takes: op.Indices}, splitsParam}, Results: 1,
	Elem: asInt64,
	Shape: func(c *op.Call) (shape.Shape, error) {
		partition(c, 2)
		s, err := shape.Merge(c.Tensor(0).Shape(), c.Tensor(1).Shape())
		if err != nil {
			err = c.Errorf(tenon.ErrShape, "positions of shape %v are in rows of shape %v", c.Tensor(0).Shape(), c.Tensor(1).Shape())
		}
		return s, err
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		splits := rowSplits(c, 2, -1)
		out := tensor.Uninit(dtype.Int64, c.Dense(0).Shape())
		places, of := tensor.Data[int64](out), wide(c.Dense(1))
		for i, k := range wide(c.Dense(0)) {
			r := of[i]
			if uint64(r) >= uint64(len(splits)-1) {
				return nil, c.Errorf(tenon.ErrInvalid, "row %d does not exist among %d rows", r, len(splits)-1)
			}
			if uint64(k) >= uint64(splits[r+1]-splits[r]) {
				return nil, c.Errorf(tenon.ErrInvalid, "position %d is outside a row of length %d", k, splits[r+1]-splits[r]).At(rowName(int(r)))
			}
			places[i] = splits[r] + k
		}
		return results(out)
	},
})

// PlacesOf converts positions in rows to positions among all values, given the row for each
// position. A row or a position that does not exist, including a negative one, is an error that
// names it.
//
//	at, rows: int[a], splits: int[n+1] → int64[a]. No gradient.
func PlacesOf(at, rows, splits any) tensor.Tensor { return op.Eval(placesOfOp, at, rows, splits) }

var fromStartOp = op.Register(&op.Op{
	Name: "ragged.from_start", Statement: makes(op.First, 0), Doc: "Positions, of which negative ones count from the end, counted from the start.",
	Params: []op.Param{atParam, sizeParam("n")}, Results: 1,
	Elem: asInt64,
	Shape: func(c *op.Call) (shape.Shape, error) {
		count(c, 1)
		return c.Tensor(0).Shape(), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		n := wide(c.Dense(1))[0]
		at := wide(c.Dense(0))
		out := tensor.Uninit(dtype.Int64, c.Dense(0).Shape())
		places := tensor.Data[int64](out)
		for i, k := range at {
			places[i] = k + k>>63&n
			if uint64(places[i]) >= uint64(n) {
				return nil, c.Errorf(tenon.ErrRange, "%d is out of bounds for %d rows", k, n).At(positionName(i))
			}
		}
		return results(out)
	},
})

// FromStart converts positions among n entries, of which negative ones count from the end, to
// positions counted from the start. A position that does not exist is an error that names it.
//
//	at: int[a], n: int[] → int64[a]. No gradient.
func FromStart(at, n any) tensor.Tensor { return op.Eval(fromStartOp, at, n) }
