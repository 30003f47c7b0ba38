package train

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A Loss is a function of parameters, a batch and a random key, which is another one in
// each step, for dropout and the like. Its result is a floating scalar.
type Loss[P, B any] func(params P, batch B, key tensor.Tensor) tensor.Tensor

// Options say how a step changes the state. The zero value is AdamW with a rate of 1e-3.
type Options struct {
	// Optimizer is that of all parameters; nil stands for AdamW(1e-3).
	Optimizer Optimizer

	// For returns the optimizer of the parameter with a path such as "Words.Table", or nil
	// for Optimizer.
	For func(path string) Optimizer

	// NoDecay reports which parameters have no weight decay; nil: none of them.
	// [NotMatrices] is the usual choice.
	NoDecay func(path string, p tensor.Tensor) bool

	// ClipNorm, if it is not 0, scales the gradients so that their norm together is at
	// most this; ClipValue limits each element's size.
	ClipNorm, ClipValue float64

	// Accumulate is how many batches are seen before an update, which takes the mean of
	// their gradients; 0 stands for 1.
	Accumulate int

	// Average, if it is not 0, keeps a moving average of the parameters with this decay,
	// such as 0.999, in each update: a ← d·a + (1-d)·p.
	Average float64

	// Seed is that of the keys that losses get.
	Seed uint64
}

// NotMatrices reports whether a parameter has less than two axes: biases and scales,
// which are usually not decayed.
func NotMatrices(_ string, p tensor.Tensor) bool { return p.Shape().Rank() < 2 }

// State is everything that steps change. It is a nest of Values.
type State[P any] struct {
	Params  P
	Slots   [][]tensor.Tensor // of the optimizer, for each floating tensor of Params in the order of package nest
	Sum     []tensor.Tensor   // of the gradients since the last update; empty where there is no accumulation
	Average []tensor.Tensor   // of the parameters; empty without
	Step    tensor.Tensor     // int64: batches seen
	Key     tensor.Tensor     // uint32[2]
}

// parameters are the floating tensors of a nest and their paths.
type parameters struct {
	leaves []any
	at     []int
	paths  []string
}

func flatten(p any) (*parameters, error) {
	paths, leaves, err := nest.FlattenWithPaths(p, nest.Options{Expand: true})
	if err != nil {
		return nil, err
	}
	out := &parameters{leaves: leaves}
	for i, l := range leaves {
		if t, ok := l.(tensor.Tensor); ok && t.DType().IsFloat() {
			out.at, out.paths = append(out.at, i), append(out.paths, paths[i].String())
		}
	}
	if len(out.at) == 0 {
		return nil, tenon.NewError(tenon.ErrInvalid, "train", fmt.Sprintf("a %T has no floating tensor to train", p))
	}
	return out, nil
}

func (p *parameters) tensors() []tensor.Tensor {
	out := make([]tensor.Tensor, len(p.at))
	for i, at := range p.at {
		out[i] = p.leaves[at].(tensor.Tensor)
	}
	return out
}

// pack returns a nest like the one that was flattened, with other tensors.
func pack[P any](p *parameters, like P, ts []tensor.Tensor) P {
	leaves := append([]any(nil), p.leaves...)
	for i, at := range p.at {
		leaves[at] = ts[i]
	}
	return tenon.Must(nest.Pack(like, leaves, nest.Options{Expand: true}))
}

// optimizer returns that of a parameter.
func (o Options) optimizer(path string, p tensor.Tensor) Optimizer {
	var chosen Optimizer
	if o.For != nil {
		chosen = o.For(path)
	}
	if chosen == nil {
		chosen = o.Optimizer
	}
	if chosen == nil {
		chosen = AdamW(1e-3)
	}
	if d, ok := chosen.(Decayed); ok && o.NoDecay != nil && o.NoDecay(path, p) {
		return d.WithoutDecay()
	}
	return chosen
}

// NewState returns the state that training starts from. It throws errors.
func NewState[P any](params P, o Options) State[P] {
	flat := tenon.Must(flatten(params))
	s := State[P]{Params: params, Step: tensor.Scalar(int64(0)), Key: ops.RandomKey(o.Seed)}
	for i, p := range flat.tensors() {
		s.Slots = append(s.Slots, o.optimizer(flat.paths[i], p).Slots(p))
		if o.Accumulate > 1 {
			s.Sum = append(s.Sum, zeros(p))
		}
		if o.Average != 0 {
			s.Average = append(s.Average, p)
		}
	}
	return s
}

// Averaged returns the moving average of the parameters, or the parameters themselves
// where none is kept.
func (s State[P]) Averaged() P {
	if len(s.Average) == 0 {
		return s.Params
	}
	return pack(tenon.Must(flatten(s.Params)), s.Params, s.Average)
}

// Step sees one batch: it returns the state after it and the loss before. It is a pure
// function that may be traced. With Options.Accumulate, update says whether the batch is
// the last one of an update; otherwise it has to be true. It throws errors.
func Step[P, B any](s State[P], batch B, loss Loss[P, B], o Options, update bool) (State[P], tensor.Tensor) {
	key := ops.RandomFoldIn(s.Key, s.Step)
	value, g := grad.ValueAndGrad(func(p P, b B) tensor.Tensor { return loss(p, b, key) })(s.Params, batch)
	flat, gradients := tenon.Must(flatten(s.Params)), tenon.Must(flatten(g))
	params, grads := flat.tensors(), gradients.tensors()
	next := State[P]{Params: s.Params, Step: ops.Add(s.Step, int64(1)), Key: s.Key}
	every := max(1, o.Accumulate)
	if every > 1 {
		for i := range grads {
			grads[i] = ops.Add(s.Sum[i], grads[i])
		}
		if !update {
			next.Slots, next.Sum, next.Average = s.Slots, grads, s.Average
			return next, value
		}
		for i := range grads {
			grads[i] = scaled(grads[i], 1/float64(every))
			next.Sum = append(next.Sum, zeros(grads[i]))
		}
	}
	if o.ClipValue != 0 {
		for i := range grads {
			grads[i] = ops.Clip(grads[i], -o.ClipValue, o.ClipValue)
		}
	}
	if o.ClipNorm != 0 {
		grads = ClipByGlobalNorm(grads, o.ClipNorm)
	}
	updates := ops.FloorDiv(s.Step, int64(every))
	for i, p := range params {
		opt := o.optimizer(flat.paths[i], p)
		var slots []tensor.Tensor
		params[i], slots = Update(opt, p, grads[i], s.Slots[i], updates)
		next.Slots = append(next.Slots, slots)
		if o.Average != 0 {
			next.Average = append(next.Average, ops.Add(scaled(s.Average[i], o.Average), scaled(params[i], 1-o.Average)))
		}
	}
	next.Params = pack(flat, s.Params, params)
	return next, value
}

// number returns a floating scalar as a float64.
func number(t tensor.Tensor) float64 { return tensor.Item[float64](ops.Cast(t, dtype.Float64)) }
