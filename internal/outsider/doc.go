// Package outsider is a type of Value from outside: its module knows Tenon only by
// what it exports. An Interval holds all numbers between two bounds, and operations
// on intervals give bounds for what the same operations give on any numbers in them. With
// it, a function shows what it may return for inputs that are not known exactly, and
// a model can be trained so that it does not react to small changes.
//
// See R. E. Moore, R. B. Kearfott and M. J. Cloud, "Introduction to Interval
// Analysis", SIAM 2009.
package outsider
