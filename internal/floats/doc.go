// Package floats compares floating-point numbers by units in the last place:
// how many representable numbers lie between two of them.
//
// Infinity counts as one ulp above the largest finite number, and the two zeros count as the same
// number. NaN is at distance [Far] from everything but NaN.
package floats
