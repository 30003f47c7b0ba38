// Package dimcheck finds what is wrong with the dimensions of named tensors before a
// program runs: an analyzer for go vet, golangci-lint and editors.
//
// Go's types tell names apart. What they cannot say is which names a tensor has after an
// operation: the union of two sets, less what is summed over. The analyzer infers it, with
// sizes where they are constant, and reports in the words of the errors that the operation
// would throw at run time:
//
//	head.go:24:9: named.Dot over KqRep: right operand has no KqRep
//	  left   {KeySeq:8 KqRep:3}  from head.go:18 Rename SeqLen→KeySeq
//	  right  {Foo:3 ValueRep:4}  from weights.go:9
//	  shared: none. Foo has the same size as KqRep: did you mean named.Rename[Foo, KqRep](right)?
//
// Besides, it reports what runs and is wrong all the same:
//
//   - a softmax over a dimension, where its result is then contracted over another one
//   - the roles of queries and keys exchanged: a softmax over the positions of the
//     queries, or a sum over them whose result is named as if it were over those of the keys
//   - a name type that embeds the Dim of another one
//
// What can be mended by an edit has suggested fixes.
//
// # How it works
//
// Each function, in SSA form, becomes a program: the operations on tensors that it does,
// without all the rest (see program). Running a program on sets of dimensions instead of
// tensors gives the sets of the results; branches join, loops run until nothing
// changes. What is not known, or differs between branches, is unknown, and nothing is
// reported about it. A function that is called with sets that are known runs anew with
// them, so helpers that work for any dimensions, and generic ones, are checked per call;
// one that calls itself runs until its results do not change. A method of an interface is
// that of the types that may be in it.
// Programs of a package are its fact: calls of other packages run them.
//
// # Glossary
//
//   - program: what a function does to dimensions, its transfer function
//   - rule: what an operation of package named does to dimensions
//   - frame: a run of a program
//   - site: a place in the source that a tensor comes from
//
// Stability: experimental.
package dimcheck
