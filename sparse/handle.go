package sparse

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// HandleOp answers the operations whose result is sparse, or smaller than the tensor. An operation
// does the same as on the dense tensor; one whose result would be dense is an error that says so.
func (t *Tensor) HandleOp(c *op.Call) ([]tenon.Value, error) {
	for _, v := range c.Values() {
		switch v.(type) {
		case *Tensor:
		case tensor.Tensor:
			if n := v.Spec().TypeName(); n != tensor.TypeName {
				return nil, op.NotHandled // another type may answer
			}
		default:
			return nil, op.NotHandled
		}
	}
	if f, ok := overrides[c.Op.Name]; ok {
		return f(c)
	}
	switch o := c.Op; {
	case o.By != op.ByAxis || o.Axes == op.Opaque:
		return wouldBeDense(c)
	case o.ShapeOnly != 0:
		return ofShape(c)
	case o.Axes == op.Map || o.Checks:
		return elementwise(c)
	case o.Axes == op.Reduce:
		return reduced(c)
	case o.Moves == op.First && !o.Fills && !placed(c):
		return moved(c)
	}
	return wouldBeDense(c)
}

// placed reports whether an operand that says where or how many is sparse.
func placed(c *op.Call) bool {
	for i, v := range c.Operands() {
		if _, ok := v.(tensor.Tensor); ok && c.Op.Control.Has(i) && !plain(v.(tensor.Tensor)) {
			return true
		}
	}
	return false
}

// elementwise applies an operation to the values, if it gives zeros where there are none.
func elementwise(c *op.Call) ([]tenon.Value, error) {
	switch n := len(c.Values()); {
	case c.Op.Control != 0:
		return wouldBeDense(c)
	case n == 1:
		return unary(c)
	case n == 2 && c.Op.IsBinaryElementwise():
		return binary(c)
	}
	return several(c)
}

// ofShape answers operations that depend only on the shape.
func ofShape(c *op.Call) ([]tenon.Value, error) {
	x, ok := c.Value(0).(*Tensor)
	switch {
	case ok && c.Op.Zero.Keeps:
		return noElements(x)
	case ok && c.Op.Axes == op.Create:
		return op.One(op.Apply(c, ops.BroadcastTo(int64(0), x.denseShape)))
	}
	return wouldBeDense(c)
}

// reduced handles reductions in which elements without a value count as zeros, or do not matter.
func reduced(c *op.Call) ([]tenon.Value, error) {
	x, ok := c.Value(0).(*Tensor)
	if !ok || c.Op.AxisParam() < 0 || c.Op.Places != 0 {
		return wouldBeDense(c)
	}
	var o ReduceOptions
	o.Axes, _ = c.Attr("axis").([]int)
	o.KeepDims, _ = c.Attr("keepdims").(bool)
	switch m := c.Op.Monoid; {
	case m == op.Sums && c.Op.Counts != 0:
		return op.One(x.nonzeros(o))
	case m == op.Sums:
		return op.One(x.reduce(o, ops.SegmentSum))
	case m == op.Means:
		return op.One(x.mean(o))
	case m == op.Maxima:
		return op.One(x.extreme(o, ops.SegmentMax, ops.Maximum))
	case m == op.Minima:
		return op.One(x.extreme(o, ops.SegmentMin, ops.Minimum))
	case m == op.Anys:
		return op.One(ops.Greater(x.nonzeros(o), int64(0)))
	}
	return wouldBeDense(c)
}

// moved moves the values in the same way as elements.
func moved(c *op.Call) ([]tenon.Value, error) {
	along := c.Op.AxisParam() >= 0
	switch c.Op.Axes {
	case op.Permute:
		perm, _ := c.Attr("perm").([]int)
		return op.One(c.Value(0).(*Tensor).transposed(perm))
	case op.Insert:
		return expandDims(c)
	case op.Remove:
		switch {
		case along && c.Op.Results < 0:
			return unstack(c)
		case along:
			axes, _ := c.Attr("axis").([]int)
			return op.One(c.Value(0).(*Tensor).squeezed(axes))
		}
	case op.Regroup:
		return withInts(func(t *Tensor, dims []int) *Tensor { return t.reshaped(dims) })(c)
	case op.Broadcast:
		if !along {
			return withInts(func(t *Tensor, dims []int) *Tensor { return t.broadcastTo(shape.Of(dims...)) })(c)
		}
	case op.Join:
		return concat(c)
	case op.Stack:
		return stack(c)
	case op.Select:
		if along {
			return chosen(c)
		}
	}
	return wouldBeDense(c)
}

