package ops

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/internal/kernel/sorting"
	"github.com/tenonml/tenon/internal/kernel/str"
	"github.com/tenonml/tenon/internal/par"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Kernels sort rows along the last axis; another axis is first moved there.

// sortGrain is the number of elements that a worker sorts at a time.
const sortGrain = 4 << 10

func sortRows[T dtype.Real](x *tensor.Dense, n int, descending bool) {
	e := tensor.Elems[T](x)
	par.For(len(e)/n, max(1, sortGrain/n), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			sorting.Sort(e[i*n:(i+1)*n:(i+1)*n], descending)
		}
	})
}

// shortRow is the length up to which rows are sorted like those of a ragged tensor, many at a time.
const shortRow = 32

// evenSplits returns the splits of rows of n elements, for as many rows as a worker sorts at a
// time.
func evenSplits(rows, n int) []int64 {
	splits := make([]int64, min(rows, max(1, sortGrain/n))+1)
	for i := range splits {
		splits[i] = int64(i * n)
	}
	return splits
}

func argSortRows[T dtype.Real](out []int64, x *tensor.Dense, n int, descending bool) {
	e := tensor.Elems[T](x)
	if n <= shortRow && len(e) > shortRow {
		splits := evenSplits(len(e)/n, n)
		par.For(len(e)/n, max(1, sortGrain/n), func(lo, hi int) {
			segment.ArgSort(out[lo*n:hi*n], e[lo*n:hi*n], splits[:hi-lo+1], 1, descending)
		})
		return
	}
	par.For(len(e)/n, max(1, sortGrain/n), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			sorting.ArgSort(out[i*n:(i+1)*n], e[i*n:(i+1)*n:(i+1)*n], descending)
		}
	})
}

func topKOfRows[T dtype.Real](values *tensor.Dense, at []int64, x *tensor.Dense, n, k int) {
	v, e := tensor.Elems[T](values), tensor.Elems[T](x)
	if n <= shortRow && len(e) > shortRow {
		splits := evenSplits(len(e)/n, n)
		par.For(len(e)/n, max(1, sortGrain/n), func(lo, hi int) {
			order := make([]int64, (hi-lo)*n)
			segment.ArgSort(order, e[lo*n:hi*n], splits[:hi-lo+1], 1, true)
			for i := lo; i < hi; i++ {
				row, first, o := e[i*n:(i+1)*n], at[i*k:(i+1)*k], order[(i-lo)*n:]
				for j := range first {
					first[j] = o[j]
					v[i*k+j] = row[o[j]]
				}
			}
		})
		return
	}
	par.For(len(e)/n, max(1, sortGrain/n), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			sorting.TopK(v[i*k:(i+1)*k:(i+1)*k], at[i*k:(i+1)*k], e[i*n:(i+1)*n:(i+1)*n])
		}
	})
}

// sortable returns x and the kernels that sort it. Booleans are sorted as bytes.
func sortable(x *tensor.Dense) (*kernels, *tensor.Dense) {
	if x.DType().IsBool() {
		x = tensor.Wrap(sorting.Bytes(tensor.Elems[bool](x)), x.Shape())
	}
	return &byType[x.DType()], x
}

var sortParams = []op.Param{{Name: "x", Takes: op.OrderedValues}, {Name: "axis", Kind: op.Attr, Type: op.IntType, Default: -1},
	{Name: "descending", Kind: op.Attr, Type: op.BoolType, Default: false}}

var sortOp = op.Register(&op.Op{
	Name: "sort", Statement: ordered, Doc: "The elements along an axis, sorted.", Strided: true,
	Params: sortParams, Results: 1,
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		axis, _ := c.Tensor(0).Shape().Axis(c.Int(1))
		if s, ok := c.Tensor(0).(*tensor.Strings); ok {
			if n := s.Shape().Dim(axis); axis == s.Shape().Rank()-1 && n > 0 {
				return c.Result(move.Tensor(str.SortRows(move.Column(s), uniformSplits(s.Len()/n, n), c.Bool(2)), s.Shape()))
			}
			order := alongLast(move.Positions(0, s.Shape()), axis, func(rows *tensor.Dense, n int) {
				sortStrings(s, tensor.Elems[int64](rows), n, c.Bool(2))
			})
			return c.Result(move.Strings(s, order))
		}
		return c.Result(alongLast(c.Dense(0), axis, func(rows *tensor.Dense, n int) {
			k, e := sortable(rows)
			k.sort(e, n, c.Bool(2))
		}))
	},
})

