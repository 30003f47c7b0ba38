// Package cases reads conformance cases, runs them and compares answers.
//
// A [File] holds the [Case]s of one group; testdata/conformance/README.md
// defines its format. [Handle] says how an operation that cases name is done
// with the library; [HandleKind] says how values of one type are read and
// compared. Both are meant for init functions, so that a group is added by
// adding a file. [Run] runs a case.
//
// Arguments and attributes reach an operation decoded: a value is what its kind
// makes of it (a dense value is a tensor.Tensor, a dict a [Dict], …), a number
// with a point or exponent is a float64, any other an int, and the rest is a
// bool, string, nil, []any or map[string]any. The methods of [Case] fetch them;
// what they throw when a case is written otherwise than expected never counts
// as an answer.
package cases
