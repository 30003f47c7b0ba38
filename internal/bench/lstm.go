package main

import (
	"slices"

	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/internal/bench/inputs"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	register("lstm", func(r *runner) {
		recurrence(r, "dense")
		recurrence(r, "ragged")
	})
}

// recurred is what a recurrence is differentiated with respect to.
type recurred struct {
	X     tensor.Tensor
	Layer nn.LSTM
}

func (c recurred) states() tensor.Tensor {
	y, _, _ := c.Layer.Apply(c.X)
	return y
}

// recurrence times a layer on rows of one length, or of several.
func recurrence(r *runner, kind string) {
	if !r.want(kind+"_fwd") && !r.want(kind+"_fwdbwd") {
		return
	}
	rows, width, scale := r.pick(32, 4, 4), r.pick(256, 16, 16), float32(1.0/4)
	if r.size == "full" {
		scale = 1.0 / 16
	}
	lengths := slices.Repeat([]int64{int64(r.pick(128, 8, 8))}, rows)
	if kind == "ragged" {
		lengths = inputs.Belows(32, 0, rows, r.pick(241, 15, 15))
		for i := range lengths {
			lengths[i] += int64(r.pick(16, 2, 2))
		}
	}
	n := totalOf(lengths)
	arrange := func(x tensor.Tensor) tensor.Tensor {
		if kind == "ragged" {
			return rowsOf(x, lengths)
		}
		return ops.Reshape(x, []int{rows, -1, width})
	}
	flat := func(x tensor.Tensor) tensor.Tensor {
		if t, ok := x.(*ragged.Tensor); ok {
			return t.FlatValues()
		}
		return x
	}
	c := recurred{arrange(sym(32, 1, 1, n, width)), nn.LSTM{
		Kernel: sym(32, 2, scale, width, 4*width), Recurrent: sym(32, 3, scale, width, 4*width), Bias: sym(32, 4, scale, 4*width),
	}}
	g := arrange(sym(32, 5, 1, n, width))
	flops := float64(n) * 2 * 2 * float64(width) * 4 * float64(width)
	answer := func(x any) []float64 {
		var c inputs.Sum
		inputs.Add(&c, tensor.Data[float32](flat(x.(tensor.Tensor))))
		inputs.Add(&c, lengths)
		return c.Checksum()
	}
	forward := function.New(recurred.states)
	r.run(benchCase{name: kind + "_fwd", flops: flops, check: answer}, func() any { return forward.Call(c) })
	gradient := function.New(func(c recurred, g tensor.Tensor) recurred {
		_, d := grad.ValueAndGrad(func(c recurred, g tensor.Tensor) tensor.Tensor { return gradientOf(c.states(), g) })(c, g)
		return d
	})
	all := func(x any) []float64 {
		d := x.(recurred)
		return flatSum(flat(d.X), d.Layer.Kernel, d.Layer.Recurrent, d.Layer.Bias)
	}
	r.run(benchCase{name: kind + "_fwdbwd", flops: 3 * flops, check: all}, func() any { return gradient.Call(c, g) })
}
