package onnx_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/internal/onnxtest"
	"github.com/tenonml/tenon/internal/optable"
	"github.com/tenonml/tenon/model/onnx"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// TestOperationsAreWritten writes the calls of the table of operations as ONNX, reads them again,
// and compares what they give.
func TestOperationsAreWritten(t *testing.T) {
	for _, r := range optable.Rows() {
		if !slices.Contains(onnx.Written(), r.Op) {
			continue
		}
		t.Run(r.Op, func(t *testing.T) {
			done := 0
			for i, c := range r.Calls {
				if i%5 != 0 && os.Getenv("TENON_ONNX_OUT") == "" || testing.Short() && i%15 != 0 {
					continue
				}
				err := roundTrip(fmt.Sprintf("%s_%d", r.Op, i), r, c)
				switch {
				case err == nil:
					done++
				case errors.Is(err, tenon.ErrUnsupported): // elements of other types
				default:
					t.Errorf("call %d %v: %v", i, sketch(c), err)
				}
			}
			if done == 0 {
				t.Error("no call can be written")
			}
		})
	}
}

func sketch(c optable.Call) []any {
	out := slices.Clone(c.Args)
	for i, a := range out {
		switch a := a.(type) {
		case tensor.Tensor:
			out[i] = tenon.String(a.Spec())
		case []tenon.Value:
			out[i] = fmt.Sprint(len(a), " tensors")
		}
	}
	return out
}

func roundTrip(name string, r optable.Row, c optable.Call) error {
	call, err := op.NewCall(r.Definition(), c.Args...)
	if err != nil {
		return err
	}
	all := call.Values()
	err = written(name, call, make([]tenon.Value, len(all)), r)
	if !errors.Is(err, tenon.ErrUnsupported) {
		return err
	}
	// what says where or how many has to be known for some
	fixed, k := slices.Clone(all), -1
	for i, v := range call.Operands() {
		if k++; !r.Definition().Control.Has(i) && (v.(tensor.Tensor).DType() != dtype.Int64 || r.Definition().Axes != op.Opaque) {
			fixed[k] = nil
		}
	}
	return written(name, call, fixed, r)
}

// written checks a function of the tensors of a call that are not fixed.
func written(name string, c *op.Call, fixed []tenon.Value, r optable.Row) error {
	f := function.New(func(in []tensor.Tensor) []tensor.Tensor {
		values := slices.Clone(fixed)
		for i, v := range values {
			if v == nil {
				values[i], in = in[0], in[1:]
			}
		}
		return tenon.Must(c.WithValues(values).DoTensors())
	})
	var args []tensor.Tensor
	var values []tenon.Value
	for i, v := range c.Values() {
		if fixed[i] == nil {
			args, values = append(args, v.(tensor.Tensor)), append(values, v)
		}
	}
	m := saved.NewModel()
	if err := m.Add("f", f, args); err != nil {
		return err
	}
	return onnxtest.Check(name, m, 8*max(r.Tol, 4), values...)
}
