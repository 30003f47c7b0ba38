package maskedtensor_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/examples/exttypes/maskedtensor"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/spectest"
	"github.com/tenonml/tenon/tensor"
)

func Example() {
	x := tenon.Must(maskedtensor.New([]float32{1, -2, 3}, []bool{true, true, false}))
	fmt.Println(ops.Abs(x))
	fmt.Println(ops.Add(x, x))
	fmt.Println(ops.Mul(x, 10))
	fmt.Println(ops.Sum(x, 0))
	fmt.Println(x.Spec())
	// Output:
	// MaskedTensor(Values=[1. 2. 3.] float32[3], Mask=[ true  true false] bool[3])
	// MaskedTensor(Values=[ 2. -4.  6.] float32[3], Mask=[ true  true false] bool[3])
	// MaskedTensor(Values=[ 10. -20.  30.] float32[3], Mask=[ true  true false] bool[3])
	// MaskedTensor(Values=2.0 float32[], Mask=false bool[])
	// MaskedTensor{Values: float32[3], Mask: bool[3]}
}

func TestLaws(t *testing.T) {
	spectest.Laws(t, spectest.Options{}, tenon.Must(maskedtensor.New([]float32{1}, []bool{true})), tenon.Must(maskedtensor.New(2.5, false)))
}

func TestMaskHasTheShapeOfTheValues(t *testing.T) {
	for _, mask := range []any{[]bool{true}, []int{1, 0, 1}, true} {
		if _, err := maskedtensor.New([]float32{1, 2, 3}, mask); !errors.Is(err, tenon.ErrInvalid) {
			t.Errorf("%v: %v", mask, err)
		}
	}
}

func TestRaggedIsDeclined(t *testing.T) {
	x := tenon.Must(maskedtensor.New([]float32{1}, []bool{true}))
	_, err := tenon.Try(func() tensor.Tensor { return ops.Add(x, ragged.FromSlices([][]float32{{1}})) })
	if !errors.Is(err, tenon.ErrDType) {
		t.Errorf("got %v", err)
	}
}

func TestBranchesAreCast(t *testing.T) {
	dense := tensor.Vector([]float32{1, 2})
	x := tenon.Must(maskedtensor.New([]float32{5, 6}, []bool{true, false}))
	f := function.New(func(p tensor.Tensor, a, b tensor.Tensor) tensor.Tensor {
		return control.Cond(p, func() tensor.Tensor { return a }, func() tensor.Tensor { return b })
	})
	got := f.Call(tensor.Scalar(true), dense, x)
	if want := tenon.Must(maskedtensor.New(dense, []bool{true, true})); !tensor.Equal(got, want, tensor.EqualOptions{}) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got = f.Call(tensor.Scalar(false), dense, x); !tensor.Equal(got, x, tensor.EqualOptions{}) {
		t.Errorf("got %v, want %v", got, x)
	}
}
