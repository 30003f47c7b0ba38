package ops

import (
	"errors"
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/sorting"
	"github.com/tenonml/tenon/internal/kernel/str"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

func searchRows[T dtype.Real](out []int64, sorted, x *tensor.Dense, rows int, right bool) {
	s, e := tensor.Elems[T](sorted), tensor.Elems[T](x)
	n, m := len(s)/rows, len(e)/rows
	for r := range rows {
		sorting.SearchSorted(out[r*m:(r+1)*m], s[r*n:(r+1)*n:(r+1)*n], e[r*m:(r+1)*m:(r+1)*m], right)
	}
}

var searchSortedOp *op.Op

func init() {
	searchSortedOp = op.Register(&op.Op{
		Name: "searchsorted", Statement: op.Statement{Axes: op.Along, Core: 1, Control: one, Places: op.First}, GoName: "ops.SearchSorted", Doc: "Where elements belong in sorted rows.", Nondifferentiable: true,
		Params: []op.Param{{Name: "sorted", Group: 1, Takes: op.OrderedValues, Rank: 1}, {Name: "x", Group: 1}, {Name: "right", Kind: op.Attr, Type: op.BoolType, Default: false}}, Results: 1,
		Shape: func(c *op.Call) (shape.Shape, error) {
			s, xs := c.Tensor(0).Shape(), c.Tensor(1).Shape()
			if s.Rank() > 1 && xs.HasRank() && (s.Rank() != xs.Rank() || !s.With(-1, shape.Unknown).CompatibleWith(xs.With(-1, shape.Unknown))) {
				return s, c.Errorf(tenon.ErrShape, "rows of %v do not match rows of %v", s, xs)
			}
			return xs, nil
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			out, at := tensor.Make[int64](outShape(c, 0))
			s := c.Tensor(0).Shape()
			rows := s.Slice(0, s.Rank()-1).Size()
			if len(at) == 0 {
				return c.Result(out)
			}
			if strs, ok := c.Tensor(0).(*tensor.Strings); ok {
				searchStrings(at, strs, c.Strings(1), rows, c.Bool(2))
				return c.Result(out)
			}
			k, e := sortable(c.Dense(0))
			_, x := sortable(c.Dense(1))
			k.searchSorted(at, e, x, rows, c.Bool(2))
			return c.Result(out)
		},
		Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
			s := c.Tensor(0).Shape()
			if !batched[0] && s.Rank() == 1 {
				return c.Result(op.Eval(searchSortedOp, c.Value(0), c.Value(1), c.Bool(2)))
			}
			v := allInFront(c.Values(), batched)
			if v[0].Shape().Rank() != v[1].Shape().Rank() {
				return nil, op.NotHandled
			}
			return c.Result(op.Eval(searchSortedOp, v[0], v[1], c.Bool(2)))
		},
	})
}

// SearchSorted returns, for each element of x, the position in a sorted vector at which it can be
// inserted: before equal elements or, if right is set, after them. Sorted rows, [a, n], are
// searched for the elements of the rows of x, [a, m].
//
//	sorted: [n], x: [m…] → int64[m…], real numbers, booleans and strings. No gradient.
func SearchSorted(sorted, x any, right bool) tensor.Tensor {
	return op.Eval(searchSortedOp, sorted, x, right)
}

func searchStrings(out []int64, sorted, x *tensor.Strings, rows int, right bool) {
	s, e := move.Column(sorted), move.Column(x)
	n, m := s.Len()/rows, e.Len()/rows
	for r := range rows {
		str.SearchSorted(out[r*m:(r+1)*m], stretch(s, r*n, (r+1)*n), stretch(e, r*m, (r+1)*m), right)
	}
}

// stretch returns the strings from lo up to, but not including, hi.
func stretch(c str.Column, lo, hi int) str.Column {
	return str.Column{Offsets: c.Offsets[lo : hi+1], Bytes: c.Bytes}
}

