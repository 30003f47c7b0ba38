package maskedtensor

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// MaskedTensor pairs a tensor with a boolean mask of the same shape.
type MaskedTensor struct {
	Values tensor.Tensor
	Mask   tensor.Tensor `tenon:"dtype=bool,shape=Values"`
}

// New returns a tensor whose elements are valid where the mask is true.
func New(values, mask any) (MaskedTensor, error) {
	v, err := tensor.Convert(values)
	if err != nil {
		return MaskedTensor{}, err
	}
	m, err := tensor.Convert(mask)
	if err != nil {
		return MaskedTensor{}, err
	}
	return ext.New(MaskedTensor{v, m})
}

// Spec returns the Spec of values and mask.
func (m MaskedTensor) Spec() tenon.Spec { return ext.SpecOf(m) }

// DType returns the element type of the values.
func (m MaskedTensor) DType() dtype.DType { return m.Values.DType() }

// Shape returns the shape of the values.
func (m MaskedTensor) Shape() shape.Shape { return m.Values.Shape() }

// String prints values and mask.
func (m MaskedTensor) String() string { return ext.String(m) }

// Spec is the Spec of a MaskedTensor, with the methods of the Spec of a tensor.
type Spec struct{ *ext.Spec }

// DType returns the element type of the values.
func (s Spec) DType() dtype.DType { return s.Tensor("Values").DType() }

// Shape returns the shape of the values.
func (s Spec) Shape() shape.Shape { return s.Tensor("Values").Shape() }

func init() {
	ext.Register[MaskedTensor]("tenonml.com/examples/exttypes.MaskedTensor",
		ext.Options{Spec: func(s *ext.Spec) tenon.Spec { return Spec{s} }})
	// A dense tensor is converted to one whose elements are all valid.
	tenon.Must(ext.Cast(func(x tensor.Tensor) (MaskedTensor, error) {
		return MaskedTensor{x, ops.Cast(ops.OnesLike(x), dtype.Bool)}, nil
	}, ext.CastOptions{}))
}

// AcceptsOp reports which values the handler accepts: dense and masked tensors, and no others,
// such as ragged ones.
func (m MaskedTensor) AcceptsOp(v tenon.Value) bool {
	_, ok := v.(MaskedTensor)
	return ok || tenon.IsLeaf(v.Spec())
}

// HandleOp handles elementwise operations and those in handlers.
func (m MaskedTensor) HandleOp(c *op.Call) ([]tenon.Value, error) {
	switch {
	case c.Op.IsUnaryElementwise():
		return unary(c)
	case c.Op.IsBinaryElementwise():
		return binary(c)
	}
	if h, ok := handlers[c.Op.Name]; ok {
		return h(c)
	}
	return nil, op.NotHandled
}

func unary(c *op.Call) ([]tenon.Value, error) {
	x, ok := c.Value(0).(MaskedTensor)
	if !ok {
		return nil, op.NotHandled
	}
	return op.One(MaskedTensor{op.Apply(c, x.Values), x.Mask})
}

func binary(c *op.Call) ([]tenon.Value, error) {
	values := c.Values()
	var masks []tensor.Tensor
	for i, v := range values {
		if m, ok := v.(MaskedTensor); ok {
			values[i] = m.Values
			masks = append(masks, m.Mask)
		}
	}
	transformed := op.Apply(c, values...)
	combined := masks[0]
	if len(masks) == 2 {
		combined = ops.LogicalAnd(masks[0], masks[1])
	}
	if !combined.Shape().Equal(transformed.Shape()) { // the masked operand was broadcast
		combined = ops.LogicalAnd(combined, ops.Cast(ops.OnesLike(transformed), dtype.Bool))
	}
	return op.One(MaskedTensor{transformed, combined})
}

var handlers = map[string]op.HandlerFunc{
	"shape": func(c *op.Call) ([]tenon.Value, error) {
		return op.One(op.Apply(c, c.Value(0).(MaskedTensor).Values))
	},
	"tile": func(c *op.Call) ([]tenon.Value, error) {
		x, multiples := c.Value(0).(MaskedTensor), c.Value(1)
		return op.One(MaskedTensor{op.Apply(c, x.Values, multiples), op.Apply(c, x.Mask, multiples)})
	},
	"reduce_sum": func(c *op.Call) ([]tenon.Value, error) {
		x := c.Value(0).(MaskedTensor)
		axes, _ := c.Attr("axis").([]int)
		all := ops.All
		if keep, _ := c.Attr("keepdims").(bool); keep {
			all = ops.AllKeep
		}
		return op.One(MaskedTensor{op.Apply(c, x.Values), all(x.Mask, axes...)})
	},
}
