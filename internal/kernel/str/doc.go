// Package str implements operations on columns of strings: one buffer of bytes and the offsets at
// which the strings begin and end ([Column]).
//
// A string is any sequence of bytes. Functions that work on characters decode it as UTF-8. They
// treat malformed bytes as TensorFlow's string operations do: the longest prefix of a valid
// character counts as one malformed unit (Unicode's "substitution of maximal subparts"). Where it
// matters, each function documents what it does with them.
//
// A function whose result may have more or fewer strings than its argument also returns row splits:
// the results for string i are [splits[i], splits[i+1]).
//
// Further arguments hold one element for each string, or a single one for all. Long columns are
// divided into chunks that are processed in parallel; results do not depend on the number of
// processors. Columns are never modified, so a result may share memory with an argument.
package str
