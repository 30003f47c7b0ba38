// Package batching runs a function of one row on many rows at once.
//
// Within the function, a tensor of rows represents one of its rows. The Batch rule of an operation
// applies it to all rows, so that the function runs once for all of them. The rows of a ragged
// tensor are vectors of different lengths; the same rules apply, because the operations then run on
// ragged tensors.
package batching
