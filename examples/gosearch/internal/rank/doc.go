// Package rank scores declarations for a question by their words, by how much they are
// used, and by what kind of thing they are.
//
// The words of a declaration are in fields: its name, those of its type and package, the comments of all three,
// parameters, examples, texts near its calls, and what people ask for it. BM25F (Robertson, Zaragoza and Taylor, 2004) adds the fields of a
// word up, each by its own weight, before the sum saturates, so that a word in two fields is not two words. The score
// also takes into account how much of the question a declaration covers, how much of its name the question covers, how
// often it is used in the source, and whether it returns what the form of the question asks for: a boolean for "is …",
// a number for "how many …". A word with about the same meaning counts at most as much as its own rarity: a frequent
// word says no more because it stands for a rare one. Methods count less than functions, deprecated
// functions less than others, and packages less than those above them.
//
// A score is a logarithm: the softmax of the sum of this score and that of package model is the probability of each
// declaration. [Fitted] are weights that make the answers to the choosing questions of package eval likely. A feature is
// used if it improves answers about packages that the weights were not fitted to: questions about four fifths of the packages
// were for fitting and the others for asking, five times. Examples, constructors, how often a package is used, a
// penalty for names that begin alike, words that need no synonyms, how well a package fits, sentences elsewhere
// that mention a declaration, and translations learned from comments to names did not, or hardly. The weight of people's questions
// was chosen with none among them that is like a choosing one.
package rank
