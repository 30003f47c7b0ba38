package masked

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/half"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

func axesOf(c *op.Call) []int {
	switch a := c.Attr("axis").(type) {
	case []int:
		return a
	case int:
		return []int{a}
	}
	return nil
}

// reduced combines the present elements; the identity replaces the missing ones.
func reduced(c *op.Call) ([]tenon.Value, error) {
	x, m := c.Value(0).(*Tensor), c.Op.Monoid
	axes := axesOf(c)
	if c.Op.By == op.ByAxis && inRows(x, axes) {
		return op.One(wrap(first(c, x.values), x.mask))
	}
	x = x.single()
	identity := m.IdentityOf(x.DType())
	switch {
	case m.Divide != op.ByNothing && c.Op.By == op.ByRows:
		v := floating(x.values)
		sum := rows.Sum(ops.Where(x.Full(), v, ops.ZerosLike(v)), c.Args[1])
		return op.One(half.Narrow(ops.Div(sum, ops.Cast(rows.Sum(ops.Cast(x.Full(), dtype.Int64), c.Args[1]), sum.DType())), x.DType()))
	case m.Divide != op.ByNothing:
		sum, count := moments(x, axes, floating(x.values))
		return op.One(dropped(c, half.Narrow(ops.Div(sum, count), x.DType()), axes))
	case identity == nil:
		return nil, op.NotHandled
	case !m.Picks:
		return op.One(first(c, filled(x, identity)))
	}
	mask := someThere(c, x, axes)
	if c.Op.Places.Has(0) && c.Op.By == op.ByAxis && lacksEntries(x, axes) { // there is no position to return
		return op.One(wrap(ops.Cast(mask, dtype.Int64), mask))
	}
	return op.One(wrap(first(c, filled(x, identity)), mask))
}

// someThere returns which groups of a reduction have present elements.
func someThere(c *op.Call, x *Tensor, axes []int) tensor.Tensor {
	if c.Op.By == op.ByRows {
		return rows.Any(x.Full(), c.Args[1])
	}
	if keep, _ := c.Attr("keepdims").(bool); keep {
		return ops.AnyKeep(x.Full(), axes...)
	}
	return ops.Any(x.Full(), axes...)
}

// lacksEntries reports whether one of the axes is known to have size 0.
func lacksEntries(x *Tensor, axes []int) bool {
	s := x.Shape()
	return s.HasRank() && slices.ContainsFunc(axes, func(a int) bool {
		if a < 0 {
			a += s.Rank()
		}
		return a >= 0 && a < s.Rank() && s.Dim(a) == 0
	})
}

// moments returns the sum of v over the present elements and their number, both
// with the reduced axes kept.
func moments(x *Tensor, axes []int, v tensor.Tensor) (sum, count tensor.Tensor) {
	full := x.Full()
	sum = ops.SumKeep(ops.Where(full, v, ops.ZerosLike(v)), axes...)
	return sum, ops.Cast(ops.SumKeep(ops.Cast(full, dtype.Int64), axes...), sum.DType())
}

// floating converts numbers to floating point of at least 32 bits, as 16 do not hold many sums and numbers of
// elements. Other types define the meaning of their numbers themselves.
func floating(x tensor.Tensor) tensor.Tensor {
	_, formed := x.(op.Formed)
	switch d := x.DType(); {
	case formed || d.IsComplex():
		return x
	case d.IsFloat():
		return half.Wide(x)
	}
	return ops.Cast(x, dtype.Float64)
}

// moment handles reductions of squared distances.
func moment(of func(c *op.Call, x *Tensor, axes []int) tensor.Tensor) op.HandlerFunc {
	return func(c *op.Call) ([]tenon.Value, error) {
		x := c.Value(0).(*Tensor)
		axes := axesOf(c)
		if inRows(x, axes) {
			return op.One(wrap(op.Apply(c, x.values), x.mask))
		}
		return op.One(dropped(c, of(c, x, axes), axes))
	}
}

func spreadOf(c *op.Call, x *Tensor, axes []int) tensor.Tensor {
	x = x.single()
	v := floating(x.values)
	sum, count := moments(x, axes, v)
	square, _ := moments(x, axes, ops.Square(ops.Sub(v, spread(v, ops.Div(sum, count), axes))))
	if ddof, _ := c.Attr("ddof").(int); ddof != 0 {
		count = ops.Maximum(ops.Sub(count, float64(ddof)), 0)
	}
	return half.Narrow(ops.Div(square, count), x.DType())
}

// deviation returns the square root of spreadOf's result. Its gradient is zero where the result is,
// as it is without missing elements.
func deviation(c *op.Call, x *Tensor, axes []int) tensor.Tensor {
	v := spreadOf(c, x, axes)
	none := ops.Equal(v, 0)
	return ops.Where(none, ops.ZerosLike(v), ops.Sqrt(ops.Where(none, ops.OnesLike(v), v)))
}

// A spreader gives each of its elements the entry that it contributed to in a reduction over axes,
// which the result lacks.
type spreader interface {
	SpreadReduced(reduced tensor.Tensor, axes []int) tensor.Tensor
}

// spread broadcasts the result of a reduction of v over axes, which have size 1 in it, so that it
// broadcasts against v.
func spread(v, reduced tensor.Tensor, axes []int) tensor.Tensor {
	if s, ok := v.(spreader); ok && len(axes) > 0 {
		return s.SpreadReduced(ops.Squeeze(reduced, axes...), axes)
	}
	return reduced
}

// dropped removes the reduced axes, unless the call keeps them.
func dropped(c *op.Call, x tensor.Tensor, axes []int) tensor.Tensor {
	if keep, _ := c.Attr("keepdims").(bool); keep || axes != nil && len(axes) == 0 {
		return x
	}
	if axes == nil {
		return ops.Reshape(x, []int{})
	}
	return ops.Squeeze(x, axes...)
}

// running accumulates over present elements and leaves missing ones missing.
func running(c *op.Call) ([]tenon.Value, error) {
	x := c.Value(0).(*Tensor)
	if c.Op.By == op.ByAxis && inRows(x, axesOf(c)) {
		return op.One(wrap(first(c, x.values), x.mask))
	}
	x = x.single()
	identity := c.Op.Monoid.IdentityOf(x.DType())
	if identity == nil {
		return nil, op.NotHandled
	}
	if c.Op.Axes == op.Along { // a row of NaNs would propagate through gradients
		identity = ops.NaNToNum(identity)
	}
	return op.One(wrap(first(c, filled(x, identity)), x.Full()))
}
