// Package sorting implements operations based on order and equality in flat slices: sorting and
// argsorting, the k largest elements, binary search, distinct values, counts and histograms.
//
// Numbers have their usual order, in which -0 equals +0; NaN comes last, in ascending and in
// descending order. Strings are ordered by their bytes. Argsorts are stable in both directions:
// equal elements keep their order. Booleans are sorted as [Bytes].
//
// Elements of each type are mapped to unsigned keys that have the same order, so that one
// implementation serves all types. Short slices are sorted by comparison, and long ones by radix
// sort.
package sorting
