// Package strided copies arrays described by strides.
//
// An array is a pointer to its first element, its sizes and, for each axis, the distance between
// adjacent elements; a distance may be zero (the axis repeats one element) or negative. [Copy]
// sorts the axes by the destination's strides and merges contiguous ones. It then copies runs of
// bytes if both sides are contiguous, square blocks if one side is the transpose of the other (so
// that neither side's cache lines are read twice), and single elements otherwise. Large copies are
// divided among workers.
package strided
