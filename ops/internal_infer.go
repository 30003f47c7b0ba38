package ops

import (
	"fmt"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
)

// broadcast returns the shape of an elementwise operation on tensors of the
// given shapes.
func broadcast(c *op.Call, shapes ...shape.Shape) (shape.Shape, error) {
	s, err := shape.Broadcast(shapes...)
	if err != nil {
		return s, c.Errorf(tenon.ErrShape, "%s", strings.TrimPrefix(err.Error(), "shape: "))
	}
	return s, nil
}

// broadcastPrefix broadcasts the leading axes of two shapes: all but the last
// keep axes of each.
func broadcastPrefix(c *op.Call, s, t shape.Shape, keep int) (shape.Shape, error) {
	if !s.HasRank() || !t.HasRank() {
		return shape.UnknownRank, nil
	}
	return broadcast(c, s.Slice(0, s.Rank()-keep), t.Slice(0, t.Rank()-keep))
}

// sameSize returns an error if two sizes are known and differ.
func sameSize(c *op.Call, what string, a, b int) error {
	if a >= 0 && b >= 0 && a != b {
		return c.Errorf(tenon.ErrShape, "%s: %d and %d differ", what, a, b)
	}
	return nil
}

// coordinates returns the position of element i of a tensor of shape s, such as
// "[2, 0]".
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

// mergeShapes combines what is known about a shape that two operands share.
func mergeShapes(c *op.Call, s, t shape.Shape) (shape.Shape, error) {
	m, err := shape.Merge(s, t)
	if err != nil {
		return s, c.Errorf(tenon.ErrShape, "%s", strings.TrimPrefix(err.Error(), "shape: "))
	}
	return m, nil
}
