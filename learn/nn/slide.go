package nn

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// slide applies f to the windows along the positions of each row: [..., window..., features] →
// [..., features]. f may ask for the number of elements of each window that are positions, [...,
// 1]; the others are fill. If dense is not nil, it does the same with dense positions instead of
// their windows. A missing position is treated like one beyond the ends, and a result is missing
// if all positions of its window are.
func slide(fn string, x tensor.Tensor, names Names, w Windows, size []int, fill float64,
	f func(windows tensor.Tensor, count func() tensor.Tensor) tensor.Tensor, dense func(x tensor.Tensor, o ops.WindowOptions) tensor.Tensor) tensor.Tensor {
	o := w.options(fn, size)
	o.Fill = fill
	switch t := x.(type) {
	case dimensioned:
		at := names.positions()
		return unnamed(fn, t, append(at[:len(at):len(at)], names.In), append(at[:len(at):len(at)], names.out()), func(x tensor.Tensor) tensor.Tensor {
			return slide(fn, x, names, w, size, fill, f, dense)
		})
	case rowed:
		if len(size) != 1 {
			tenon.Throw(tenon.NewError(tenon.ErrUnsupported, fn, fmt.Sprintf("%s has one axis of positions, the windows have %d", tenon.String(x.Spec()), len(size))))
		}
		return innermost(fn, t, func(x rowed) tensor.Tensor {
			items, _ := x.Carried()
			splits, index, there := rowWindows(x.RowSplits(), o)
			windows := takePresent(items, index, there)
			if fill != 0 {
				windows = ops.Where(ops.ExpandDims(there, -1), windows, fill)
			}
			count := func() tensor.Tensor { return ops.ExpandDims(ops.Sum(ops.Cast(there, x.DType()), -1), -1) }
			return tenon.Must(ragged.FromRowSplits(f(windows, count), splits))
		})
	case someMissing:
		items, there := filled(fn, t, fill)
		axis := wantAxes(fn, items, len(size))
		count := present(there, axis, o, items.DType())
		some := ops.Greater(count, 0.0)
		var y tensor.Tensor
		if dense != nil {
			y = dense(items, o)
		} else {
			y = f(ops.Windows(items, axis, o), func() tensor.Tensor { return ops.Maximum(count, 1.0) })
		}
		return tenon.Must(masked.New(ops.Where(some, y, 0.0), ops.Squeeze(some, -1)))
	case tensor.Carrier:
		tenon.Throw(carried(fn, x))
	}
	axis := wantAxes(fn, x, len(size))
	if dense != nil {
		return dense(x, o)
	}
	return f(ops.Windows(x, axis, o), func() tensor.Tensor {
		return present(ops.Ones(x.DType(), ops.Slice(ops.Shape(x), []int{axis}, []int{len(size)})), 0, o, x.DType())
	})
}

// wantAxes returns the first of n axes of positions of a dense tensor.
func wantAxes(fn string, x tensor.Tensor, n int) int {
	rank := x.Shape().Rank()
	if rank >= 0 && rank < n+1 {
		tenon.Throw(tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("%s has no %d axes of positions and one of features", tenon.String(x.Spec()), n)))
	}
	return rank - n - 1
}

// present returns the number of positions in each window, [..., 1], according to a mask whose
// positions start at axis.
func present(there tensor.Tensor, axis int, o ops.WindowOptions, d dtype.DType) tensor.Tensor {
	o.Fill = 0
	windows := ops.Windows(ops.Cast(there, d), axis, o)
	n := len(o.Size)
	return ops.ExpandDims(ops.Sum(windows, axes(axis+n, n)...), -1)
}

// carried rejects values whose masks or units do not determine those of a window.
func carried(fn string, x tensor.Tensor) error {
	e := tenon.NewError(tenon.ErrUnsupported, fn, fmt.Sprintf("windows of %s have elements that are missing or not numbers", tenon.String(x.Spec())))
	e.Hint = "fill in missing elements first (masked.Fill), or use rows of different lengths"
	return e
}

// rowWindows returns the row splits of the windows of rows, the index of each element among all
// items, [windows, size], and whether the element exists.
func rowWindows(splits tensor.Tensor, o ops.WindowOptions) (windows, index, there tensor.Tensor) {
	stride, dilation, size := int64(o.Stride[0]), int64(o.Dilation[0]), o.Size[0]
	reach := int64(size-1)*dilation + 1
	n := ops.Cast(rows.Lengths(splits), dtype.Int64)
	var count, before tensor.Tensor // of each row
	if o.Same {
		count = ops.FloorDiv(ops.Add(n, stride-1), stride)
		before = ops.FloorDiv(ops.Maximum(ops.Sub(ops.Add(ops.Mul(ops.Sub(count, int64(1)), stride), reach), n), int64(0)), int64(2))
	} else {
		var b, a int64
		if o.Before != nil {
			b, a = int64(o.Before[0]), int64(o.After[0])
		}
		count = ops.Maximum(ops.Add(ops.FloorDiv(ops.Add(n, b+a-reach), stride), int64(1)), int64(0))
		count = ops.Where(ops.Equal(n, int64(0)), int64(0), count)
		before = ops.Add(ops.ZerosLike(n), b)
	}
	windows = rows.FromLengths(ops.Cast(count, splits.DType()))
	index, there = elements(windows, before, n, starts(splits), o)
	return windows, ops.Where(there, index, int64(0)), there
}

