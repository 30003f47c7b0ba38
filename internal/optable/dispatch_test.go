package optable

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A wrapSpec is the Spec of the two types of this file: a name, and the Spec of
// the tensor inside.
type wrapSpec struct {
	name  string
	inner tenon.Spec
}

func (s *wrapSpec) TypeName() string                               { return s.name }
func (s *wrapSpec) Encode() tenon.Encoding                         { return tenon.SpecOf{Spec: s.inner} }
func (s *wrapSpec) Components() []tenon.Field                      { return []tenon.Field{{Name: "value", Spec: s.inner}} }
func (s *wrapSpec) Disassemble(tenon.Value) ([]tenon.Value, error) { return nil, errors.New("unused") }
func (s *wrapSpec) Assemble([]tenon.Value) (tenon.Value, error)    { return nil, errors.New("unused") }

// labelled is a tensor with a label, which it passes on to all results of all
// operations.
type labelled struct {
	tensor.Tensor
	label string
}

func (l labelled) Spec() tenon.Spec { return &wrapSpec{"optable.labelled", l.Tensor.Spec()} }

func (l labelled) HandleOp(c *op.Call) ([]tenon.Value, error) {
	values := c.Values()
	for i, v := range values {
		if x, ok := v.(labelled); ok {
			values[i] = x.Tensor
		}
	}
	out := []tenon.Value{}
	for _, r := range op.ApplyN(c, values...) {
		out = append(out, labelled{r, l.label})
	}
	return out, nil
}

// partial is a tensor of which some elements count. It answers for elementwise operations,
// and for no others.
type partial struct{ values, mask tensor.Tensor }

func (m partial) Spec() tenon.Spec   { return &wrapSpec{"optable.masked", m.values.Spec()} }
func (m partial) DType() dtype.DType { return m.values.DType() }
func (m partial) Shape() shape.Shape { return m.values.Shape() }

func (m partial) HandleOp(c *op.Call) ([]tenon.Value, error) {
	if !c.Op.IsElementwise() {
		return nil, op.NotHandled
	}
	values := c.Values()
	mask := tensor.Tensor(tensor.Scalar(true))
	for i, v := range values {
		if x, ok := v.(partial); ok {
			values[i] = x.values
			mask = ops.LogicalAnd(mask, x.mask)
		}
	}
	out := op.Apply(c, values...)
	return op.One(partial{out, ops.BroadcastTo(mask, out.Shape())})
}

// wrapped returns the call with its tensor arguments wrapped, the first or all of them.
func wrapped(c *op.Call, all bool, wrap func(x tensor.Tensor) tenon.Value) *op.Call {
	values := slices.Clone(c.Values())
	for i, v := range values {
		if i == 0 || all {
			values[i] = wrap(v.(tensor.Tensor))
		}
	}
	return c.WithValues(values)
}

func TestHandlers(t *testing.T) {
	label := func(x tensor.Tensor) tenon.Value { return labelled{x, "a label"} }
	mask := func(x tensor.Tensor) tenon.Value {
		return partial{x, ops.BroadcastTo(true, x.Shape())}
	}
	eachCall(t, func(t *testing.T, r Row, c Call) {
		call, err := op.NewCall(r.Definition(), c.Args...)
		if err != nil {
			t.Fatal(err)
		}
		if len(call.Values()) == 0 || call.Values()[0].(tensor.Tensor).Shape().Size() > 10000 {
			return
		}
		want, err := call.Do()
		if err != nil {
			t.Fatal(err)
		}
		for _, all := range []bool{false, true} {
			got, err := wrapped(call, all, label).Do()
			if err != nil {
				t.Fatalf("labelled: %v", err)
			}
			for i, g := range got {
				l, ok := g.(labelled)
				if !ok || l.label != "a label" {
					t.Fatalf("labelled: result %d is %v", i, g)
				}
				compare(t, "labelled", ArrayOf(l.Tensor), ArrayOf(want[i].(tensor.Tensor)), 0)
			}
			got, err = wrapped(call, all, mask).Do()
			switch {
			case !r.Definition().IsElementwise():
				if !errors.Is(err, tenon.ErrDType) || !strings.Contains(err.Error(), "optable.masked") {
					t.Fatalf("masked, which declines: %v", err)
				}
			case err != nil:
				t.Fatalf("masked: %v", err)
			default:
				m, ok := got[0].(partial)
				if !ok || !m.mask.Shape().Equal(m.values.Shape()) {
					t.Fatalf("masked: the result is %v", got[0])
				}
				compare(t, "masked", ArrayOf(m.values), ArrayOf(want[0].(tensor.Tensor)), 0)
			}
		}
	})
}
