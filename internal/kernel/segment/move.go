package segment

// movers are the vector kernels that move rows without looking at their elements.
// Sizes are in bytes; item is what one unit of a split stands for.
type movers struct {
	stream func(dst, src *byte, lines int)

	// pad and unpad are for rows of up to 64 and up to 128 bytes.
	pad   [2]func(dst, src *byte, splits *int64, rows, item, width int, fill *byte)
	unpad [2]func(dst, src *byte, splits *int64, rows, item, width int)

	gather      gatherKernel
	gatherWords gatherKernel // faster, for rows of four-byte words; may be nil
	zip         func(dst *byte, parts **byte, count, row, rows, item int)

	// repeat is for elements of 1, 2, 4 and 8 bytes.
	repeat [4]func(dst, perRow *byte, splits *int64, rows int)

	rowIDs, offsets func(dst, splits *int64, row, rows int)
}

type gatherKernel = func(dst, src *byte, splits, idx *int64, rows, ahead, item, limit int)

// vectorsNow returns the movers in use, nil where there are none.
func vectorsNow() *movers { return moversByLevel[level] }

// logSize returns the logarithm of an element's size, and false for sizes that
// kernels for elements do not know.
func logSize(size uintptr) (int, bool) {
	switch size {
	case 1:
		return 0, true
	case 2:
		return 1, true
	case 4:
		return 2, true
	case 8:
		return 3, true
	}
	return 0, false
}
