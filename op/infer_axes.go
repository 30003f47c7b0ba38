package op

import (
	"math/bits"
	"strconv"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// joined returns the shape of tensors that are concatenated along an axis or stacked along a new
// one.
func (c *Call) joined() (shape.Shape, error) {
	p := c.Op.tensors[0]
	xs := c.List(p)
	if len(xs) == 0 {
		return shape.Shape{}, c.Errorf(tenon.ErrInvalid, "there is no tensor in %s", c.Op.Params[p].Name)
	}
	s, stack := shape.UnknownRank, c.Op.Axes == Stack
	axis, total := c.Int(c.Op.axis), 0
	for i, x := range xs {
		t := x.(tensor.Tensor).Shape()
		if !t.HasRank() {
			total = shape.Unknown
			continue
		}
		if !stack {
			if s.HasRank() && s.Rank() != t.Rank() {
				return s, c.Errorf(tenon.ErrShape, "tensor %d has rank %d, tensor 0 rank %d", i, t.Rank(), s.Rank())
			}
			a, err := c.Axis(axis, t)
			if err != nil {
				return s, err
			}
			if d := t.Dim(a); d < 0 || total < 0 {
				total = shape.Unknown
			} else {
				total += d
			}
			axis, t = a, t.With(a, shape.Unknown)
		}
		m, err := shape.Merge(s, t)
		if err != nil {
			e := c.Errorf(tenon.ErrShape, "tensor %d has the shape %v, which differs from the others", i, x.(tensor.Tensor).Shape())
			if stack {
				e.Hint = "use ragged.Stack for rows of different lengths"
			} else {
				e.Msg += " beside axis " + strconv.Itoa(axis)
			}
			return s, e
		}
		s = m
	}
	switch {
	case !s.HasRank():
		return s, nil
	case !stack:
		return s.With(axis, total), nil
	}
	axis, err := c.Axis(axis, shape.OfRank(s.Rank()+1))
	if err != nil {
		return s, err
	}
	return s.Insert(axis, len(xs)), nil
}

// inserted returns the shape with new axes of size 1, whose positions count in
// the result.
func (c *Call) inserted() (shape.Shape, error) {
	s := c.Tensor(c.Op.tensors[0]).Shape()
	if !s.HasRank() {
		return s, nil
	}
	named := 1
	if l, ok := c.Args[c.Op.axis].([]int); ok {
		named = len(l)
	}
	axes, _, err := c.SortedAxes(shape.OfRank(s.Rank() + named))
	if err != nil {
		return s, err
	}
	for _, a := range axes {
		s = s.Insert(a, 1)
	}
	return s, nil
}

// OfRows returns the shape of an operation on the rows into which the first Control operand divides
// the others: it reduces the rows or leaves them as they are.
func (c *Call) OfRows() (shape.Shape, error) {
	rows, values, err := c.Partition(c.Op.tensors[bits.TrailingZeros8(uint8(c.Op.Control))])
	if err != nil {
		return shape.Shape{}, err
	}
	s := shape.UnknownRank
	for i, v := range c.Operands() {
		t, ok := v.(tensor.Tensor)
		if !ok || c.Op.Control.Has(i) {
			continue
		}
		if _, err := c.Items(c.Op.tensors[i], values); err != nil {
			return s, err
		}
		m, err := shape.Merge(s, t.Shape())
		if err != nil {
			return s, c.Errorf(tenon.ErrShape, "the shapes %v and %v differ", s, t.Shape())
		}
		s = m
	}
	switch {
	case !s.HasRank():
		return s, nil
	case c.Op.Axes == Reduce:
		return s.With(0, rows), nil
	}
	return s.With(0, max(values, s.Dim(0))), nil
}

// Partition checks that argument i can be row splits, and returns the number of rows and of values
// as far as they are known.
func (c *Call) Partition(i int) (rows, values int, err error) {
	p := c.Op.Params[i]
	p.Takes, p.Rank = Indices, Vector
	if err := c.demand(&p, c.Args[i]); err != nil {
		return 0, 0, err
	}
	return c.Rows(c.Tensor(i), p.Name)
}

// Rows is [Call.Partition] for the given row splits, which errors refer to by
// name.
func (c *Call) Rows(splits tensor.Tensor, name string) (rows, values int, err error) {
	n := splits.Shape().Dim(0)
	if n == 0 {
		return 0, 0, c.Errorf(tenon.ErrInvalid, "%s has no entries, want one more than there are rows", name)
	}
	t, ok := Known(splits)
	if n < 0 || !ok {
		return max(n-1, shape.Unknown), shape.Unknown, nil
	}
	last := 0
	if d := t.(*tensor.Dense); d.DType() == dtype.Int64 {
		last = tensor.Data[int](d)[n-1]
	} else {
		last = int(tensor.Data[int32](d)[n-1])
	}
	if last < 0 {
		return 0, 0, c.Errorf(tenon.ErrInvalid, "%s ends at %d", name, last)
	}
	return n - 1, last, nil
}

// Items checks that argument i can be the given number of values of a partition, and returns the
// shape of one value.
func (c *Call) Items(i, values int) (item shape.Shape, err error) {
	s := c.Tensor(i).Shape()
	if !s.HasRank() {
		return s, nil
	}
	if s.Rank() == 0 {
		return s, c.Errorf(tenon.ErrShape, "%s is a scalar, want at least one axis", c.Op.Params[i].Name)
	}
	if d := s.Dim(0); d >= 0 && values >= 0 && d != values {
		return s, c.Errorf(tenon.ErrInvalid, "the row splits end at %d, there are %d values", values, d)
	}
	return s.Tail(1), nil
}
