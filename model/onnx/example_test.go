package onnx_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/model/onnx"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

// ExampleOpen calls a model that another program has made: y = Relu(x).
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "onnx")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "relu.onnx")
	if err := os.WriteFile(file, []byte(relu), 0o600); err != nil {
		panic(err)
	}
	m, err := onnx.Open(file)
	if err != nil {
		panic(err)
	}
	out, err := m.Call(tensor.Of([]float32{-1, 2}))
	fmt.Println(out, err)
	// Output: [[0. 2.] float32[2]] <nil>
}

// relu is a model in ONNX's format, version 9, of operations of version 18.
const relu = "\x08\x09\x3a\x38\x0a\x0c\x0a\x01x\x12\x01y\x22\x04Relu\x12\x04relu" +
	"\x5a\x10\x0a\x01x\x12\x0b\x0a\x09\x08\x01\x12\x05\x0a\x03\x12\x01N" +
	"\x62\x10\x0a\x01y\x12\x0b\x0a\x09\x08\x01\x12\x05\x0a\x03\x12\x01N" +
	"\x42\x02\x10\x12"

// ExampleWrite writes a function for other programs, and reads it again.
func ExampleWrite() {
	dir, err := os.MkdirTemp("", "onnx")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	scale := tenon.Must(state.New(tensor.Of([]float32{2, 3})))
	predict := function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Relu(ops.Mul(x, scale)) })
	m := saved.NewModel()
	if err := m.Add("predict", predict, tensor.NewSpec(dtype.Float32, shape.Of(shape.Unknown, 2))); err != nil {
		panic(err)
	}
	file := filepath.Join(dir, "predict.onnx")
	if err := onnx.Write(file, m); err != nil {
		panic(err)
	}
	other, err := onnx.Open(file)
	if err != nil {
		panic(err)
	}
	out, err := other.Call(tensor.Of([]float32{1, 2, -1, 1}, 2, 2))
	fmt.Println(out, err)
	fmt.Println(other.Inputs[0].Name, other.Inputs[0].Sizes, other.Outputs[0].Name, other.Outputs[0].Sizes)
	// Output:
	// [[[2. 6.]
	//  [0. 3.]] float32[2, 2]] <nil>
	// x [n0 ] y [n0 ]
}
