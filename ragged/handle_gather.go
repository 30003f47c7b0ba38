package ragged

import (
	"fmt"
	"strconv"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	handle(onTwo(gather), "gather")            // whole entries, and entries of each row by its own indices
	handle(onTwo(gatherND), "gather_nd")       // coordinates go through partitions
	handle(onTwo(booleanMask), "boolean_mask") // the mask may have rows of its own
}

func itoa(n int) string { return strconv.Itoa(n) }

func fmtRow(n int) string { return fmt.Sprintf("row %d", n) }

func gather(c *op.Call, x, index tensor.Tensor) ([]tenon.Value, error) {
	if !index.DType().IsInteger() {
		return nil, c.Errorf(tenon.ErrDType, "indices are %v, not integers", index.DType())
	}
	axis, _ := c.Attr("axis").(int)
	axis = checkedAxis(c, axis, rankOf(x))
	batch, _ := c.Attr("batch_dims").(int)
	if batch < 0 {
		batch += rankOf(index)
	}
	if batch > axis || batch < 0 || batch > rankOf(index) {
		return nil, c.Errorf(tenon.ErrInvalid, "batch_dims %d does not fit axis %d and indices of rank %d", batch, axis, rankOf(index))
	}
	return op.One(gathered2(c, x, index, axis, batch))
}

// gathered2 gathers entries along an axis of x by index; the first batch
// dimensions of both correspond.
func gathered2(c *op.Call, x, index tensor.Tensor, axis, batch int) tensor.Tensor {
	switch {
	case batch > 1 || batch == 1 && axis > 1 || batch == 0 && axis > 0:
		return gatheredBelow(c, x, index, axis, batch)
	case batch == 1:
		return gatheredInRows(c, x, index)
	}
	flat, parts := split(index)
	if flat.Shape().Rank() == 1 {
		return onTop(gatherRows(x, cast(flat, dtype.Int64)), parts)
	}
	return shapedLike(gatherRows(x, ops.Cast(ops.Reshape(flat, []int{-1}), dtype.Int64)), flat, parts)
}

// shapedLike gives the rows of flat, one for each element of an index, the
// dimensions of the index.
func shapedLike(x, flat tensor.Tensor, outer []*RowPartition) tensor.Tensor {
	if flat.Shape().Rank() == 0 {
		return ops.Index(x, 0)
	}
	s := ShapeOf(flat)
	if t, ok := x.(*Tensor); ok {
		s = s.as(t.parts[0].DType())
	}
	return onTop(underAxes(x, s), outer)
}

// gatheredBelow descends one dimension of x, and of a batched index.
func gatheredBelow(c *op.Call, x, index tensor.Tensor, axis, batch int) tensor.Tensor {
	t, ragged := x.(*Tensor)
	_, raggedIndex := index.(*Tensor)
	if !ragged {
		if batch == 0 && !raggedIndex {
			return ops.Gather(x, index, axis)
		}
		t = atLeast(x, 1).(*Tensor)
	}
	if batch == 0 {
		if axis > len(t.parts) && !raggedIndex {
			return t.with(gathered2(c, t.flat, index, axis-len(t.parts), 0))
		}
		if axis > 1 {
			return partitioned(gathered2(c, t.Values(), index, axis-1, 0), t.parts[0])
		}
		// Gather the same entries from every row.
		n := t.parts[0].NRows()
		flat, parts := split(index)
		if len(parts) > 0 {
			rows := gatherRows(withAxis(index, 0), filled(ops.Cast(n, dtype.Int64), tensor.Scalar(int64(0))))
			return gatheredInRows(c, t, rows)
		}
		scalarIndex := flat.Shape().Rank() == 0
		if scalarIndex {
			flat = ops.Reshape(flat, []int{1})
		}
		times := make([]tensor.Tensor, flat.Shape().Rank()+1)
		times[0] = ops.Cast(n, dtype.Int64)
		for i := range times[1:] {
			times[i+1] = tensor.Scalar(int64(1))
		}
		out := gatheredInRows(c, t, ops.Tile(ops.ExpandDims(flat, 0), ops.Stack(times, 0)))
		if scalarIndex {
			out, _ = squeezed(c, out, 1)
		}
		return out
	}
	i := atLeast(index, 1).(*Tensor)
	tenon.Throw(sameRows(c.Op.Func(), t.parts[0], i.parts[0]))
	return partitioned(gathered2(c, t.Values(), i.Values(), axis-1, batch-1), t.parts[0])
}

