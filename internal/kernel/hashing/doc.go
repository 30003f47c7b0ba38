// Package hashing numbers equal keys and finds keys that match.
//
// A key is a row of one or several columns of numbers or strings. [Group] gives rows
// with equal keys the same number, in the order in which keys first appear; [Match]
// lists for each row of one table the rows of another with an equal key. Both go
// column by column: each column's values are numbered by a hash table with open
// addressing, and the numbers of two columns together are numbered again, through a
// plain array where there are few combinations.
//
// A value is a word of 64 bits where that is exact: numbers, strings of up to seven
// bytes, and those of eight that end in ASCII. Longer strings have a hash as their word, and are compared where words
// are equal. All NaNs are one key, and so are both zeros.
//
// Rows are numbered in chunks by all workers, each chunk with a table of its own, and
// the few distinct keys of the chunks are put together in order. Where keys hardly
// repeat, which the first chunk tells, one table takes all rows. Neither the hash,
// which is seeded differently in each process so that no input can be made to collide,
// nor the number of workers changes a result.
package hashing
