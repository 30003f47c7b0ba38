// Package sorting orders flat slices and finds things in them: sorting and
// argsorting, the k largest, binary search, distinct values, counts and histograms.
//
// The order of numbers is the usual one with -0 equal to +0 and NaN behind
// everything, in both directions. Strings are ordered by their bytes. Argsorts are
// stable in both directions: equal elements keep their order. Booleans are sorted
// as [Bytes] of them.
//
// Each element type is mapped to unsigned keys of the same order; short slices are
// then sorted by comparison and long ones by radix, which is what makes one
// implementation do for all types.
package sorting
