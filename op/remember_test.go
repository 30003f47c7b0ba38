package op_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Calls are remembered by all that their results depend on.
func TestCallsOfOneKind(t *testing.T) {
	x := tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	sizes := func(n ...int64) tensor.Tensor { return tensor.Of(n) }
	axes := []int{0}
	calls := []struct {
		f    func() any
		want string
	}{
		{func() any { return ops.Reshape(x, []int{3, 2}) }, "[1 2 3 4 5 6]"},
		{func() any { return ops.Reshape(x, []int{6, 1}).Shape() }, "[6, 1]"},
		{func() any { return ops.Reshape(x, []int{-1}).Shape() }, "[6]"},
		{func() any { return ops.Reshape(x, sizes(3, 2)).Shape() }, "[3, 2]"},
		{func() any { return ops.Reshape(x, sizes(1, 6)).Shape() }, "[1, 6]"},
		{func() any { return ops.Reshape(x, x.Shape()).Shape() }, "[2, 3]"},
		{func() any { return ops.Sum(x, axes...) }, "[5 7 9]"},
		{func() any { return ops.Sum(x, 1) }, "[6 15]"},
		{func() any { return ops.Sum(x) }, "[21]"},
		{func() any { return ops.Concat([]any{x, x}, 0).Shape() }, "[4, 3]"},
		{func() any { return ops.Concat([]tensor.Tensor{x, x, x}, 1).Shape() }, "[2, 9]"},
		{func() any { return ops.Concat([]tenon.Value{x}, 0).Shape() }, "[2, 3]"},
		{func() any { return ops.Clip(x, 2, 3.5) }, "[2 2 3 3.5 3.5 3.5]"},
		{func() any { return ops.Clip(x, 3, 3.5) }, "[3 3 3 3.5 3.5 3.5]"},
		{func() any { return ops.Index(x, 0) }, "[1 2 3]"},
		{func() any { return ops.Index(x, -1) }, "[4 5 6]"},
		{func() any { return ops.Index(x, key.From(1)).Shape() }, "[1, 3]"},
		{func() any { return ops.Index(x, key.All, key.To(tensor.Scalar(int64(2)))).Shape() }, "[2, 2]"},
		{func() any { return ops.Index(x, key.All, key.To(tensor.Scalar(int64(1)))).Shape() }, "[2, 1]"},
		{func() any { v, _ := ops.TopK(x, 1); return v.Shape() }, "[2, 1]"},
		{func() any { v, _ := ops.TopK(x, 2); return v.Shape() }, "[2, 2]"},
		{func() any {
			v, _ := ops.TopK(x, sizes(3).(*tensor.Dense).Reshaped(ops.Sum(x).Shape()))
			return v.Shape()
		}, "[2, 3]"},
		{func() any { return ops.Range(0, 3, 1) }, "[0 1 2]"},
		{func() any { return ops.Range(0, 2, 1) }, "[0 1]"},
		{func() any { return ops.Range(0.5, 2, 1) }, "[0.5 1.5]"},
		{func() any { return ops.Outer(ops.Index(x, 0), 2) }, "[2 4 6]"},
	}
	for round := range 2 {
		for i, c := range calls {
			for range 3 {
				if got := printed(c.f()); got != c.want {
					t.Errorf("round %d, call %d: got %s, want %s", round, i, got, c.want)
				}
			}
		}
	}
	axes[0] = 1 // the list was the caller's
	if got := printed(ops.Sum(x, 0)); got != "[5 7 9]" {
		t.Errorf("after the axes of a call have changed, a sum is %s", got)
	}
	for range 3 { // an error is no answer to be remembered
		if _, err := tenon.Try(func() tensor.Tensor { return ops.Reshape(x, []int{4}) }); err == nil {
			t.Error("six elements fill the shape [4]")
		}
	}
}

// printed returns a tensor's elements, or a shape.
func printed(v any) string {
	if t, ok := v.(tensor.Tensor); ok {
		v = ops.Cast(t, dtype.Float64).(*tensor.Dense)
		return fmt.Sprint(tensor.Data[float64](v.(*tensor.Dense)))
	}
	return fmt.Sprint(v)
}

// A number that does not fit the element type of the last call is bound anew.
func TestNumbersOfOneKind(t *testing.T) {
	small := tensor.Of([]int8{1, 2, 3})
	for _, n := range []int{1, 2, 3, 1000, 1} {
		got, err := tenon.Try(func() tensor.Tensor { return ops.Clip(small, 0, n) })
		if want := min(n, 3); err != nil || tensor.Item[int64](ops.Cast(ops.Max(got), dtype.Int64)) != int64(want) {
			t.Errorf("clip to %d: %v, %v, want %v", n, got, err, want)
		}
	}
}

// What inference looks at belongs to the kind of a call, however it does: by op.Known, in a
// list, or by its own ways, which nobody can follow.
func TestWhatInferenceReads(t *testing.T) {
	ways := map[string]struct {
		kind  op.Kind
		count func(c *op.Call) int
	}{
		"const": {op.Tensor, func(c *op.Call) int { n, _ := c.ConstInts(0); return n[0] }},
		"known": {op.Tensor, func(c *op.Call) int {
			k, _ := op.Known(c.Args[0])
			n, _ := op.Ints(k)
			return n[0]
		}},
		"list": {op.Tensors, func(c *op.Call) int {
			k, _ := op.Known(c.List(0)[1])
			n, _ := op.Ints(k)
			return n[0]
		}},
		"dense":  {op.Tensor, func(c *op.Call) int { return tensor.Data[int](c.Dense(0))[0] }},
		"asking": {op.Tensor, func(c *op.Call) int { return int(tensor.Item[int64](ops.Add(c.Tensor(0), 0))) }},
	}
	for name, way := range ways {
		o := op.Register(&op.Op{
			Name: "test.reads_" + name, Params: []op.Param{{Name: "n", Kind: way.kind}}, Results: 1,
			Statement: op.Statement{Axes: op.Opaque, Why: "it is for a test"},
			Infer: func(c *op.Call) ([]tenon.Spec, error) {
				return []tenon.Spec{tensor.NewSpec(dtype.Int64, shape.Of(way.count(c)))}, nil
			},
			Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
				return c.Result(tensor.NewDense(dtype.Int64, c.Out[0].(*tensor.Spec).Shape()))
			},
		})
		defer op.Unregister(o)
		for range 2 {
			for _, n := range []int64{2, 2, 2, 5, 5, 5} {
				x := tensor.Tensor(tensor.Of([]int64{n}))
				var arg any = x
				if way.kind == op.Tensors {
					arg = []tensor.Tensor{tensor.Of([]int64{9}), x}
				}
				if got := op.Eval(o, arg).Shape(); got.Dim(0) != int(n) {
					t.Errorf("%s: %v where inference reads %d", name, got, n)
				}
			}
		}
	}
}

// Many goroutines may call one operation.
func TestCallsSideBySide(t *testing.T) {
	x := tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 200 {
				n := 1 + (g+i)%6
				if got := ops.Tile(x, []int{1, n}).Shape().Dim(1); got != 3*n {
					t.Errorf("tiled %d times: %d columns", n, got)
				}
			}
		})
	}
	all.Wait()
}
