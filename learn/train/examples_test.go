package train_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// One update of a parameter of 1 by each optimizer, at a rate of 0.1 and with a gradient of 2.
func ExampleUpdate() {
	param, gradient := tensor.Tensor(tensor.Of([]float32{1})), tensor.Of([]float32{2})
	for _, o := range []struct {
		name string
		train.Optimizer
	}{
		{"SGD", train.SGD(0.1)}, {"Adam", train.Adam(0.1)}, {"AdamW", train.AdamW(0.1, train.AdamOptions{WeightDecay: 0.1})},
		{"Adamax", train.Adamax(0.1)}, {"NAdam", train.NAdam(0.1)}, {"RAdam", train.RAdam(0.1)}, {"LAMB", train.LAMB(0.1)}, {"Lion", train.Lion(0.1)},
		{"Adagrad", train.Adagrad(0.1)}, {"Adadelta", train.Adadelta(0.1)}, {"RMSProp", train.RMSProp(0.1)}, {"Adafactor", train.Adafactor(0.1)},
	} {
		state := train.NewState(param, train.Options{Optimizer: o.Optimizer})
		after, _ := train.Update(o.Optimizer, param, gradient, state.Slots[0], tensor.Scalar(int64(0)))
		fmt.Printf("%-9s %.3f\n", o.name, tensor.Item[float32](after))
	}
	// Output:
	// SGD       0.800
	// Adam      0.900
	// AdamW     0.890
	// Adamax    0.900
	// NAdam     0.894
	// RAdam     0.800
	// LAMB      0.900
	// Lion      0.900
	// Adagrad   0.900
	// Adadelta  1.000
	// RMSProp   0.000
	// Adafactor 0.900
}

// Rates of the first ten steps.
func ExampleOneCycle() {
	for _, s := range []train.Schedule{train.OneCycle(1, 10, train.OneCycleOptions{Linear: true}), train.Polynomial(1, 0, 10, 2), train.Restarts(1, 0, 3, 2)} {
		var rates []float32
		for i := range 10 {
			rates = append(rates, tensor.Item[float32](s(tensor.Scalar(float32(i)))))
		}
		fmt.Printf("%.2f\n", rates)
	}
	// Output:
	// [0.04 0.52 1.00 0.86 0.71 0.57 0.43 0.29 0.14 0.00]
	// [1.00 0.81 0.64 0.49 0.36 0.25 0.16 0.09 0.04 0.01]
	// [1.00 0.75 0.25 1.00 0.93 0.75 0.50 0.25 0.07 1.00]
}

// The rate is halved where the score has not become better three times.
func ExampleNewPlateau() {
	p, err := train.NewPlateau(0.1, train.PlateauOptions{Factor: 0.5, Patience: 2})
	if err != nil {
		log.Fatal(err)
	}
	for _, score := range []float64{5, 4, 4, 4, 4, 3} {
		rate, err := p.Observe(score)
		fmt.Println(rate, err)
	}
	// Output:
	// 0.1 <nil>
	// 0.1 <nil>
	// 0.1 <nil>
	// 0.1 <nil>
	// 0.05 <nil>
	// 0.05 <nil>
}

// away is how far a parameter is from what is seen, and counting the same with a number of batches beside it.
func away(x, y, _ tensor.Tensor) tensor.Tensor { return ops.Square(ops.Sub(x, y)) }

func counting(x, seen, y, key tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
	return away(x, y, key), ops.Add(seen, 1)
}

// fives are batches that show 5.
var fives = train.Source[tensor.Tensor]{Batches: 10, At: func(context.Context, int) (tensor.Tensor, error) { return tensor.Scalar(5.0), nil }}

// Training step by step, in a loop of one's own.
func ExampleStep() {
	o := train.Options{Optimizer: train.SGD(0.25)}
	state := train.NewState[tensor.Tensor](tensor.Scalar(1.0), o)
	for range 3 {
		var loss tensor.Tensor
		state, loss = train.Step(state, tensor.Tensor(tensor.Scalar(5.0)), away, o, true)
		fmt.Println(loss, state.Params)
	}
	// Output:
	// 16.0 float64[] 3.0 float64[]
	// 4.0 float64[] 4.0 float64[]
	// 1.0 float64[] 4.5 float64[]
}

// What changes beside the parameters, here the number of batches that were seen, is handed on from step to step.
func ExampleFitWith() {
	one, none := tensor.Tensor(tensor.Scalar(1.0)), tensor.Tensor(tensor.Scalar(int64(0)))
	o := train.Options{Optimizer: train.SGD(0.25)}
	fit, err := train.FitWith(context.Background(), one, none, counting, train.FitOptions[train.With[tensor.Tensor, tensor.Tensor], tensor.Tensor]{Options: o, Data: fives, Epochs: 2})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f %d\n", tensor.Item[float64](fit.Params.Params), tensor.Item[int64](fit.Params.Beside))
	trainer, err := train.NewTrainerWith(one, none, counting, o)
	if err != nil {
		log.Fatal(err)
	}
	loss, err := trainer.Step(context.Background(), tensor.Scalar(5.0))
	fmt.Println(loss, trainer.State().Params.Beside, err)
	// Output:
	// 5.000 20
	// 16 1 int64[] <nil>
}

// A few steps at growing rates tell at which the loss falls fastest.
func ExampleFindRate() {
	curve, err := train.FindRate[tensor.Tensor](context.Background(), tensor.Scalar(1.0), away, fives, train.Options{Optimizer: train.SGD(0.1)}, train.RateOptions{From: 1e-3, To: 1, Steps: 40})
	fmt.Println(curve.Best > 0.001 && curve.Best < 1, err)
	// Output:
	// true <nil>
}

// The same for a loss that also counts the batches it saw.
func ExampleFindRateWith() {
	counting := func(p, seen tensor.Tensor, b tensor.Tensor, key tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
		return away(p, b, key), ops.Add(seen, 1.0)
	}
	curve, err := train.FindRateWith[tensor.Tensor, tensor.Tensor](context.Background(), tensor.Scalar(1.0), tensor.Scalar(0.0), counting, fives, train.Options{Optimizer: train.SGD(0.1)}, train.RateOptions{From: 1e-3, To: 1, Steps: 40})
	fmt.Println(curve.Best > 0.001 && curve.Best < 1, err)
	// Output:
	// true <nil>
}

// What is trained and what is not, by the paths of the parameters.
func ExampleSummarize() {
	type model struct{ Embed, Out tensor.Tensor }
	m := model{ops.Zeros(dtype.Float32, []int{100, 8}), ops.Zeros(dtype.Float32, []int{8, 2})}
	s, err := train.Summarize(m, train.Options{For: func(path string) train.Optimizer {
		if path == "Embed" {
			return train.Fixed()
		}
		return nil
	}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s)
	// Output:
	// path        type                     elements  bytes
	// Embed       float32[100, 8], frozen       800   3200
	// Out         float32[8, 2]                  16     64
	// parameters                                816   3264
}
