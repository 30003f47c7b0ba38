// Package asked adds to declarations the questions that people ask for them, in their words: a comment says "truncates",
// and a person "cuts off".
//
// Questions are lines: the question, a tab, and the functions that answer it, named as by [decl.Decl.Paths] and separated by
// spaces. Those about the standard library are part of the program. They were written from lists of its functions,
// without knowledge of the questions of package eval, and those that have half of their words in common with one of these were
// left out.
package asked
