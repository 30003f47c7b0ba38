// Package random makes random numbers from keys and counters.
//
// A [Key] and a position give a number; nothing is kept between calls. So parts
// of a sequence can be computed by different workers, or again later, with the same
// result. Keys are split into independent ones ([Key.Derive]) instead of being used twice.
//
// The generator is Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random
// numbers: as easy as 1, 2, 3" (SC 2011): ten rounds of multiplication and exclusive
// or on a block of four 32-bit words, keyed with two. The counter's first two words are
// the position of the block in the sequence, the third is free for the caller, and the
// fourth says what the block is for, so that numbers, derived keys and so on never
// come from the same block.
//
// Numbers are the same on every machine: floating-point results use nothing but
// operations that IEEE 754 rounds exactly, in a fixed order. Every product that is added to
// something is converted explicitly, which keeps compilers from fusing the two.
package random
