package ops

import (
	"slices"
	"strings"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/hashing"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/reducing"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Reductions over segments take data, [ids…, inner…], the segment number of each item, and the
// number of segments. Ids come in any order. An item with a negative id belongs to no segment, and
// an id that is not below the number of segments is an error that names it. If the number of
// segments is not given, it is one more than the largest id.

type segmentReduction struct {
	name, goName, doc string
	says              op.Statement
	takes             *op.Elements
	result            func(dtype.DType) dtype.DType // nil: the element type of the data
	kernel            indexed
	vjp               reducing.Gradient // nil: no gradient
}

// segmented is what the gradient of a reduction over segments needs to know.
type segmented struct {
	x, ids tensor.Tensor
	n      tensor.Tensor // number of segments
}

func segmentOp(r segmentReduction) *op.Op {
	if r.result == nil {
		r.result = func(d dtype.DType) dtype.DType { return d }
	}
	var o *op.Op
	o = op.Register(&op.Op{
		Name: r.name, GoName: r.goName, Statement: r.says, Doc: r.doc, Nondifferentiable: r.vjp == nil,
		Params: []op.Param{{Name: "data", Takes: r.takes}, {Name: "ids", Takes: op.Indices}, optionalSize("num_segments")}, Results: 1,
		Elem: func(_ *op.Call, d dtype.DType) dtype.DType { return r.result(d) },
		Shape: func(c *op.Call) (shape.Shape, error) {
			n, err := count(c, 2)
			if err != nil {
				return shape.Shape{}, err
			}
			s, is := c.Tensor(0).Shape(), c.Tensor(1).Shape()
			if !s.HasRank() || !is.HasRank() {
				return shape.UnknownRank, nil
			}
			if is.Rank() > s.Rank() || !s.Slice(0, is.Rank()).CompatibleWith(is) {
				return s, c.Errorf(tenon.ErrShape, "the ids have the shape %v, with which the data's shape %v does not begin", is, s)
			}
			return shape.Concat(shape.Of(n), s.Tail(is.Rank())), nil
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			data, ids := c.Dense(0), wide(c.Dense(1))
			s := outShape(c, 0)
			if s.Dim(0) < 0 {
				top := int64(-1)
				for _, id := range ids {
					top = max(top, id)
				}
				if top >= int64(len(ids))*1024+maxBins {
					return nil, c.Errorf(tenon.ErrInvalid, "the largest id is %d, which would make as many segments: give their number", top)
				}
				s = s.With(0, int(top)+1)
			}
			out := tensor.Uninit(r.result(data.DType()), s)
			if out.Len() == 0 {
				return []tensor.Tensor{out}, rowError(c, 1, segment.CheckIDs(ids, int64(s.Dim(0))))
			}
			return []tensor.Tensor{out}, rowError(c, 1, r.kernel(out, data, ids, product(s.Dims()[1:])))
		},
		VJP: func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
			x := c.Tensor(0)
			return []tensor.Tensor{known(r.vjp(c, segmented{x, c.Tensor(1), sizeOperand(out[0], 0)}, x, out[0], ct[0]), x.Shape())}
		},
		Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
			if !c.Has(2) || batched[2] {
				return nil, op.NotHandled
			}
			// The ids of each row of the batch are offset by the number of segments of the rows
			// before it.
			rows := batchSize(c.Values(), batched)
			x, ids := inFront(c.Value(0), batched[0], rows), castIndex(inFront(c.Value(1), batched[1], rows))
			if !ids.Shape().HasRank() {
				return nil, op.NotHandled
			}
			n := castIndex(c.Tensor(2))
			step := Reshape(Mul(Range(0, rows, 1), n), append([]int{-1}, slices.Repeat([]int{1}, ids.Shape().Rank()-1)...))
			ids = Where(Less(ids, 0), ids, Add(ids, step))
			y := op.Eval(o, x, ids, Mul(rows, n))
			return c.Result(Reshape(y, Concat([]any{Reshape(rows, []int{1}), Reshape(n, []int{1}), sizesFrom(y, 1)}, 0)))
		},
	})
	return o
}

