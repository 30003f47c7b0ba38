package function_test

import (
	"sync"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

// TestNestedCalls: calls with structures of tensors, of which the function reads some, use
// memory of earlier calls again; each gets its own tensors, and those of its structure.
func TestNestedCalls(t *testing.T) {
	bias := tenon.Must(state.New(vec(0)))
	traced := 0
	type layers = map[string][][2]tensor.Tensor
	f := function.New(func(m layers) tensor.Tensor {
		traced++
		last := m["b"][0][1]
		if last == nil {
			last = ops.Neg(m["b"][0][0])
		}
		return ops.Add(ops.Sub(m["a"][1][0], last), bias)
	})
	structure := func(i int, absent bool) layers {
		x := func(k int) tensor.Tensor { return vec(float32(100*i + k)) }
		m := layers{"a": {{x(0), x(1)}, {x(2), x(3)}}, "b": {{x(4), x(5)}}}
		if absent {
			m["b"][0][1] = nil
		}
		return m
	}
	f.Call(structure(0, false))
	f.Call(structure(0, true))
	f.Call(layers{"a": {{vec(0), vec(0)}, {vec(1), vec(0)}}, "b": {{nil, vec(3)}}})
	if traced != 3 {
		t.Errorf("traced %d times for three structures", traced)
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 50 {
				if got := floats(f.Call(structure(10*i+g, false)))[0]; got != -3 {
					t.Errorf("got %v, want -3", got)
				}
				if got, want := floats(f.Call(structure(i, true)))[0], float32(200*i+6); got != want {
					t.Errorf("an absent tensor: got %v, want %v", got, want)
				}
			}
		})
	}
	wg.Wait()
	if err := bias.Assign(vec(1000)); err != nil {
		t.Fatal(err)
	}
	if got := floats(f.Call(structure(7, false)))[0]; got != 997 {
		t.Errorf("after the variable has changed: got %v, want 997", got)
	}
	// Other sizes and types are not what the traces are for.
	if got := floats(f.Call(layers{"a": {{vec(0), vec(0)}, {vec(1, 2), vec(0)}}, "b": {{vec(0), vec(5, 5)}}})); len(got) != 2 || got[1] != 997 {
		t.Errorf("got %v", got)
	}
	if traced != 4 {
		t.Errorf("traced %d times, want 4", traced)
	}
}
