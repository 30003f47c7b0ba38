// Package hashing numbers equal keys and finds keys that match.
//
// A key is a row of one or several columns of numbers or strings. [Group] gives rows with equal keys the same number,
// in the order in which keys first appear; [Match] lists for each row of one table the rows of another with an equal
// key. Both proceed column by column: the values of each column are numbered by a hash table with open addressing,
// and pairs of numbers from two columns are numbered in turn, by a plain array if there are few combinations.
//
// A value is represented by a 64-bit word. The word is exact for numbers, strings of up to seven bytes, and strings
// of eight bytes that end in an ASCII character. For longer strings it is a hash, and strings with equal words are
// compared. All NaNs are one key, and so are both zeros.
//
// Rows are numbered in chunks by all workers, each chunk with a table of its own, and the few distinct keys of the
// chunks are merged in order. If keys rarely repeat, as the first chunk shows, one table numbers all rows. Results
// depend neither on the number of workers nor on the hash, which is seeded differently in each process so that inputs
// cannot be constructed to collide.
package hashing
