package labeled_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/examples/exttypes/labeled"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/spectest"
	"github.com/tenonml/tenon/tensor"
)

func Example() {
	x := tenon.Must(labeled.New([][]float32{{1, 2, 3}, {4, 5, 6}}, "row", "col"))
	y := tenon.Must(labeled.New([][]float32{{10, 20}, {30, 40}, {50, 60}}, "col", "row"))
	fmt.Println(ops.Add(x, y))
	fmt.Println(labeled.Sum(x, "row"))
	fmt.Println(ops.Mul(ops.Exp(ops.Mul(x, 0)), 2))
	// Output:
	// LabeledTensor(Values=[[11. 32. 53.]
	//  [24. 45. 66.]] float32[2, 3], Axes=["row", "col"])
	// LabeledTensor(Values=[5. 7. 9.] float32[3], Axes=["col"])
	// LabeledTensor(Values=[[2. 2. 2.]
	//  [2. 2. 2.]] float32[2, 3], Axes=["row", "col"])
}

func TestLaws(t *testing.T) {
	spectest.Laws(t, spectest.Options{}, tenon.Must(labeled.New([]float32{1, 2}, "x")), tenon.Must(labeled.New(1.5)),
		tenon.Must(labeled.New([]float32{1, 2}, "y")))
}

func TestErrors(t *testing.T) {
	x := tenon.Must(labeled.New([][]float32{{1, 2}}, "a", "b"))
	y := tenon.Must(labeled.New([]float32{1, 2, 3}, "b"))
	for name, c := range map[string]struct {
		f    func() tensor.Tensor
		kind error
	}{
		"sizes differ":   {func() tensor.Tensor { return ops.Add(x, y) }, tenon.ErrInvalid},
		"no such label":  {func() tensor.Tensor { return labeled.Sum(x, "c") }, tenon.ErrNotFound},
		"axes unlabeled": {func() tensor.Tensor { return ops.Add(x, []float32{1, 2}) }, tenon.ErrShape},
	} {
		if _, err := tenon.Try(c.f); !errors.Is(err, c.kind) {
			t.Errorf("%s: got %v, want %v", name, err, c.kind)
		}
	}
	if _, err := labeled.New([][]float32{{1}}, "a"); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("a label too few: %v", err)
	}
	if _, err := labeled.New([][]float32{{1}}, "a", "a"); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("a label twice: %v", err)
	}
}
