// Package dist implements probability distributions as values. Their parameters are tensors,
// so distributions can be arguments of functions and rows of batches, and have gradients.
package dist
