package saved_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A tree of tensors in memory, and back into a structure like it.
func ExampleEncode() {
	type layer struct{ W, B tensor.Tensor }
	var b bytes.Buffer
	if err := saved.Encode(&b, layer{tensor.Of([]float32{1, 2}), tensor.Of([]float32{3})}, saved.WriteOptions{Metadata: map[string]string{"run": "7"}}); err != nil {
		panic(err)
	}
	f, err := saved.NewFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		panic(err)
	}
	defer f.Close()
	l, err := saved.Fill(f, layer{tensor.Of([]float32{0, 0}), tensor.Of([]float32{0})})
	fmt.Println(l.W, l.B, err)
	// Output:
	// [1. 2.] float32[2] [3.] float32[1] <nil>
}

// What the operations of a saved function take is measured with its warm-up inputs.
func ExampleFunc_Measure() {
	m := saved.NewModel()
	f := function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Softmax(ops.MatMul(x, x), -1) })
	if err := m.Add("f", f, tensor.NewSpec(dtype.Float32, shape.Of(4, 4))); err != nil {
		log.Fatal(err)
	}
	fn := m.Function("f")
	if err := fn.AddWarmUp(ops.Ones(dtype.Float32, []int{4, 4})); err != nil {
		log.Fatal(err)
	}
	p, err := fn.Measure(context.Background(), 0)
	if err != nil {
		log.Fatal(err)
	}
	g, err := fn.Compiled(0)
	if err != nil {
		log.Fatal(err)
	}
	for i, e := range p.Events() {
		fmt.Println(e.Op, e.Bytes, e.Nodes[0] == g.Nodes[i])
	}
	// Output:
	// matmul 64 true
	// softmax 64 true
}
