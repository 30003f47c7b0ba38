package howto

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/learn/metric"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/model/weights"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/profile"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

func Example_trainingA() {
	fit := tenon.Must(train.Fit(context.Background(), newLine(), lineLoss, train.FitOptions[line, tensor.Tensor]{
		Options: train.Options{Optimizer: train.Adam(0.1)},
		Data:    train.Source[tensor.Tensor]{Batches: 20, At: lineData}, Epochs: 50,
		Validate: func(_ context.Context, l line) (float64, error) {
			return tensor.Item[float64](lineLoss(l, tensor.Of([]float64{-1, 0, 1}), nil)), nil
		},
		ValidateEvery: 20, Patience: 3, MinDelta: 1e-6,
	}))
	fmt.Println(fit.Reason, fit.Best.Score < 1e-3)
	// Output:
	// early true
}

func Example_trainingB() {
	t := tenon.Must(train.NewTrainer(newLine(), lineLoss, train.Options{Optimizer: train.SGD(train.Cosine(0.2, 200))}))
	for i := range 200 {
		x := tenon.Must(lineData(context.Background(), i))
		tenon.Must(t.Step(context.Background(), x))
	}
	l := t.State().Params
	fmt.Println(ops.Round(ops.Mul(l.Slope, 100)), ops.Round(ops.Mul(l.Offset, 100)), t.Steps())
	// Output:
	// 200.0 float64[] 100.0 float64[] 200
}

func Example_trainingC() {
	run := func(file string, steps int) line {
		fit := tenon.Must(train.Fit(context.Background(), newLine(), lineLoss, train.FitOptions[line, tensor.Tensor]{
			Options: train.Options{Optimizer: train.Adam(0.1)},
			Data:    train.Source[tensor.Tensor]{Batches: 20, At: lineData}, Steps: steps, Checkpoint: file,
		}))
		return fit.Params
	}
	a := filepath.Join(folder, "line.safetensors")
	run(a, 10)
	resumed, straight := run(a, 30), run("", 30)
	fmt.Println(tensor.Equal(resumed.Slope, straight.Slope, tensor.EqualOptions{}))
	// Output:
	// true
}

func Example_trainingD() {
	o := train.Options{For: train.Groups(
		train.Group{Path: "Offset", Optimizer: train.Fixed()},
		train.Group{Path: ".*", Optimizer: train.SGD(0.1)},
	)}
	t := tenon.Must(train.NewTrainer(newLine(), lineLoss, o))
	tenon.Must(t.Step(context.Background(), tensor.Of([]float64{1, 2})))
	fmt.Println(t.State().Params.Slope, t.State().Params.Offset)
	// Output:
	// 1.3 float64[] 0.0 float64[]
}

func Example_trainingE() {
	k := ops.RandomKeys(ops.RandomKey(1), 2)
	type model struct {
		Words nn.Embedding
		Out   nn.Dense
	}
	m := model{nn.NewEmbedding(k[0], 1000, 16), nn.NewDense(k[1], 16, 2)}
	fmt.Println(tenon.Must(nn.Summarize(m)))
	// Output:
	// path         type               elements  bytes
	// Words.Table  float32[1000, 16]     16000  64000
	// Out.Kernel   float32[16, 2]           32    128
	// Out.Bias     float32[2]                2      8
	// parameters                         16034  64136
}

func Example_trainingF() {
	c := tenon.Must(metric.NewConfusion(2))
	check(c.Update(tensor.Of([]int64{0, 1, 1, 1}), tensor.Of([]int64{0, 1, 0, 1}), nil))
	fmt.Println(c.Matrix(), c.Accuracy())
	fmt.Println(c.F1(metric.Macro))
	// Output:
	// [[1. 0.]
	//  [1. 2.]] float64[2, 2] 0.75
	// 0.7333333333333334 <nil>
}

func Example_trainingG() {
	file := filepath.Join(folder, "params.safetensors")
	check(saved.Write(file, line{tensor.Scalar(2.0), tensor.Scalar(1.0)}, saved.WriteOptions{}))
	l := tenon.Must(saved.Read(file, newLine(), saved.ReadOptions{}))
	fmt.Println(l.Slope, l.Offset)
	// Output:
	// 2.0 float64[] 1.0 float64[]
}

func Example_trainingH() {
	l := line{tensor.Scalar(2.0), tensor.Scalar(1.0)}
	f := function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Add(ops.Mul(x, l.Slope), l.Offset) })
	m := saved.NewModel()
	check(m.Add("line", f, tensor.NewSpec(dtype.Float64, shape.Of(-1))))
	file := filepath.Join(folder, "line.zip")
	check(m.Save(file))

	again := tenon.Must(saved.OpenModel(file))
	fmt.Println(again.Function("line").Call(tensor.Of([]float64{1, 2, 3})))
	// Output:
	// [[3. 5. 7.] float64[3]] <nil>
}

func Example_trainingI() {
	file := filepath.Join(folder, "w.npz")
	f := tenon.Must(os.Create(file))
	check(weights.WriteNPZ(f, map[string]tensor.Tensor{"w": tensor.Of([]float32{1, 2}), "b": tensor.Scalar(float32(3))}))
	check(f.Close())
	got := tenon.Must(weights.Open(file))
	defer got.Close()
	fmt.Println(got.Names())
	fmt.Println(got.Read("w"))
	// Output:
	// [b w]
	// [1. 2.] float32[2] <nil>
}

func Example_trainingJ() {
	f := function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Sum(ops.MatMul(x, x)) })
	var p profile.Profile
	ctx := function.WithOptions(context.Background(), function.RunOptions{Profile: &p})
	tenon.Must(f.CallContext(ctx, ops.Ones(dtype.Float32, []int{64, 64})))
	for _, e := range p.Events() {
		fmt.Println(e.Op, e.Bytes)
	}
	// Output:
	// matmul 16384
	// reduce_sum 4
}
