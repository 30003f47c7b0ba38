// Package str computes on columns of strings: one buffer of bytes and the offsets
// at which the strings begin and end ([Column]).
//
// A string is any sequence of bytes. Functions that speak of characters read it as
// UTF-8; what they do with malformed bytes is said where it matters, and is what
// TensorFlow's string operations do: the longest prefix of a character that could
// still have become valid counts as one malformed unit (Unicode's "substitution of
// maximal subparts").
//
// A function whose result has more or fewer strings than its argument returns row
// splits beside the new column: the strings that came from string i are those from
// splits[i] to splits[i+1].
//
// Arguments that go with a column hold one element for each string, or a single one
// for all. Long columns are cut into chunks that are worked on by all processors and
// joined; results do not depend on how many there are. No result shares memory with
// an argument.
package str
