// Package random generates random numbers from keys and counters.
//
// A [Key] and a position determine a number; there is no state between calls. Parts of a
// sequence can therefore be computed by different workers, or again later, with the same
// result. Instead of being used twice, keys are split into independent ones ([Key.Derive]).
//
// The generator is Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random
// numbers: as easy as 1, 2, 3" (SC 2011): ten rounds of multiplication and exclusive or on
// a block of four 32-bit words, with a key of two words. The first two words of the counter
// are the position of the block in the sequence, the third is available to the caller, and
// the fourth is the purpose of the block, so that numbers, derived keys and so on never
// come from the same block.
//
// Numbers are the same on every machine: floating-point results use only operations that
// IEEE 754 rounds correctly, in a fixed order. Every product that is an operand of an
// addition is converted explicitly, which prevents compilers from fusing the two.
package random
