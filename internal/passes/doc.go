// Package passes optimises graphs. Each pass takes a graph and returns an equivalent one; [Default]
// is the sequence of passes applied to the graph of a function.
package passes
