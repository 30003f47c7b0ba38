package control_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A row that is kept is refused when there are no rows any more.
func TestRowsThatAreKeptAreRefused(t *testing.T) {
	var kept tensor.Tensor
	keep := func() {
		control.Map(func(x tensor.Tensor) tensor.Tensor { kept = x; return x }, tensor.Tensor(tensor.Of([]float64{1, 2})))
	}
	for name, f := range map[string]func(){
		"after it": func() { ops.Add(kept, 1) },
		"in another map": func() {
			control.Map(func(x tensor.Tensor) tensor.Tensor { return ops.Add(x, kept) }, tensor.Tensor(tensor.Of([]float64{10, 20})))
		},
		"as its result": func() {
			control.Map(func(tensor.Tensor) tensor.Tensor { return kept }, tensor.Tensor(tensor.Of([]float64{1, 2, 3})))
		},
	} {
		keep()
		_, err := tenon.Try(func() any { f(); return nil })
		if !errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), "after the function of rows has returned") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestCase(t *testing.T) {
	grade := func(x tensor.Tensor) tensor.Tensor {
		number := func(n int64) func() tensor.Tensor { return func() tensor.Tensor { return tensor.Scalar(n) } }
		return control.Case([]control.When[tensor.Tensor]{{ops.Less(x, 1.0), number(1)}, {ops.Less(x, 2.0), number(2)}, {ops.Less(x, 1.5), number(3)}}, number(4))
	}
	traced := function.New(grade)
	for x, want := range map[float64]int64{0.5: 1, 1: 2, 1.7: 2, 2: 4} {
		for name, f := range map[string]func(tensor.Tensor) tensor.Tensor{"eager": grade, "traced": traced.Call} {
			if got := tensor.Item[int64](f(tensor.Scalar(x))); got != want {
				t.Errorf("%s: %v is %d, want %d", name, x, got, want)
			}
		}
	}
}

// A branch that is not taken does not run where data are concrete, so that recursion ends; a
// trace makes one type of what branches return, at once it is that of the branch.
func TestBranchesAtOnceAreThoseOfGo(t *testing.T) {
	var factorial func(n tensor.Tensor) tensor.Tensor
	factorial = func(n tensor.Tensor) tensor.Tensor {
		return control.Cond(ops.Less(n, int64(2)), func() tensor.Tensor { return tensor.Scalar(int64(1)) },
			func() tensor.Tensor { return ops.Mul(n, factorial(ops.Sub(n, int64(1)))) })
	}
	if got := tensor.Item[int64](factorial(tensor.Scalar(int64(10)))); got != 3628800 {
		t.Errorf("10! is %d", got)
	}
	either := func(p tensor.Tensor) tensor.Tensor {
		return control.Cond(p, func() tensor.Tensor { return tensor.Of([]float64{1, 2}) },
			func() tensor.Tensor { return tenon.Must(masked.New([]float64{1, 2}, []bool{true, false})) })
	}
	for p, want := range map[bool]string{true: "[1. 2.] float64[2]", false: fmt.Sprint(either(tensor.Scalar(false)))} {
		if got := fmt.Sprint(either(tensor.Scalar(p))); got != want {
			t.Errorf("at once, %v: %s, want %s", p, got, want)
		}
		x := function.New(either).Call(tensor.Scalar(p))
		if _, ok := x.(*masked.Tensor); !ok {
			t.Errorf("traced, %v: a %T", p, x)
		}
	}
}

// A loop that is not traced refuses what a traced one refuses.
func TestLoopVariablesKeepTheirTypes(t *testing.T) {
	loop := func(n tensor.Tensor) tensor.Tensor {
		return control.While(func(n tensor.Tensor) tensor.Tensor { return ops.Less(n, 3) }, func(n tensor.Tensor) tensor.Tensor { return ops.Add(n, 0.5) }, n)
	}
	for name, f := range map[string]func(tensor.Tensor) tensor.Tensor{"eager": loop, "traced": function.New(loop).Call} {
		_, err := tenon.Try(func() tensor.Tensor { return f(tensor.Scalar(int64(0))) })
		if !errors.Is(err, tenon.ErrDType) || !strings.Contains(err.Error(), "changes its Spec between iterations") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// Go code has the gradient that grad.Custom gives it, which may be Go code as well.
func TestGoFuncWithAGradient(t *testing.T) {
	spec := tensor.Of([]float64{0, 0}).Spec()
	goCode := func(f func(float64) float64) func(tensor.Tensor) tensor.Tensor {
		return func(x tensor.Tensor) tensor.Tensor {
			return control.GoFunc(func(x tensor.Tensor) ([]tenon.Value, error) {
				out := []float64{}
				for _, e := range tensor.Data[float64](x) {
					out = append(out, f(e))
				}
				return []tenon.Value{tensor.Of(out)}, nil
			}, []tenon.Spec{spec}, x)[0].(tensor.Tensor)
		}
	}
	slope := goCode(func(x float64) float64 { return 3 * x * x })
	cube := grad.Custom(goCode(func(x float64) float64 { return x * x * x }), func(x, _, ct tensor.Tensor) tensor.Tensor { return ops.Mul(ct, slope(x)) })
	g := grad.Of(func(x tensor.Tensor) tensor.Tensor { return ops.Sum(cube(x)) })
	for name, f := range map[string]func(tensor.Tensor) tensor.Tensor{"eager": g, "traced": function.New(g).Call} {
		if got := fmt.Sprint(f(tensor.Of([]float64{1, 2}))); got != "[ 3. 12.] float64[2]" {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

// Whatever is changed in a stored graph with loops and branches, reading and running it
// gives a graph or an error.
func TestTamperedLoopsAreRefused(t *testing.T) {
	f := function.New(func(x tensor.Tensor, xs tensor.Tensor) tensor.Tensor {
		y := control.While(func(x tensor.Tensor) tensor.Tensor { return ops.Less(ops.Sum(x), 10.0) }, func(x tensor.Tensor) tensor.Tensor { return ops.Add(x, x) }, x)
		y, _ = control.Scan(func(c, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return ops.Add(c, x), c }, y, xs)
		return control.Cond(ops.Less(ops.Sum(y), 0.0), func() tensor.Tensor { return ops.Neg(y) }, func() tensor.Tensor { return y })
	}, function.Options{Exact: true})
	g := tenon.Must(f.Trace(tensor.Of([]float64{1, 2}), tensor.Of([]float64{1, 2, 3, 4}, 2, 2)))
	b, err := g.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for i := range b {
		for _, flip := range []byte{1, 2, 0x80, 0xFF} {
			bad := append([]byte(nil), b...)
			bad[i] ^= flip
			func() {
				defer func() {
					if r := recover(); r != nil {
						t.Fatalf("byte %d with %x: panic: %v", i, flip, r)
					}
				}()
				_, _ = graph.ReadBinary(bad)
			}()
		}
	}
}
