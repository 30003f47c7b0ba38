// Package goroutine identifies the calling goroutine, for state that belongs to the run of a Go
// function on one goroutine, such as the traces that it records to.
package goroutine
