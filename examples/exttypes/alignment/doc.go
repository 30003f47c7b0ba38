// Package alignment holds correspondences between two dimensions, such as which speakers
// belong to which word.
package alignment
