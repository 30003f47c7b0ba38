// Package train fits parameters to data.
//
// Parameters are any nest of Values: typically a struct of tensors. A loss is a
// function of parameters and a batch. [Fit] runs an [Optimizer] over the batches
// of a dataset; everything that changes, parameters, the optimiser's slots, the
// step, the random key and the position in the data, is one nest of Values,
// [State], so that a checkpoint is the state written down and a run that is
// resumed goes on with the same bits.
//
// # Glossary
//
//   - slot: a tensor that an optimiser keeps for a parameter, such as momentum
//   - schedule: the learning rate as a function of the step
//   - step: one update from one batch; epoch: one pass over the data
package train
