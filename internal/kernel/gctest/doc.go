// Package gctest helps test that kernels do not delay the garbage collector. The collector has to
// stop all goroutines, and a goroutine in assembly cannot be stopped, so loops over long arrays
// must return to Go often. The package knows nothing about tensors.
package gctest
