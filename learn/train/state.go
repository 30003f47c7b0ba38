package train

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/internal/half"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A Loss is a function of parameters, a batch and a random key, which is a different one in
// each step, for dropout and the like. Its result is a floating-point scalar.
type Loss[P, B any] func(params P, batch B, key tensor.Tensor) tensor.Tensor

// Options say how a step changes the state. The zero value is AdamW with a rate of 1e-3.
type Options struct {
	// Optimizer is used for all parameters; nil stands for AdamW(1e-3).
	Optimizer Optimizer

	// For returns the optimizer of the parameter with a path such as "Words.Table", or nil for
	// Optimizer. [Groups] makes such a function from patterns. Parameters whose optimizer is
	// [Fixed] are frozen: they have no slots, and do not count in ClipNorm.
	For func(path string) Optimizer

	// NoDecay reports which parameters have no weight decay; nil: none of them.
	// [NotMatrices] is the usual choice.
	NoDecay func(path string, p tensor.Tensor) bool

	// Shared lists groups of paths whose parameters are identical: the parameters below the
	// first path of a group are also those below the others, and get the sum of the gradients.
	// Pointers that occur twice are shared without being listed ([Shared]).
	Shared [][]string

	// ClipNorm, if it is not 0, scales the gradients so that their global norm is at most this;
	// ClipValue limits the absolute value of each element.
	ClipNorm, ClipValue float64

	// Accumulate is the number of batches for an update, which takes the mean of their
	// gradients; 0 stands for 1.
	Accumulate int

	// Average, if it is not 0, keeps a moving average of the parameters with this decay, such
	// as 0.999: in each update, a ← d·a + (1-d)·p. AverageEvery instead keeps the plain mean of
	// the parameters after every AverageEvery updates (P. Izmailov et al., "Averaging weights
	// leads to wider optima", UAI 2018). Either begins after AverageFrom updates.
	Average                   float64
	AverageEvery, AverageFrom int

	// Compute, if it is not None, is the element type in which the loss is computed, such as
	// dtype.BFloat16. The floating-point tensors of parameters and batch are converted to it,
	// and the gradients are converted back. Parameters, slots, averages and the state beside
	// the parameters keep their types. A loss can cast further values with ops.Cast.
	Compute   dtype.DType
	LossScale LossScale

	// Seed is the seed of the keys that the loss gets.
	Seed uint64

	// Ranks, if it is not nil, says how ranks share the work of steps.
	Ranks *Ranks

	measured bool // steps also return the rate and the norm of the gradients
}

// NotMatrices reports whether a parameter has fewer than two axes. Such parameters, biases and
// scales, usually have no weight decay.
func NotMatrices(_ string, p tensor.Tensor) bool { return p.Shape().Rank() < 2 }

// State is everything that steps change. It is a nest of Values.
type State[P any] struct {
	Params  P
	Slots   [][]tensor.Tensor // of the optimizer, for each parameter that is trained, in the order of package nest; like sums and averages, of at least 32 bits
	Sum     []tensor.Tensor   // of gradients since the last update; empty without accumulation
	Average []tensor.Tensor   // of all floating-point tensors of Params; empty without averaging
	Scale   []tensor.Tensor   // of the loss, and the number of finite updates in a row; empty without loss scaling
	Step    tensor.Tensor     // int64: batches seen
	Key     tensor.Tensor     // uint32[2]
}

// optimizer returns the optimizer of a parameter.
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

// NewState returns the initial state of training. It throws errors.
func NewState[P any](params P, o Options) State[P] {
	tenon.Throw(o.check())
	flat := tenon.Must(flatten(params, o))
	tenon.Throw(flat.anyTrained(params))
	s := State[P]{Params: params, Scale: o.newScale(), Step: tensor.Scalar(int64(0)), Key: ops.RandomKey(o.Seed)}
	for i, p := range flat.tensors() {
		p = half.Wide(p)
		s.Slots = append(s.Slots, flat.optimizers[i].Slots(p))
		if o.Accumulate > 1 {
			s.Sum = append(s.Sum, zeros(p))
		}
	}
	if o.averages() {
		for _, p := range flat.all() {
			s.Average = append(s.Average, half.Wide(p))
		}
	}
	return s
}

// scored returns the state without what Averaged does not need.
func (s State[P]) scored() State[P] {
	return State[P]{Params: s.Params, Average: s.Average, Step: s.Step, Key: s.Key}
}

// Averaged returns the average of the parameters, or the parameters themselves if no average is
// kept.
func (s State[P]) Averaged() P {
	if len(s.Average) == 0 {
		return s.Params
	}
	flat := tenon.Must(flatten(s.Params, Options{}))
	all := flat.all()
	for i, p := range all {
		all[i] = ops.Cast(s.Average[i], p.DType())
	}
	return pack(flat, s.Params, all)
}

// Step processes one batch: it returns the state after it and the loss before it. It is a pure
// function that may be traced. With Options.Accumulate, update says whether the batch is the
// last one of an update; otherwise it must be true. Step throws errors.
func Step[P, B any](s State[P], batch B, loss Loss[P, B], o Options, update bool) (State[P], tensor.Tensor) {
	s, out := step(s, batch, loss.course(), o, update)
	return s, out[0]
}

// gained is the result of the function that is differentiated: the scaled loss, and its other
// results.
type gained struct {
	Scaled tensor.Tensor
	Seen   seen
}

