// Package token cuts declarations and questions into the tokens that a search
// model and BM25 compare.
//
// [Words] cuts text and identifiers alike into words, a [Tokenizer] stems them
// and says of each where it stands ([Field]), and a [Vocabulary], built from
// training rows only, turns them into ids.
//
// A token is a stem ("reader" and "reading" are both "read") or the name of a
// place ("package:net/http", "file:net/http/client.go"). Words share one id
// wherever they stand, so that a question's word meets the same word in a name
// or a type; the field goes along with the id, so that a model can weigh a
// word by where it stands. A place is one token, whole: a model learns from it
// what else is said there.
package token
