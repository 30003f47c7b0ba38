package op_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

var kept []any // by kernels

// lentTo registers an operation with a kernel for two operands.
func lentTo(name string, stateful bool, kernel func(x, y *tensor.Dense) *tensor.Dense) *op.Op {
	return op.Register(&op.Op{
		Name: name, Doc: "A test.", Stateful: stateful,
		Params:    []op.Param{{Name: "x"}, {Name: "rest", Kind: op.Tensors}},
		Statement: op.Statement{Axes: op.Opaque, Missing: op.Refuse, Why: "a test"},
		Infer:     func(c *op.Call) ([]tenon.Spec, error) { return []tenon.Spec{c.Tensor(0).Spec()}, nil },
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			return []tensor.Tensor{kernel(c.Tensor(0).(*tensor.Dense), c.Tensors(1)[0].(*tensor.Dense))}, nil
		},
	})
}

// A kernel that keeps an operand, or its memory, is found; one that returns a view of it, keeps a copy
// or is declared stateful is not at fault.
func TestKernelsThatKeepOperandsAreFound(t *testing.T) {
	defer op.CheckKernels(op.CheckKernels(true))
	neg := func(x *tensor.Dense) *tensor.Dense {
		y := tensor.NewDense(dtype.Float64, x.Shape())
		for i, v := range tensor.Elems[float64](x) {
			tensor.Elems[float64](y)[i] = -v
		}
		return y
	}
	for name, c := range map[string]struct {
		o    *op.Op
		want string
	}{
		"the tensor":     {lentTo("lent.tensor", false, func(x, y *tensor.Dense) *tensor.Dense { kept = append(kept, x); return neg(x) }), "keeps x"},
		"its elements":   {lentTo("lent.elements", false, func(x, y *tensor.Dense) *tensor.Dense { kept = append(kept, tensor.Elems[float64](y)); return neg(x) }), "keeps rest"},
		"nothing":        {lentTo("lent.nothing", false, func(x, y *tensor.Dense) *tensor.Dense { return neg(x) }), ""},
		"the result":     {lentTo("lent.result", false, func(x, y *tensor.Dense) *tensor.Dense { return x }), ""},
		"a view":         {lentTo("lent.view", false, func(x, y *tensor.Dense) *tensor.Dense { return y.Reshaped(x.Shape()) }), ""},
		"a copy":         {lentTo("lent.copy", false, func(x, y *tensor.Dense) *tensor.Dense { kept = append(kept, neg(x)); return neg(x) }), ""},
		"what it may do": {lentTo("lent.stateful", true, func(x, y *tensor.Dense) *tensor.Dense { kept = append(kept, x); return neg(x) }), ""},
	} {
		for range 3 {
			x, y := tensor.Of(make([]float64, 100)), tensor.Of(make([]float64, 100))
			_, err := tenon.Try(func() tensor.Tensor { return op.Eval(c.o, x, []tensor.Tensor{y}) })
			if c.want == "" && err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if c.want != "" && (!errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s: got %v", name, err)
			}
			if c.want != "" {
				break
			}
		}
	}
	kept = nil
}
