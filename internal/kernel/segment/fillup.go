package segment

import "encoding/binary"

// FillUpSplits writes to out, which has rows+1 entries, the row splits after shorter rows are
// extended to width. The sum of the lengths must fit into int64.
func FillUpSplits(out, splits []int64, width int) {
	if len(out) == 0 {
		return
	}
	at := int64(0)
	out[0] = 0
	for r, start := range splits[:len(out)-1] {
		at += max(splits[r+1]-start, int64(width))
		out[r+1] = at
	}
}

// FillUp writes each row to out and extends rows of fewer than width items with zeros. outSplits
// comes from [FillUpSplits]; out has outSplits[rows] items of inner bytes each, like those of
// values.
func FillUp(out []byte, outSplits []int64, values []byte, splits []int64, width, inner int) {
	plain := func(r int) {
		o := row(out, outSplits, r, inner)
		clear(o[copy(o, row(values, splits, r, inner)):])
	}
	k := vectorsNow()
	if k == nil || len(out) < worthVectors || width*inner > readRoom {
		eachRows(outSplits, inner, func(lo, hi int) {
			for r := lo; r < hi; r++ {
				plain(r)
			}
		})
		return
	}
	src := values[:0:cap(values)]
	safe := reachable(splits, 0, rowsOf(splits), inner, cap(src))
	m := mover{
		out:    out,
		splits: outSplits,
		item:   inner,
		kernel: func(dst *byte, lo, hi int) { k.fillUp(dst, &src[:1][0], &splits[lo], hi-lo, inner, width*inner) },
		past: func(dst *byte, lo, hi int, stage *byte) int {
			return k.fillUpPast(dst, &src[:1][0], &splits[lo], hi-lo, inner, width*inner, stage)
		},
		plain: plain,
	}
	eachRows(outSplits, inner, func(lo, hi int) {
		m.run(lo, min(hi, safe))
		for r := max(lo, safe); r < hi; r++ {
			plain(r)
		}
	})
}

// Present writes, for each entry of rows that were extended or cut, whether the entry is an
// original one. splits are the original row splits, outSplits the present ones, or nil if all
// rows are width long.
func Present(out []bool, outSplits, splits []int64, width int) {
	rows := rowsOf(splits)
	begin := func(r int) int {
		if outSplits == nil {
			return r * width
		}
		return int(outSplits[r])
	}
	b := viewAs[byte](out)
	eachSpan(rows, max(1, len(out)/max(rows, 1)), func(lo, hi int) {
		// Stores may spill into the rows that follow, but not beyond the rows of this range.
		const atOnce = 24
		at, limit := begin(lo), begin(hi)-atOnce
		for r := lo; r < hi; r++ {
			n, end := int(splits[r+1]-splits[r]), begin(r+1)
			if at <= limit && end-at <= atOnce {
				o := b[at:][:atOnce]
				binary.LittleEndian.PutUint64(o, truths(n))
				binary.LittleEndian.PutUint64(o[8:], truths(n-8))
				binary.LittleEndian.PutUint64(o[16:], truths(n-16))
			} else {
				o := out[at:end]
				for i := range o {
					o[i] = i < n
				}
			}
			at = end
		}
	})
}

// truths returns a word whose first n bytes (at most all 8) are 1 and whose others are 0.
func truths(n int) uint64 {
	return 0x0101010101010101 & (1<<(8*uint(min(max(n, 0), 8))) - 1)
}
