package onnx_test

import (
	"bytes"
	"fmt"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/model/onnx"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A function of a model as the bytes of a file, which are read again.
func ExampleEncode() {
	m := saved.NewModel()
	f := function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Relu(ops.Sub(x, float32(1))) })
	if err := m.Add("shrink", f, tensor.NewSpec(dtype.Float32, shape.Of(-1))); err != nil {
		panic(err)
	}
	var b bytes.Buffer
	if err := onnx.Encode(&b, m, onnx.WriteOptions{Function: "shrink"}); err != nil {
		panic(err)
	}
	back, err := onnx.Parse(b.Bytes())
	if err != nil {
		panic(err)
	}
	fmt.Println(back.Call(tensor.Of([]float32{-1, 3})))
	// Output:
	// [[0. 2.] float32[2]] <nil>
}