// gatheredInRows gathers entries of each row of x by the indices of that row.
func gatheredInRows(c *op.Call, x, index tensor.Tensor) tensor.Tensor {
	t := atLeast(x, 1).(*Tensor)
	p := t.parts[0]
	if n, m := outermostSize(index), p.StaticNRows(); n >= 0 && m >= 0 && n != m {
		tenon.Throw(c.Errorf(tenon.ErrShape, "there are %d rows of indices for %d rows", n, m))
	}
	if rankOf(index) == 1 { // a single index for each row
		at, _ := split(index)
		return gatherRows(t.Values(), inRow(c, p, at, numbers(p.NRows())))
	}
	i, ok := index.(*Tensor)
	if !ok { // indices of the same shape for every row
		owner := inner(numbers(p.NRows()), index)
		return gathered2(c, t.Values(), inRow(c, p, index, owner), 0, 0)
	}
	q := i.parts[0].as(p.DType())
	below := i.Values() // indices of any shape, grouped by row of the partition
	flat, parts := split(below)
	owner := cast(q.ValueRowIDs(), dtype.Int64)
	for _, r := range parts {
		owner = rows.Repeat(owner, r.RowSplits(), r.StaticNVals())
	}
	if flat.Shape().Rank() > 1 {
		owner = inner(owner, cast(flat, dtype.Int64))
	}
	at := inRow(c, p, flat, owner)
	return partitioned(gathered2(c, t.Values(), onTop(at, parts), 0, 0), q)
}

// inRow converts positions in rows to positions among all values. A position
// outside its row is an error that names it.
func inRow(c *op.Call, p *RowPartition, at, row tensor.Tensor) tensor.Tensor {
	return inNameOfCall(c, func() tensor.Tensor { return rows.PlacesOf(asPositions(at), row, p.RowSplits()) })
}

// inNameOfCall returns the result of f. Errors become errors of the call.
func inNameOfCall(c *op.Call, f func() tensor.Tensor) tensor.Tensor {
	out, err := tenon.Try(f)
	tenon.Throw(inNameOf(c.Op.Func(), err))
	return out
}

// int64s returns the elements of a tensor of int64 in memory, or nil for other tensors.
func int64s(t tensor.Tensor) []int64 {
	d, ok := t.(*tensor.Dense)
	if !ok || d == nil || d.DType() != dtype.Int64 || !d.IsContiguous() {
		return nil
	}
	if x := tensor.Data[int64](d); x != nil {
		return x
	}
	return []int64{}
}

// gatherND gathers slices of x by rows of coordinates.
func gatherND(c *op.Call, x, index tensor.Tensor) ([]tenon.Value, error) {
	batch, _ := c.Attr("batch_dims").(int)
	return op.One(gatheredND(c, x, index, batch))
}

func gatheredND(c *op.Call, x, index tensor.Tensor, batch int) tensor.Tensor {
	if i, ok := index.(*Tensor); ok && batch == 0 {
		return onTop(gatheredND(c, x, i.flat, 0), i.parts)
	}
	if batch > 0 {
		t := atLeast(x, 1).(*Tensor)
		i := atLeast(index, 1).(*Tensor)
		p, q := t.parts[0], i.parts[0].as(t.parts[0].DType())
		if batch > 1 {
			tenon.Throw(sameRows(c.Op.Func(), p, q))
			return partitioned(gatheredND(c, t.Values(), i.Values(), batch-1), p)
		}
		// The first coordinate is the row that an index refers to.
		flat, parts := split(i.Values())
		owner := ops.Cast(q.ValueRowIDs(), flat.DType())
		for _, r := range parts {
			owner = rows.Repeat(owner, r.RowSplits(), r.StaticNVals())
		}
		owner = below(ops.ExpandDims(owner, -1), flat)
		first := ops.Add(owner, ops.ZerosLike(ops.Index(flat, key.Ellipsis, key.Range(0, 1, nil))))
		return onTop(gatheredND(c, x, ops.Concat([]tensor.Tensor{first, flat}, -1), 0), append([]*RowPartition{q}, parts...))
	}
	n := index.Shape().Dim(-1)
	if n < 0 || n > rankOf(x) {
		tenon.Throw(c.Errorf(tenon.ErrShape, "coordinates of %d numbers for a tensor of rank %d", n, rankOf(x)))
	}
	t, ok := x.(*Tensor)
	if !ok {
		return ops.GatherND(x, index, 0)
	}
	if n == 0 {
		tenon.Throw(c.Errorf(tenon.ErrUnsupported, "coordinates without numbers"))
	}
	p := t.parts[0]
	at := ops.Cast(ops.Index(index, key.Ellipsis, 0), dtype.Int64)
	if n == 1 {
		return gathered2(c, x, at, 0, 0)
	}
	next := ops.Cast(ops.Index(index, key.Ellipsis, 1), dtype.Int64)
	rowsExist(c, p, at)
	global := inRow(c, p, next, at)
	if n == 2 {
		return gathered2(c, t.Values(), global, 0, 0)
	}
	rest := ops.Concat([]tensor.Tensor{ops.ExpandDims(global, -1), ops.Cast(ops.Index(index, key.Ellipsis, key.From(2)), dtype.Int64)}, -1)
	return gatheredND(c, t.Values(), rest, 0)
}