// rowError completes an error about an entry of operand i by naming the entry.
func rowError(c *op.Call, i int, err error) error {
	e, ok := err.(*segment.RowError)
	if !ok {
		return err
	}
	return c.Errorf(tenon.ErrInvalid, "%s", e.Detail).At(c.Op.Params[i].Name + coordinates(c.Tensor(i).Shape(), e.Row))
}

// sizesFrom returns the sizes of x from axis n on as a vector.
func sizesFrom(x tensor.Tensor, n int) tensor.Tensor {
	return Slice(Shape(x), []int{n}, []int{-1})
}

// Spread gives each item the value of its segment, and zero to an item that
// belongs to no segment.
func (s segmented) Spread(y tensor.Tensor) tensor.Tensor {
	inside := LessEqual(0, s.ids)
	padded := Concat([]any{y, Zeros(y.DType(), Concat([]any{[]int{1}, sizesFrom(y, 1)}, 0))}, 0) // there may be no segment
	g := Gather(padded, Where(inside, s.ids, Cast(0, s.ids.DType())), 0)
	return Where(s.beside(inside), g, Cast(0, g.DType()))
}

// beside appends axes of size 1, for the axes of an item, to a tensor with an
// entry for each item or segment.
func (s segmented) beside(t tensor.Tensor) tensor.Tensor {
	k, rank := s.ids.Shape().Rank(), s.x.Shape().Rank()
	if k < 0 || rank < 0 {
		tenon.Throw(tenon.NewError(tenon.ErrUnsupported, "ops.Segment", "the gradient needs to know the ranks"))
	}
	for range rank - k {
		t = ExpandDims(t, -1)
	}
	return t
}

// Count returns the number of items of each segment, at least 1, in the type of the data.
func (s segmented) Count() any {
	return Maximum(s.beside(SegmentSum(Ones(s.x.DType(), Shape(s.ids)), s.ids, s.n)), 1)
}

// Reduce reduces items with the segment reduction that corresponds to a reduction
// over axes.
func (s segmented) Reduce(by *op.Op, x tensor.Tensor) tensor.Tensor {
	return op.Eval(ofSegments[by.Monoid], x, s.ids, s.n)
}

// Others returns, for each item, the product of the other items of its segment:
// the product of all divided by the item or, if it is the only zero, the product
// of the nonzero ones.
func (s segmented) Others() tensor.Tensor {
	zero := Equal(s.x, Cast(0, s.x.DType()))
	one := Cast(1, s.x.DType())
	zeros := s.Spread(SegmentSum(Cast(zero, s.x.DType()), s.ids, s.n))
	rest := s.Spread(SegmentProd(Where(zero, one, s.x), s.ids, s.n))
	others := Where(zero, rest, Div(rest, Where(zero, one, s.x)))
	alone := LogicalOr(Equal(zeros, Cast(0, zeros.DType())), LogicalAnd(zero, Equal(zeros, one)))
	return Where(alone, others, Cast(0, others.DType()))
}

// ofSegments holds the reductions over segments by the monoid that combines their
// items.
var ofSegments map[*op.Monoid]*op.Op

var segmentSumOp, segmentMeanOp, segmentSqrtNOp, segmentProdOp, segmentMaxOp, segmentMinOp, countSegmentsOp *op.Op

