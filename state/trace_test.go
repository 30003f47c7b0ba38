package state_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

// TestVariablesAloneInTraces: an operation on variables alone belongs to the trace it is
// called in, and so do assignments of what it computes, and of constants.
func TestVariablesAloneInTraces(t *testing.T) {
	counter := tenon.Must(state.New(int64(0)))
	last := tenon.Must(state.New(int64(-1)))
	f := function.New(func(x tensor.Tensor) tensor.Tensor {
		tenon.Throw(last.Assign(counter))
		tenon.Throw(counter.Assign(ops.Add(counter, int64(1))))
		return ops.Add(x, ops.Mul(counter, counter))
	})
	for i, want := range []int64{11, 14, 19} {
		if got := tensor.Item[int64](f.Call(tensor.Scalar(int64(10)))); got != want {
			t.Errorf("call %d: %d, want %d", i, got, want)
		}
	}
	if n, l := tensor.Item[int64](counter.Value()), tensor.Item[int64](last.Value()); n != 3 || l != 2 {
		t.Errorf("the variables hold %d and %d", n, l)
	}
	reset := function.New(func(x tensor.Tensor) tensor.Tensor {
		tenon.Throw(counter.Assign(int64(0)))
		return ops.Neg(counter)
	})
	for range 2 {
		tenon.Throw(counter.Assign(int64(7)))
		if got := tensor.Item[int64](reset.Call(tensor.Scalar(int64(0)))); got != 0 || tensor.Item[int64](counter.Value()) != 0 {
			t.Errorf("got %d, the variable holds %v", got, counter)
		}
	}
}

// TestVariablesDecide: branches and functions inside of a trace see what a variable holds
// in each call.
func TestVariablesDecide(t *testing.T) {
	on := tenon.Must(state.New(true))
	bias := tenon.Must(state.New(1.0))
	inner := function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Add(x, bias) })
	f := function.New(func(x tensor.Tensor) tensor.Tensor {
		return control.Cond(on, func() tensor.Tensor { return ops.Mul(x, inner.Call(tensor.Scalar(1.0))) }, func() tensor.Tensor { return ops.Neg(bias) })
	})
	check := func(want float64) {
		t.Helper()
		if got := tensor.Item[float64](f.Call(tensor.Scalar(3.0))); got != want {
			t.Errorf("%g, want %g", got, want)
		}
	}
	check(6)
	tenon.Throw(bias.Assign(4.0))
	check(15)
	tenon.Throw(on.Assign(false))
	check(-4)

	g := function.New(func(x tensor.Tensor) tensor.Tensor {
		if tensor.Item[float64](ops.Mul(bias, 1.0)) > 0 {
			return x
		}
		return ops.Neg(x)
	})
	if _, err := tenon.Try(func() tensor.Tensor { return g.Call(tensor.Scalar(1.0)) }); !errors.Is(err, tenon.ErrUnsupported) || !strings.Contains(err.Error(), "control.Cond") {
		t.Errorf("Go code that looks at a variable: %v", err)
	}
}
