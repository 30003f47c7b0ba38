package howto

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/model/onnx"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

func Example_onnxA() {
	t := tenon.Must(train.NewTrainer(nn.NewMLP(ops.RandomKey(1), []int{2, 8, 1}), func(m nn.MLP, x, _ tensor.Tensor) tensor.Tensor {
		return ops.Mean(nn.SquaredError(m.Apply(x), ops.SumKeep(x, 1)))
	}, train.Options{Optimizer: train.Adam(0.01)}))
	for i := range 10 {
		tenon.Must(t.Step(context.Background(), ops.RandomNormal(ops.RandomKey(uint64(i)), []int{16, 2}, dtype.Float32)))
	}
	trained := tenon.Must(nn.Variables(t.State().Params))
	predict := function.New(func(x tensor.Tensor) tensor.Tensor { return trained.Apply(x) })
	m := saved.NewModel()
	check(m.Name(trained)) // weights are called by their places: Layers.0.Kernel
	check(m.Add("predict", predict, tensor.NewSpec(dtype.Float32, shape.Of(shape.Unknown, 2))))
	check(onnx.Write(filepath.Join(folder, "sum.onnx"), m))

	read := tenon.Must(onnx.Open(filepath.Join(folder, "sum.onnx")))
	x := tensor.Of([]float32{1, 2, 3, 4}, 2, 2)
	fmt.Println(read.Inputs[0].Name, tenon.String(read.Inputs[0].Spec), read.Inputs[0].Sizes)
	fmt.Println(tensor.AllClose(tenon.Must(read.Call(x))[0].(tensor.Tensor), predict.Call(x)))
	// Output:
	// x float32[?, 2] [n0 ]
	// <nil>
}

func Example_onnxB() {
	check(onnx.Write(filepath.Join(folder, "scale.onnx"), scaleModel()))
	m := tenon.Must(onnx.Open(filepath.Join(folder, "scale.onnx")))
	fmt.Println(m.Call(tensor.Of([]float32{1, 2})))
	twice := function.New(func(x tensor.Tensor) tensor.Tensor { // part of another function
		y := tenon.Must(m.Call(x))[0]
		return tenon.Must(m.Call(y))[0].(tensor.Tensor)
	})
	fmt.Println(twice.Call(tensor.Of([]float32{1, 2})))
	// Output:
	// [[2. 6.] float32[2]] <nil>
	// [ 4. 18.] float32[2]
}

func Example_onnxC() {
	check(onnx.Write(filepath.Join(folder, "scale.onnx"), scaleModel()))
	m := tenon.Must(tenon.Must(onnx.Open(filepath.Join(folder, "scale.onnx"))).Saved())
	x, want := tensor.Of([]float32{1, 2}), tensor.Of([]float32{5, 20})
	loss := func(p map[string]tensor.Tensor) tensor.Tensor {
		out := tenon.Must(m.Function("main").CallWith(p, map[string]any{"x": x}))[0].(map[string]any)
		return ops.Sum(nn.SquaredError(out["y"].(tensor.Tensor), want))
	}
	for range 50 {
		p, g := m.Parameters(), grad.Of(loss)(m.Parameters())
		for name := range p {
			p[name] = ops.Sub(p[name], ops.Mul(g[name], 0.1))
		}
		check(m.SetParameters(p))
	}
	for name, w := range m.Parameters() {
		fmt.Println(name, ops.Round(w))
	}
	// Output:
	// Scale [ 5. 10.] float32[2]
}

// scaleModel is the model of docs/howto/onnx.md.
func scaleModel() *saved.Model {
	w := tenon.Must(nn.Variables(struct{ Scale tensor.Tensor }{tensor.Of([]float32{2, 3})}))
	m := saved.NewModel()
	check(m.Name(w))
	check(m.Add("scale", function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Mul(x, w.Scale) }), tensor.NewSpec(dtype.Float32, shape.Of(2))))
	return m
}
