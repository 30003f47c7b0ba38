// Package decl reads Go source and gives every documented function and method
// as a nested record.
//
// [Resolve] turns what a user names (the standard library, a folder, a module,
// the module cache) into the folders that hold packages, [Walk] parses them
// and extracts a [Decl] for each documented function and method, and
// [WriteFile] stores the records as JSON lines, one a declaration.
//
// # What counts
//
// A package is every file of one folder and one package clause, whatever its
// build constraints, so that an index of the same source is the same on every
// platform. A function that several files declare (one for each system, say)
// is one declaration: the first of them, in order of file names, that has a
// comment. Exported and unexported functions count alike. Left out are tests,
// folders named testdata or vendor or beginning with a dot or an underscore,
// and programs that live in another package's folder (generators that a build
// constraint keeps out). Test files are read for runnable examples and for calls only.
//
// Source that does not parse is skipped as a file, counted and named; the rest
// of its package still counts.
//
// # Use
//
// What all files call, tests among them, is counted ([Decl.Uses]), and what is said
// beside calls is kept ([Decl.Callers]): the comment above, the message of the error
// that is tested for below, the variable that takes the result, the name of a small
// function around it. A method is known by the type of its variable, as far as
// declarations and calls in the same function tell it; calls of others are divided
// among the methods of that name in the packages that the file imports.
package decl
