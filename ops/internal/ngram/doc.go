// Package ngram holds what the operations on n-grams of dense rows and of ragged ones
// share: their options, parameters and kernel.
package ngram
