package howto

import (
	"fmt"
	"runtime"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

func Example_explanationA() {
	x := ragged.FromSlices([][]float32{{1, 2}, {3}})
	fmt.Println(x.Spec())
	for _, c := range x.Spec().Components() {
		fmt.Println(c.Name, c.Spec)
	}
	any := tenon.Must(ragged.NewSpec(dtype.Float32, shape.Of(-1, -1), 1, dtype.Int64))
	fmt.Println(tenon.Compatible(any, x.Spec()), tenon.Subtype(x.Spec(), any))
	// Output:
	// float32[2, ~]
	// flat_values float32[?]
	// partition rows<int64>[2, ~] of ? values
	// true true
}

func Example_explanationB() {
	x := ragged.FromSlices([][]float32{{1, 2}, {}, {3}})
	fmt.Println(x.Values(), x.RowSplits())
	y := ops.Mul(x, 2).(*ragged.Tensor)
	fmt.Println(y.Values(), y.Partition() == x.Partition())
	// Output:
	// [1. 2. 3.] float32[3] [0 2 2 3] int64[4]
	// [2. 4. 6.] float32[3] true
}

func Example_explanationC() {
	o, _ := op.Lookup("reduce_mean")
	fmt.Println(o.Axes, o.Class)
	for _, step := range op.Explain(o, tenon.Value(ragged.FromSlices([][]float32{{1, 2}, {}})), 1).Asked {
		fmt.Println(step)
	}
	// Output:
	// reduce reduction
	// ragged.Tensor
}

func Example_explanationD() {
	f := function.New(func(x tensor.Tensor) tensor.Tensor {
		fmt.Println("traced for", x.Shape())
		return ops.Sum(ops.Exp(ops.Mul(x, 2)))
	})
	for _, n := range []int{2, 3, 4} {
		f.Call(ops.Zeros(dtype.Float32, []int{n}))
	}
	// Output:
	// traced for [2]
	// traced for [3]
	// traced for [?]
}

func Example_explanationE() {
	before := runtime.GOMAXPROCS(1)
	x := ops.RandomNormal(ops.RandomKey(1), []int{300, 300}, dtype.Float32)
	one := ops.MatMul(x, x)
	runtime.GOMAXPROCS(before)
	fmt.Println(tensor.Equal(one, ops.MatMul(x, x), tensor.EqualOptions{}))
	// Output:
	// true
}
