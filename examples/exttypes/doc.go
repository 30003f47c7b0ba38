// Package exttypes holds the types that the proposal of extension types names, written
// as somebody outside this repository would write them: with public packages only.
//
//   - maskedtensor: a tensor and which of its elements are valid, the proposal's code
//   - csr: sparse matrices by rows, with a handler for matrix products
//   - labeled: tensors whose axes have labels, in terms of package named
//   - digraph: directed graphs, plain and with labels on nodes and edges
//   - alignment: which items of one dimension belong to which of another
//   - dist: probability distributions
//   - track: the type that docs/extension-types.md walks through
package exttypes
