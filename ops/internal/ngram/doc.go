// Package ngram contains what the operations on n-grams of dense and of ragged rows share: their
// options, parameters and kernel.
package ngram