// chosen selects the entries along an axis that the operation selects from their
// numbers.
func chosen(c *op.Call) ([]tenon.Value, error) {
	x, ok := c.Value(0).(*Tensor)
	if !ok {
		return wouldBeDense(c)
	}
	axes := tenon.Must(c.Axes(x.rank()))
	if len(axes) != 1 {
		return wouldBeDense(c)
	}
	param := c.Op.AxisParam()
	of := c.WithArg(param, 0)
	if _, list := c.Args[param].([]int); list {
		of = c.WithArg(param, []int{0})
	}
	values := c.Values()
	values[0] = ops.Range(int64(0), scalarOf(x.size(axes[0])), int64(1))
	var out []tenon.Value
	for _, at := range op.ApplyN(of, values...) {
		if at.Shape().Rank() != 1 { // it moves single elements, or its index has several axes
			return wouldBeDense(c)
		}
		out = append(out, x.gathered(axes[0], at))
	}
	return out, nil
}

// wouldBeDense returns the error for results that have no zeros to omit.
func wouldBeDense(c *op.Call) ([]tenon.Value, error) {
	e := c.Errorf(tenon.ErrUnsupported, "the result is not sparse")
	e.Hint = "make the operand dense first, with its method ToDense"
	return nil, e
}

// overrides has the operations for which the statement does not say enough.
var overrides map[string]op.HandlerFunc

func init() {
	overrides = map[string]op.HandlerFunc{
		"matmul": matmul, // has a kernel for matrix products
		"matvec": matvec,
		"gather": gather, // for positions that are not known to be in range
		"slice":  slice,  // begins and sizes are for several axes
		"index":  index,  // keys are for several axes
		"pad":    pad,    // zeros are not stored
	}
}

// Overrides reports whether the operation is one for which the statement does not
// say enough.
func (*Tensor) Overrides(o *op.Op) bool { return overrides[o.Name] != nil }

// noElements returns zeros with the shape of x.
func noElements(x *Tensor) ([]tenon.Value, error) {
	none := ops.Zeros(dtype.Int64, vector(0, x.rank()))
	r := trusted(none, ops.Zeros(x.DType(), []int{0}), x.denseShape, x.spec.shape)
	r.canonical = x.rank() > 0
	return op.One(r)
}

// isZero reports whether a result of concrete operands is zero or false.
func isZero(t tensor.Tensor) bool {
	d := t.DType()
	return d != dtype.String && tensor.Item[int64](ops.CountNonzero(t)) == 0
}

func zeroOf(d dtype.DType) tensor.Tensor { return ops.Zeros(d, []int{}) }

// unary applies an operation to the values if it keeps zero.
func unary(c *op.Call) ([]tenon.Value, error) {
	x, ok := c.Value(0).(*Tensor)
	linear := c.Op.Zero.LinearIn(op.First)
	if !ok || !linear && (x.DType() == dtype.String || !isZero(op.Apply(c, zeroOf(x.DType())))) {
		return wouldBeDense(c)
	}
	if !linear { // values at the same coordinates must be added first
		x = x.coalesced()
	}
	return op.One(x.withValues(op.Apply(c, x.values)))
}

// zeroWhere returns the operands of two in which a zero gives a zero, whatever the other one is. It
// ignores that zero divided by zero is not a number, as in TensorFlow, where there is nothing to
// divide.
func zeroWhere(o *op.Op) op.Operands { return o.Zero.Absorbs | o.Zero.Dividend }

