package segment

import "reflect"

// movers are the vector kernels that move rows without looking at their elements.
// Sizes are in bytes; item is what one unit of a split stands for. Those with Past in
// their names write past the cache.
type movers struct {
	fence func() // orders stores past the cache

	stream func(dst, src *byte, lines int)

	// pad and unpad are for rows of up to 64 and up to 128 bytes.
	pad       [2]func(dst, src *byte, splits *int64, rows, item, width int, fill *byte)
	padPast   [2]func(dst, src *byte, splits *int64, rows, item, width int, fill, stage *byte) int
	unpad     [2]func(dst, src *byte, splits *int64, rows, item, width int)
	unpadPast [2]func(dst, src *byte, splits *int64, rows, item, width int, stage *byte) int

	// fillUp is for rows that become at least so many bytes long, up to 128.
	fillUp     func(dst, src *byte, splits *int64, rows, item, width int)
	fillUpPast func(dst, src *byte, splits *int64, rows, item, width int, stage *byte) int

	// lookUp finds the rows that gather copies.
	lookUp func(out, starts, splits, idx *int64, rows, ahead, count int, total int64) int

	gather     func(dst, src *byte, splits, starts *int64, rows, ahead, item, limit int)
	gatherPast func(dst, src *byte, splits, starts *int64, rows, ahead, item, limit int, stage *byte) int

	// gatherWords is faster, for rows of four-byte words. It may be nil.
	gatherWords     func(dst, src *byte, splits, starts *int64, rows, ahead, item, limit int)
	gatherWordsPast func(dst, src *byte, splits, starts *int64, rows, ahead, item, limit int, stage *byte) int

	zip     func(dst *byte, parts **byte, count, row, rows, item int)
	zipPast func(dst *byte, parts **byte, count, row, rows, item int, stage *byte) int

	// stride picks from strideWords words at a time.
	strideWords int
	stride      func(dst, src *byte, splits, starts *int64, rows, item, offset, each, by int, words *int32)
	stridePast  func(dst, src *byte, splits, starts *int64, rows, item, offset, each, by int, words *int32, stage *byte) int

	// repeat is for elements of 4 and of 8 bytes.
	repeat     [2]func(dst, perRow *byte, splits *int64, rows int)
	repeatPast [2]func(dst, perRow *byte, splits *int64, rows int, stage *byte) int

	// add, sub, shift and rising are for splits; rising returns how many pairs of
	// neighbours do not fall, longest takes the lengths of whole groups of eight rows.
	// shiftPast writes past the cache, to lines of 64 bytes.
	add, sub         func(dst, x, y *int64, n int)
	shift, shiftPast func(dst, x *int64, n int, y int64)
	rising           func(x *int64, n int) int
	longest          func(out, splits *int64, n int)

	// accumulate adds lengths up, whole groups of eight; it returns a negative number where
	// one is not between 0 and most, or a sum overflows.
	accumulate func(out, lengths *int64, n int, sum, most int64) int64

	rowIDs, offsets         func(dst *byte, splits *int64, row, rows int)
	rowIDsPast, offsetsPast func(dst *byte, splits *int64, row, rows int, stage *byte) int
}

// moversFor returns the movers in use for elements of type T, nil where there are none
// or T may hold pointers: kernels do not tell the garbage collector about those.
func moversFor[T any]() *movers {
	k := reflect.TypeFor[T]().Kind()
	if k < reflect.Bool || k > reflect.Complex128 {
		return nil
	}
	return vectorsNow()
}

// vectorsNow returns the movers in use, nil where there are none.
func vectorsNow() *movers { return table.Now().movers }
