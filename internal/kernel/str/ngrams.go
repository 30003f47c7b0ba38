package str

import (
	"errors"
	"strconv"
)

// NGramOptions say which n-grams of a row are made.
type NGramOptions struct {
	Widths    []int  // of the n-grams, each at least 1; those of one width come first in each row
	Separator string // between the strings of an n-gram

	// Left and Right are put in front of and behind each row as often as PadWidth
	// says, but at most width-1 times. PadWidth 0 puts none, -1 width-1.
	Left, Right string
	PadWidth    int

	// PreserveShort gives a row that is not empty and has no n-grams of any width
	// one n-gram of all its strings, padding included.
	PreserveShort bool
}

// NGrams returns, for each row of x, the sequences of neighbouring strings joined
// into one string. outSplits gets their row splits; it is as long as splits.
func NGrams(outSplits []int64, x Column, splits []int64, o NGramOptions) (grams Column, err error) {
	for _, w := range o.Widths {
		if w < 1 {
			return Column{}, errors.New("an n-gram has at least 1 string, not " + strconv.Itoa(w))
		}
	}
	if o.PadWidth < -1 {
		return Column{}, errors.New("the padding is at least 1 string wide, not " + strconv.Itoa(o.PadWidth))
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

// ngramRows is what [NGrams] makes n-grams of.
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
	padding  int // on each side
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
