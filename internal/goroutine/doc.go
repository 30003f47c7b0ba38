// Package goroutine tells which goroutine is calling, for what belongs to the run of a
// Go function on one of them: the traces that it records into.
package goroutine
