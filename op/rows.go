package op

import "github.com/tenonml/tenon/dtype"

// RowPart says what a tensor has one element for, in an operation on consecutive rows.
type RowPart uint8

// The parts of rows.
const (
	PerValue RowPart = iota // each value of each row
	PerRow                  // each row
	Nothing                 // there is no such tensor
)

// A RowLoop is an operation on rows that can run on some of them at a time, such as a reduction of
// each row, or one that repeats an element of each row.
type RowLoop struct {
	From  RowPart     // what the first tensor argument has elements for; Nothing if that is the splits
	To    RowPart     // what the result has elements for
	DType dtype.DType // of the result's elements

	// Run computes the rows that splits divide; the first one begins at 0. src and dst are the
	// elements of those rows. Memory after src up to its capacity may be read, and memory after dst
	// may be overwritten. Run returns false if the rows cannot be computed this way.
	Run func(dst, src []byte, splits []int64) bool
}
