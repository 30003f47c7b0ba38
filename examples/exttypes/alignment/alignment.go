package alignment

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// DimensionAlignment says, for each item of the dimension From, to which items of the dimension
// To it belongs.
type DimensionAlignment struct {
	From      string
	To        string
	Alignment *ragged.Tensor `tenon:"dtype=integer,rank=2"` // [from, (items of to)]
}

func init() {
	ext.Register[DimensionAlignment]("tenonml.com/examples/exttypes.DimensionAlignment")
}

// New returns the alignment of two dimensions.
func New(from, to string, rows [][]int64) (DimensionAlignment, error) {
	return ext.New(DimensionAlignment{from, to, ragged.FromSlices(rows)})
}

// Spec returns the Spec of names and alignment.
func (a DimensionAlignment) Spec() tenon.Spec { return ext.SpecOf(a) }

// String prints names and alignment.
func (a DimensionAlignment) String() string { return ext.String(a) }

// Validate checks that no item is negative, if the data is known.
func (a DimensionAlignment) Validate() error {
	if items, ok := op.Known(ops.Cast(a.Alignment.FlatValues(), dtype.Int64)); ok {
		for i, x := range tensor.Data[int64](items) {
			if x < 0 {
				return &tenon.Error{Kind: tenon.ErrInvalid, Where: fmt.Sprintf("Alignment value %d", i), Msg: fmt.Sprintf("is %d", x)}
			}
		}
	}
	return nil
}

// Broadcast takes items of To along From: for each item of From, the rows of x that belong to
// it. It throws errors.
//
//	x: [to, a…]  →  [from, (to), a…]
func (a DimensionAlignment) Broadcast(x any) *ragged.Tensor {
	rows := ops.Gather(x, a.Alignment.FlatValues(), 0)
	return tenon.Must(ragged.FromPartition(rows, a.Alignment.Partition()))
}

// Reduce is the sum, for each item of To, of the items of From that belong to it. It
// throws errors.
//
//	x: [from, a…], n: the size of To  →  [to, a…]
func (a DimensionAlignment) Reduce(x, n any) tensor.Tensor {
	each := ops.Gather(x, a.Alignment.Partition().ValueRowIDs(), 0)
	return ops.SegmentSum(each, a.Alignment.FlatValues(), n)
}

// Mean is the mean, for each item of From, of the items of To that belong to it; 0 if there are
// none. It throws errors.
//
//	x: [to, a…]  →  [from, a…]
func (a DimensionAlignment) Mean(x any) tensor.Tensor {
	rows := a.Broadcast(x)
	sum := ops.Sum(rows, 1)
	count := ops.Cast(ops.Maximum(a.Alignment.Partition().RowLengths(), 1), sum.DType())
	for count.Shape().Rank() < sum.Shape().Rank() {
		count = ops.ExpandDims(count, -1)
	}
	return ops.Div(sum, count)
}

// Invert returns the alignment the other way round: for each of n items of To, the
// items of From that belong to it, in order. It throws errors.
func (a DimensionAlignment) Invert(n any) DimensionAlignment {
	to, from := a.Alignment.FlatValues(), a.Alignment.Partition().ValueRowIDs()
	order := ops.ArgSort(to, 0, ops.SortOptions{}) // stable: items of From stay in order
	rows := tenon.Must(ragged.FromValueRowIDs(ops.Gather(from, order, 0), ops.Gather(to, order, 0), n))
	return DimensionAlignment{a.To, a.From, rows}
}
