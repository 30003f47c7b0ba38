// Command digits recognises handwritten digits with a convolutional network, trained in seconds.
//
//	go run ./examples/digits -picture digits.svg
//
// digits.npz has 1797 pictures of 8 by 8 pixels (E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten
// Digits, UCI Machine Learning Repository, 1998, CC BY 4.0).
package main

import (
	"bytes"
	"context"
	_ "embed"
	"flag"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/examples/internal/draw"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/model/weights"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

//go:embed digits.npz
var data []byte

// Digits are pictures and their labels.
type Digits struct {
	Images tensor.Tensor // float32[n, 8, 8, 1], from 0 to 1
	Labels tensor.Tensor // int64[n]
}

// Model is two convolutions and a dense layer.
type Model struct {
	First, Second nn.Conv
	Out           nn.MLP
}

// New returns an untrained model.
func New(key tensor.Tensor) Model {
	k := ops.RandomKeys(key, 3)
	o := nn.ConvOptions{Windows: nn.Windows{Padding: nn.Same}, Activation: nn.Relu, Init: nn.HeUniform}
	return Model{nn.NewConv(k[0], []int{3, 3}, 1, 16, o), nn.NewConv(k[1], []int{3, 3}, 16, 32, o), nn.NewMLP(k[2], []int{2 * 2 * 32, 64, 10})}
}

// Logits returns a score for each digit: [n, 10]. If there is a key, half of the features are dropped.
func (m Model) Logits(images, key tensor.Tensor) tensor.Tensor {
	halves := nn.Pool{Kind: nn.MaxPool, Size: []int{2, 2}}
	x := halves.Apply(m.Second.Apply(halves.Apply(m.First.Apply(images))))
	x = ops.Reshape(x, []int{-1, 2 * 2 * 32})
	if key != nil {
		x = nn.Dropout{Rate: 0.3}.Apply(key, x)
	}
	return m.Out.Apply(x)
}

// run trains for a number of epochs, draws the confusion matrix, and returns the share of right answers among
// pictures that were not used for training.
func run(ctx context.Context, epochs int, picture string) (accuracy float64, err error) {
	defer tenon.Catch(&err)
	file := tenon.Must(weights.NewFile(bytes.NewReader(data), int64(len(data)), weights.NumPy))
	all := Digits{
		Images: ops.Div(ops.Cast(ops.ExpandDims(tenon.Must(file.Read("images")), -1), dtype.Float32), 16),
		Labels: tenon.Must(file.Read("labels")),
	}
	parts := dataset.FromRows(all).Shuffle(1).Split(0.8, 0.2)
	loss := func(m Model, b Digits, key tensor.Tensor) tensor.Tensor {
		return ops.Mean(nn.SoftmaxCrossEntropy(m.Logits(b.Images, key), b.Labels))
	}
	steps := epochs * 45
	fit := tenon.Must(train.Fit(ctx, New(ops.RandomKey(1)), loss, train.FitOptions[Model, Digits]{
		Options: train.Options{Optimizer: train.AdamW(train.OneCycle(0.01, steps))},
		Data:    tenon.Must(train.FromDataset(parts[0].Shuffle(2).Batch(32, dataset.BatchOptions{}))),
		Epochs:  epochs,
	}))
	test := tenon.Must(parts[1].Batch(1000, dataset.BatchOptions{}).At(0))
	answers := ops.ArgMax(fit.Params.Logits(test.Images, nil), -1)
	return draw.Confusion(picture, test.Labels, answers, strings.Split("0123456789", "")...)
}

func main() {
	epochs := flag.Int("epochs", 15, "passes over the data")
	picture := flag.String("picture", "", "write the confusion matrix to this `file`, an SVG")
	flag.Parse()
	start := time.Now()
	accuracy, err := run(context.Background(), *epochs, *picture)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f %% of the digits are recognised correctly, after %.1f s\n", 100*accuracy, time.Since(start).Seconds())
}
