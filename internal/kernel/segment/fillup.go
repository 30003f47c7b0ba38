package segment

import "encoding/binary"

// FillUpSplits writes the row splits of rows that are made at least width long to out, which
// has rows+1 entries. Their sum may not exceed int64.
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

// FillUp writes each row to out, and zeros behind rows of fewer than width items. outSplits
// comes from [FillUpSplits], out has outSplits[rows] items of inner bytes, as values has.
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

// Present writes for each entry of rows that were made longer or shorter whether it was there
// before: outSplits are those of the rows now, or nil where all are width long, and splits those
// they had.
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
		// Words are written over the beginnings of the next rows, but not of others' rows.
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

// truths returns a word of which the first n bytes, up to all, are 1 and the others 0.
func truths(n int) uint64 {
	return 0x0101010101010101 & (1<<(8*uint(min(max(n, 0), 8))) - 1)
}
