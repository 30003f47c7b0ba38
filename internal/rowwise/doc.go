// Package rowwise decides, from the statements of its operations, whether a function computes
// each row independently.
//
// A function whose arguments are rows computes each row independently if, for all arguments a and
// b, its result for their concatenation is its result for a followed by its result for b. [Of]
// interprets the graph of a function abstractly and determines, for each value, how its
// counterpart in the joined call is made from those in the separate calls: it is the same in all
// of them, or it is their concatenation along an axis, or it counts the entries of such an axis,
// or it divides them. Elements of indices may be positions in what is concatenated, so that those
// of the second call are shifted by the entries of the first. The effect of an operation follows
// from its [op.Statement]. This package names only those operations whose statement is not
// sufficient, most of which make indices, sizes and splits. Regions are interpreted like the
// graph itself.
//
// A value that cannot be classified is reported as such, and is not assumed to be rows.
package rowwise
