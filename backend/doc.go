// Package backend defines the interface between graphs and the systems that run
// them.
//
// A [Backend] compiles a graph for its devices and returns a [Program]. Pass a
// backend to a function with function.Options.Backend. Loops, branches and
// functions with a custom gradient find it in the context of the run:
//
//	f := function.New(step, function.Options{Backend: mine.Backend{}})
//
// A new backend is a package that implements these two interfaces; no other
// package has to change. [Default] runs graphs in the current process.
//
// Stability: experimental.
package backend