func binary(c *op.Call) ([]tenon.Value, error) {
	values := c.Values()
	x, xs := values[0].(*Tensor)
	y, ys := values[1].(*Tensor)
	f := func(a, b tensor.Tensor) tensor.Tensor { return op.Apply(c, a, b) }
	switch {
	case xs && ys && zeroWhere(c.Op).Has(1):
		return op.One(common(x, y, f))
	case xs && ys:
		if x.DType() == dtype.String || !isZero(f(zeroOf(x.DType()), zeroOf(y.DType()))) {
			return wouldBeDense(c)
		}
		return op.One(united(x, y, f))
	case xs && zeroWhere(c.Op).Has(0):
		return withDense(x, values[1].(tensor.Tensor), f)
	case ys && zeroWhere(c.Op).Has(1):
		return withDense(y, values[0].(tensor.Tensor), func(a, b tensor.Tensor) tensor.Tensor { return f(b, a) })
	case xs:
		if k, ok := single(values[1]); ok && isZero(f(zeroOf(x.DType()), k)) {
			x = x.coalesced()
			return op.One(x.withValues(f(x.values, k)))
		}
	case ys:
		if k, ok := single(values[0]); ok && isZero(f(k, zeroOf(y.DType()))) {
			y = y.coalesced()
			return op.One(y.withValues(f(k, y.values)))
		}
	}
	return wouldBeDense(c)
}

// several applies an operation with more operands, one of which is sparse and the others known
// scalars, if it is zero where the sparse one is. An example is clipping to bounds around zero.
func several(c *op.Call) ([]tenon.Value, error) {
	values := c.Values()
	ofZero, at := slices.Clone(values), -1
	for i, v := range values {
		if x, ok := v.(*Tensor); ok && at < 0 && x.DType() != dtype.String {
			ofZero[i], at = zeroOf(x.DType()), i
		} else if ofZero[i], ok = single(v); !ok {
			return wouldBeDense(c)
		}
	}
	if at < 0 || !isZero(op.Apply(c, ofZero...)) {
		return wouldBeDense(c)
	}
	x := values[at].(*Tensor).coalesced()
	values[at] = x.values
	return op.One(x.withValues(op.Apply(c, values...)))
}

// single returns a scalar whose element is known.
func single(v tenon.Value) (tensor.Tensor, bool) {
	k, ok := op.Known(v)
	return k, ok && k.Shape().IsScalar() && k.DType() != dtype.String
}

// withDense applies f to the values and the elements of a dense operand at their
// coordinates.
func withDense(x *Tensor, d tensor.Tensor, f func(a, b tensor.Tensor) tensor.Tensor) ([]tenon.Value, error) {
	s := d.Shape()
	if s.IsScalar() {
		x = x.coalesced()
		return op.One(x.withValues(f(x.values, d)))
	}
	if !s.IsFull() || !x.spec.shape.HasRank() {
		return nil, bad("Broadcast", tenon.ErrShape, "", "%v and a tensor of shape %v broadcast only where their shapes are known", x.spec, s)
	}
	both, err := shape.Broadcast(x.spec.shape, s)
	if err != nil {
		return nil, bad("Broadcast", tenon.ErrShape, "", "%v and the shape %v do not broadcast: %v", x.spec, s, err)
	}
	x = x.broadcast(both).coalesced()
	lead := both.Rank() - s.Rank()
	var columns []tensor.Tensor
	var dims []int
	for a := range s.Rank() {
		if s.Dim(a) != 1 {
			columns, dims = append(columns, x.column(a+lead)), append(dims, s.Dim(a))
		}
	}
	return op.One(x.withValues(f(x.values, ops.GatherND(ops.Reshape(d, dims), stacked(columns, x.values), 0))))
}

func (t *Tensor) nonzeros(o ReduceOptions) tensor.Tensor {
	s := t.coalesced()
	there := ops.Cast(ops.NotEqual(s.values, ops.ZerosLike(s.values)), dtype.Int64)
	return s.withValues(there).reduce(o, ops.SegmentSum)
}
