package optable

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// triedMissing does a call on operands of which some elements are missing. The results are
// what the statement says missing elements do, by dense operations alone; and for every
// operation, what is hidden behind the mask changes nothing.
func triedMissing(t *testing.T, r Row, col *column, s sample, typed []bool) (own bool, err error) {
	dense, err := s.DoTensors()
	if err != nil {
		return false, errSkip
	}
	want, masks, ok := expected(s.Call, typed, dense)
	if !ok {
		return false, errSkip
	}
	what := fmt.Sprintf("%s, %s", col.name, describe(Call{Args: s.Args}))
	with := func(xs []tensor.Tensor) []tenon.Value {
		values := s.Values()
		for k, i := range indices(typed) {
			values[i] = tenon.Must(masked.New(tenon.Must(col.typed(xs[k])), tenon.Must(col.mask(masks[k]))))
		}
		return values
	}
	var xs, others []tensor.Tensor
	for k, i := range indices(typed) {
		x := s.Values()[i].(tensor.Tensor)
		xs = append(xs, x)
		others = append(others, ops.Where(masks[k], x, ops.Roll(x, 1, 0)))
	}
	values, err := tenon.Try(func() []tenon.Value { return with(xs) })
	if err != nil {
		return false, errSkip
	}
	got, own, err := done(t, s.WithValues(values))
	if err != nil {
		return own, err
	}
	seen, err := tenon.Try(func() []tensor.Tensor { return visible(got) })
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return own, nil
	}
	hidden, err := s.WithValues(with(others)).Do()
	if err != nil {
		t.Errorf("%s, with other elements behind the mask: %v", what, err)
		return own, nil
	}
	for k, x := range visible(hidden) {
		if w := unlike(x, seen[k], 16*r.Tolerance(x.DType())); w != "" {
			t.Errorf("%s: what is behind the mask changes result %d: %s", what, k, w)
			return own, nil
		}
	}
	if want != nil {
		if w := want(got, 16*r.Tolerance(dense[0].DType())); w != "" {
			t.Errorf("%s: %s", what, w)
			return own, nil
		}
	}
	traced(t, r, what, s.Call, typed, values, got)
	differentiated(t, what, s, typed, func(in []tensor.Tensor) []tensor.Tensor {
		return visible(tenon.Must(s.WithValues(with(in)).Do()))
	})
	return own, nil
}

// A reference says what is wrong with the results of a call.
type reference func(got []tenon.Value, tolerance float64) string

// expected returns masks for the typed operands, and a reference for the results where the
// statement tells it. It reports false where the call has nothing to leave out.
func expected(c *op.Call, typed []bool, dense []tensor.Tensor) (want reference, masks []tensor.Tensor, ok bool) {
	o := c.Op
	var xs []tensor.Tensor
	for k, i := range indices(typed) {
		x := c.Values()[i].(tensor.Tensor)
		xs = append(xs, x)
		masks = append(masks, maskOf(x.Shape(), func(n int) bool { return (7*n+3*k+1)%3 != 0 }))
	}
	operands := typedOperands(c, typed)
	switch {
	case o.Missing == op.Refuse || operands&o.Control != 0:
		return nil, masks, true
	case o.Missing == op.Ignore:
		return results(dense, nil), masks, true
	case o.Axes == op.Contract && o.Missing == op.Skip:
		values := c.Values()
		for k, i := range indices(typed) {
			values[i] = shown(xs[k], masks[k])
		}
		return results(tenon.Must(c.WithValues(values).DoTensors()), nil), masks, true
	case o.By != op.ByAxis:
		return nil, masks, true
	case o.Missing == op.Skip || o.Missing == op.Last:
		return withoutOne(c, typed, xs)
	case o.Axes == op.Map && o.Moves&^op.First != 0:
		values, looked := c.Values(), tensor.Tensor(tensor.Scalar(true))
		k, at := -1, 0
		for i := range c.Operands() {
			k++
			mask := tensor.Tensor(tensor.Scalar(true))
			if typed[k] {
				mask = masks[at]
				at++
			}
			if o.Moves.Has(i) {
				values[k] = mask
			} else {
				looked = ops.LogicalAnd(looked, mask)
			}
		}
		there := ops.LogicalAnd(tenon.Must(c.WithValues(values).DoTensors())[0], looked)
		return results(dense, []tensor.Tensor{ops.BroadcastTo(there, dense[0].Shape())}), masks, true
	case o.Axes == op.Map || o.Axes == op.Along && o.Moves == 0:
		there := tensor.Tensor(tensor.Scalar(true))
		for _, m := range masks {
			there = ops.LogicalAnd(there, m)
		}
		if len(dense) != 1 {
			return nil, masks, true
		}
		return results(dense, []tensor.Tensor{ops.BroadcastTo(there, dense[0].Shape())}), masks, true
	case o.Moves != 0 && (o.Results == 1 || o.Results < 0):
		values := c.Values() // of what is gone
		k, at := -1, 0
		for i, v := range c.Operands() {
			k++
			x := v.(tensor.Tensor)
			switch {
			case typed[k]:
				values[k] = ops.LogicalNot(masks[at])
				at++
			case o.Moves.Has(i):
				values[k] = ops.Zeros(masks[0].DType(), x.Shape())
			}
		}
		gone, err := c.WithValues(values).DoTensors()
		if err != nil {
			return nil, masks, true // the operation is about a kind of elements
		}
		for i, g := range gone {
			gone[i] = ops.LogicalNot(g)
		}
		return results(dense, gone), masks, true
	}
	return nil, masks, true
}

