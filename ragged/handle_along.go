package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	handle(onFirst(unique), "unique") // the rows of the results have different lengths
	handle(onFirst(roll), "roll")     // several axes, and whole entries above ragged axes
}

// alongAxis answers operations along an axis that keep the partitions. It uses the row form of the
// operation or, for operations on the innermost axes, applies it to the flat values.
func alongAxis(o *op.Op) handlerFunc {
	switch {
	case o.Axes == op.Scan && !alone(o):
		return onTaken(linearScan)
	case !alone(o):
		return nil
	case o.Results > 1 && o.Control != 0: // the first ones in an order, and their positions
		return onFirst(topK)
	case o.AxisParam() < 0 && o.Control != 0:
		return flatAt(o, 0)
	case o.AxisParam() < 0:
		return flatAt(o, o.Core)
	case o.Places != 0:
		return onFirst(argSort)
	case o.Param("scale") >= 0:
		return normalized(o.Param("offset") < 0)
	}
	f := rows.Of(o)
	if f == nil {
		return nil
	}
	axis := o.AxisParam()
	return onFirst(func(c *op.Call, x *Tensor) ([]tenon.Value, error) {
		a := axisOf(c, x)
		if k := len(x.parts); a > k {
			return op.One(onFlat(c.WithArg(axis, a-k), 0, x))
		}
		return op.One(x.with(x.segments(a).along(x.flat, func(v, splits tensor.Tensor) tensor.Tensor { return f.Apply(c, v, splits) })))
	})
}

func truthAttr(c *op.Call, name string) bool {
	b, _ := c.Attr(name).(bool)
	return b
}

// normalized answers layer and RMS normalization over axes.
func normalized(rms bool) handlerFunc {
	return onFirst(func(c *op.Call, x *Tensor) ([]tenon.Value, error) {
		axes := axesOf(c, x)
		if axes == nil {
			axes = []int{x.rank() - 1}
		}
		if k := len(x.parts); axes[0] > k {
			return insideRows(c, x, behind(axes, -k))
		}
		eps, _ := c.Attr("eps").(float64)
		y := normalizedOver(x, axes, eps, rms)
		if s := c.Value(1); s != nil {
			y = ops.Mul(y, s)
		}
		if !rms && c.Value(2) != nil {
			y = ops.Add(y, c.Value(2))
		}
		return op.One(y)
	})
}

// normalizedOver normalizes by mean and variance, or by the mean square.
func normalizedOver(x *Tensor, axes []int, eps float64, rms bool) tensor.Tensor {
	d := x
	if !rms {
		d = ops.Sub(x, spread(x, ops.Mean(x, axes...), axes)).(*Tensor)
	}
	return ops.Mul(d, ops.Rsqrt(ops.Add(spread(d, ops.Mean(ops.Square(d), axes...), axes), eps)))
}

func reverse(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	out := tensor.Tensor(x)
	for _, a := range axesOf(c, x) {
		out = moved(out.(*Tensor), a, func(flat tensor.Tensor, axis int) tensor.Tensor { return ops.Reverse(flat, axis) },
			func(v, splits tensor.Tensor) tensor.Tensor { return rows.Reverse(v, splits) })
	}
	return op.One(out)
}

// moved reorders the entries of an axis: of the flat values by inside, and of rows by f. If there
// are partitioned axes below it, whole sublists are moved: f gets their numbers and the splits of the
// lists that contain them.
func moved(x *Tensor, axis int, inside func(flat tensor.Tensor, axis int) tensor.Tensor, f within) tensor.Tensor {
	switch k := len(x.parts); {
	case axis > k:
		return x.with(inside(x.flat, axis-k))
	case axis == k:
		return x.with(f(x.flat, x.parts[k-1].RowSplits()))
	}
	var n, splits tensor.Tensor
	if axis == 0 {
		n = x.parts[0].NRows()
		splits = oneRow(n)
	} else {
		n, splits = x.parts[axis-1].NVals(), x.parts[axis-1].RowSplits()
	}
	below := build(x.flat, x.parts[axis:])
	flat, parts := split(gatherRows(below, f(numbers(n), splits)))
	return build(flat, append(append([]*RowPartition(nil), x.parts[:axis]...), parts...))
}

// oneRow returns the row splits of a single row of n values.
func oneRow(n tensor.Tensor) tensor.Tensor {
	if k := known(n); k >= 0 && n.DType() == dtype.Int64 {
		s := []int64{0, int64(k)}
		return rows.Trusted(tensor.Vector(s), s)
	}
	return ops.Stack([]tensor.Tensor{scalar(0, n.DType()), n}, 0)
}

func roll(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	shifts, known := c.ConstInts(1)
	if !known {
		return nil, c.Errorf(tenon.ErrUnsupported, "rows of different lengths can only be rolled by known shifts")
	}
	var axes []int
	switch a := c.Attr("axis").(type) {
	case []int:
		axes = a
	case int:
		axes = []int{a}
	}
	if len(axes) != len(shifts) {
		return nil, c.Errorf(tenon.ErrInvalid, "got %d shifts for %d axes", len(shifts), len(axes))
	}
	out := tensor.Tensor(x)
	for i, a := range axes {
		by := shifts[i]
		out = moved(out.(*Tensor), checkedAxis(c, a, x.rank()), func(flat tensor.Tensor, axis int) tensor.Tensor { return ops.Roll(flat, by, axis) },
			func(v, splits tensor.Tensor) tensor.Tensor { return rows.Roll(v, splits, by) })
	}
	return op.One(out)
}

// topK returns the k largest elements of each row; a row with fewer elements gives all of them.
func topK(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	axis, k := axisOf(c, x), len(x.parts)
	switch {
	case axis < k:
		e := c.Errorf(tenon.ErrUnsupported, "axis %d has ragged axes below it, in which the largest elements would leave gaps", axis)
		e.Hint = "sort with ops.Sort, which keeps the rows"
		return nil, e
	case axis > k:
		return insideRows(c, x, axis-k)
	}
	top, at, splits := rows.TopK(x.flat, x.parts[k-1].RowSplits(), c.Value(1))
	p := newPartition(splits, top.Shape().Dim(0))
	parts := append(append([]*RowPartition(nil), x.parts[:k-1]...), p)
	return []tenon.Value{build(top, parts), build(at, parts)}, nil
}

// unique returns the distinct elements of each innermost row in the order of
// their first appearance.
func unique(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	if x.flat.Shape().Rank() != 1 {
		return nil, c.Errorf(tenon.ErrShape, "rows hold elements of shape %v, want scalars", x.flat.Shape().Tail(1))
	}
	k := len(x.parts) - 1
	splits, first, counts, inverse := rows.UniqueIndex(x.flat, x.parts[k].RowSplits())
	p := newPartition(splits, first.Shape().Dim(0))
	parts := append(append([]*RowPartition(nil), x.parts[:k]...), p)
	starts := ops.Gather(ops.Cast(x.parts[k].RowStarts(), dtype.Int64), p.ValueRowIDs(), 0)
	return []tenon.Value{
		build(ops.Gather(x.flat, first, 0), parts), x.with(inverse), build(counts, parts), build(ops.Sub(first, starts), parts),
	}, nil
}
