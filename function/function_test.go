package function_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

func vec(x ...float32) tensor.Tensor { return tensor.Of(x) }

func floats(t tensor.Tensor) []float32 { return tensor.Data[float32](t) }

func TestTracedOncePerSignature(t *testing.T) {
	traced := 0
	f := function.New(func(x, y tensor.Tensor) tensor.Tensor {
		traced++
		return ops.Mul(ops.Add(x, y), 2.0)
	}, function.Options{Exact: true})
	for range 3 {
		if d := cmp.Diff([]float32{8, 12}, floats(f.Call(vec(1, 2), vec(3, 4)))); d != "" {
			t.Error(d)
		}
	}
	if traced != 1 {
		t.Errorf("traced %d times for one signature, want 1", traced)
	}
	f.Call(vec(1, 2, 3), vec(1, 2, 3))
	if traced != 2 {
		t.Errorf("traced %d times for two signatures, want 2", traced)
	}
}

func TestSizesAreRelaxed(t *testing.T) {
	traced := 0
	f := function.New(func(x tensor.Tensor) tensor.Tensor {
		traced++
		return ops.Sum(ops.Mul(x, x))
	})
	for n := 1; n <= 20; n++ {
		x := make([]float32, n)
		for i := range x {
			x[i] = 2
		}
		if got := tensor.Item[float32](f.Call(tensor.Of(x))); got != float32(4*n) {
			t.Errorf("n=%d: got %v, want %v", n, got, 4*n)
		}
	}
	if traced != 3 {
		t.Errorf("traced %d times, want 3: the third trace leaves the size open", traced)
	}
	if e := f.Explain(); !strings.Contains(e, "float32[?]") || !strings.Contains(e, "3 traces") {
		t.Errorf("Explain does not tell about the open size:\n%s", e)
	}
}

type model struct {
	W    tensor.Tensor
	B    tensor.Tensor // may be nil
	Rest map[string]tensor.Tensor
	Name string `tenon:"static"`
}

func TestNestsInAndOut(t *testing.T) {
	type result struct {
		M     model
		Sizes []int
	}
	f := function.New(func(m model, scale float64) (result, tensor.Tensor) {
		m.W = ops.Mul(m.W, scale)
		return result{m, []int{1, 2}}, ops.Sum(m.W)
	})
	in := model{W: vec(1, 2), Rest: map[string]tensor.Tensor{"b": vec(3), "a": vec(4)}, Name: "m"}
	r, sum := f.Call(in, 3)
	if d := cmp.Diff([]float32{3, 6}, floats(r.M.W)); d != "" {
		t.Error(d)
	}
	if r.M.B != nil || r.M.Name != "m" || floats(r.M.Rest["b"])[0] != 3 || r.Sizes[1] != 2 {
		t.Errorf("the structure has changed: %+v", r)
	}
	if got := tensor.Item[float32](sum); got != 9 {
		t.Errorf("sum = %v, want 9", got)
	}
	if _, sum = f.Call(in, 5); tensor.Item[float32](sum) != 15 {
		t.Error("plain data are not part of the signature")
	}
}

func TestDeclaredSignature(t *testing.T) {
	open := tensor.NewSpec(dtype.Float32, shape.Of(shape.Unknown))
	traced := 0
	f := function.New(func(x tensor.Tensor) (tensor.Tensor, error) {
		traced++
		return ops.Neg(x), nil
	}, function.Options{Signature: []any{open}})
	for n := range 4 {
		if _, err := f.Call(tensor.Of(make([]float32, n))); err != nil {
			t.Fatal(err)
		}
	}
	if traced != 1 {
		t.Errorf("traced %d times, want 1", traced)
	}
	_, err := f.Call(tensor.Of([]int32{1}))
	if !errors.Is(err, tenon.ErrDType) || !strings.Contains(err.Error(), "int32[1]") {
		t.Errorf("got %v, want an error of kind ErrDType that shows the argument", err)
	}
}

