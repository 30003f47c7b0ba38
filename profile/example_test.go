package profile_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/profile"
	"github.com/tenonml/tenon/tensor"
)

// A run whose options have a Profile notes each step.
func Example() {
	f := function.New(func(x, w tensor.Tensor) tensor.Tensor { return ops.Softmax(ops.MatMul(x, w), -1) })
	x, w := ops.Ones(dtype.Float32, []int{64, 32}), ops.Ones(dtype.Float32, []int{32, 16})

	var p profile.Profile
	ctx := function.WithOptions(context.Background(), function.RunOptions{Profile: &p})
	if _, err := f.CallContext(ctx, x, w); err != nil {
		log.Fatal(err)
	}
	for _, e := range p.Events() {
		fmt.Println(e.Op, e.Bytes, e.Duration > 0)
	}
	held, needed := p.Memory()
	fmt.Println(p.Peak(), held >= needed)
	// Output:
	// matmul 4096 true
	// softmax 4096 true
	// 8192 true
}