// elements returns, for the windows of rows, the index of the item at each element, [windows,
// size], and whether it belongs to the row. A row has n items from index start on, and its
// first window begins before positions ahead of them.
func elements(windows, before, n, start tensor.Tensor, o ops.WindowOptions) (index, there tensor.Tensor) {
	each := func(x tensor.Tensor) tensor.Tensor { return ops.ExpandDims(rows.Repeat(x, windows, -1), -1) }
	first := ops.Mul(ops.Cast(rows.Offsets(windows, -1), dtype.Int64), int64(o.Stride[0]))
	steps := ops.Mul(ops.Range(int64(0), int64(o.Size[0]), int64(1)), int64(o.Dilation[0]))
	at := ops.Add(ops.Sub(ops.ExpandDims(first, -1), each(before)), steps)
	there = ops.LogicalAnd(ops.GreaterEqual(at, int64(0)), ops.Less(at, each(n)))
	return ops.Add(at, each(start)), there
}

// starts returns the index of the first item of each row.
func starts(splits tensor.Tensor) tensor.Tensor {
	return ops.Cast(ops.Index(splits, key.To(-1)), dtype.Int64)
}

// takePresent returns the items at indices of any shape, and zeros where there is none.
func takePresent(items, at, there tensor.Tensor) tensor.Tensor {
	flat := rows.TakePresent(items, ops.Reshape(at, []int{-1}), ops.Reshape(there, []int{-1}))
	if s := at.Shape(); s.Dim(-1) > 0 && known(items) > 0 {
		return ops.Reshape(flat, []int{-1, s.Dim(-1), known(items)})
	}
	return ops.Reshape(flat, ops.Concat([]any{ops.Shape(at), ops.Slice(ops.Shape(items), []int{1}, []int{1})}, 0))
}

// unslide adds up the windows that parts computes from positions, [..., features] → [...,
// window..., features], and applies last to the sums. dense computes the sums, of given sizes,
// for dense positions.
func unslide(fn string, x tensor.Tensor, names Names, w Windows, window, extra []int, parts func(tensor.Tensor) tensor.Tensor,
	dense func(x, sizes tensor.Tensor, o ops.WindowOptions) tensor.Tensor, last func(tensor.Tensor) tensor.Tensor) tensor.Tensor {
	o := w.options(fn, window)
	n := len(window)
	grown := func(count any, i int) tensor.Tensor { // positions that windows cover
		cut := 0
		if o.Before != nil {
			cut = o.Before[i] + o.After[i]
		}
		more := int64((window[i]-1)*o.Dilation[i] + 1 + extra[i] - cut - o.Stride[i])
		return ops.Maximum(ops.Add(ops.Mul(count, int64(o.Stride[i])), more), int64(0))
	}
	switch t := x.(type) {
	case dimensioned:
		at := names.positions()
		return unnamed(fn, t, append(at[:len(at):len(at)], names.In), append(at[:len(at):len(at)], names.out()), func(x tensor.Tensor) tensor.Tensor {
			return unslide(fn, x, names, w, window, extra, parts, dense, last)
		})
	case rowed:
		if n != 1 {
			tenon.Throw(tenon.NewError(tenon.ErrUnsupported, fn, fmt.Sprintf("%s has one axis of positions, the windows have %d", tenon.String(x.Spec()), n)))
		}
		return innermost(fn, t, func(x rowed) tensor.Tensor {
			items, _ := x.Carried()
			count := ops.Cast(rows.Lengths(x.RowSplits()), dtype.Int64)
			lengths := ops.Where(ops.Equal(count, int64(0)), int64(0), grown(count, 0))
			splits := rows.FromLengths(ops.Cast(lengths, x.RowSplits().DType()))
			b := int64(0)
			if o.Before != nil {
				b = int64(o.Before[0])
			}
			to, there := elements(x.RowSplits(), ops.Add(ops.ZerosLike(lengths), b), lengths, starts(splits), o)
			total := ops.Index(ops.Cast(splits, dtype.Int64), -1)
			to = ops.Where(there, to, total) // cropped positions are added up after the last one
			y := parts(items)                // [items, window, features]
			flat := ops.Reshape(y, ops.Concat([]any{[]int64{-1}, ops.Slice(ops.Shape(y), []int{2}, []int{1})}, 0))
			sum := ops.SegmentSum(flat, ops.Reshape(to, []int{-1}), ops.Add(total, int64(1)))
			return tenon.Must(ragged.FromRowSplits(last(ops.Slice(sum, []int{0, 0}, ops.Stack([]any{total, int64(-1)}, 0))), splits))
		})
	case someMissing:
		items, there := filled(fn, t, 0)
		axis := wantAxes(fn, items, n)
		to := unslid(items, axis, n, grown)
		// A window of ones around each position of the mask.
		ones := ops.Cast(ops.ExpandDims(there, axes(-n, n)...), dtype.Int64)
		ones = ops.Tile(ones, append(slices.Repeat([]int{1}, axis+n), window...))
		some := ops.Greater(ops.Squeeze(ops.FoldWindows(ops.ExpandDims(ones, -1), to, axis, o), -1), int64(0))
		y := last(dense(items, to, o))
		return tenon.Must(masked.New(ops.Where(ops.ExpandDims(some, -1), y, 0.0), some))
	case tensor.Carrier:
		tenon.Throw(carried(fn, x))
	}
	return last(dense(x, unslid(x, wantAxes(fn, x, n), n, grown), o))
}

// unslid returns the sizes of the n axes from one on, grown.
func unslid(x tensor.Tensor, axis, n int, grown func(count any, i int) tensor.Tensor) tensor.Tensor {
	sizes := make([]any, n)
	for i := range sizes {
		sizes[i] = grown(size(x, axis+i), i)
	}
	return ops.Stack(sizes, 0)
}

// axes returns the numbers of n axes, starting with first.
func axes(first, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = first + i
	}
	return out
}
