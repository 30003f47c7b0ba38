// Package train fits parameters to data.
//
// Parameters are any nest of Values, typically a struct of layers of package nn. A loss
// is a function of parameters, a batch and a random key:
//
//	fit, err := train.Fit(ctx, model, loss, train.FitOptions[Model, Batch]{
//		Options: train.Options{Optimizer: train.AdamW(1e-3), ClipNorm: 1},
//		Data:    train.Source[Batch]{Batches: 100, At: batch},
//		Epochs:  10, Checkpoint: "run.safetensors",
//	})
//
// Everything that changes is in one nest of Values, [State]: parameters, the optimizer's slots,
// accumulated gradients, moving averages, the step and the random key. A [Step] is a
// pure function of it. A checkpoint is the state written to a file. Because batches are
// addressed by position, a run resumed from a checkpoint gives the same bits, whether it
// was interrupted or killed.
//
// [Fit] does a whole run; [Trainer] is for training loops of your own. If something other than the
// parameters changes, such as the running statistics of a batch norm, [FitWith] carries it in a
// type of its own, [With].
//
// The optimizer [Fixed] freezes parameters, and [Groups] gives parameters different optimizers.
// Two pointers to the same parameters share them. [Options.Compute] sets the element type of the
// loss, such as bfloat16, while parameters have 32 bits.
//
// # Glossary
//
//   - slot: a tensor that an optimizer stores for a parameter, such as momentum
//   - schedule: the learning rate as a function of the update
//   - step: the processing of one batch
//   - update: one change of the parameters, after [Options.Accumulate] steps
//   - epoch: one pass over the data
//   - decay: parameters shrink a little in each update, independently of the gradient
//
// Stability: stable.
package train