var _ = gradient(sortOp, func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
	x, axis := c.Tensor(0), c.Int(1)
	order := op.Eval(argSortOp, x, axis, c.Bool(2))
	return []tensor.Tensor{PutAlongAxis(zerosOf(x, ct[0]), order, ct[0], axis)}
})

// SortOptions says how to sort. The zero value means ascending order.
type SortOptions struct {
	Descending bool
}

// Sort returns the elements of x along an axis in order. NaN is last in both
// directions, false comes before true, and strings are ordered by their bytes.
//
//	x: [a, n, b], axis 1 → [a, n, b], real numbers, booleans and strings.
//	Gradient: each element gets the cotangent at its position in the result.
func Sort(x any, axis int, o SortOptions) tensor.Tensor {
	return op.Eval(sortOp, x, axis, o.Descending)
}

var argSortOp = op.Register(&op.Op{
	Name: "argsort", Statement: places, GoName: "ops.ArgSort", Doc: "The positions of the elements along an axis in sorted order.", Strided: true, Nondifferentiable: true,
	Params: sortParams, Results: 1,
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x := c.Tensor(0)
		axis, _ := x.Shape().Axis(c.Int(1))
		return c.Result(argSorted(x, axis, c.Bool(2)))
	},
})

// ArgSort returns the positions of the elements of x in sorted order along an axis; see [Sort]. The
// sort is stable.
//
//	x: [a, n, b], axis 1 → int64[a, n, b]. No gradient.
func ArgSort(x any, axis int, o SortOptions) tensor.Tensor {
	return op.Eval(argSortOp, x, axis, o.Descending)
}

func argSorted(x tensor.Tensor, axis int, descending bool) *tensor.Dense {
	s := x.Shape()
	last := s.Rank() - 1
	order := swapped(s.Rank(), axis)
	dims := s.Dims()
	dims[axis], dims[last] = dims[last], dims[axis]
	out, at := tensor.Make[int64](shape.Of(dims...))
	n := s.Dim(axis)
	if len(at) > 0 {
		if strs, ok := x.(*tensor.Strings); ok {
			where := tensor.Data[int64](permuted(move.Positions(0, s), order))
			copy(at, where)
			sortStrings(strs, at, n, descending)
			step := 1
			for _, d := range s.Dims()[axis+1:] {
				step *= d
			}
			for i, p := range at {
				at[i] = int64(int(p) / step % n)
			}
		} else {
			k, e := sortable(move.RowMajor(permuted(x.(*tensor.Dense), order)))
			k.argSort(at, e, n, descending)
		}
	}
	return move.RowMajor(permuted(out, order))
}

// swapped returns a permutation that puts axis last.
func swapped(rank, axis int) []int {
	order := make([]int, rank)
	for i := range order {
		order[i] = i
	}
	order[axis], order[rank-1] = order[rank-1], order[axis]
	return order
}

// alongLast applies f to a copy of x whose rows of n elements run along an axis,
// and returns the copy with the axes in x's order.
func alongLast(x *tensor.Dense, axis int, f func(rows *tensor.Dense, n int)) *tensor.Dense {
	order := swapped(x.Rank(), axis)
	rows := move.Copied(permuted(x, order))
	if rows.Len() > 0 {
		f(rows, rows.Dim(-1))
	}
	return move.RowMajor(permuted(rows, order))
}

