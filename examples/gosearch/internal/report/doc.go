// Package report draws the report of a training run: curves, figures, recall by package,
// nearest neighbours of words, and the model's graph. It is one HTML page that needs nothing
// else.
package report
