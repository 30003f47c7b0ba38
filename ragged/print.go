package ragged

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// How many elements are printed, and of which rows, follows NumPy's settings for
// arrays (numpy.set_printoptions).
const (
	printThreshold = 1000 // tensors with more elements are abbreviated
	printEdge      = 3    // number of elements then shown at each end of a row
	printWidth     = 75
	printLongest   = 72 // runes of a string
)

var _ fmt.Formatter = (*Tensor)(nil)

// String returns the rows as nested lists, followed by the element type and shape, with "~" for
// ragged dimensions: "[[3 1] [] [5]] int64[3, ~]". If there are more than 1000 elements or rows,
// only the first and last three entries of each row are printed. A symbolic tensor prints as its
// Spec.
func (t *Tensor) String() string { return fmt.Sprint(t) }

// Format prints the tensor for the verbs v and s as String does. A plus flag
// prints all elements.
func (t *Tensor) Format(s fmt.State, verb rune) {
	switch {
	case t == nil:
		io.WriteString(s, "<nil>")
		return
	case verb != 'v' && verb != 's':
		fmt.Fprintf(s, "%%!%c(*ragged.Tensor=%v)", verb, t.described())
		return
	}
	p, ok := newPrinter(t, s.Flag('+'))
	if !ok {
		fmt.Fprintf(s, "ragged %v", t.described())
		return
	}
	text := p.list(0, 0, p.parts[0].nrows, " ")
	if flat := strings.Join(strings.Fields(text), " "); len(flat) <= printWidth && t.DType() != dtype.String {
		text = flat
	}
	io.WriteString(s, text+" "+t.described().String())
}

// printer lays a concrete tensor out.
type printer struct {
	parts []extent
	dims  []int // of the flat values
	short bool
	word  func(i int) string
}

// extent gives the positions of the rows of a partition; without splits, all have
// equal length.
type extent struct {
	splits        []int64
	nrows, length int
}

// row returns where row i starts, and its length.
func (e extent) row(i int) (start, n int) {
	if e.splits == nil {
		return i * e.length, e.length
	}
	return int(e.splits[i]), int(e.splits[i+1] - e.splits[i])
}

func newPrinter(t *Tensor, full bool) (*printer, bool) {
	flat, ok := op.Known(t.flat)
	if _, own := t.flat.(tensor.Plainer); own && !ok {
		flat, ok = t.flat, t.flat.Shape().IsFull()
	}
	if !ok {
		return nil, false
	}
	p := &printer{dims: flat.Shape().Dims(), short: !full && flat.Shape().Size() > printThreshold, word: words(flat, full)}
	for _, n := range p.dims {
		p.short = p.short || !full && n > printThreshold
	}
	for _, q := range t.parts {
		e := extent{nrows: q.spec.nrows, length: q.spec.length}
		if !q.spec.uniform || e.nrows < 0 || e.length < 0 {
			s, ok := q.Splits64()
			if !ok {
				return nil, false
			}
			e = extent{splits: s, nrows: len(s) - 1}
		}
		p.short = p.short || !full && e.nrows > printThreshold
		p.parts = append(p.parts, e)
	}
	return p, p.word != nil
}

// list formats n entries of a dimension, starting with entry first.
func (p *printer) list(dim, first, n int, indent string) string {
	var b strings.Builder
	b.WriteByte('[')
	last := dim == len(p.parts)+len(p.dims)-1
	line := len(indent)
	for i := 0; i < n; i++ {
		if p.short && n > 2*printEdge && i == printEdge {
			i = n - printEdge
			b.WriteString(" ...")
			line += 4
		}
		text := ""
		if last {
			text = p.word(first + i)
		} else {
			text = p.entry(dim, first+i, indent+" ")
		}
		switch {
		case i == 0:
		case !last || line+1+len(text) > printWidth:
			b.WriteString("\n" + indent)
			line = len(indent)
		default:
			b.WriteByte(' ')
			line++
		}
		line += len(text)
		b.WriteString(text)
	}
	b.WriteByte(']')
	return b.String()
}

// entry formats the list that is entry i of a dimension.
func (p *printer) entry(dim, i int, indent string) string {
	if dim < len(p.parts) {
		first, n := p.parts[dim].row(i)
		return p.list(dim+1, first, n, indent)
	}
	n := p.dims[dim-len(p.parts)+1]
	return p.list(dim+1, i*n, n, indent)
}

// words returns the text of each element.
func words(t tensor.Tensor, full bool) func(i int) string {
	if s, ok := t.(*tensor.Strings); ok {
		return func(i int) string { return quoted(s.At(i), full) }
	}
	d, ok := t.(*tensor.Dense)
	if p, own := t.(tensor.Plainer); own && t.Shape().Rank() == 1 {
		x, err := p.Plain()
		if list, ok := x.([]any); ok && err == nil {
			return func(i int) string { return fmt.Sprint(list[i]) }
		}
	}
	if !ok {
		return nil
	}
	return func(i int) string {
		switch x := tenon.Must(tensor.Plain(d.View(i, shape.Of(), nil))).(type) {
		case float32:
			return shortest(float64(x), 32)
		case float64:
			return shortest(x, 64)
		case dtype.F16:
			return shortest(float64(x.Float32()), 32)
		case dtype.BF16:
			return shortest(float64(x.Float32()), 32)
		default:
			return fmt.Sprint(x)
		}
	}
}

// shortest returns the fewest digits that identify a number, with a point.
func shortest(x float64, bits int) string {
	s := strconv.FormatFloat(x, 'g', -1, bits)
	if a := max(x, -x); a >= 1e-4 && a < 1e16 || x == 0 {
		s = strconv.FormatFloat(x, 'f', -1, bits)
	}
	switch {
	case x != x:
		return "nan"
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	case strings.ContainsAny(s, ".e"):
		return s
	}
	return s + "."
}

func quoted(s string, full bool) string {
	if full || utf8.RuneCountInString(s) <= printLongest {
		return strconv.Quote(s)
	}
	n := 0
	for i := range s {
		if n++; n > printLongest {
			s = s[:i]
			break
		}
	}
	return strconv.Quote(s) + "…"
}

// String returns the row splits, or the number and length of uniform rows.
func (p *RowPartition) String() string {
	if s, ok := p.Splits64(); ok && p.uniform == nil && len(s) <= 2*printEdge+10 {
		return fmt.Sprintf("rows%v", s)
	}
	return tenon.String(p.spec)
}