// rowsExist throws an error if a row number is out of range.
func rowsExist(c *op.Call, p *RowPartition, at tensor.Tensor) {
	n := p.StaticNRows()
	k, ok := op.Known(at)
	if !ok || n < 0 {
		return
	}
	for _, r := range tensor.Data[int64](k) {
		if r < 0 || r >= int64(n) {
			tenon.Throw(c.Errorf(tenon.ErrInvalid, "row %d does not exist among %d rows", r, n))
		}
	}
}

// booleanMask keeps the entries that a mask selects. A ragged mask, or one with
// several dimensions for ragged data, keeps the rows and shortens them.
func booleanMask(c *op.Call, x, mask tensor.Tensor) ([]tenon.Value, error) {
	if axis, _ := c.Attr("axis").(int); axis != 0 {
		return nil, c.Errorf(tenon.ErrUnsupported, "ragged data must be masked from axis 0 on, not %d", axis)
	}
	if mask.DType() != dtype.Bool {
		return nil, c.Errorf(tenon.ErrDType, "the mask is %v, not boolean", mask.DType())
	}
	if r := rankOf(mask); r == 0 || r > rankOf(x) {
		return nil, c.Errorf(tenon.ErrShape, "a mask of rank %d for data of rank %d", r, rankOf(x))
	}
	return op.One(maskedRows(c, x, mask))
}

// maskedRows keeps the entries of x for which mask is true, within the rows of the mask.
func maskedRows(c *op.Call, x, mask tensor.Tensor) tensor.Tensor {
	r := rankOf(mask)
	if r == 1 {
		m, _ := split(mask)
		if n, k := x.Shape().Dim(0), m.Shape().Dim(0); n >= 0 && k >= 0 && n != k {
			tenon.Throw(c.Errorf(tenon.ErrShape, "a mask of %d entries for %d", k, n))
		}
		if _, ok := x.(*Tensor); !ok {
			return ops.BooleanMask(x, m, 0)
		}
		return gatherRows(x, truePositions(m))
	}
	m := atLeast(mask, r-1).(*Tensor)
	t := atLeast(x, 1).(*Tensor)
	p := t.parts[0]
	tenon.Throw(sameRows(c.Op.Func(), p, m.parts[0]))
	below := maskedRows(c, t.Values(), m.Values())
	if r > 2 {
		return partitioned(below, p)
	}
	keep, _ := split(m.Values())
	return partitioned(below, newPartition(rows.MaskSplits(p.RowSplits(), keep), -1))
}

// BooleanMask keeps the elements of x for which mask is true. Unlike
// ops.BooleanMask of dense tensors, it keeps the rows: the result is ragged if
// the mask has more than one dimension.
func BooleanMask(x, mask any) (y tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	xt := tenon.Must(tensor.Convert(x))
	mt := tenon.Must(tensor.Convert(mask))
	o, _ := op.Lookup("boolean_mask")
	c := &op.Call{Op: o, Args: []any{xt, mt, 0}}
	out, err := booleanMask(c, xt, mt)
	if err != nil {
		return nil, c.Fail(err)
	}
	return out[0].(tensor.Tensor), nil
}
