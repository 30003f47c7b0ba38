package main

import (
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/internal/bench/inputs"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func init() { register("conv", convolution) }

// kernelsOf3 is a layer with windows of 3 by 3.
func kernelsOf3(k, in, out int, scale float32) nn.Conv {
	return nn.Conv{Kernel: sym(31, k, scale, 3, 3, in, out), Windows: nn.Windows{Padding: nn.Same}}
}

// convolved is what a convolution is differentiated with respect to.
type convolved struct {
	X     tensor.Tensor
	Layer nn.Conv
}

func convolution(r *runner) {
	for i, size := range [][5]int{{32, 64, 64, 3, 32}, {32, 32, 32, 32, 64}} {
		if r.size != "full" {
			size = [][5]int{{2, 16, 16, 3, 8}, {2, 8, 8, 8, 16}}[i]
		}
		name := []string{"c3", "c32"}[i]
		if !r.want(name+"_fwd") && !r.want(name+"_fwdbwd") {
			continue
		}
		n, h, w, in, out := size[0], size[1], size[2], size[3], size[4]
		c := convolved{sym(31, 10*i, 1, n, h, w, in), kernelsOf3(10*i+1, in, out, 1.0/4)}
		g := sym(31, 10*i+2, 1, n, h, w, out)
		flops := 2 * float64(n*h*w*9*in*out)
		forward := function.New(func(c convolved) tensor.Tensor { return c.Layer.Apply(c.X) })
		r.run(benchCase{name: name + "_fwd", flops: flops, check: denseSum}, func() any { return forward.Call(c) })
		gradient := function.New(func(c convolved, g tensor.Tensor) convolved {
			_, d := grad.ValueAndGrad(func(c convolved, g tensor.Tensor) tensor.Tensor { return gradientOf(c.Layer.Apply(c.X), g) })(c, g)
			return d
		})
		both := func(x any) []float64 { return flatSum(x.(convolved).X, x.(convolved).Layer.Kernel) }
		r.run(benchCase{name: name + "_fwdbwd", flops: 3 * flops, check: both}, func() any { return gradient.Call(c, g) })
	}
	images(r)
}

// imageModel tells ten kinds of images of 28 by 28 apart.
type imageModel struct {
	First, Second nn.Conv
	Out           nn.Dense
}

type imageBatch struct{ X, Labels tensor.Tensor }

func (m imageModel) loss(b imageBatch) tensor.Tensor {
	half := nn.Pool{Kind: nn.MaxPool, Size: []int{2, 2}}
	x := half.Apply(m.First.Apply(b.X))
	x = half.Apply(m.Second.Apply(x))
	return ops.Mean(nn.SoftmaxCrossEntropy(m.Out.Apply(ops.Reshape(x, []int{-1, 7 * 7 * 32})), b.Labels))
}

// images times a step of training a small network of convolutions.
func images(r *runner) {
	n := r.pick(64, 8, 8)
	layer := func(k, in, out int, scale float32) nn.Conv {
		l := kernelsOf3(k, in, out, scale)
		l.Activation, l.Bias = nn.Relu, ops.Zeros(l.Kernel.DType(), []int{out})
		return l
	}
	m := imageModel{
		layer(100, 1, 16, 1.0/4), layer(101, 16, 32, 1.0/8),
		nn.Dense{Kernel: sym(31, 102, 1.0/32, 7*7*32, 10), Bias: tensor.Of(make([]float32, 10))},
	}
	batches := make([]imageBatch, 8)
	for i := range batches {
		batches[i] = imageBatch{sym(31, 200+2*i, 1, n, 28, 28, 1), tensor.Of(inputs.Belows(31, 201+2*i, n, 10))}
	}
	loss := func(m imageModel, b imageBatch, _ tensor.Tensor) tensor.Tensor { return m.loss(b) }
	steps(r, benchCase{name: "cnn_step", items: float64(n), unit: "examples"}, m, loss, batches, 10, 1, 5, 10)
}
