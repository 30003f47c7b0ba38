// Package eval measures how well a search finds declarations, in a way that no system can win by looking
// at the answer.
//
// # Protocol
//
// The question of a declaration is the first sentence of its comment without
// the declaration's own name. What a system may know about the declaration is
// everything else: name, import path, file, receiver, parameters, results, and
// the comment beyond that sentence. A declaration takes part when its question
// has at least [MinWords] words: shorter ones ("implements sort.Interface") ask
// for nothing that could be found.
//
// [NewSplit] divides those that take part by a hash of a seed and of what
// identifies a declaration, so that the division does not depend on their order and
// hardly on the version of the source. A system learns from the training part, stops by
// the validation part, and answers the questions of the test part; the
// answers compete with all that take part, whatever their part.
//
// A [Tally] collects for each question how many declarations score above the
// right one and how many tie with it. Ties count as what a random order among
// them gives on average: code has many declarations that nothing tells apart
// (the same method on thirty vector types), and neither the luckiest nor the
// unluckiest order would be honest.
//
// # Questions as people ask them
//
// [People] are questions about the standard library, written by hand before anything
// was fitted to them, with all the functions that answer each. Nine hundred choose the weights
// of the ranking and the words that are alike; a hundred others are for reporting alone, and the unseen ones were
// written when the ranking stood, most of them by somebody who knew neither it nor the other questions, and are never looked at. Of the
// choosing questions that came later, and of those from which the model learns (package asked), the ones that have half of
// their words in common with one of these were left out; so were unseen ones that are as near to a choosing one. Among the answers are
// public functions only.
package eval
