package segment

import "unsafe"

// repeatVectorised is [Repeat] for inner size 1 by vector kernels; it reports whether they can do
// it.
func repeatVectorised[T any](out, perRow []T, splits []int64) bool {
	k := moversFor[T]()
	size := int(unsafe.Sizeof(*new(T)))
	if k == nil || len(out) < worthVectors || size != 4 && size != 8 {
		return false
	}
	kernel, past := k.repeat[size/4-1], k.repeatPast[size/4-1]
	own := bytesOf(perRow)
	eachRows(splits, 1, (&mover{
		out:    bytesOf(out),
		splits: splits,
		item:   size,
		kernel: func(dst *byte, lo, hi int) { kernel(dst, &own[lo*size], &splits[lo], hi-lo) },
		past: func(dst *byte, lo, hi int, stage *byte) int {
			return past(dst, &own[lo*size], &splits[lo], hi-lo, stage)
		},
		plain: func(r int) {
			o, v := row(out, splits, r, 1), perRow[r]
			eachSpan(len(o), 1, func(lo, hi int) {
				for i := range o[lo:hi] {
					o[lo+i] = v
				}
			})
		},
	}).run)
	return true
}

// numbering is a pair of kernels that number values, and a function that numbers the values of one
// row.
type numbering struct {
	kernel func(dst *byte, splits *int64, row, rows int)
	past   func(dst *byte, splits *int64, row, rows int, stage *byte) int
	number func(r, i int) int64
}

// run writes the numbers of all values.
func (n numbering) run(out, splits []int64) {
	eachRows(splits, 1, (&mover{
		out:    bytesOf(out),
		splits: splits,
		item:   8,
		kernel: func(dst *byte, lo, hi int) { n.kernel(dst, &splits[lo], lo, hi-lo) },
		past: func(dst *byte, lo, hi int, stage *byte) int {
			return n.past(dst, &splits[lo], lo, hi-lo, stage)
		},
		plain: func(r int) {
			o := out[splits[r]:splits[r+1]]
			eachSpan(len(o), 1, func(lo, hi int) {
				for i := lo; i < hi; i++ {
					o[i] = n.number(r, i)
				}
			})
		},
	}).run)
}
