package op

import "github.com/tenonml/tenon/dtype"

// RowPart says what a tensor has one element for, in an operation on rows that lie one
// behind the other.
type RowPart uint8

// What there can be elements for.
const (
	PerValue RowPart = iota // each value of each row
	PerRow                  // each row
	Nothing                 // there is no such tensor
)

// A RowLoop is an operation on rows, for some of them at a time: a reduction of each
// row, say, or one that repeats an element of each row.
type RowLoop struct {
	From  RowPart     // what the first tensor argument has elements for; Nothing where that is the splits
	To    RowPart     // what the result has elements for
	DType dtype.DType // of the result's elements

	// Run computes the rows that splits divide, of which the first begins at 0. src and
	// dst are the elements of those rows. What lies behind src up to its capacity may be
	// read, and what lies behind dst overwritten. It reports false where the rows cannot
	// be done this way.
	Run func(dst, src []byte, splits []int64) bool
}