// differentiate returns the loss of a batch, the gradients of the parameters, and the
// parameters with the new state beside them.
func differentiate[P, B any](s State[P], batch B, loss lossOf[P, B], o Options, flat *parameters) (value tensor.Tensor, grads []tensor.Tensor, after P) {
	key := ops.RandomFoldIn(s.Key, s.Step)
	// Tensors that are not trained are not arguments, whatever their type, so they cost no
	// gradient.
	out, grads := grad.ValueAndGrad(func(ts []tensor.Tensor, b B) gained {
		p := packTrained(flat, s.Params, ts)
		if o.Compute != dtype.None {
			if w, ok := any(p).(besides); ok {
				p = w.narrow(o).(P)
			} else {
				p = narrowed(p, o.Compute)
			}
			b = narrowed(b, o.Compute)
		}
		r := gained{Seen: loss(p, b, key)}
		l := isLoss(r.Seen.Loss)
		if o.Compute != dtype.None {
			l = ops.Cast(l, dtype.Float32)
		}
		if r.Seen.Loss, r.Scaled = l, l; len(s.Scale) > 0 {
			r.Scaled = ops.Mul(l, ops.Cast(s.Scale[0], l.DType()))
		}
		return r
	})(flat.tensors(), batch)
	for i, x := range grads {
		if grads[i] = half.Wide(x); len(s.Scale) > 0 {
			grads[i] = ops.Div(grads[i], ops.Cast(s.Scale[0], grads[i].DType()))
		}
	}
	after = s.Params
	if w, ok := any(after).(besides); ok {
		after = w.withBeside(out.Seen.Beside).(P)
	}
	return out.Seen.Loss, grads, after
}

// isLoss returns the result of a loss, and throws an error if it is not a floating-point
// scalar.
func isLoss(l tensor.Tensor) tensor.Tensor {
	got := "nil"
	if l != nil {
		if s := l.Shape(); l.DType().IsFloat() && (!s.HasRank() || s.Rank() == 0) {
			return l
		}
		got = tenon.String(l.Spec())
	}
	e := tenon.NewError(tenon.ErrShape, "train.Step", "the loss is "+got+", not a floating-point scalar")
	e.Hint = "reduce it, for instance with ops.Mean"
	tenon.Throw(e)
	return nil
}

// step returns the loss and, if it is measured and parameters are updated, the rate of the first
// parameter and the norm of all gradients.
func step[P, B any](s State[P], batch B, loss lossOf[P, B], o Options, update bool) (State[P], []tensor.Tensor) {
	flat := tenon.Must(flatten(s.Params, o))
	params := flat.tensors()
	var value, losses tensor.Tensor
	var grads []tensor.Tensor
	var after P
	if o.Ranks.active() {
		value, grads, after, losses = differentiateRanks(s, batch, loss, o, flat)
		grads = alike(grads, params, s.Slots)
	} else {
		value, grads, after = differentiate(s, batch, loss, o, flat)
	}
	next := State[P]{Params: after, Step: ops.Add(s.Step, int64(1)), Key: s.Key, Scale: s.Scale}
	every := max(1, o.Accumulate)
	if every > 1 {
		for i := range grads {
			grads[i] = ops.Add(s.Sum[i], grads[i])
		}
		if !update {
			next.Slots, next.Sum, next.Average = s.Slots, grads, s.Average
			return next, withLosses(losses, value)
		}
		for i := range grads {
			grads[i] = scaled(grads[i], 1/float64(every))
			next.Sum = append(next.Sum, zeros(grads[i]))
		}
	}
	var fine tensor.Tensor // whether the update is made, if that depends on the gradients
	if len(s.Scale) > 0 {
		fine = allFinite(grads)
		next.Scale = o.rescaled(s.Scale, fine)
	}
	updates := ops.FloorDiv(s.Step, int64(every))
	seen := []tensor.Tensor{value}
	if o.measured {
		seen = append(seen, flat.optimizers[0].Rate()(ops.Cast(updates, dtype.Float64)), GlobalNorm(grads))
	}
	if o.ClipValue != 0 {
		for i := range grads {
			grads[i] = ops.Clip(grads[i], -o.ClipValue, o.ClipValue)
		}
	}
	if o.ClipNorm != 0 {
		grads = ClipByGlobalNorm(grads, o.ClipNorm)
	}
	for i, p := range params {
		var slots []tensor.Tensor
		params[i], slots = Update(flat.optimizers[i], p, grads[i], s.Slots[i], updates)
		if fine != nil {
			params[i], slots = ops.Where(fine, params[i], p), chosen(fine, slots, s.Slots[i])
		}
		next.Slots = append(next.Slots, slots)
	}
	next.Params = packTrained(tenon.Must(flatten(after, o)), after, params)
	if o.averages() {
		for i, p := range tenon.Must(flatten(next.Params, o)).all() {
			next.Average = append(next.Average, o.averaged(s.Average[i], half.Wide(p), updates))
		}
	}
	return next, withLosses(losses, seen...)
}

// withLosses returns the results of a step, followed by the losses of the ranks if there are any.
func withLosses(losses tensor.Tensor, seen ...tensor.Tensor) []tensor.Tensor {
	if losses == nil {
		return seen
	}
	return append(seen, losses)
}

// number returns a floating-point scalar as a float64.
func number(t tensor.Tensor) float64 { return tensor.Item[float64](ops.Cast(t, dtype.Float64)) }
