// Package passes improves graphs. Each pass takes a graph and returns one that
// computes the same; [Default] is the order in which a function's graph goes
// through them.
package passes
