// Package dimcheck finds mistakes in the dimensions of named tensors before a
// program runs. It is an analyzer for go vet, golangci-lint and editors.
//
// Go's types tell names apart, but cannot say which names a tensor has after an
// operation: the union of two sets, minus the dimensions summed over. The analyzer infers them, with
// sizes if they are constant, and reports the same errors that the operation
// would throw at run time:
//
//	head.go:24:9: named.Dot over KqRep: right operand has no KqRep
//	  left   {KeySeq:8 KqRep:3}  from head.go:18 Rename SeqLen→KeySeq
//	  right  {Foo:3 ValueRep:4}  from weights.go:9
//	  shared: none. Foo has the same size as KqRep: did you mean named.Rename[Foo, KqRep](right)?
//
// It also reports programs that run but are wrong:
//
//   - a softmax over one dimension followed by a contraction over another
//   - queries and keys in the wrong roles: a softmax over the positions of the
//     queries, or a sum over them with a result named as if it were over those of the keys
//   - a name type that embeds the Dim of another one
//
// If an edit can repair the mistake, the report has a suggested fix.
//
// # How it works
//
// The analyzer converts each function, in SSA form, into a program of only its operations on
// tensors (see program). Running a program on sets of dimensions instead of
// tensors gives the sets of the results. Branches are joined, and loops run until nothing
// changes. Dimensions that are unknown, or differ between branches, give no reports.
// A function called with known sets is run again with
// them, so helpers for any dimensions, and generic ones, are checked per call.
// A recursive function runs until its results do not change. A method call on an interface is resolved
// to the types that the interface may contain.
// The programs of a package are its fact: calls from other packages run them.
//
// # Glossary
//
//   - program: the effect of a function on dimensions, its transfer function
//   - rule: the effect of an operation of package named on dimensions
//   - frame: a run of a program
//   - site: the place in the source from which a tensor comes
//
// Stability: experimental.
package dimcheck