var binCountOp = op.Register(&op.Op{
	Name: "bincount", Statement: opaque("the elements are positions in the result"), GoName: "ops.BinCount", Doc: "How often each number occurs, or the sum of its weights.",
	Params: []op.Param{{Name: "x", Takes: op.Integers}, {Name: "weights", Optional: true, Takes: op.Numbers}, optionalSize("minlength"), optionalSize("maxlength")}, Results: 1,
	Elem: func(c *op.Call, _ dtype.DType) dtype.DType {
		if w := c.Tensor(1); w != nil {
			return w.DType()
		}
		return dtype.Int64
	},
	Shape: func(c *op.Call) (shape.Shape, error) {
		if w := c.Tensor(1); w != nil && !w.Shape().CompatibleWith(c.Tensor(0).Shape()) {
			return shape.Shape{}, c.Errorf(tenon.ErrShape, "the weights have the shape %v, x has %v", w.Shape(), c.Tensor(0).Shape())
		}
		lo, err1 := count(c, 2)
		hi, err2 := count(c, 3)
		if lo != hi {
			lo = shape.Unknown
		}
		return shape.Of(lo), errors.Join(err1, err2)
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x := c.Dense(0)
		n, err := bins(c, x)
		if err != nil {
			return nil, err
		}
		var out *tensor.Dense
		if w := c.Dense(1); w != nil {
			out = tensor.NewDense(w.DType(), shape.Of(n))
			err = byType[w.DType()].binSum(out, x, w)
		} else {
			var counts []int64
			out, counts = tensor.Make[int64](shape.Of(n))
			err = byType[x.DType()].binCount(counts, x)
		}
		if e, ok := err.(*sorting.ValueError); ok {
			return nil, c.Errorf(tenon.ErrInvalid, "%s", e.Detail).At("x" + coordinates(x.Shape(), e.Pos))
		}
		return []tensor.Tensor{out}, err
	},
})

var _ = gradient(binCountOp, func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	// Elements at or above the number of bins do not contribute to the result.
	x, n := castIndex(c.Tensor(0)), sizeOperand(out[0], 0)
	inside := Less(x, n)
	at := Where(inside, x, int64(0))
	padded := Concat([]any{ct[0], Zeros(ct[0].DType(), []int{1})}, 0) // so that there is an element 0
	return []tensor.Tensor{nil, Where(inside, Gather(padded, at, 0), Cast(0, ct[0].DType()))}
})

// BinCountOptions says what [BinCount] counts. The zero value counts everything.
type BinCountOptions struct {
	Weights   any // what to add up instead of ones: numbers in x's shape
	MinLength any // the smallest number of bins: an integer or a scalar tensor
	MaxLength any // the largest number of bins; elements beyond it are ignored
}

// BinCount returns how often each number from 0 up to the largest one occurs in x or, given
// weights, the sum of their weights. A negative number is an error.
//
//	x: int[n…] → int64[max+1], or the weights' type. Gradient: for weights, the cotangent of their bin.
func BinCount(x any, o BinCountOptions) tensor.Tensor {
	return op.Eval(binCountOp, x, o.Weights, o.MinLength, o.MaxLength)
}

// maxBins bounds the number of bins that data alone can request; more can be
// requested only through MinLength.
const maxBins = 1 << 27

func bins(c *op.Call, x *tensor.Dense) (int, error) {
	limit := math.MaxInt
	if c.Has(3) {
		hi, err := count(c, 3)
		if err != nil {
			return 0, err
		}
		limit = hi
	}
	largest := byType[x.DType()].binLimit(x)
	n := int(min(uint64(largest), uint64(limit)))
	if n > maxBins || n < 0 {
		return 0, c.Errorf(tenon.ErrInvalid, "the largest number is %d, which would make as many bins", largest-1).
			WithHint("set MaxLength, or renumber with ops.Unique")
	}
	if c.Has(2) {
		lo, err := count(c, 2)
		if err != nil {
			return 0, err
		}
		n = max(n, min(lo, limit))
	}
	return n, nil
}

var histogramOp = op.Register(&op.Op{
	Name: "histogram", Statement: opaque("the elements are positions in the result"), Doc: "The number of elements in each of several intervals of equal width.", Nondifferentiable: true,
	Params: []op.Param{{Name: "x", Takes: op.Reals}, {Name: "range", Takes: op.Reals}, sizeParam("bins")}, Results: 1,
	Elem: always(dtype.Int64),
	Shape: func(c *op.Call) (shape.Shape, error) {
		if s := c.Tensor(1).Shape(); !s.CompatibleWith(shape.Of(2)) {
			return s, c.Errorf(tenon.ErrShape, "range has the shape %v, want the two ends", s)
		}
		n, err := count(c, 2)
		return shape.Of(n), err
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		s := outShape(c, 0)
		r := tensor.Data[float64](castDense(c.Dense(1), dtype.Float64))
		if !(r[0] < r[1]) || math.IsInf(r[1]-r[0], 0) || s.Dim(0) == 0 {
			return nil, c.Errorf(tenon.ErrInvalid, "%d bins between %v and %v: there must be at least one, and the first end must be below the second", s.Dim(0), r[0], r[1])
		}
		out, counts := tensor.Make[int64](s)
		x := c.Dense(0)
		byType[x.DType()].histogram(counts, x, r[0], r[1])
		return c.Result(out)
	},
})

// Histogram returns the number of elements of x in each of bins intervals of
// equal width between two limits. Elements outside the limits are counted in the
// first or last interval; NaN is ignored.
//
//	x: [n…], limits: [2] → int64[bins], real numbers. No gradient.
func Histogram(x, limits, bins any) tensor.Tensor { return op.Eval(histogramOp, x, limits, bins) }
