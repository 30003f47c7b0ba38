package labeled

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Tensor is a tensor with a label for each axis, in order.
type Tensor struct {
	Values tensor.Tensor `tenon:"rank=len(Axes)"`
	Axes   []string
}

func init() {
	ext.Register[Tensor]("tenonml.com/examples/exttypes.LabeledTensor")
	// Operations on two elements work by label, whatever they compute.
	tenon.Must(ext.HandleBinary(func(c *op.Call, x, y Tensor) (tenon.Value, error) { return aligned(c, x, y) }))
	tenon.Must(ext.HandleBinary(func(c *op.Call, x Tensor, y tensor.Tensor) (tenon.Value, error) {
		return withScalar(c, x, y, x.Values, y)
	}))
	tenon.Must(ext.HandleBinary(func(c *op.Call, x tensor.Tensor, y Tensor) (tenon.Value, error) {
		return withScalar(c, y, x, x, y.Values)
	}))
	tenon.Must(ext.HandleUnary(func(c *op.Call, x Tensor) (tenon.Value, error) {
		return Tensor{op.Apply(c, x.Values), x.Axes}, nil
	}))
}

// New returns x with labels for its axes.
func New(x any, axes ...string) (Tensor, error) {
	v, err := tensor.Convert(x)
	if err != nil {
		return Tensor{}, err
	}
	return ext.New(Tensor{v, axes})
}

// Spec returns the Spec of values and labels.
func (t Tensor) Spec() tenon.Spec { return ext.SpecOf(t) }

// String prints labels and values.
func (t Tensor) String() string { return ext.String(t) }

// DType returns the element type.
func (t Tensor) DType() dtype.DType { return t.Values.DType() }

// Shape returns the sizes in the order of the labels.
func (t Tensor) Shape() shape.Shape { return t.Values.Shape() }

// Validate checks that no label occurs twice.
func (t Tensor) Validate() error {
	for i, a := range t.Axes {
		if slices.Contains(t.Axes[:i], a) {
			return &tenon.Error{Kind: tenon.ErrInvalid, Where: "Axes", Msg: fmt.Sprintf("two axes have the label %q", a)}
		}
	}
	return nil
}

// names returns labels as names.
func names(axes []string) []named.Name {
	out := make([]named.Name, len(axes))
	for i, a := range axes {
		out[i] = named.Dynamic(a)
	}
	return out
}

// Named returns the tensor with its labels as names.
func (t Tensor) Named() *named.Tensor { return named.Of(t.Values, names(t.Axes)...) }

// from returns a named tensor with its axes in the order of labels.
func from(n tenon.Value, axes []string) Tensor {
	return Tensor{named.Unnamed(n, names(axes)...), axes}
}

// aligned applies an operation by label: the labels of one operand must be among those of the
// other, whose order the result has, or that of the first if both have all labels.
func aligned(c *op.Call, x, y Tensor) (tenon.Value, error) {
	axes := x.Axes
	if len(y.Axes) > len(axes) {
		axes = y.Axes
	}
	out, err := c.WithValues([]tenon.Value{x.Named(), y.Named()}).Do()
	if err != nil {
		return nil, err
	}
	return from(out[0], axes), nil
}

// withScalar applies an operation to a labeled tensor and a scalar without labels.
func withScalar(c *op.Call, t Tensor, scalar tensor.Tensor, x, y tensor.Tensor) (tenon.Value, error) {
	if !scalar.Shape().IsScalar() {
		return nil, c.Errorf(tenon.ErrShape, "%s has axes without labels", tenon.String(scalar.Spec()))
	}
	return Tensor{op.Apply(c, x, y), t.Axes}, nil
}

// Sum adds up along the axis with a label, which is removed. It throws errors.
func Sum(t Tensor, axis string) Tensor { return reduce(t, axis, named.Dims.Sum) }

// Mean is the mean along the axis with a label, which is removed. It throws errors.
func Mean(t Tensor, axis string) Tensor { return reduce(t, axis, named.Dims.Mean) }

func reduce(t Tensor, axis string, f func(named.Dims, tenon.Value) *named.Tensor) Tensor {
	rest := slices.DeleteFunc(slices.Clone(t.Axes), func(a string) bool { return a == axis })
	if len(rest) == len(t.Axes) {
		tenon.Throw(tenon.NewError(tenon.ErrNotFound, "labeled.Sum", fmt.Sprintf("there is no axis %q; there are %q", axis, t.Axes)))
	}
	return from(f(named.By(named.Dynamic(axis)), t.Named()), rest)
}

// Transposed returns the tensor with its axes in another order. It throws errors.
func Transposed(t Tensor, axes ...string) Tensor { return from(t.Named(), axes) }