// sortStrings stably sorts each group of n positions by the strings there.
func sortStrings(s *tensor.Strings, at []int64, n int, descending bool) {
	col, err := str.Gather(move.Column(s), at)
	tenon.Throw(err)
	order := make([]int64, len(at))
	str.ArgSortRows(order, col, uniformSplits(len(at)/n, n), descending)
	for i, p := range order { // the order of the strings is now that of their positions
		order[i] = at[i/n*n+int(p)]
	}
	copy(at, order)
}

var topKOp = op.Register(&op.Op{
	Name: "top_k", Statement: op.Statement{Axes: op.Along, Missing: op.Last, Control: two, Places: op.Second, Zero: op.Zero{Keeps: true}}, Doc: "The largest elements along an axis, and their positions.",
	Params: []op.Param{{Name: "x", Takes: op.OrderedValues}, sizeParam("k"), {Name: "axis", Kind: op.Attr, Type: op.IntType, Default: -1}}, Results: 2,
	Shape: func(c *op.Call) (s shape.Shape, err error) {
		s = c.Tensor(0).Shape()
		axis, err := c.Axis(c.Int(2), s)
		if err != nil {
			return s, err
		}
		k, err := count(c, 1)
		if err != nil || !s.HasRank() {
			return s, err
		}
		if n := s.Dim(axis); n >= 0 && k > n {
			return s, c.Errorf(tenon.ErrInvalid, "k is %d, axis %d has %d elements", k, c.Int(2), n)
		}
		return s.With(axis, k), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x := c.Tensor(0)
		axis, _ := x.Shape().Axis(c.Int(2))
		order := swapped(x.Shape().Rank(), axis)
		back := func(d *tensor.Dense) *tensor.Dense { return move.RowMajor(permuted(d, order)) }
		if s, ok := x.(*tensor.Strings); ok {
			places := move.RowMajor(permuted(move.Positions(0, s.Shape()), order))
			from, at := topStrings(s, places, outShape(c, 0).Dim(axis))
			return []tensor.Tensor{move.Strings(s, back(from)), back(at)}, nil
		}
		rows := move.RowMajor(permuted(c.Dense(0), order))
		s := rows.Shape().With(-1, outShape(c, 0).Dim(axis))
		at, p := tensor.Make[int64](s)
		values := tensor.Uninit(rows.DType(), s)
		if len(p) > 0 {
			kernels, e := sortable(rows)
			_, v := sortable(values)
			kernels.topK(v, p, e, rows.Dim(-1), s.Dim(-1))
		}
		return []tensor.Tensor{back(values), back(at)}, nil
	},
})

var _ = gradient(topKOp, func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	x := c.Tensor(0)
	return []tensor.Tensor{PutAlongAxis(zerosOf(x, ct[0]), out[1], ct[0], c.Int(2)), nil}
})

// TopK returns the k largest elements along an axis, by default the last one, in descending order,
// and their positions. Of equal elements the first comes first; NaN counts as less than everything.
// k is an integer or a scalar tensor, and not larger than the axis.
//
//	x: [a, n] → [a, k], int64[a, k], real numbers, booleans and strings.
//	Gradient: the cotangent of the first result at the positions, 0 elsewhere.
func TopK(x, k any, axis ...int) (values, positions tensor.Tensor) {
	a := -1
	if len(axis) > 0 {
		a = axis[0]
	}
	out := op.EvalN(topKOp, x, k, a)
	return out[0], out[1]
}

// topStrings returns the positions of the k largest strings of each row, both in x and in the row.
// rows holds the positions in x of the strings of each row.
func topStrings(x *tensor.Strings, rows *tensor.Dense, k int) (from, at *tensor.Dense) {
	s := rows.Shape().With(-1, k)
	from, f := tensor.Make[int64](s)
	at, p := tensor.Make[int64](s)
	if len(p) == 0 {
		return from, at
	}
	n, all := rows.Dim(-1), tensor.Elems[int64](rows)
	order := make([]int64, len(all))
	for i := range order {
		order[i] = int64(i)
	}
	sortStrings(move.Strings(x, rows), order, n, true)
	for i := range p {
		o := order[i/k*n+i%k]
		f[i], p[i] = all[o], o%int64(n)
	}
	return from, at
}
