// Package outsider defines types of Values from outside of the library: its module uses only the
// exported API of Tenon. An Interval contains all numbers between two bounds, and operations on
// intervals return bounds for the results of the same operations on any numbers in them. With it, a
// function shows the range of its results for inputs that are not known exactly, and a model can be
// trained to be insensitive to small changes.
//
// See R. E. Moore, R. B. Kearfott and M. J. Cloud, "Introduction to Interval Analysis", SIAM 2009.
package outsider
