package segment

import "reflect"

// movers are the vector kernels that move rows without interpreting their elements. Sizes are in
// bytes; item is the size of one unit of a split. Kernels whose names end in Past use non-temporal
// stores.
type movers struct {
	fence func() // orders non-temporal stores

	stream func(dst, src *byte, lines int)

	// pad and unpad handle rows of up to 64 bytes (entry 0) and up to 128 bytes (entry 1).
	pad       [2]func(dst, src *byte, splits *int64, rows, item, width int, fill *byte)
	padPast   [2]func(dst, src *byte, splits *int64, rows, item, width int, fill, stage *byte) int
	unpad     [2]func(dst, src *byte, splits *int64, rows, item, width int)
	unpadPast [2]func(dst, src *byte, splits *int64, rows, item, width int, stage *byte) int

	// fillUp extends rows to a width of up to 128 bytes.
	fillUp     func(dst, src *byte, splits *int64, rows, item, width int)
	fillUpPast func(dst, src *byte, splits *int64, rows, item, width int, stage *byte) int

	// lookUp finds the rows that gather copies.
	lookUp func(out, starts, splits, idx *int64, rows, ahead, count int, total int64) int

	gather     func(dst, src *byte, splits, starts *int64, rows, ahead, item, limit int)
	gatherPast func(dst, src *byte, splits, starts *int64, rows, ahead, item, limit int, stage *byte) int

	// gatherWords is a faster gather for rows of four-byte words. It may be nil.
	gatherWords     func(dst, src *byte, splits, starts *int64, rows, ahead, item, limit int)
	gatherWordsPast func(dst, src *byte, splits, starts *int64, rows, ahead, item, limit int, stage *byte) int

	zip     func(dst *byte, parts **byte, count, row, rows, item int)
	zipPast func(dst *byte, parts **byte, count, row, rows, item int, stage *byte) int

	// stride picks items out of strideWords words at a time.
	strideWords int
	stride      func(dst, src *byte, splits, starts *int64, rows, item, offset, each, by int, words *int32)
	stridePast  func(dst, src *byte, splits, starts *int64, rows, item, offset, each, by int, words *int32, stage *byte) int

	// repeat is for elements of 4 bytes (entry 0) and 8 bytes (entry 1).
	repeat     [2]func(dst, perRow *byte, splits *int64, rows int)
	repeatPast [2]func(dst, perRow *byte, splits *int64, rows int, stage *byte) int

	// add, sub, shift and rising work on splits. rising returns how many leading pairs of
	// neighbours do not decrease; longest updates maximal lengths with groups of eight rows.
	// shiftPast uses non-temporal stores, to whole 64-byte lines.
	add, sub         func(dst, x, y *int64, n int)
	shift, shiftPast func(dst, x *int64, n int, y int64)
	rising           func(x *int64, n int) int
	longest          func(out, splits *int64, n int)

	// accumulate computes running sums of lengths in groups of eight. It returns a negative number
	// if a length is not between 0 and most, or if a sum overflows.
	accumulate func(out, lengths *int64, n int, sum, most int64) int64

	rowIDs, offsets         func(dst *byte, splits *int64, row, rows int)
	rowIDsPast, offsetsPast func(dst *byte, splits *int64, row, rows int, stage *byte) int
}

// moversFor returns the movers in use for elements of type T. It returns nil if there are none, or
// if T may hold pointers, because the kernels have no write barriers.
func moversFor[T any]() *movers {
	k := reflect.TypeFor[T]().Kind()
	if k < reflect.Bool || k > reflect.Complex128 {
		return nil
	}
	return vectorsNow()
}

// vectorsNow returns the movers in use, or nil.
func vectorsNow() *movers { return table.Now().movers }
