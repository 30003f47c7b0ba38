package ragged

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A down is a reduction of an axis right above the last partition, position by position,
// for what is in memory: the rows of each list are laid over each other, in one pass and
// without a position for each value.
type down struct {
	flat          *tensor.Dense
	splits, lists []int64 // of rows into values, of lists into rows
	outSplits     []int64
	partition     *RowPartition // of the results
	outer         []*RowPartition
	wholeAxis     bool // there is one list, which is not a row of the result
	total         int
}

// downOn returns what a reduction of an axis of t works on; nil where the general way has
// to be taken.
func downOn(t *Tensor, axis int) *down {
	k := len(t.parts)
	flat, ok := t.flat.(*tensor.Dense)
	if !ok || axis != k-1 || flat.Rank() != 1 || !flat.IsContiguous() {
		return nil
	}
	p := t.parts[k-1]
	splits, ok := p.Splits64()
	if !ok || p.IsUniform() || p.DType() != dtype.Int64 {
		return nil
	}
	d := &down{flat: flat, splits: splits, wholeAxis: axis == 0}
	if axis == 0 {
		d.lists = []int64{0, int64(len(splits) - 1)}
	} else {
		q := t.parts[k-2]
		if d.lists, ok = q.Splits64(); !ok || q.DType() != dtype.Int64 {
			return nil
		}
		d.outer = t.parts[:k-2]
	}
	out, ends := tensor.Make[int64](shape.Of(len(d.lists)))
	d.total = int(segment.PositionSplits(ends, splits, d.lists))
	d.outSplits = ends
	d.partition = newPartition(rows.Trusted(out, ends), d.total)
	return d
}

// on returns results as the partitions of their axes have them.
func (d *down) on(flat tensor.Tensor) tensor.Tensor {
	if d.wholeAxis {
		return flat
	}
	parts := make([]*RowPartition, 0, len(d.outer)+1)
	return build(flat, append(append(parts, d.outer...), d.partition))
}

// byPositionKnown is byPosition for what is in memory; nil where there is no own way.
func (r *reducer) byPositionKnown(t *Tensor, axis int) tensor.Tensor {
	if r.known == nil {
		return nil
	}
	d := downOn(t, axis)
	if d == nil {
		return nil
	}
	if out := r.known(d); out != nil {
		return d.on(out)
	}
	return nil
}

// downBy returns the reductions that combine numbers.
func downBy(f segment.Fold) func(d *down) *tensor.Dense {
	return func(d *down) *tensor.Dense {
		switch d.flat.DType() {
		case dtype.Float32:
			return downOf[float32](f, d)
		case dtype.Float64:
			return downOf[float64](f, d)
		case dtype.Int64:
			return downOf[int64](f, d)
		case dtype.Int32:
			return downOf[int32](f, d)
		}
		return nil
	}
}

func downOf[T dtype.Real](f segment.Fold, d *down) *tensor.Dense {
	out, x := tensor.Make[T](shape.Of(d.total))
	segment.ByPosition(f, x, d.outSplits, tensor.Elems[T](d.flat), d.splits, d.lists)
	return out
}

func anyDown(d *down) *tensor.Dense {
	out, x := tensor.Make[bool](shape.Of(d.total))
	segment.AnyByPosition(x, d.outSplits, tensor.Elems[bool](d.flat), d.splits, d.lists)
	return out
}

func allDown(d *down) *tensor.Dense {
	out, x := tensor.Make[bool](shape.Of(d.total))
	segment.AllByPosition(x, d.outSplits, tensor.Elems[bool](d.flat), d.splits, d.lists)
	return out
}

// manyDown is the number of values from which adding up position by position pays.
const manyDown = 256

// meanDown is the mean of an axis with one partitioned axis below it, for what is in
// memory; nil where the general way has to be taken.
func meanDown(t *Tensor, axis int) tensor.Tensor {
	if t.flat.Shape().Rank() != 1 || t.flat.Shape().Dim(0) < manyDown {
		return nil
	}
	d := downOn(t, axis)
	if d == nil {
		return nil
	}
	sum := adder.known(d)
	if sum == nil {
		return nil
	}
	counts, n := tensor.Make[int64](shape.Of(d.total))
	segment.CountByPosition(n, d.outSplits, d.splits, d.lists)
	return d.on(ops.Div(sum, ops.Cast(counts, sum.DType())))
}

// extremeDown finds the extreme of an axis with one partitioned axis below it, for what is
// in memory; nil where the general way has to be taken. Each position has an entry.
func extremeDown(x *Tensor, axis int, largest bool) tensor.Tensor {
	d := downOn(x, axis)
	if d == nil {
		return nil
	}
	at, places := tensor.Make[int64](shape.Of(d.total))
	switch d.flat.DType() {
	case dtype.Float32:
		extremesOf[float32](largest, places, d)
	case dtype.Float64:
		extremesOf[float64](largest, places, d)
	case dtype.Int64:
		extremesOf[int64](largest, places, d)
	case dtype.Int32:
		extremesOf[int32](largest, places, d)
	default:
		return nil
	}
	mask, there := tensor.Make[bool](shape.Of(d.total))
	for i := range there {
		there[i] = true
	}
	return withMask(d.on(at), d.on(mask))
}

func extremesOf[T dtype.Real](largest bool, places []int64, d *down) {
	segment.ArgByPosition(largest, places, d.outSplits, tensor.Elems[T](d.flat), d.splits, d.lists)
}
