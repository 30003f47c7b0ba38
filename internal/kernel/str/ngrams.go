package str

import (
	"errors"
	"strconv"
)

// NGramOptions say which n-grams are made from each row.
type NGramOptions struct {
	Widths    []int  // widths of the n-grams, each at least 1; each row has all n-grams of the first width first
	Separator string // between the strings of an n-gram

	// Left and Right pad the two ends of each row, PadWidth times, but at most width-1 times. A
	// PadWidth of 0 means no padding, -1 means width-1.
	Left, Right string
	PadWidth    int

	// PreserveShort makes a row that is not empty but too short for any n-gram produce one n-gram
	// of all its strings, including padding.
	PreserveShort bool
}

// NGrams returns, for each row of x, the sequences of adjacent strings joined into one string.
// outSplits receives their row splits and is as long as splits.
func NGrams(outSplits []int64, x Column, splits []int64, o NGramOptions) (grams Column, err error) {
	for _, w := range o.Widths {
		if w < 1 {
			return Column{}, errors.New("the width of n-grams must be at least 1, not " + strconv.Itoa(w))
		}
	}
	if o.PadWidth < -1 {
		return Column{}, errors.New("the padding width must be at least -1, not " + strconv.Itoa(o.PadWidth))
	}
	return build(max(len(splits)-1, 0), outSplits, ngramRows{x, splits, o}, func(b *builder, r int, with ngramRows) error {
		row, o := with.row(r), &with.o
		before := len(b.offsets)
		for _, w := range o.Widths {
			row.pad(w)
			for at := 0; at+w <= row.n+2*row.padding; at++ {
				row.join(b, at, w)
			}
		}
		if o.PreserveShort && len(b.offsets) == before && row.n > 0 && len(o.Widths) > 0 {
			row.pad(o.Widths[0])
			row.join(b, 0, row.n+2*row.padding)
		}
		return nil
	})
}

// ngramRows is the arguments of a chunk of [NGrams].
type ngramRows struct {
	x      Column
	splits []int64
	o      NGramOptions
}

func (w *ngramRows) row(r int) ngramRow {
	return ngramRow{x: w.x, o: &w.o, first: int(w.splits[r]), n: int(w.splits[r+1] - w.splits[r])}
}

type ngramRow struct {
	x        Column
	o        *NGramOptions
	first, n int
	padding  int // number of padding strings on each side
}

func (r *ngramRow) pad(width int) {
	r.padding = width - 1
	if r.o.PadWidth >= 0 {
		r.padding = min(r.padding, r.o.PadWidth)
	}
}

// join writes the n-gram that begins at position at of the padded row.
func (r *ngramRow) join(b *builder, at, width int) {
	for i := at; i < at+width; i++ {
		if i > at {
			b.bytes = append(b.bytes, r.o.Separator...)
		}
		switch j := i - r.padding; {
		case j < 0:
			b.bytes = append(b.bytes, r.o.Left...)
		case j >= r.n:
			b.bytes = append(b.bytes, r.o.Right...)
		default:
			b.bytes = append(b.bytes, r.x.At(r.first+j)...)
		}
	}
	b.end()
}
