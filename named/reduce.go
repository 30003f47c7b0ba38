package named

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// Reductions remove the dimensions they are over, and treat them as one: the sum of no elements is
// 0, the mean NaN. ops.Sum(x) and similar functions reduce all dimensions of a named tensor. The
// position of an extreme along rows, some of which may be empty, is masked.

// A reduction is the axes of a layout for an operation over names, and the remaining dimensions.
type reduction struct {
	axes []int
	rest *layout
}

// axesOf returns the axes of a tensor with the names in the list.
func (d Dims) axesOf(fn string, t *Tensor) *reduction {
	dims := d.group()
	return t.spec.names.plan(planKey{kind: planReduce, dims: dims}, func() (any, error) {
		for _, n := range dims.ids {
			if !t.spec.names.has(n) {
				return nil, errMissing(over(fn, dims), n, one{"tensor", t})
			}
		}
		if n, twice := duplicate(dims.ids); twice {
			throwTwice(fn, n, dims)
		}
		return &reduction{append([]int{}, t.spec.names.positions(dims)...), t.spec.names.without(dims)}, nil
	}).(*reduction)
}

func (d Dims) reduce(fn string, f func(x any, axes ...int) tensor.Tensor, x tenon.Value) *Tensor {
	t := tensorOf(fn, x)
	r := d.axesOf(fn, t)
	return newTensor(f(t.data, r.axes...), r.rest, t.own())
}

func (d Dims) position(fn string, f func(x any, axis int) tensor.Tensor, x tenon.Value) *Tensor {
	t := tensorOf(fn, x)
	d.single(fn)
	r := d.axesOf(fn, t)
	return newTensor(f(t.data, r.axes[0]), r.rest, t.own())
}
