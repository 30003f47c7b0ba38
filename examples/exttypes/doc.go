// Package exttypes contains the types of the proposal for extension types, written with public
// packages only, as a user of the module would write them.
//
//   - maskedtensor: a tensor with a mask of its valid elements, the proposal's code
//   - csr: sparse matrices by rows, with a handler for matrix products
//   - labeled: tensors with labelled axes, on top of package named
//   - digraph: directed graphs, plain and with labels on nodes and edges
//   - alignment: which items of one dimension belong to which of another
//   - dist: probability distributions
//   - track: the type that docs/extension-types.md walks through
package exttypes
