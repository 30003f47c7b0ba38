package tensor

import (
	"strings"

	"github.com/tenonml/tenon/shape"
)

// NumPy's default settings for printing arrays (numpy.set_printoptions).
const (
	threshold        = 1000 // arrays with more elements are abbreviated
	edgeItems        = 3    // number of elements then shown at each end of an axis
	lineWidth        = 75
	defaultPrecision = 8
)

// layout says which elements of an array are shown, and where.
type layout struct {
	dims  []int
	short bool // long axes are abbreviated
}

func newLayout(s shape.Shape, full bool) *layout {
	return &layout{dims: s.Dims(), short: !full && s.Size() > threshold}
}

// abbreviated reports whether the middle of an axis is left out.
func (l *layout) abbreviated(axis int) bool { return l.short && l.dims[axis] > 2*edgeItems }

// each calls f with the index of each element that is shown, in row-major order.
func (l *layout) each(f func(index []int)) {
	for _, n := range l.dims {
		if n == 0 {
			return
		}
	}
	index := make([]int, len(l.dims))
	l.walk(0, index, f)
}

func (l *layout) walk(axis int, index []int, f func([]int)) {
	if axis == len(l.dims) {
		f(index)
		return
	}
	for i := 0; i < l.dims[axis]; i++ {
		if i == edgeItems && l.abbreviated(axis) {
			i = l.dims[axis] - edgeItems
		}
		index[axis] = i
		l.walk(axis+1, index, f)
	}
}

// render lays out the texts of the elements that are shown.
func (l *layout) render(words []string) string {
	if len(words) == 0 {
		return "[]"
	}
	r := renderer{layout: l, words: words}
	return r.axis(0, " ", lineWidth)
}

type renderer struct {
	*layout
	words []string // those not yet used
}

func (r *renderer) axis(axis int, indent string, width int) string {
	if axis == len(r.dims) {
		w := r.words[0]
		r.words = r.words[1:]
		return w
	}
	if axis == len(r.dims)-1 {
		return r.row(axis, indent, width)
	}
	var b strings.Builder
	b.WriteByte('[')
	between := strings.Repeat("\n", len(r.dims)-axis-1) + indent
	for i := 0; i < r.dims[axis]; i++ {
		if i > 0 {
			b.WriteString(between)
		}
		if i == edgeItems && r.abbreviated(axis) {
			i = r.dims[axis] - edgeItems
			b.WriteString("...")
			b.WriteString(between)
		}
		b.WriteString(r.axis(axis+1, indent+" ", width-1))
	}
	b.WriteByte(']')
	return b.String()
}

// row lays out the last axis, breaking lines that are too long.
func (r *renderer) row(axis int, indent string, width int) string {
	var b strings.Builder
	line := indent
	add := func(word string) {
		if len(line)+len(word) > width-1 && line != indent {
			b.WriteString(strings.TrimRight(line, " "))
			b.WriteByte('\n')
			line = indent
		}
		line += word
	}
	for i := 0; i < r.dims[axis]; i++ {
		if i == edgeItems && r.abbreviated(axis) {
			i = r.dims[axis] - edgeItems
			add("...")
			line += " "
		}
		add(r.axis(axis+1, indent+" ", width-1))
		if i < r.dims[axis]-1 {
			line += " "
		}
	}
	b.WriteString(line)
	return "[" + b.String()[len(indent):] + "]"
}

func spaces(n int) string { return strings.Repeat(" ", max(0, n)) }
