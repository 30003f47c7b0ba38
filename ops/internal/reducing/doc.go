// Package reducing has what reductions of axes, of rows and of segments share: a reduction is
// described once, and each of the three spellings makes its operation of the description.
package reducing
