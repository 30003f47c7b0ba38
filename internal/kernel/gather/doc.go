// Package gather moves rows of a slice by index: gathering, scattering, masks and the positions of
// nonzero elements.
//
// A row is width consecutive elements; an index counts rows. Functions that only
// move elements take any type; numbers and booleans are moved by their size, so one
// call serves all element types of that size. Outputs are passed in and do not
// overlap inputs.
//
// Every function that takes indices checks them before it writes anything and returns an
// [*IndexError] for the first one out of range. A negative index is out of range; if an operation
// lets indices count from the end, its caller adds the size first.
//
// A mask can be indexed once, as a [Bitmap], which then tells how many elements before any position
// are true. Several workers need this to compact at the same time, and these numbers are the row
// splits of a compacted ragged value.
//
// Large gathers prefetch the rows ahead, because a row that is not in cache costs
// as much as moving some hundred bytes.
package gather
