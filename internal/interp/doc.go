// Package interp runs graphs.
//
// A graph is planned once ([For]): its values are assigned slots, and each node becomes a step that
// knows which slots it reads and which it is the last to read. A plan is immutable; every
// [Plan.Run] has its own slots, so one plan may run in many goroutines at once.
package interp
