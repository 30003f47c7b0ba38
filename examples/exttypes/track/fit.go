package track

import (
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Motion is a model of an object that moves in a straight line.
type Motion struct {
	Start    tensor.Tensor // [2], the place at time 0
	Velocity tensor.Tensor // [2]
}

// At returns the places of the model at the given times: [points, 2].
func (m Motion) At(times tensor.Tensor) tensor.Tensor {
	return ops.Add(m.Start, ops.Mul(ops.ExpandDims(times, 1), m.Velocity))
}

// Fit finds the straight motion closest to a track, by gradient descent.
func Fit(t Track, steps int, rate float64) (Motion, tensor.Tensor) {
	loss := func(m Motion, t Track) tensor.Tensor {
		return ops.Mean(ops.SquaredDifference(m.At(t.Times), t.Places))
	}
	step := function.New(func(m Motion, t Track) (Motion, tensor.Tensor) {
		l, g := grad.ValueAndGrad(loss)(m, t)
		return Motion{
			Start:    ops.Sub(m.Start, ops.Mul(g.Start, rate)),
			Velocity: ops.Sub(m.Velocity, ops.Mul(g.Velocity, rate)),
		}, l
	})
	zero := ops.Zeros(t.DType(), []int{2})
	m, last := Motion{zero, zero}, tensor.Tensor(tensor.Scalar(0.0))
	for range steps {
		m, last = step.Call(m, t)
	}
	return m, last
}
