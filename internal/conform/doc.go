// Command conform runs the conformance cases in the given directories:
//
//	go run ./internal/conform [-v] [-run REGEXP] DIR...
//
// It prints a line for each group, with -v one for each case that failed or was
// skipped, and at the end how many passed, failed and were skipped. A case is
// skipped where nobody has said how its operation is done. The status is 1 if
// a case failed.
//
// A group is added by a file of this package whose init function calls
// cases.Handle with its operations and cases.HandleKind with its types of
// values.
package main