func init() {
	segmentSumOp = segmentOp(segmentReduction{
		name: "segment_sum", says: segments(op.Sums, movedZero), doc: "The sum of the items of each segment.", takes: op.Numbers,
		kernel: typed(func(k *kernels) indexed { return k.sumByID }), vjp: gradOfSum,
	})
	segmentMeanOp = segmentOp(segmentReduction{
		name: "segment_mean", says: segments(op.Means, movedZero), doc: "The mean of the items of each segment.", takes: op.Reals,
		result: averagedType, kernel: typed(func(k *kernels) indexed { return k.meanByID }), vjp: gradOfMean,
	})
	segmentSqrtNOp = segmentOp(segmentReduction{
		name: "segment_sqrt_n", says: segments(op.RootSums, movedZero), doc: "The sum of the items of each segment, divided by the square root of their number.",
		takes: op.Floats, kernel: typed(func(k *kernels) indexed { return k.sqrtNByID }),
		vjp: func(_ *op.Call, g reducing.Groups, _, _, ct tensor.Tensor) tensor.Tensor {
			return g.Spread(Div(ct, Sqrt(g.Count())))
		},
	})
	segmentProdOp = segmentOp(segmentReduction{
		name: "segment_prod", says: segments(op.Products, op.Zero{Keeps: true}), doc: "The product of the items of each segment.", takes: op.Numbers,
		kernel: typed(func(k *kernels) indexed { return k.prodByID }), vjp: gradOfProd,
	})
	segmentMaxOp = segmentOp(segmentReduction{
		name: "segment_max", says: segments(op.Maxima, op.Zero{Keeps: true}), doc: "The largest of the items of each segment.", takes: op.Reals,
		kernel: typed(func(k *kernels) indexed { return k.maxByID }), vjp: gradOfExtreme,
	})
	segmentMinOp = segmentOp(segmentReduction{
		name: "segment_min", says: segments(op.Minima, op.Zero{Keeps: true}), doc: "The smallest of the items of each segment.", takes: op.Reals,
		kernel: typed(func(k *kernels) indexed { return k.minByID }), vjp: gradOfExtreme,
	})
	ofSegments = map[*op.Monoid]*op.Op{}
	for _, o := range []*op.Op{segmentSumOp, segmentMeanOp, segmentProdOp, segmentMaxOp, segmentMinOp} {
		ofSegments[o.Monoid] = o
	}
	for _, r := range reducing.All {
		if m := r.Op.Monoid; m != nil && r.Op.Places == 0 && (ofSegments[m] == nil || r.Op.Counts != 0) {
			o := segmentOp(derivedSegments(r))
			if ofSegments[m] == nil {
				ofSegments[m] = o
			} else {
				countSegmentsOp = o
			}
		}
	}
}

// derivedSegments derives a segment reduction from a reduction over axes: the items are arranged
// segment by segment and reduced by the kernel for axes.
func derivedSegments(r *reducing.Reduction) segmentReduction {
	says := r.Op.Statement
	says.By, says.Control = op.ByIDs, two|three
	return segmentReduction{
		name: "segment_" + strings.TrimPrefix(r.Op.Name, "reduce_"), says: says,
		goName: "ops.Segment" + strings.TrimPrefix(r.Op.Func(), "ops."), doc: r.Op.Doc + ", for the items of each segment",
		takes:  reducing.Elements(func(d dtype.DType) bool { return r.Kernel(nil, d) != nil }),
		result: r.Result, vjp: r.Gradient,
		kernel: func(out, data *tensor.Dense, ids []int64, inner int) error {
			n := int64(out.Dim(0))
			if err := segment.CheckIDs(ids, n); err != nil {
				return err
			}
			splits := make([]int64, n+1)
			order := hashing.Collect(splits, ids, func(n int) []int64 { return make([]int64, n) })
			flat := Reshape(data, append([]int{len(ids)}, out.Shape().Dims()[1:]...))
			x := tensor.Contiguous(Gather(flat, tensor.Vector(order), 0).(*tensor.Dense))
			f := r.Kernel(nil, data.DType())
			size, to := inner*data.DType().Size(), inner*out.DType().Size()
			for s := range int(n) {
				from, rows := splits[s], splits[s+1]-splits[s]
				if rows == 0 {
					from = 0 // if no items follow, splits[s] is past the end, where no pointer may point
				}
				f(unsafe.Add(out.Raw(), s*to), unsafe.Add(x.Raw(), int(from)*size), 1, int(rows), inner)
			}
			return nil
		},
	}
}

