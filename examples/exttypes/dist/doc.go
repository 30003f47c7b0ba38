// Package dist holds probability distributions as values: their parameters are tensors,
// so that they are arguments of functions, rows of batches and subjects of gradients.
package dist
