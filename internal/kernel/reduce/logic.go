package reduce

import (
	"bytes"

	"github.com/tenonml/tenon/internal/kernel/elementwise"
)

// anyTrue and allTrue take bools as bytes, 0 or 1, and stop at the first element that decides the
// result.

func anyTrue() *reducer[uint8, uint8, uint8] {
	return &reducer[uint8, uint8, uint8]{
		block:   func(x []uint8) uint8 { return found(bytes.IndexByte(x, 1)) },
		merge:   func(a, b uint8) uint8 { return a | b },
		finish:  func(a uint8, n int) uint8 { return a },
		columns: foldColumns[uint8](elementwise.BitwiseOr),
	}
}

func allTrue() *reducer[uint8, uint8, uint8] {
	return &reducer[uint8, uint8, uint8]{
		block:   func(x []uint8) uint8 { return 1 - found(bytes.IndexByte(x, 0)) },
		merge:   func(a, b uint8) uint8 { return a & b },
		finish:  func(a uint8, n int) uint8 { return a },
		empty:   1,
		columns: foldColumns[uint8](elementwise.BitwiseAnd),
	}
}

func found(i int) uint8 {
	if i < 0 {
		return 0
	}
	return 1
}

func countNonzero[T number]() *reducer[T, int64, int64] {
	return &reducer[T, int64, int64]{
		block: func(x []T) int64 {
			n := int64(0)
			for _, v := range x {
				if v != 0 {
					n++
				}
			}
			return n
		},
		merge:  func(a, b int64) int64 { return a + b },
		finish: func(a int64, n int) int64 { return a },
	}
}
