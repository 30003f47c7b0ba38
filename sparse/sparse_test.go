package sparse_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/sparse"
	"github.com/tenonml/tenon/spectest"
	"github.com/tenonml/tenon/tensor"
)

func example(t *testing.T) *sparse.Tensor {
	t.Helper()
	s, err := sparse.New(tensor.Of([]int64{2, 0, 0, 1}, 2, 2), []float32{7, 5}, []int64{3, 2})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDenseAndBack(t *testing.T) {
	s := example(t)
	d, err := s.ToDense(sparse.DenseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float32{0, 5, 0, 0, 7, 0}, tensor.Data[float32](d)); diff != "" {
		t.Error(diff)
	}
	back, err := sparse.FromDense(d)
	if err != nil {
		t.Fatal(err)
	}
	sorted, err := s.Reorder()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []*sparse.Tensor{back, sorted} {
		if diff := cmp.Diff([]int64{0, 1, 2, 0}, tensor.Data[int64](x.Indices())); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]float32{5, 7}, tensor.Data[float32](x.Values())); diff != "" {
			t.Error(diff)
		}
	}
}

func TestThroughAFunction(t *testing.T) {
	f := function.New(func(s *sparse.Tensor) (*sparse.Tensor, error) {
		return sparse.New(s.Indices(), ops.Mul(s.Values(), 2.0), s.DenseShape())
	})
	got, err := f.Call(example(t))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float32{14, 10}, tensor.Data[float32](got.Values())); diff != "" {
		t.Error(diff)
	}
}

func TestRefused(t *testing.T) {
	for name, args := range map[string][3]any{
		"coordinate outside": {tensor.Of([]int64{3, 0}, 1, 2), []float32{1}, []int64{3, 2}},
		"negative size":      {tensor.Of([]int64{}, 0, 1), []float32{}, []int64{-1}},
		"too few values":     {tensor.Of([]int64{0, 1}, 2, 1), []float32{1}, []int64{3}},
		"other rank":         {tensor.Of([]int64{0, 1}, 1, 2), []float32{1}, []int64{3}},
		"int32 coordinates":  {tensor.Of([]int32{0}, 1, 1), []float32{1}, []int64{3}},
	} {
		if _, err := sparse.New(args[0], args[1], args[2]); !errors.As(err, new(*tenon.Error)) {
			t.Errorf("%s: got %v, want an error", name, err)
		}
	}
}

func TestLaws(t *testing.T) {
	empty, err := sparse.New(tensor.Of([]int64{}, 0, 2), []float32{}, []int64{3, 2})
	if err != nil {
		t.Fatal(err)
	}
	spectest.Laws(t, spectest.Options{}, example(t), empty)
}

func ExampleFromDense() {
	s, _ := sparse.FromDense(tensor.Of([]float64{0, 0, 3, 0}, 2, 2))
	fmt.Println(s.Indices(), s.Values())
	// Output: [[1 0]] int64[1, 2] [3.] float64[1]
}

func TestPad(t *testing.T) {
	got := ops.Pad(example(t), [][]int{{1, 0}, {0, 2}}, ops.PadOptions{}).(*sparse.Tensor)
	want := ops.Pad(tenon.Must(example(t).ToDense(sparse.DenseOptions{})), [][]int{{1, 0}, {0, 2}}, ops.PadOptions{})
	if d := tenon.Must(got.ToDense(sparse.DenseOptions{})); !tensor.Equal(d, want, tensor.EqualOptions{}) {
		t.Errorf("got %v, want %v", d, want)
	}
	for _, c := range []struct {
		margins any
		o       ops.PadOptions
		kind    error
	}{
		{[][]int{{1, 0}, {0, 2}}, ops.PadOptions{Value: float32(1)}, tenon.ErrUnsupported},
		{[][]int{{1, 0}, {0, 2}}, ops.PadOptions{Mode: ops.PadReflect}, tenon.ErrUnsupported},
		{[][]int{{1, 0}}, ops.PadOptions{}, tenon.ErrShape},
		{[][]int{{-1, 0}, {0, 2}}, ops.PadOptions{}, tenon.ErrInvalid},
	} {
		if _, err := tenon.Try(func() any { return ops.Pad(example(t), c.margins, c.o) }); !errors.Is(err, c.kind) {
			t.Errorf("%v, %v: got %v, want %v", c.margins, c.o, err, c.kind)
		}
	}
}
