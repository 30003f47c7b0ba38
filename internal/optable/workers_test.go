package optable

import (
	"runtime"
	"slices"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// Results have the same bits for any number of workers. Only calls on much data are
// divided among them.
func TestWorkersDoNotShow(t *testing.T) {
	eachCall(t, func(t *testing.T, r Row, c Call) {
		size := 0
		for _, a := range c.Args {
			if x, ok := a.(tensor.Tensor); ok {
				size = max(size, x.Shape().Size())
			}
		}
		if size < 10000 {
			return
		}
		run := func(procs int) []tenon.Value {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			out, err := op.Do(r.Definition(), c.Args...)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		one, many := run(1), run(4)
		for i := range one {
			a, ok := one[i].(*tensor.Dense)
			if ok && !slices.Equal(tensor.Contiguous(a).Bytes(), tensor.Contiguous(many[i].(*tensor.Dense)).Bytes()) {
				t.Errorf("result %d has other bits with four workers", i)
			}
		}
	})
}
