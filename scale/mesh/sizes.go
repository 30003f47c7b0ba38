package mesh

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// sizes handles calls that only need a shape, which is that of the whole.
func (t *tracer) sizes(c *op.Call, vars []*variable) ([]*variable, error) {
	if len(vars) != 1 || !slices.ContainsFunc(vars[0].cuts, func(k cut) bool { return k.of != nil }) {
		return t.sizesOf(c, vars)
	}
	// The total over the ranks is computed only if it is used as a number.
	specs, err := c.WithValues(valuesOf(vars)).Infer()
	if err != nil {
		return nil, err
	}
	v := t.whole(&placeholder{specs[0].(*tensor.Spec)})
	v.local = nil
	v.make = func([]cut) tensor.Tensor {
		out := tenon.Must(t.sizesOf(c, vars))
		return out[0].local
	}
	if s := vars[0].Shape(); v.Shape().Rank() == 1 && v.Shape().Dim(0) == s.Rank() {
		for a, k := range vars[0].cuts {
			v.size = append(v.size, sizeOf{k, s.Dim(a)})
		}
	}
	return []*variable{v}, nil
}

// movedSizes handles a call that only moves sizes, some of which depend on rows.
func (t *tracer) movedSizes(c *op.Call, vars []*variable) *variable {
	if !slices.ContainsFunc(vars, func(v *variable) bool { return v.size != nil }) || c.Op.Moves == 0 || c.Op.By != op.ByAxis {
		return nil
	}
	var known []sizeOf // by the number that stands for each in the call
	const first = -1 << 40
	values := make([]tenon.Value, len(vars))
	i := 0
	for k := range c.Operands() {
		v := vars[i]
		switch x, ok := op.Known(v); {
		case v.size != nil && c.Op.Moves.Has(k):
			list := make([]int64, len(v.size))
			for j, n := range v.size {
				list[j] = first - int64(len(known))
				known = append(known, n)
			}
			values[i] = ops.Cast(ops.Reshape(tensor.Of(list), v.Shape().Dims()), v.DType())
		case ok:
			values[i] = x
		default:
			return nil
		}
		i++
	}
	out, err := tenon.Try(func() []tensor.Tensor { return tenon.Must(c.WithValues(values).DoTensors()) })
	if err != nil || len(out) != 1 || out[0].Shape().Rank() > 1 {
		return nil
	}
	list, ok := op.Ints(tensor.Contiguous(out[0].(*tensor.Dense)))
	if !ok {
		return nil
	}
	v := t.whole(&placeholder{tensor.NewSpec(out[0].DType(), out[0].Shape())})
	v.local = nil
	v.make = func([]cut) tensor.Tensor {
		return tenon.Must(t.everywhere(c, vars))[0].local
	}
	for _, n := range list {
		if n <= first {
			v.size = append(v.size, known[first-n])
		} else {
			v.size = append(v.size, sizeOf{n: n})
		}
	}
	return v
}

// sizesOf is sizes with the results as numbers.
func (t *tracer) sizesOf(c *op.Call, vars []*variable) ([]*variable, error) {
	values := make([]tenon.Value, len(vars))
	for i, v := range vars {
		s := v.Shape()
		if !v.divided() {
			values[i] = v.part(v.cuts)
			continue
		}
		if !s.HasRank() {
			return t.unknown(c, vars)
		}
		sizes := any(s.Dims())
		if !s.IsFull() {
			list := make([]tensor.Tensor, s.Rank())
			for a := range list {
				if list[a] = tensor.Scalar(int64(s.Dim(a))); v.cuts[a].of != nil {
					_, list[a] = t.before(v.cuts[a])
				} else if s.Dim(a) < 0 {
					list[a] = ops.Index(ops.Shape(v.part(v.cuts)), a)
				}
			}
			sizes = ops.Stack(list, 0)
		}
		values[i] = ops.Fill(sizes, ops.Zeros(v.DType(), []int{})) // a view of one element
	}
	out, err := c.WithValues(values).DoTensors()
	if err != nil {
		return nil, err
	}
	res := make([]*variable, len(out))
	for i, x := range out {
		res[i] = t.whole(x)
	}
	return res, nil
}

// lazy reports whether a call only repeats elements. Its result is made where it is used, in
// the size that is needed there.
func (t *tracer) lazy(c *op.Call) bool {
	return (c.Op.Axes == op.Broadcast || c.Op.Axes == op.Create && c.Op.Moves != 0) && c.Op.By == op.ByAxis
}

// sizesWith returns the sizes of a tensor with one entry along an axis.
func sizesWith(x tensor.Tensor, axis int) (tensor.Tensor, error) {
	list := make([]tensor.Tensor, x.Shape().Rank())
	for a := range list {
		switch n := x.Shape().Dim(a); {
		case a == axis:
			list[a] = tensor.Scalar(int64(1))
		case n >= 0:
			list[a] = tensor.Scalar(int64(n))
		default:
			list[a] = ops.Index(ops.Shape(x), a)
		}
	}
	return ops.Stack(list, 0), nil
}

// localSizes returns the sizes of the part of a tensor that this rank has.
func (t *tracer) localSizes(cuts []cut, sizes []int) tensor.Tensor {
	list, known := make([]tensor.Tensor, len(cuts)), make([]int, len(cuts))
	all := true
	for a, k := range cuts {
		if k.of != nil {
			list[a], all = t.countOf(k), false
			continue
		}
		known[a] = t.mesh.size(k, sizes[a])
		list[a] = tensor.Scalar(int64(known[a]))
	}
	if all {
		return tensor.Of(known)
	}
	return ops.Stack(list, 0)
}
