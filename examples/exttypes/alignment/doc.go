// Package alignment holds correspondences between two dimensions: which speakers
// belong to which word, say.
package alignment
