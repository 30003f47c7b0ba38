package ops

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
)

// specs is what an Infer function of one result returns. A result that no memory holds
// is an error, which op completes.
func specs(c *op.Call, d dtype.DType, s shape.Shape) ([]tenon.Spec, error) {
	if s.IsFull() {
		if n, err := s.CheckedSize(max(1, d.Size())); err != nil || n > maxBytes/max(1, d.Size()) {
			return nil, &tenon.Error{Kind: tenon.ErrShape, Msg: fmt.Sprintf("%v%v is more than memory holds", d, s)}
		}
	}
	return c.InferOne(d, s)
}

// inferSame gives the result the element type and shape of the first operand.
func inferSame(c *op.Call) ([]tenon.Spec, error) {
	x := c.Tensor(0)
	return specs(c, x.DType(), x.Shape())
}

// axisOf turns an axis of a tensor of shape s into one that counts from the
// start. Where the rank is unknown the axis stays as it is.
func axisOf(c *op.Call, axis int, s shape.Shape) (int, error) {
	a, err := s.Axis(axis)
	if err != nil {
		return 0, c.Errorf(tenon.ErrAxis, "%v", err)
	}
	return a, nil
}

// upTo counts from 0 on: lists of all axes and of one are parts of it.
var upTo = func() (all [shape.MaxRank + 1]int) {
	for i := range all {
		all[i] = i
	}
	return all
}()

// axesOf turns a list of axes into sorted ones that count from the start, which are not to be
// changed. A nil list means all axes. Where the rank is unknown, known is false.
func axesOf(c *op.Call, axes []int, s shape.Shape) (list []int, known bool, err error) {
	if !s.HasRank() {
		return nil, false, nil
	}
	if axes == nil {
		return upTo[:s.Rank():s.Rank()], true, nil
	}
	if len(axes) == 1 {
		a, err := axisOf(c, axes[0], s)
		if err != nil {
			return nil, true, err
		}
		return upTo[a : a+1 : a+1], true, nil
	}
	list = make([]int, len(axes))
	for i, a := range axes {
		if list[i], err = axisOf(c, a, s); err != nil {
			return nil, true, err
		}
	}
	slices.Sort(list)
	for i := 1; i < len(list); i++ {
		if list[i] == list[i-1] {
			return nil, true, c.Errorf(tenon.ErrAxis, "axis %d is listed twice in %v", list[i], axes)
		}
	}
	return list, true, nil
}

// reducedShape returns s without the given sorted axes, or with size 1 there.
func reducedShape(s shape.Shape, axes []int, keep bool) shape.Shape {
	if len(axes) == s.Rank() && !keep {
		return shape.Shape{}
	}
	var room [8]int
	dims := s.AppendDims(room[:0])
	out := dims[:0]
	for i, d := range dims {
		switch {
		case !slices.Contains(axes, i):
			out = append(out, d)
		case keep:
			out = append(out, 1)
		}
	}
	return shape.Of(out...)
}

// broadcast returns the shape of an elementwise operation on tensors of the
// given shapes.
func broadcast(c *op.Call, shapes ...shape.Shape) (shape.Shape, error) {
	s, err := shape.Broadcast(shapes...)
	if err != nil {
		return s, c.Errorf(tenon.ErrShape, "%s", strings.TrimPrefix(err.Error(), "shape: "))
	}
	return s, nil
}

// broadcastPrefix broadcasts the leading axes of two shapes, all but the last
// keep ones of each.
func broadcastPrefix(c *op.Call, s, t shape.Shape, keep int) (shape.Shape, error) {
	if !s.HasRank() || !t.HasRank() {
		return shape.UnknownRank, nil
	}
	return broadcast(c, s.Slice(0, s.Rank()-keep), t.Slice(0, t.Rank()-keep))
}

// wantRank fails where a tensor certainly has a rank below least.
func wantRank(c *op.Call, i, least int) error {
	s := c.Tensor(i).Shape()
	if s.HasRank() && s.Rank() < least {
		return c.Errorf(tenon.ErrShape, "%s has rank %d, at least %d is needed", c.Op.Params[i].Name, s.Rank(), least)
	}
	return nil
}

// wantDType fails where a tensor argument's element type is not one of a kind,
// which what describes: "floating", "integer".
func wantDType(c *op.Call, i int, is func(dtype.DType) bool, what string) error {
	d := c.Tensor(i).DType()
	if is(d) {
		return nil
	}
	return c.Errorf(tenon.ErrDType, "%s has the element type %v; the operation is for %s tensors", c.Op.Params[i].Name, d, what)
}

// sameSize fails where two sizes are known and differ.
func sameSize(c *op.Call, what string, a, b int) error {
	if a >= 0 && b >= 0 && a != b {
		return c.Errorf(tenon.ErrShape, "%s: %d and %d differ", what, a, b)
	}
	return nil
}

// coordinates names element i of a tensor of shape s: "[2, 0]".
func coordinates(s shape.Shape, i int) string {
	dims := s.Dims()
	for k := len(dims) - 1; k >= 0; k-- {
		dims[k], i = i%dims[k], i/dims[k]
	}
	return strings.ReplaceAll(fmt.Sprint(dims), " ", ", ")
}

// product returns the number of elements of the given sizes.
func product(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// mergeShapes returns what is known of a shape that two operands share.
func mergeShapes(c *op.Call, s, t shape.Shape) (shape.Shape, error) {
	m, err := shape.Merge(s, t)
	if err != nil {
		return s, c.Errorf(tenon.ErrShape, "%s", strings.TrimPrefix(err.Error(), "shape: "))
	}
	return m, nil
}
