// Package batching runs a function of one row on many rows at once.
//
// A tensor of rows stands in the function for one of its rows. An operation on
// it is pushed through by the operation's Batch rule, so that the function runs
// once, in bulk. The rows of a ragged tensor are vectors whose length differs;
// the same rules hold, as the operations then run on ragged tensors.
package batching
