// Package train fits parameters to data.
//
// Parameters are any nest of Values: typically a struct of layers of package nn. A loss
// is a function of parameters, a batch and a random key:
//
//	fit, err := train.Fit(ctx, model, loss, train.FitOptions[Model, Batch]{
//		Options: train.Options{Optimizer: train.AdamW(1e-3), ClipNorm: 1},
//		Data:    train.Source[Batch]{Batches: 100, At: batch},
//		Epochs:  10, Checkpoint: "run.safetensors",
//	})
//
// Everything that changes, parameters, the optimizer's slots, sums of gradients, moving
// averages, the step and the random key, is one nest of Values, [State]. A [Step] is a
// pure function of it. As batches are addressed by their position, a run that is resumed
// from a checkpoint, which is the state written down, goes on with the same bits, whether it
// was interrupted or killed.
//
// [Fit] is a whole run; [Trainer] is for loops of one's own. Where something changes beside the
// parameters, such as the running statistics of a batch norm, [FitWith] carries it along in a
// type of its own, [With].
//
// Parameters are frozen by the optimizer [Fixed], have optimizers of their own by [Groups], and
// are shared where a pointer leads to them twice. [Options.Compute] is the element type of the
// loss, such as bfloat16, beside parameters of 32 bits.
//
// # Glossary
//
//   - slot: a tensor that an optimizer keeps for a parameter, such as momentum
//   - schedule: the learning rate as a function of the update
//   - step: one batch seen; update: one change of the parameters, after
//     [Options.Accumulate] steps; epoch: one pass over the data
//   - decay: parameters shrink a little in each update, apart from the gradient
//
// Stability: stable.
package train
