package outsider

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Interval is, elementwise, the set of numbers from Lo to Hi.
type Interval struct {
	Lo tensor.Tensor `tenon:"name=lo,dtype=float"`
	Hi tensor.Tensor `tenon:"name=hi,dtype=lo,shape=lo"`
}

var _ op.Handler = Interval{}

func init() {
	ext.Register[Interval]("example.com/outsider.Interval")
	// A tensor is an interval of width zero.
	tenon.Must(ext.Cast(func(x tensor.Tensor) (Interval, error) { return Interval{x, x}, nil }, ext.CastOptions{}))
	// The opposite conversion loses the width, so it must be explicit.
	tenon.Must(ext.Cast(func(x Interval) (tensor.Tensor, error) { return x.Middle(), nil }, ext.CastOptions{Explicit: true}))
	// Handlers for several operations at once, and for one.
	tenon.Must(ext.HandleBinary(func(c *op.Call, x, y Interval) (tenon.Value, error) { return binary(c, x, y) }))
	tenon.Must(ext.HandleBinary(func(c *op.Call, x Interval, y tensor.Tensor) (tenon.Value, error) {
		return binary(c, x, Interval{y, y})
	}))
	tenon.Must(ext.HandleBinary(func(c *op.Call, x tensor.Tensor, y Interval) (tenon.Value, error) {
		return binary(c, Interval{x, x}, y)
	}))
	o, _ := op.Lookup("matmul")
	tenon.Must(ext.Handle[Interval](o, product))
}

// New returns the interval from lo to hi.
func New(lo, hi any) (Interval, error) {
	l, err := tensor.Convert(lo)
	if err != nil {
		return Interval{}, err
	}
	h, err := tensor.Convert(hi)
	if err != nil {
		return Interval{}, err
	}
	return ext.New(Interval{l, h})
}

// Around returns the interval of all numbers that differ from x by at most radius.
func Around(x tensor.Tensor, radius float64) Interval {
	return Interval{ops.Sub(x, radius), ops.Add(x, radius)}
}

// Spec returns the Spec of the bounds.
func (x Interval) Spec() tenon.Spec { return ext.SpecOf(x) }

// DType returns the element type of the bounds.
func (x Interval) DType() dtype.DType { return x.Lo.DType() }

// Shape returns the shape of the bounds.
func (x Interval) Shape() shape.Shape { return x.Lo.Shape() }

// String prints the bounds.
func (x Interval) String() string { return ext.String(x) }

// Validate checks that no lower bound exceeds the upper one, if data is available.
func (x Interval) Validate() error {
	bad, ok := op.Known(ops.Any(ops.Greater(x.Lo, x.Hi)))
	if ok && tensor.Item[bool](bad) {
		return &tenon.Error{Kind: tenon.ErrInvalid, Where: "lo", Msg: fmt.Sprintf("a bound of %v is above that of %v", x.Lo, x.Hi)}
	}
	return nil
}

// Middle returns the middle of the interval.
func (x Interval) Middle() tensor.Tensor { return ops.Mul(ops.Add(x.Lo, x.Hi), 0.5) }

// Width returns the width of the interval.
func (x Interval) Width() tensor.Tensor { return ops.Sub(x.Hi, x.Lo) }

// rising are the increasing operations, which map bounds to bounds.
var rising = map[string]bool{"exp": true, "log": true, "sqrt": true, "tanh": true, "sigmoid": true, "relu": true, "softplus": true, "identity": true}

// HandleOp implements operations on one interval.
func (x Interval) HandleOp(c *op.Call) ([]tenon.Value, error) {
	x, ok := c.Value(0).(Interval)
	if !ok {
		return nil, op.NotHandled
	}
	switch name := c.Op.Name; {
	case rising[name]:
		return op.One(Interval{op.Apply(c, x.Lo), op.Apply(c, x.Hi)})
	case name == "neg":
		return op.One(Interval{op.Apply(c, x.Hi), op.Apply(c, x.Lo)})
	case name == "square":
		lo, hi := op.Apply(c, x.Lo), op.Apply(c, x.Hi)
		across := ops.LogicalAnd(ops.Less(x.Lo, 0), ops.Greater(x.Hi, 0))
		least := ops.Minimum(lo, hi)
		return op.One(Interval{ops.Where(across, ops.ZerosLike(least), least), ops.Maximum(lo, hi)})
	case name == "reduce_sum", name == "reduce_mean", name == "reduce_max", name == "reduce_min", c.Op.Class == op.Structural && len(c.Values()) == 1:
		return op.One(Interval{op.Apply(c, x.Lo), op.Apply(c, x.Hi)})
	}
	return nil, op.NotHandled
}

// binary combines two intervals.
func binary(c *op.Call, x, y Interval) (tenon.Value, error) {
	switch c.Op.Name {
	case "add", "maximum", "minimum":
		return Interval{op.Apply(c, x.Lo, y.Lo), op.Apply(c, x.Hi, y.Hi)}, nil
	case "sub":
		return Interval{op.Apply(c, x.Lo, y.Hi), op.Apply(c, x.Hi, y.Lo)}, nil
	case "mul":
		a, b := op.Apply(c, x.Lo, y.Lo), op.Apply(c, x.Lo, y.Hi)
		d, e := op.Apply(c, x.Hi, y.Lo), op.Apply(c, x.Hi, y.Hi)
		return Interval{ops.Minimum(ops.Minimum(a, b), ops.Minimum(d, e)), ops.Maximum(ops.Maximum(a, b), ops.Maximum(d, e))}, nil
	}
	return nil, op.NotHandled
}

// product multiplies an interval by an exact matrix: the middle is multiplied by the matrix, and
// the width by its absolute values.
func product(c *op.Call) ([]tenon.Value, error) {
	x, ok := c.Value(0).(Interval)
	w, ok2 := c.Value(1).(tensor.Tensor)
	if _, both := c.Value(1).(Interval); !ok || !ok2 || both {
		return nil, op.NotHandled
	}
	middle, half := op.Apply(c, x.Middle(), w), op.Apply(c, ops.Mul(x.Width(), 0.5), ops.Abs(w))
	return op.One(Interval{ops.Sub(middle, half), ops.Add(middle, half)})
}
