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

// A Folding says how the values of a fiber are combined.
type Folding string

// The foldings. FirstMax and FirstMin give the number of the row that holds the largest or smallest
// value, the first one if there are several, and -1 for a fiber without values.
const (
	FoldSum  Folding = "sum"
	FoldProd Folding = "prod"
	FoldMax  Folding = "max"
	FoldMin  Folding = "min"
	FoldAny  Folding = "any"
	FoldAll  Folding = "all"
	FirstMax Folding = "first_max"
	FirstMin Folding = "first_min"
)

// A fold is what the operation must know about a folding.
type fold struct {
	takes  *op.Elements
	result dtype.DType // None: the element type of the values

	// stacked folds stacks of rows of single elements. It returns false if it does not support the
	// type.
	stacked func(out, x *tensor.Dense, f *folding) bool

	// segment does the same by ids. It provides the gradient and handles what stacked does not; nil
	// if stacked handles everything.
	segment func(data, ids, n any) tensor.Tensor
	any     func(out, x *tensor.Dense, f *folding)
}

// A folding describes the rows to be folded; they are in stacks unless lists is
// nil.
type folding struct {
	splits, starts   []int64
	lists, outSplits []int64
	inner            int
}

var folds = map[Folding]*fold{
	FoldSum:  {takes: op.Numbers, stacked: byStacks(segment.FoldSum), segment: ops.SegmentSum},
	FoldProd: {takes: op.Numbers, stacked: byStacks(segment.FoldProd), segment: ops.SegmentProd},
	FoldMax:  {takes: op.Reals, stacked: byStacks(segment.FoldMax), segment: ops.SegmentMax},
	FoldMin:  {takes: op.Reals, stacked: byStacks(segment.FoldMin), segment: ops.SegmentMin},
	FoldAny:  truthFold(false, segment.AnyByPosition),
	FoldAll:  truthFold(true, segment.AllByPosition),
	FirstMax: firstFold(true),
	FirstMin: firstFold(false),
}

// byStacks returns a folding of stacks of rows, for the element types that have kernels.
func byStacks(how segment.Fold) func(out, x *tensor.Dense, f *folding) bool {
	return func(out, x *tensor.Dense, f *folding) bool {
		switch x.DType() {
		case dtype.Float32:
			stacksOf[float32](how, out, x, f)
		case dtype.Float64:
			stacksOf[float64](how, out, x, f)
		case dtype.Int64:
			stacksOf[int64](how, out, x, f)
		case dtype.Int32:
			stacksOf[int32](how, out, x, f)
		default:
			return false
		}
		return true
	}
}

func stacksOf[T dtype.Real](how segment.Fold, out, x *tensor.Dense, f *folding) {
	segment.ByPosition(how, tensor.Elems[T](out), f.outSplits, tensor.Elems[T](x), f.splits, f.lists)
}

func truthFold(all bool, stacked func(out []bool, outSplits []int64, values []bool, splits, lists []int64)) *fold {
	return &fold{takes: op.Bools,
		stacked: func(out, x *tensor.Dense, f *folding) bool {
			stacked(tensor.Elems[bool](out), f.outSplits, tensor.Elems[bool](x), f.splits, f.lists)
			return true
		},
		any: func(out, x *tensor.Dense, f *folding) {
			segment.TruthByFiber(all, tensor.Elems[bool](out), tensor.Elems[bool](x), f.splits, f.starts, f.inner)
		},
	}
}

func firstFold(largest bool) *fold {
	return &fold{takes: op.Reals, result: dtype.Int64,
		any: func(out, x *tensor.Dense, f *folding) {
			if d := x.DType(); d == dtype.Float16 || d == dtype.BFloat16 {
				x = ops.Cast(x, dtype.Float32).(*tensor.Dense)
			}
			byType[x.DType()].firstByFiber(largest, out, x, f)
		},
	}
}

// run folds values in memory.
func (h *fold) run(x *tensor.Dense, f *folding, n int) *tensor.Dense {
	f.inner = innerSize(x)
	f.lists, f.outSplits, _ = segment.Stacks(f.splits, f.starts, int64(n))
	out := tensor.Uninit(h.of(x.DType()), x.Shape().With(0, n))
	switch {
	case out.Len() == 0:
	case f.lists != nil && f.inner == 1 && h.stacked != nil && h.stacked(out, x, f):
	case h.any != nil:
		h.any(out, x, f)
	default:
		ids := make([]int64, lead(x))
		segment.FiberIDs(ids, f.splits, f.starts)
		return h.segment(x, tensor.Vector(ids), int64(n)).(*tensor.Dense)
	}
	return out
}

// of returns the element type of the results.
func (h *fold) of(d dtype.DType) dtype.DType {
	if h.result != dtype.None {
		return h.result
	}
	return d
}

var foldOp = op.Register(&op.Op{
	Name: "ragged.fold", Statement: opaque("what combines the values is an attribute"), Doc: "The values of each fiber of aligned rows, combined.",
	Params: []op.Param{{Name: "values"}, splitsParam, startsParam, fibersParam, {Name: "how", Kind: op.Attr, Type: op.StringType}}, Results: 1,
	Elem: func(c *op.Call, d dtype.DType) dtype.DType { return folds[Folding(c.Str(4))].of(d) },
	Check: func(c *op.Call) error {
		h := folds[Folding(c.Str(4))]
		if h == nil {
			return c.Errorf(tenon.ErrInvalid, "how is %q, want one of the foldings of package rows", c.Str(4))
		}
		return c.Demand(0, h.takes)
	},
	Shape: func(c *op.Call) (shape.Shape, error) {
		nvals := startsOf(c, 1)
		item := items(c, 0, nvals)
		return outer(count(c, 3), item), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x, n := c.Dense(0), outShape(c, 0).Dim(0)
		splits, starts := alignedRows(c, 1, lead(x), int64(n))
		return results(folds[Folding(c.Str(4))].run(x, &folding{splits: splits, starts: starts}, n))
	},
	VJP: func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
		s, _ := op.Lookup("segment_" + c.Str(4))
		return s.VJP(&op.Call{Op: s, Args: []any{c.Tensor(0), FiberIDs(c.Value(1), c.Value(2)), c.Value(3)}}, out, ct)
	},
})

// Fold combines the values of each of n fibers of aligned rows (see [Align]). A fiber without
// values gets the result of the segment operation of the same name; the values of rows that belong
// to no segment are ignored.
//
//	values: [nvals, a], splits: int[rows+1], starts: int[rows], n: int[] → [n, a].
//	Gradient: that of the segment operation.
func Fold(values, splits, starts, n any, how Folding) tensor.Tensor {
	return op.Eval(foldOp, values, splits, starts, n, string(how))
}
