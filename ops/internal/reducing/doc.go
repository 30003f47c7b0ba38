// Package reducing contains what reductions of axes, of rows and of segments share: a reduction is
// described once, and each of the three derives its operation from the description.
package reducing
