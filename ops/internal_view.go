package ops

import (
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A view says which elements of a tensor are selected.
type view struct {
	offset  int
	shape   shape.Shape
	strides []int
	axes    []int // the axis of the tensor that each axis comes from, -1 for new ones
	starts  []int // the first position along each axis of the tensor
	steps   []int // the step along each axis of the view
}

// viewOf returns the view of a concrete tensor that expanded keys select.
func viewOf(c *op.Call, keys []key.Key, x tensor.Tensor) (v view, err error) {
	s, n := x.Shape(), len(keys)
	room := make([]int, 4*n)
	part := func(i int) []int { return room[i*n : i*n : (i+1)*n] }
	v.strides, v.axes, v.starts, v.steps = part(0), part(1), part(2), part(3)
	var sizes, own [8]int
	dims, strides := sizes[:0], appendStrides(own[:0], x)
	axis := 0
	for i := range keys {
		k := &keys[i]
		if k.Kind == key.NewAxisKind {
			dims, v.strides = append(dims, 1), append(v.strides, 0)
			v.axes, v.steps = append(v.axes, -1), append(v.steps, 0)
			continue
		}
		if k.Kind == key.AtKind {
			p, _, err := k.Position(s.Dim(axis))
			if err != nil {
				return v, keyError(c, i, err)
			}
			v.starts = append(v.starts, p)
			v.offset += p * strides[axis]
			axis++
			continue
		}
		first, count, step, _, err := k.Span(s.Dim(axis))
		if err != nil {
			return v, keyError(c, i, err)
		}
		if count == 0 {
			first = 0
		}
		if count <= 1 {
			step = 1
		}
		v.starts = append(v.starts, first)
		v.offset += first * strides[axis]
		dims, v.strides = append(dims, count), append(v.strides, step*strides[axis])
		v.axes, v.steps = append(v.axes, axis), append(v.steps, step)
		axis++
	}
	v.shape = shape.Of(dims...)
	return v, nil
}

// restrided returns the arguments for the same view of a tensor with other strides.
func (v *view) restrided(x *tensor.Dense) (offset int, s shape.Shape, strides []int) {
	own := x.Strides()
	strides = make([]int, len(v.axes))
	for i, a := range v.axes {
		if a >= 0 {
			strides[i] = v.steps[i] * own[a]
		}
	}
	for a, p := range v.starts {
		offset += p * own[a]
	}
	return offset, v.shape, strides
}

func stridesOf(x tensor.Tensor) []int { return appendStrides(nil, x) }

func appendStrides(to []int, x tensor.Tensor) []int {
	if d, ok := x.(*tensor.Dense); ok {
		return d.AppendStrides(to)
	}
	return append(to, tensor.RowMajor(x.Shape())...)
}

// viewed applies a view to concrete elements. Strings are copied unless they are
// consecutive.
func viewed(x tensor.Tensor, v view) tensor.Tensor {
	if d, ok := x.(*tensor.Dense); ok {
		return d.View(v.offset, v.shape, v.strides)
	}
	s := x.(*tensor.Strings)
	if n := v.shape.Size(); n > 0 && v.contiguous() {
		return tensor.WrapStrings(s.Offsets()[v.offset:v.offset+n+1], s.Buffer(), v.shape)
	}
	return move.Strings(s, move.Positions(0, s.Shape()).View(v.offset, v.shape, v.strides))
}

func (v *view) contiguous() bool {
	for i, want := range tensor.RowMajor(v.shape) {
		if v.shape.Dim(i) != 1 && v.strides[i] != want {
			return false
		}
	}
	return true
}
