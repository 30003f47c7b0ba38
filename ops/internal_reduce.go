package ops

import (
	"slices"
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/internal/kernel/reduce"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/ops/internal/reducing"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Parameters of reductions, and their indices.
var reduceParams = []op.Param{
	{Name: "x"},
	{Name: "axis", Kind: op.Attr, Type: op.IntsType, Optional: true},
	{Name: "keepdims", Kind: op.Attr, Type: op.BoolType, Default: false},
}

const (
	reduceAxis = 1
	reduceKeep = 2
)

// reduction registers a reduction computed by package reduce. kernel returns it
// for an element type and the call's attributes, or nil; result returns the
// element type of the results; and gradient is shared by reductions over axes,
// rows and segments.
func reduction(o op.Op, gradient reducing.Gradient, result func(dtype.DType) dtype.DType, kernel func(c *op.Call, d dtype.DType) reduce.Func) *op.Op {
	if o.Params == nil {
		o.Params = reduceParams
	}
	o.Results = 1
	o.Elem = func(c *op.Call, d dtype.DType) dtype.DType {
		if kernel(c, d) == nil {
			return dtype.None
		}
		return result(d)
	}
	o.Kernel = func(c *op.Call) ([]tensor.Tensor, error) {
		x := c.Dense(0)
		axes, _, err := c.SortedAxes(x.Shape())
		if err != nil {
			return nil, err
		}
		spec := c.Out[0].(*tensor.Spec)
		return c.Result(reduceDense(kernel(c, x.DType()), x, axes, spec.Shape(), spec.DType()))
	}
	r := &reducing.Reduction{Op: &o, Result: result, Kernel: kernel, Gradient: gradient}
	o.Nondifferentiable = gradient == nil
	if gradient != nil {
		o.VJP = vjpReduction(gradient)
	}
	reducing.All = append(reducing.All, r)
	return op.Register(&o)
}

// simpleReduction is reduction for kernels that depend only on the element type.
func simpleReduction(o op.Op, gradient reducing.Gradient, result func(dtype.DType) dtype.DType, kernel func(d dtype.DType) reduce.Func) *op.Op {
	return reduction(o, gradient, result, func(_ *op.Call, d dtype.DType) reduce.Func { return kernel(d) })
}

// evalReduction calls a reduction without further attributes.
func evalReduction(o *op.Op, x any, axes []int, keep bool) tensor.Tensor {
	return op.Eval(o, x, axesAttr(axes), keep)
}

// oneAxis has a list with one axis, for each axis that calls are likely to name.
var oneAxis = func() (all [16]any) {
	for i := range all {
		all[i] = []int{i - len(all)/2}
	}
	return all
}()

// axesAttr returns a copy of a list of axes as an attribute, since the caller may change its list.
// Attributes are never changed by calls, so lists of one axis are shared.
func axesAttr(axes []int) any {
	switch {
	case axes == nil:
		return []int(nil)
	case len(axes) == 1 && -len(oneAxis)/2 <= axes[0] && axes[0] < len(oneAxis)/2:
		return oneAxis[axes[0]+len(oneAxis)/2]
	}
	return append(make([]int, 0, len(axes)), axes...)
}

// reduceDense reduces x over sorted axes.
func reduceDense(f reduce.Func, x *tensor.Dense, axes []int, s shape.Shape, d dtype.DType) *tensor.Dense {
	out := tensor.Uninit(d, s)
	if out.Len() == 0 {
		return out
	}
	x, outer, n, inner := lined(x, axes)
	f(out.Raw(), x.Raw(), outer, n, inner)
	return out
}

// lined returns x, or a rearranged copy, as [outer, n, inner], where n combines
// the given sorted axes. The order of the other axes is kept.
func lined(x *tensor.Dense, axes []int) (y *tensor.Dense, outer, n, inner int) {
	if len(axes) == x.Rank() {
		return move.RowMajor(x), 1, x.Len(), 1
	}
	var room [8]int
	dims := x.Shape().AppendDims(room[:0])
	lo, hi := 0, len(dims)-1
	reduces := func(i int) bool { return dims[i] == 1 || slices.Contains(axes, i) }
	// Axes of size 1 belong to whichever side is convenient.
	for lo < len(dims) && (dims[lo] == 1 || !slices.Contains(axes, lo)) {
		lo++
	}
	for hi > lo && (dims[hi] == 1 || !slices.Contains(axes, hi)) {
		hi--
	}
	joined := true
	for i := lo; i <= hi; i++ {
		joined = joined && reduces(i)
	}
	if joined {
		return move.RowMajor(x), product(dims[:lo]), product(dims[lo : hi+1]), product(dims[hi+1:])
	}
	perm, _ := axesLast(axes, len(dims))
	kept := len(perm) - len(axes)
	y = move.Copied(permuted(x, perm))
	sizes := y.Shape().Dims()
	return y, product(sizes[:kept]), product(sizes[kept:]), 1
}

// meanOfBools computes the fraction of elements that are true.
func meanOfBools(dst, x unsafe.Pointer, outer, n, inner int) {
	counts := make([]int64, outer*inner)
	if len(counts) == 0 {
		return
	}
	reduce.Of(reduce.CountNonzero, dtype.Bool)(unsafe.Pointer(&counts[0]), x, outer, n, inner)
	means := unsafe.Slice((*float64)(dst), len(counts))
	for i, k := range counts {
		means[i] = float64(k) / float64(n)
	}
}

// rooted takes the square root of a reduction's results.
func rooted(f reduce.Func, sqrt elementwise.UnaryFunc) reduce.Func {
	if f == nil || sqrt == nil {
		return nil
	}
	return func(dst, x unsafe.Pointer, outer, n, inner int) {
		f(dst, x, outer, n, inner)
		sqrt(dst, dst, outer*inner)
	}
}
