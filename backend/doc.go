// Package backend is where graphs meet what runs them.
//
// A [Backend] makes a graph ready to run on its devices, which gives a [Program]. A function
// takes one by function.Options.Backend, and what it runs by itself (loops, branches,
// functions with a gradient of their own) finds it in the context of the run:
//
//	f := function.New(step, function.Options{Backend: mine.Backend{}})
//
// So another backend is a package that implements the two interfaces, and changes none of
// those that use them. [Default] runs graphs in this process.
//
// Stability: experimental.
package backend
