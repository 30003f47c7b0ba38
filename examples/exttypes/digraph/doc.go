// Package digraph implements directed graphs: TensorDigraph has one tensor with a row for
// each node, LabeledDigraph any number of labels on nodes and edges.
package digraph
