package control_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// TestOnlyTheBranchTaken: what a branch computes from values outside of it belongs to
// the branch, in a trace as well: it does not run, and cannot fail, where the other one
// is taken.
func TestOnlyTheBranchTaken(t *testing.T) {
	type T = tensor.Tensor
	f := function.New(func(x, y T) T {
		shared := ops.Add(x, 1)
		return control.Cond(ops.Greater(y, 0), func() T {
			return ops.Mul(ops.FloorDiv(shared, y), 2)
		}, func() T {
			return control.Switch(ops.Add(y, 1), func() T { return ops.Neg(shared) }, func() T { return ops.Mul(shared, shared) })
		})
	})
	for _, c := range []struct{ x, y, want int64 }{{9, 5, 4}, {9, 0, 100}, {9, -1, -10}} {
		if got := tensor.Data[int64](f.Call(tensor.Scalar(c.x), tensor.Scalar(c.y)))[0]; got != c.want {
			t.Errorf("f(%d, %d) is %d, want %d", c.x, c.y, got, c.want)
		}
	}
	g, err := f.Trace(tensor.Scalar(int64(1)), tensor.Scalar(int64(1)))
	if err != nil {
		t.Fatal(err)
	}
	text := g.String()
	if body := text[strings.Index(text, "regions:"):]; !strings.Contains(body, "floor_div") || !strings.Contains(body, "neg") || strings.Count(text, "floor_div") != 1 {
		t.Errorf("the division is not in its branch:\n%s", text)
	}
	d := function.New(grad.Of(func(x T) T {
		return control.Cond(ops.Greater(x, 0.0), func() T { return ops.Log(x) }, func() T { return ops.Mul(x, 3.0) })
	}))
	for x, want := range map[float64]float64{2: 0.5, -2: 3} {
		if got := tensor.Data[float64](d.Call(tensor.Scalar(x)))[0]; got != want {
			t.Errorf("the derivative at %g is %g, want %g", x, got, want)
		}
	}
}

// TestNoTensors: branches may answer with values that hold none.
func TestNoTensors(t *testing.T) {
	none := tenon.Must(structured.FromFields(nil, shape.Of(), structured.Options{}))
	f := function.New(func(p tensor.Tensor, a, b tenon.Value) tenon.Value {
		return control.Cond(p, func() tenon.Value { return a }, func() tenon.Value { return b })
	})
	if got := f.Call(tensor.Scalar(true), none, none); !tenon.Equal(got.Spec(), none.Spec()) {
		t.Errorf("got %v", got)
	}
}

// TestInputsThatNoBranchReads: what only one of two conditions needs moves into its branch, also
// where the other one, the gradient of the first, has it among its inputs.
func TestInputsThatNoBranchReads(t *testing.T) {
	rows := tenon.Must(ragged.FromRowLengths(tensor.Of([]float64{1, 2, 3, 4, 5, 6}), []int{2, 0, 3, 1}))
	loss := func(x *ragged.Tensor) tensor.Tensor {
		some := tenon.Must(masked.New(x, ops.Greater(x, 2.0)))
		y := control.Switch(ops.Cast(ops.Sum(ops.Mul(x, 0.05)), dtype.Int64),
			func() tensor.Tensor { return ops.Neg(some) }, func() tensor.Tensor { return ops.Mul(some, some) })
		return ops.Sum(masked.Fill(y, 0.0))
	}
	for name, f := range map[string]func(*ragged.Tensor) *ragged.Tensor{"eager": grad.Of(loss), "traced": function.New(grad.Of(loss)).Call} {
		g := tensor.Data[float64](f(rows).FlatValues())
		if d := cmp.Diff([]float64{0, 0, 6, 8, 10, 12}, g); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestConstantsOfBranchesStay: the memory of a large constant that a branch returns, or of
// what a host function keeps and returns, is not given back when the result has been used.
func TestConstantsOfBranchesStay(t *testing.T) {
	type T = tensor.Tensor
	const n = 1 << 15
	constant := ops.Add(ops.Fill([]int{n}, float32(1)), 1) // from the pool
	spec := tensor.NewSpec(dtype.Float32, constant.Shape())
	for name, f := range map[string]func(x T) T{
		"a branch": func(x T) T {
			return control.Cond(ops.Greater(x, 0), func() T { return constant }, func() T { return ops.Mul(constant, 3) })
		},
		"a view in a branch": func(x T) T {
			return control.Cond(ops.Greater(x, 0), func() T { return ops.Reshape(constant, []int{2, -1}) }, func() T { return ops.Fill([]int{2, n / 2}, float32(0)) })
		},
		"a function of the host": func(x T) T {
			return control.GoFunc(func(T) ([]tenon.Value, error) { return []tenon.Value{constant}, nil }, []tenon.Spec{spec}, x)[0].(T)
		},
	} {
		g := function.New(func(x T) T { return ops.Sum(f(x)) })
		for range 3 {
			if got := tensor.Data[float32](g.Call(tensor.Scalar(float32(1))))[0]; got != 2*n {
				t.Errorf("%s: the sum is %v, want %v", name, got, 2*n)
			}
			ops.Fill([]int{n}, float32(9)) // takes memory that was given back
		}
	}
}
