// Package strided moves the elements of arrays that are described by strides.
//
// An array is a pointer to its first element, its sizes and, for each axis, the
// distance between neighbours in elements; a distance may be zero (the axis
// repeats one element) or negative. [Copy] brings the axes into the order of the
// destination's memory, joins those that lie one behind the other, and then moves
// runs of bytes where both sides have them, square blocks where one side is the
// other transposed (so that neither side's cache lines are read twice), and
// single elements otherwise. Large copies are shared out to workers.
package strided
