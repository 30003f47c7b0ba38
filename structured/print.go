package structured

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/tensor"
)

// Limits on what is printed: the number of rows, half of them from the end, the number of elements
// of a list, and the widths of cells and lines in characters.
const (
	shownRows  = 10
	shownItems = 8
	cellWidth  = 40
	lineWidth  = 120
)

// String returns the type and a table of the first and last rows. Fields that do not fit in a line
// are named below the table.
//
//	3 * {name: string, pets: var * string}
//	   name    pets
//	   string  var * string
//	0  "Ada"   ["cat", "dog"]
//	1  "Bo"    []
//	2  "Cy"    ["fish"]
//
// [Tensor.Format] prints all rows and fields.
func (t *Tensor) String() string { return t.text("%v") }

// Format prints the records for the verbs v and s as String does. A plus flag prints all rows and
// fields, with all of their contents.
func (t *Tensor) Format(s fmt.State, verb rune) { tensor.Format(s, verb, t, t.text) }

func (t *Tensor) text(verb string) string {
	long := verb == "%+v"
	g, ok := t.table(long)
	if !ok {
		return "symbolic " + t.typ().Datashape()
	}
	var b strings.Builder
	b.WriteString(t.typ().Datashape())
	widths := make([]int, len(g.head))
	for _, row := range append([][]string{g.head, g.types}, g.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	total, fit := 0, 0
	for fit < len(widths) && (long || fit < 2 || total+widths[fit] <= lineWidth) {
		total += widths[fit] + 2
		fit++
	}
	for _, row := range append([][]string{g.head, g.types}, g.rows...) {
		var line strings.Builder
		for i, cell := range row[:fit] {
			line.WriteString(cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		b.WriteString("\n" + strings.TrimRight(line.String(), " "))
	}
	if fit < len(g.head) {
		b.WriteString("\nand " + strings.Join(g.head[fit:], ", "))
	}
	return b.String()
}

// grid is a table as text, with a column for row numbers and one for each field.
type grid struct {
	head, types []string
	rows        [][]string
}

// table returns the table to print, in full if long is set, and false if there are no elements to
// print.
func (t *Tensor) table(long bool) (*grid, bool) {
	rows, cell := shownRows, cellOf
	if long {
		rows, cell = math.MaxInt, wholeCell
	}
	g := &grid{head: []string{""}, types: []string{""}}
	for _, f := range t.typ().Fields() {
		g.head = append(g.head, PathString([]string{f.Name}))
		typ := datashape(f.Spec, t.rank)
		if !long {
			typ = clipped(typ)
		}
		g.types = append(g.types, typ)
	}
	if !t.concrete() {
		return nil, false
	}
	if t.rank == 0 {
		row := []string{""}
		for _, c := range t.cols {
			row = append(row, cell(c.v()))
		}
		g.rows = append(g.rows, row)
		return g, true
	}
	n := known(t.nrows)
	var shown []int64
	for i := range min(n, rows) {
		if n > rows && i >= rows/2 {
			i += n - rows
		}
		shown = append(shown, int64(i))
	}
	some := ops.Gather(t, tensor.Vector(shown), 0).(*Tensor)
	for k, i := range shown {
		if k > 0 && i != shown[k-1]+1 {
			g.rows = append(g.rows, slices.Repeat([]string{"…"}, len(g.head)))
		}
		row := []string{strconv.FormatInt(i, 10)}
		for _, c := range some.cols {
			row = append(row, cell(pick(some.field(c), tensor.Scalar(int64(k)))))
		}
		g.rows = append(g.rows, row)
	}
	return g, true
}

// concrete reports whether all elements are known.
func (t *Tensor) concrete() bool {
	if t.rank > 0 && known(t.nrows) < 0 {
		return false
	}
	for _, p := range t.parts {
		if _, ok := p.Splits64(); !ok {
			return false
		}
	}
	for _, c := range t.cols {
		if c.wait == nil && !concrete(c.now) {
			return false
		}
	}
	return true
}

func concrete(v tensor.Tensor) bool {
	if list, _, ok := pieces(v); ok {
		return !slices.ContainsFunc(list, func(x tensor.Tensor) bool { return !concrete(x) })
	}
	if t, ok := v.(*Tensor); ok {
		return t.concrete()
	}
	parts, err := v.Spec().Disassemble(v)
	if err != nil || len(parts) == 0 {
		_, ok := op.Known(v)
		return ok
	}
	return !slices.ContainsFunc(parts, func(x tenon.Value) bool {
		y, ok := x.(tensor.Tensor)
		return ok && !concrete(y)
	})
}

// cellOf returns a value as text that fits in a cell.
func cellOf(v tensor.Tensor) string {
	x, err := tenon.Try(func() any { return plain(shortened(v)) })
	if err != nil {
		return clipped(fmt.Sprint(v))
	}
	var b strings.Builder
	writeCell(&b, x)
	return clipped(b.String())
}

// wholeCell returns a value as text, as JSON if possible.
func wholeCell(v tensor.Tensor) string {
	b, err := tensor.AppendJSON(nil, v)
	if err != nil {
		return strings.ReplaceAll(fmt.Sprintf("%+v", v), "\n", " ")
	}
	return string(b)
}

// shortened leaves one more element of each list than is shown.
func shortened(v tensor.Tensor) tensor.Tensor {
	if m, ok := v.(optional); ok && m.Shape().Rank() > m.Mask().Shape().Rank() {
		return v
	}
	var keys []any
	for i := range v.Shape().Rank() {
		if n := v.Shape().Dim(i); n < 0 || n > shownItems {
			for len(keys) < i {
				keys = append(keys, key.All)
			}
			keys = append(keys, key.To(shownItems+1))
		}
	}
	if len(keys) == 0 {
		return v
	}
	return ops.Index(v, keys...)
}

func clipped(s string) string {
	if utf8.RuneCountInString(s) <= cellWidth {
		return s
	}
	r := []rune(s)
	return string(r[:cellWidth-1]) + "…"
}

// writeCell writes nested data, and stops soon after reaching the width of a
// cell.
func writeCell(b *strings.Builder, x any) {
	switch x := x.(type) {
	case nil:
		b.WriteByte('-')
	case string:
		if len(x) > 4*cellWidth {
			x = x[:4*cellWidth]
		}
		b.WriteString(strconv.Quote(x))
	case []any:
		b.WriteByte('[')
		for i, y := range x {
			if i > 0 {
				b.WriteString(", ")
			}
			if i == shownItems || b.Len() > 4*cellWidth {
				b.WriteString("…")
				break
			}
			writeCell(b, y)
		}
		b.WriteByte(']')
	case map[string]any:
		b.WriteByte('{')
		for i, name := range slices.Sorted(maps.Keys(x)) {
			if i > 0 {
				b.WriteString(", ")
			}
			if b.Len() > 4*cellWidth {
				b.WriteString("…")
				break
			}
			b.WriteString(PathString([]string{name}) + ": ")
			writeCell(b, x[name])
		}
		b.WriteByte('}')
	case float64:
		b.WriteString(number(x, 64))
	case float32:
		b.WriteString(number(float64(x), 32))
	default:
		fmt.Fprint(b, x)
	}
}

// number writes a float so that it can be told from an integer.
func number(x float64, bits int) string {
	s := strconv.FormatFloat(x, 'g', -1, bits)
	if x == math.Trunc(x) && !math.IsInf(x, 0) && !strings.ContainsAny(s, "e.") {
		s += ".0"
	}
	return s
}
