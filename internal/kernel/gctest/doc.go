// Package gctest holds what the tests of kernels have in common about the collector of
// garbage: it has to stop all goroutines, and one that is in assembly cannot be stopped,
// so loops over long arrays must come back to Go often. It knows no tensors.
package gctest
