// Package half computes with floating-point numbers of 16 bits in float32, because 16 bits hold neither large sums
// nor counts nor small steps.
package half