func TestVariables(t *testing.T) {
	v, err := state.New(vec(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	f := function.New(func(x tensor.Tensor) tensor.Tensor {
		before := ops.Add(x, v)
		tenon.Throw(v.Assign(before))
		return ops.Mul(ops.Add(x, v), 10.0) // reads what was assigned
	})
	for i, want := range [][]float32{{30, 50}, {40, 70}} {
		if d := cmp.Diff(want, floats(f.Call(vec(1, 2)))); d != "" {
			t.Errorf("call %d: %s", i, d)
		}
	}
	if d := cmp.Diff([]float32{3, 5}, floats(v.Value())); d != "" {
		t.Error(d)
	}
}

func TestLeakedValue(t *testing.T) {
	var leaked tensor.Tensor
	f := function.New(func(x tensor.Tensor) tensor.Tensor {
		leaked = ops.Neg(x)
		return x
	})
	f.Call(vec(1))
	_, err := tenon.Try(func() tensor.Tensor { return ops.Neg(leaked) })
	if err == nil || !strings.Contains(err.Error(), "after the trace has ended") {
		t.Errorf("got %v, want an error about the leaked value", err)
	}
}

func TestBranchOnSymbolicData(t *testing.T) {
	f := function.New(func(x tensor.Tensor) (tensor.Tensor, error) {
		if tensor.Item[float32](ops.Sum(x)) > 0 {
			return x, nil
		}
		return ops.Neg(x), nil
	})
	_, err := f.Call(vec(1))
	if err == nil || !strings.Contains(err.Error(), "control.Cond") {
		t.Errorf("got %v, want an error that names control.Cond", err)
	}
}

func TestEndlessRecursion(t *testing.T) {
	var f *function.Function[func(tensor.Tensor) tensor.Tensor]
	f = function.New(func(x tensor.Tensor) tensor.Tensor { return f.Call(ops.Neg(x)) })
	_, err := tenon.Try(func() tensor.Tensor { return f.Call(vec(1)) })
	if err == nil || !strings.Contains(err.Error(), "calls itself") {
		t.Errorf("got %v, want an error about the recursion", err)
	}
}

func TestCancelled(t *testing.T) {
	f := function.New(func(x tensor.Tensor) tensor.Tensor { return ops.MatMul(x, x) })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := f.CallContext(ctx, tensor.Of([]float32{1}, 1, 1))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestConcurrentCalls(t *testing.T) {
	f := function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Sum(ops.Exp(ops.Mul(x, 0.0))) })
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			n := i%5 + 1
			if got := tensor.Item[float32](f.Call(tensor.Of(make([]float32, n)))); got != float32(n) {
				t.Errorf("got %v, want %d", got, n)
			}
		})
	}
	wg.Wait()
}

func TestErrorNamesTheLine(t *testing.T) {
	f := function.New(func(x tensor.Tensor) (tensor.Tensor, error) {
		return ops.Add(x, vec(1, 2, 3)), nil
	})
	_, err := f.Call(vec(1, 2))
	if err == nil || !strings.Contains(err.Error(), "function_test.go:") || !errors.Is(err, tenon.ErrShape) {
		t.Errorf("got %v, want a shape error with this file's name", err)
	}
}

func TestGradientInsideAndOutside(t *testing.T) {
	loss := func(w, x tensor.Tensor) tensor.Tensor { return ops.Sum(ops.Square(ops.Mul(w, x))) }
	inside := function.New(func(w, x tensor.Tensor) tensor.Tensor {
		_, g := grad.ValueAndGrad(loss)(w, x)
		return g
	})
	f := function.New(loss)
	outside := grad.Of(func(w tensor.Tensor) tensor.Tensor { return f.Call(w, vec(2, 3)) })
	want := []float32{8, 36}
	if d := cmp.Diff(want, floats(inside.Call(vec(1, 2), vec(2, 3)))); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want, floats(outside(vec(1, 2)))); d != "" {
		t.Error(d)
	}
}

func ExampleNew() {
	f := function.New(func(x, y tensor.Tensor) tensor.Tensor {
		return ops.Add(ops.Mul(x, y), 1.0)
	})
	fmt.Println(f.Call(tensor.Of([]float64{1, 2, 3}), tensor.Of([]float64{4, 5, 6})))
	// Output: [ 5. 11. 19.] float64[3]
}