// results is the reference of results that are known, and where they are there: everywhere,
// if nothing says.
func results(want, there []tensor.Tensor) reference {
	return func(got []tenon.Value, tolerance float64) string {
		for k, w := range want {
			full := tensor.Tensor(ops.Ones(tensor.Scalar(true).DType(), w.Shape()))
			if there != nil {
				full = there[k]
			}
			x, mask := plainGrad(got[k]), full
			if m, ok := got[k].(*masked.Tensor); ok {
				mask = plain(m.Full())
			} else if there != nil && tensor.Item[bool](ops.Any(ops.LogicalNot(full))) {
				return fmt.Sprintf("result %d lacks nothing", k)
			}
			if why := unlike(mask, full, 0); why != "" {
				return fmt.Sprintf("the mask of result %d: %s", k, why)
			}
			if why := unlike(shown(x, full), shown(w, full), tolerance); why != "" {
				return fmt.Sprintf("result %d: %s", k, why)
			}
		}
		return ""
	}
}

// withoutOne leaves out one entry of an axis that an operation is about. The others give
// what they give alone.
func withoutOne(c *op.Call, typed []bool, xs []tensor.Tensor) (reference, []tensor.Tensor, bool) {
	o, s := c.Op, xs[0].Shape()
	axes, err := c.Axes(s.Rank())
	none := func() (reference, []tensor.Tensor, bool) {
		masks := make([]tensor.Tensor, len(xs))
		for k, x := range xs {
			masks[k] = maskOf(x.Shape(), func(n int) bool { return (7*n+3*k+1)%3 != 0 })
		}
		return nil, masks, true
	}
	if err != nil || len(axes) == 0 {
		return none()
	}
	axis := axes[len(axes)-1]
	n := s.Dim(axis)
	if n < 2 {
		return none()
	}
	gone := 0
	if o.Places != 0 || o.Missing == op.Last {
		gone = n - 1 // positions of the others stay
	}
	var left []int64
	for i := range n {
		if i != gone {
			left = append(left, int64(i))
		}
	}
	mask := maskOf(s, func(k int) bool {
		for _, d := range s.Dims()[axis+1:] {
			k /= d
		}
		return k%n != gone
	})
	values := c.Values()
	masks := make([]tensor.Tensor, len(xs))
	for k, i := range indices(typed) {
		if !xs[k].Shape().Equal(s) {
			return none()
		}
		masks[k] = mask
		values[i] = ops.Gather(xs[k], left, axis)
	}
	less, err := c.WithValues(values).DoTensors()
	if err != nil || o.Results != 1 {
		return nil, masks, true
	}
	if o.Axes == op.Reduce {
		return results(less, nil), masks, true
	}
	return func(got []tenon.Value, tolerance float64) string {
		m, ok := got[0].(*masked.Tensor)
		switch {
		case !ok && o.Places == 0:
			return "the result lacks nothing"
		case ok:
			if why := unlike(plain(m.Full()), mask, 0); why != "" {
				return "the mask: " + why
			}
		}
		return unlike(ops.Gather(plainGrad(got[0]), left, axis), less[0], tolerance)
	}, masks, true
}

// typedOperands returns which operands the typed values are.
func typedOperands(c *op.Call, typed []bool) (set op.Operands) {
	k := -1
	for i := range c.Operands() {
		if k++; typed[k] {
			set |= 1 << i
		}
	}
	return set
}

// maskOf makes a mask of a shape by the numbers of its elements.
func maskOf(s shape.Shape, there func(n int) bool) tensor.Tensor {
	list := make([]bool, s.Size())
	for i := range list {
		list[i] = there(i)
	}
	return tensor.Of(list, slices.Clone(s.Dims())...)
}
