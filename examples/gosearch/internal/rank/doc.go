// Package rank scores declarations for a question by their words, by how much they are
// used, and by what kind of thing they are.
//
// The words of a declaration stand in fields: its name, its type's, its package's, the
// comments of all three, parameters, examples, and what is said where it is called.
// BM25F (Robertson, Zaragoza and Taylor, 2004) adds the fields of a word up, each by its
// own weight, before the sum saturates, so that a word in two fields is not two words.
// Beside that score count how much of the question a declaration covers, how much of its name
// the question covers, and, where the words fit, how often it and its package are used in
// the source that was read, and whether it returns what the form of the question asks for: a truth value for "is …", a number
// for "how many …". A method counts less than a function, what is deprecated less, a package less
// than the one above it, and what has an example more.
//
// A score is a logarithm: the sum of a score here and a weighed cosine of package model,
// through a softmax, says how likely each declaration is to be what was asked for. [Fitted]
// are the weights that make the answers to the choosing half of the questions of package
// eval most likely.
package rank
