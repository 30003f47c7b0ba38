package named

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// windowsInRows replaces the dimension along rows of different lengths by the windows in each row,
// and a dimension w of size n for the elements of a window. Rows that are shorter than a window
// have none.
func windowsInRows(fn string, t *Tensor, dim, w id, n int, s windowSteps) *Tensor {
	outer := t.outer()
	x := t.inRows()
	k := x.RaggedRank()
	if outer.ids[k] != dim {
		fail(tenon.ErrUnsupported, fn, "windows can move only along the innermost of the dimensions {%v}\n%s", outer, t.line("tensor"))
	}
	parts := x.Partitions()
	p := parts[k-1]
	length := ops.Cast(p.RowLengths(), dtype.Int64)
	room := ops.Add(length, int64(s.before+s.after-s.reach(n)))
	count := ops.Maximum(ops.Add(ops.FloorDiv(room, int64(s.stride)), int64(1)), int64(0))
	splits := rows.FromLengths(count)
	row := rows.RowIDs(splits, -1)
	first := ops.Sub(ops.Mul(rows.Offsets(splits, -1), int64(s.stride)), int64(s.before))
	steps := make([]int64, n)
	for i := range steps {
		steps[i] = int64(i * s.dilation)
	}
	at := ops.Add(ops.ExpandDims(first, 1), tensor.Of(steps)) // positions in the row; [windows, n]
	start := ops.ExpandDims(ops.Gather(ops.Cast(p.RowStarts(), dtype.Int64), row, 0), 1)
	within := ops.LogicalAnd(ops.GreaterEqual(at, int64(0)), ops.Less(at, ops.ExpandDims(ops.Gather(length, row, 0), 1)))
	// Prepend a row of zeros for elements outside the row.
	flat := x.FlatValues()
	paddings := make([][]int, flat.Shape().Rank())
	for i := range paddings {
		paddings[i] = []int{0, 0}
	}
	paddings[0][0] = 1
	index := ops.Where(within, ops.Add(ops.Add(at, start), int64(1)), int64(0))
	values := ops.Gather(ops.Pad(flat, paddings, ops.PadOptions{}), index, 0)
	parts[k-1] = tenon.Must(ragged.PartitionFromRowSplits(ops.Cast(splits, p.DType()), ragged.PartitionOptions{}))
	data := tenon.Must(ragged.FromPartitions(values, parts...))
	inner := layoutOf(t.spec.names.ids[k+1:])
	return newTensor(data, outer.and(layoutOf([]id{w})).and(inner), t.own())
}
