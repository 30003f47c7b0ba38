package function_test

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

type T = tensor.Tensor

// keeper is a type whose methods are functions.
type keeper struct {
	last  T
	other T
	turns []T
	rate  float64
}

func (k *keeper) remember(x T) T {
	k.last = ops.Mul(x, 2)
	return k.last
}

func (k *keeper) step(x T) T { return ops.Mul(x, k.rate) }

func TestCheckFindsChangedState(t *testing.T) {
	calls := 0
	var w T
	k := &keeper{rate: 0.5}
	for _, c := range []struct {
		name  string
		f     func(x T) T
		calls int    // the call that fails, from 1 on
		then  func() // before the last call
		want  []string
	}{
		{"a counter that is an operand", func(x T) T { calls++; return ops.Mul(x, float64(calls)) }, 1, nil,
			[]string{"depends on Go data that change", "mul(float32[2], ", "state.Variable"}},
		{"a counter that chooses operations", func(x T) T {
			if calls++; calls%2 == 0 {
				return ops.Exp(x)
			}
			return ops.Tanh(x)
		}, 1, nil, []string{"was tanh(float32[2]) at function/check_test.go:", "now it is exp(float32[2])"}},
		{"what is made once", func(x T) T {
			if w == nil {
				w = ops.Ones(x.DType(), []int{2})
				x = ops.Neg(x)
			}
			return ops.Add(x, w)
		}, 1, nil, []string{"depends on Go data that change"}},
		{"random numbers of Go", func(x T) T { return ops.Add(x, rand.Float64()) }, 1, nil, []string{"operation 0", "add("}},
		{"order of a map", func(x T) T {
			for k := range map[int]bool{0: true, 1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true, 9: true} {
				x = ops.Add(x, float64(k))
			}
			return x
		}, 1, nil, []string{"depends on Go data"}},
		{"data that the caller changes", k.step, 2, func() { k.rate = 0.25 }, []string{"was mul(float32[2], 0.5 float32[])", "now it is mul(float32[2], 0.25 float32[])", "function/check_test.go:"}},
		{"a field", k.remember, 1, nil, []string{"referenced after the trace", "the result of mul: float32[2]", "function/check_test.go:"}},
		{"a list that grows", func(x T) T { k.turns = append(k.turns, ops.Exp(x)); return x }, 1, nil, []string{"the result of exp"}},
		{"the parameter", func(x T) T { k.other = x; return ops.Neg(x) }, 1, nil, []string{"parameter 0: float32[2]"}},
		{"a value of a loop", func(x T) T {
			return control.While(func(x T) T { return ops.Greater(ops.Sum(x), 0) }, func(x T) T { k.other = ops.Sin(x); return k.other }, x)
		}, 1, nil, []string{"the result of sin"}},
		{"in a loop", func(x T) T {
			return control.While(func(x T) T { return ops.Greater(ops.Sum(x), 0) }, func(x T) T { calls++; return ops.Add(x, float64(-calls)) }, x)
		}, 1, nil, []string{"operation 0 of body was add(", "now it is add("}},
		{"in a branch", func(x T) T {
			return control.Cond(ops.Greater(ops.Sum(x), 0), func() T { calls++; return ops.Add(x, float64(calls)) }, func() T { return x })
		}, 1, nil, []string{"was add(float32[2], 1.0", "now it is add(float32[2], 2.0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			calls, w = 0, nil
			f := function.New(c.f, function.Options{Check: true})
			for call := 1; ; call++ {
				if call == c.calls && c.then != nil {
					c.then()
				}
				_, err := tenon.Try(func() T { return f.Call(vec(1, 2)) })
				if call < c.calls {
					if err != nil {
						t.Fatalf("call %d: %v", call, err)
					}
					continue
				}
				if err == nil {
					t.Fatal("no error")
				}
				for _, want := range c.want {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("%v\nhas no %q", err, want)
					}
				}
				break
			}
			k.last, k.turns, k.other = nil, nil, nil
		})
	}
}

// What is no fault passes: variables, branches and loops, closures that do not change, several
// signatures, functions in functions, calls at the same time.
func TestCheckPasses(t *testing.T) {
	defer function.CheckTraces(function.CheckTraces(true))
	v, err := state.New(vec(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	scale := vec(3)
	inner := function.New(func(x T) T { return ops.Tanh(ops.Mul(x, scale)) })
	f := function.New(func(x T) T {
		tenon.Throw(v.Assign(ops.Add(v, 1)))
		x = control.While(func(x T) T { return ops.Less(ops.Sum(x), 10) }, func(x T) T { return ops.Add(x, inner.Call(v)) }, x)
		y, _ := control.Scan(func(c, row T) (T, T) { c = ops.Add(c, row); return c, c }, T(tensor.Scalar(float32(0))), x)
		return control.Map(func(row T) T { return ops.Add(row, y) }, x)
	})
	for range 3 {
		f.Call(vec(1, 2))
	}
	if got := floats(v.Value()); got[0] != 4 {
		t.Errorf("after three calls the variable is %v, want 4", got)
	}
	g := function.New(func(x T) T { return ops.Exp(x) })
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if got := g.Call(tensor.Of(make([]float32, 1+i%4))); floats(got)[0] != 1 {
				t.Errorf("got %v", got)
			}
		})
	}
	all.Wait()
}

// A function that is part of more gradients at a time than it may be deep in itself.
func TestManyAtATime(t *testing.T) {
	start := make(chan struct{})
	var ready, all sync.WaitGroup
	f := function.New(func(x T) T {
		ready.Done()
		<-start
		return ops.Exp(x)
	})
	const n = 100
	ready.Add(n)
	for range n {
		all.Go(func() {
			g := function.New(func(x T) T { return f.Call(x) })
			if _, err := tenon.Try(func() T { return g.Call(vec(1)) }); err != nil {
				t.Error(err)
			}
		})
	}
	ready.Wait()
	close(start)
	all.Wait()
}

func TestItsOwnTrace(t *testing.T) {
	var f *function.Function[func(T) T]
	var text string
	var failed error
	f = function.New(func(x T) T {
		text = f.Explain()
		_, failed = f.Trace(x)
		return ops.Neg(x)
	})
	f.Call(vec(1))
	if !strings.Contains(text, "0 traces") || failed == nil || !strings.Contains(failed.Error(), "its own trace") {
		t.Errorf("%q, %v", text, failed)
	}
}
