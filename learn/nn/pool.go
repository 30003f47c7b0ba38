package nn

import (
	"fmt"
	"math"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/half"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// A Pooling says how the elements of a window are combined.
type Pooling string

// How elements are combined.
const (
	MaxPool  Pooling = "max" // their maximum
	MeanPool Pooling = "avg" // their mean
)

func (p Pooling) check(fn string) {
	if p != MaxPool && p != MeanPool {
		e := tenon.NewError(tenon.ErrNotFound, fn, fmt.Sprintf("there is no pooling %q", string(p)))
		e.Hint = `there are "max" and "avg"`
		tenon.Throw(e)
	}
}

// Pool takes the maximum or the mean of each window, feature by feature.
type Pool struct {
	Kind    Pooling `tenon:"static"`
	Size    []int   `tenon:"static"` // of windows, for each axis of positions
	Windows Windows `tenon:"static"` // nil strides mean Size
	Padded  bool    `tenon:"static"` // means count positions beyond the ends as 0
	Names   Names   `tenon:"static"`
}

// Apply returns the layer's output. Missing positions of a masked x do not count.
//
//	x: [rows, positions..., features] dense or masked, [rows, (positions), features] ragged, or {..., Along, In}
//	→ the same with other positions
func (l Pool) Apply(x tensor.Tensor) tensor.Tensor {
	const fn = "nn.Pool"
	l.Kind.check(fn)
	w, fill, n := l.Windows, 0.0, 1
	if w.Stride == nil {
		w.Stride = l.Size
	}
	var dense func(x tensor.Tensor, o ops.WindowOptions) tensor.Tensor
	if l.Kind == MaxPool {
		fill = math.Inf(-1)
		dense = func(x tensor.Tensor, o ops.WindowOptions) tensor.Tensor { return ops.MaxWindows(x, -1-len(l.Size), o) }
	}
	for _, k := range l.Size {
		n *= k
	}
	return slide(fn, x, l.Names, w, l.Size, fill, func(x tensor.Tensor, count func() tensor.Tensor) tensor.Tensor {
		x = withLast(x, len(l.Size)+1, n, known(x))
		if l.Kind == MaxPool {
			return ops.Max(x, -2)
		}
		if l.Padded {
			return ops.Mean(x, -2)
		}
		return ops.Div(ops.Sum(x, -2), count())
	}, dense)
}

// GlobalPool takes the maximum or the mean over all positions of a row; 0 for a row without
// positions.
type GlobalPool struct {
	Kind  Pooling `tenon:"static"`
	Names Names   `tenon:"static"`
}

// Apply returns the layer's output. Missing positions of a masked x do not count.
//
//	x: [rows, positions..., features] dense, [rows, (positions), features] ragged, or {..., Along or Plane, In}
//	→ [rows, features]
func (l GlobalPool) Apply(x tensor.Tensor) tensor.Tensor {
	const fn = "nn.GlobalPool"
	l.Kind.check(fn)
	if t, ok := x.(dimensioned); ok {
		at := l.Names.positions()
		return unnamed(fn, t, append(slices.Clone(at), l.Names.In), []named.Name{l.Names.out()}, func(x tensor.Tensor) tensor.Tensor {
			return l.over(fn, x, len(at))
		})
	}
	if s := x.Shape(); s.HasRank() && s.Rank() < 3 {
		tenon.Throw(tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("%s has no axes of rows, positions and features", tenon.String(x.Spec()))))
	}
	return l.over(fn, x, x.Shape().Rank()-2)
}

// over is Apply to the n axes of positions before the features.
func (l GlobalPool) over(fn string, x tensor.Tensor, n int) tensor.Tensor {
	over := axes(x.Shape().Rank()-1-n, n)
	switch t := x.(type) {
	case rowed:
		return withRows(l.rows(inner(t)), t)
	case someMissing:
		items, mask := ofItems(fn, t)
		there := ops.ExpandDims(mask, -1)
		if l.Kind == MaxPool {
			y := ops.Max(ops.Where(there, items, negInf(items)), over...)
			return ops.Where(ops.Any(there, over...), y, 0.0)
		}
		wide := half.Wide(items)
		count := ops.Sum(ops.Cast(there, wide.DType()), over...)
		return ops.Cast(ops.Div(ops.Sum(ops.Where(there, wide, 0.0), over...), ops.Maximum(count, 1.0)), items.DType())
	case tensor.Carrier:
		tenon.Throw(carried(fn, x))
	}
	var y tensor.Tensor
	if l.Kind == MaxPool {
		y = ops.Max(x, over...)
	} else {
		y = ops.Mean(x, over...)
	}
	if s := x.Shape().Slice(over[0], over[0]+n); s.IsFull() && s.Size() > 0 {
		return y
	}
	count := ops.Prod(ops.Slice(ops.Shape(x), []int{over[0]}, []int{n}))
	return ops.Where(ops.Greater(count, 0), y, 0.0)
}

// rows is Apply to the positions of each row.
func (l GlobalPool) rows(x rowed) tensor.Tensor {
	items, _ := x.Carried()
	splits := x.RowSplits()
	f := rows.Mean
	if l.Kind == MaxPool {
		f = rows.Max
	}
	some := ops.ExpandDims(ops.Greater(rows.Lengths(splits), 0), -1)
	return ops.Where(some, f(items, splits), 0.0)
}

// AdaptivePool divides the positions of each axis into a fixed number of parts, and takes the
// maximum or the mean of each: part i of n positions is from ⌊i·n/size⌋ to ⌈(i+1)·n/size⌉.
type AdaptivePool struct {
	Kind  Pooling `tenon:"static"`
	Size  []int   `tenon:"static"`
	Names Names   `tenon:"static"`
}

// Apply returns the layer's output. The number of positions must be known for each axis.
//
//	x: [rows, positions..., features] dense or masked, or {..., Plane, In} → [rows, size..., features]
func (l AdaptivePool) Apply(x tensor.Tensor) tensor.Tensor {
	const fn = "nn.AdaptivePool"
	l.Kind.check(fn)
	switch t := x.(type) {
	case dimensioned:
		at := l.Names.positions()
		return unnamed(fn, t, append(at[:len(at):len(at)], l.Names.In), append(at[:len(at):len(at)], l.Names.out()), l.Apply)
	case someMissing:
		ofItems(fn, t) // the reductions below ignore missing items
	case tensor.Carrier:
		tenon.Throw(carried(fn, x))
	}
	s := x.Shape()
	first := s.Rank() - 1 - len(l.Size)
	if first < 0 || len(l.Size) == 0 {
		tenon.Throw(tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("%s has no %d axes of positions", tenon.String(x.Spec()), len(l.Size))))
	}
	for i, size := range l.Size {
		axis := first + i
		n := s.Dim(axis)
		if size < 1 || n < 1 {
			tenon.Throw(tenon.NewError(tenon.ErrInvalid, fn, fmt.Sprintf("axis %d of %s cannot be divided into %d parts", axis, tenon.String(x.Spec()), size)))
		}
		parts := make([]any, size)
		for k := range parts {
			from, to := k*n/size, ((k+1)*n+size-1)/size
			begin, count := make([]int, s.Rank()), make([]int, s.Rank())
			for a := range count {
				count[a] = -1
			}
			begin[axis], count[axis] = from, to-from
			part := ops.Slice(x, begin, count)
			if l.Kind == MaxPool {
				parts[k] = ops.MaxKeep(part, axis)
			} else {
				parts[k] = ops.MeanKeep(part, axis)
			}
		}
		x = ops.Concat(parts, axis)
	}
	return x
}