// SegmentSum returns the sum of the items of each segment. ids has an id for each item of data; an
// item with a negative id belongs to no segment, and an id of n or more is an error that names it.
// n is an integer or a scalar tensor; nil means one more than the largest id. A segment without
// items gives 0.
//
//	data: [i, a], ids: int[i] → [n, a], numbers. Gradient: each item gets its segment's cotangent.
func SegmentSum(data, ids, n any) tensor.Tensor { return op.Eval(segmentSumOp, data, ids, n) }

// SegmentMean returns the mean of the items of each segment; see [SegmentSum]. A
// segment without items gives NaN.
//
//	data: [i, a], ids: int[i] → [n, a], real numbers; integers give float64.
//	Gradient: each item gets its segment's cotangent, divided by the number of items.
func SegmentMean(data, ids, n any) tensor.Tensor { return op.Eval(segmentMeanOp, data, ids, n) }

// SegmentSqrtN returns the sum of the items of each segment, divided by the square
// root of their number; see [SegmentSum]. A segment without items gives NaN.
//
//	data: [i, a], ids: int[i] → [n, a], floating-point numbers.
//	Gradient: each item gets its segment's cotangent, divided likewise.
func SegmentSqrtN(data, ids, n any) tensor.Tensor { return op.Eval(segmentSqrtNOp, data, ids, n) }

// SegmentProd returns the product of the items of each segment; see [SegmentSum]. A
// segment without items gives 1.
//
//	data: [i, a], ids: int[i] → [n, a], numbers.
//	Gradient: each item gets its segment's cotangent times the product of the other items.
func SegmentProd(data, ids, n any) tensor.Tensor { return op.Eval(segmentProdOp, data, ids, n) }

// SegmentMax returns the largest of the items of each segment; see [SegmentSum]. NaN
// wins. A segment without items gives the type's lowest value, -∞ for floats.
//
//	data: [i, a], ids: int[i] → [n, a], real numbers.
//	Gradient: the largest items share their segment's cotangent equally.
func SegmentMax(data, ids, n any) tensor.Tensor { return op.Eval(segmentMaxOp, data, ids, n) }

// SegmentMin returns the smallest of the items of each segment; see [SegmentSum]. NaN
// wins. A segment without items gives the type's highest value, +∞ for floats.
//
//	data: [i, a], ids: int[i] → [n, a], real numbers.
//	Gradient: the smallest items share their segment's cotangent equally.
func SegmentMin(data, ids, n any) tensor.Tensor { return op.Eval(segmentMinOp, data, ids, n) }

// SegmentAny reports whether any item of each segment is true; see [SegmentSum].
//
//	data: bool[i, a], ids: int[i] → bool[n, a]. No gradient.
func SegmentAny(data, ids, n any) tensor.Tensor { return op.Eval(ofSegments[op.Anys], data, ids, n) }

// SegmentAll reports whether every item of each segment is true; see
// [SegmentSum].
//
//	data: bool[i, a], ids: int[i] → bool[n, a]. No gradient.
func SegmentAll(data, ids, n any) tensor.Tensor { return op.Eval(ofSegments[op.Alls], data, ids, n) }

// SegmentLogSumExp returns the logarithm of the sum of e^x over the items of each segment; see
// [SegmentSum].
//
//	data: [i, a], ids: int[i] → [n, a], floating-point numbers.
//	Gradient: each item gets its segment's cotangent times its share of the sum.
func SegmentLogSumExp(data, ids, n any) tensor.Tensor {
	return op.Eval(ofSegments[op.LogSums], data, ids, n)
}

// SegmentCountNonzero returns the number of nonzero items of each segment, in int64; see
// [SegmentSum].
//
//	data: [i, a], ids: int[i] → int64[n, a]. No gradient.
func SegmentCountNonzero(data, ids, n any) tensor.Tensor {
	return op.Eval(countSegmentsOp, data, ids, n)
}
