package train

import (
	"context"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/tensor"
)

// A With is parameters together with other state that training changes, but not by gradients,
// such as the running statistics of a batch norm. Both are nests of Values.
type With[P, S any] struct {
	Params P
	Beside S
}

// A LossWith is a [Loss] that also takes the state beside the parameters, and returns that
// state as it is after the batch:
//
//	func loss(m Model, r nn.Running, b Batch, key tensor.Tensor) (tensor.Tensor, nn.Running) {
//		y, r := m.Norm.Train(m.Hidden.Apply(b.X), r)
//		return ops.Mean(nn.SoftmaxCrossEntropy(m.Out.Apply(y), b.Labels)), r
//	}
type LossWith[P, S, B any] func(params P, beside S, batch B, key tensor.Tensor) (tensor.Tensor, S)

// FitWith is [Fit] for a loss that changes state besides the parameters. With the best-scored
// parameters, it returns the state at the time when they were scored; with an average of
// parameters (Options.Average), the last state.
func FitWith[P, S, B any](ctx context.Context, params P, beside S, loss LossWith[P, S, B], o FitOptions[With[P, S], B]) (*Fitted[With[P, S]], error) {
	if loss == nil {
		return nil, noLoss("train.FitWith")
	}
	return fitted(ctx, With[P, S]{params, beside}, loss.course(), o)
}

// NewTrainerWith is [NewTrainer] for a loss that changes state besides the parameters.
func NewTrainerWith[P, S, B any](params P, beside S, loss LossWith[P, S, B], o Options) (*Trainer[With[P, S], B], error) {
	if loss == nil {
		return nil, noLoss("train.NewTrainerWith")
	}
	return newTrainer(With[P, S]{params, beside}, loss.course(), o)
}

func noLoss(fn string) error {
	return tenon.NewError(tenon.ErrInvalid, fn, "the loss is nil: there is nothing to minimize")
}

// seen is the result of a batch: the loss, and the leaves of the state beside the parameters.
type seen struct {
	Loss   tensor.Tensor
	Beside []any
}

// lossOf is a loss in the form that steps call.
type lossOf[P, B any] func(params P, batch B, key tensor.Tensor) seen

func (l Loss[P, B]) course() lossOf[P, B] {
	return func(p P, b B, key tensor.Tensor) seen { return seen{Loss: l(p, b, key)} }
}

func (l LossWith[P, S, B]) course() lossOf[With[P, S], B] {
	return func(p With[P, S], b B, key tensor.Tensor) seen {
		value, after := l(p.Params, grad.StopGradient(p.Beside), b, key)
		tenon.Throw(nest.Same(p.Beside, after, nest.Options{}))
		return seen{value, tenon.Must(nest.Flatten(grad.StopGradient(after), nest.Options{}))}
	}
}

// besides is a nest with a part that is not parameters.
type besides interface {
	// withBeside returns the nest with other leaves in that part.
	withBeside(leaves []any) any

	// trained returns the parameters.
	trained() any

	// narrow returns the nest with its parameters in another element type.
	narrow(o Options) any
}

func (w With[P, S]) withBeside(leaves []any) any {
	w.Beside = tenon.Must(nest.Pack(w.Beside, leaves, nest.Options{}))
	return w
}

func (w With[P, S]) trained() any { return w.Params }

func (w With[P, S]) narrow(o Options) any {
	w.Params = narrowed(w.Params, o.Compute)
	return w
}
