package nn_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// The line of an error is that of the caller, also where closures of the library are inlined
// into the caller's function.
func TestErrorsNameTheCallersLine(t *testing.T) {
	x := tensor.Of([]float32{1, 2, 3}, 1, 3)
	for name, f := range map[string]func() tensor.Tensor{
		"a layer": func() tensor.Tensor { return nn.NewDense(ops.RandomKey(1), 2, 2, nn.DenseOptions{}).Apply(x) },
		"a gradient": func() tensor.Tensor {
			return grad.Of(func(x tensor.Tensor) tensor.Tensor { return ops.Sum(ops.MatMul(x, x)) })(x)
		},
		"not a scalar": func() tensor.Tensor { return grad.Of(func(x tensor.Tensor) tensor.Tensor { return x })(x) },
	} {
		_, err := tenon.Try(f)
		var e *tenon.Error
		if !errors.As(err, &e) || !strings.HasPrefix(e.Line, "nn/line_test.go:") {
			t.Errorf("%s: got %+v", name, err)
		}
	}
}
