package formats

import (
	"encoding/json"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/tenonml/tenon/structured"
)

var tableFormat = &Format{
	Name:   "table",
	Create: func(w io.Writer, o WriteOptions) (RowWriter, error) { return &table{w: w, o: o}, nil },
}

// table writes aligned columns below their names and types. Widths are determined by the first batch;
// columns without room are named below the table.
type table struct {
	w      io.Writer
	o      WriteOptions
	widths []int
	right  []bool
	fit    int
	left   []string // names of columns without room
}

// Sizes of tables.
const (
	cellMost  = 60 // characters of a cell
	cellLeast = 8  // to which columns are narrowed if there is little room
)

// Write adds records.
func (x *table) Write(t *structured.Tensor) error {
	head, rows, err := Cells(t, x.o)
	if err != nil {
		return err
	}
	for _, r := range rows {
		for i := range r {
			r[i] = Printable(Unquoted(r[i]))
		}
	}
	var b strings.Builder
	if x.widths == nil {
		types := Types(t)
		for i := range head {
			head[i] = Printable(head[i])
		}
		x.measure(head, types, rows)
		x.row(&b, head, "1")
		x.row(&b, types, "2")
	}
	for _, r := range rows {
		x.row(&b, r, "")
	}
	_, err = io.WriteString(x.w, b.String())
	return err
}

// measure determines the widths.
func (x *table) measure(head, types []string, rows [][]string) {
	x.widths, x.right = make([]int, len(head)), make([]bool, len(head))
	for i := range head {
		x.right[i] = strings.HasPrefix(strings.TrimPrefix(types[i], "?"), "int") || strings.HasPrefix(strings.TrimPrefix(types[i], "?"), "float") || strings.HasPrefix(types[i], "uint")
		x.widths[i] = max(1, uniseg.StringWidth(head[i]), min(uniseg.StringWidth(types[i]), 24))
		for _, r := range rows {
			if i < len(r) {
				x.widths[i] = max(x.widths[i], uniseg.StringWidth(r[i]))
			}
		}
		x.widths[i] = min(x.widths[i], cellMost)
	}
	x.fit = len(head)
	if x.o.Width == 0 {
		return
	}
	total := func() (n int) {
		for _, w := range x.widths[:x.fit] {
			n += w + 2
		}
		return n - 2
	}
	for total() > x.o.Width { // the widest are narrowed first
		widest := 0
		for i, w := range x.widths[:x.fit] {
			if w > x.widths[widest] {
				widest = i
			}
		}
		if x.widths[widest] > cellLeast {
			x.widths[widest]--
		} else if x.fit > 1 {
			x.fit--
		} else {
			break
		}
	}
	x.left = head[x.fit:]
}

func (x *table) row(b *strings.Builder, cells []string, style string) {
	var line strings.Builder
	for i := range min(x.fit, len(cells)) {
		text := Cut(cells[i], x.widths[i])
		pad := strings.Repeat(" ", max(0, x.widths[i]-uniseg.StringWidth(text)))
		if i > 0 {
			line.WriteString("  ")
		}
		if x.right[i] {
			line.WriteString(pad + text)
		} else {
			line.WriteString(text + pad)
		}
	}
	text := strings.TrimRight(line.String(), " ")
	if x.o.Colour && style != "" {
		text = "\x1b[" + style + "m" + text + "\x1b[0m"
	}
	b.WriteString(text + "\n")
}

// Close names the columns that were left out.
func (x *table) Close() error {
	if len(x.left) == 0 {
		return nil
	}
	_, err := io.WriteString(x.w, "and "+strings.Join(x.left, ", ")+"\n")
	return err
}

// Types returns the types of the fields of a record, as datashapes.
func Types(t *structured.Tensor) []string {
	out := make([]string, len(t.FieldNames()))
	s, ok := t.Spec().(*structured.Spec)
	if !ok {
		return out
	}
	for i, f := range s.Fields() {
		out[i] = structured.Datashape(f.Spec)
		if _, of, ok := strings.Cut(out[i], " * "); ok && s.Rank() > 0 {
			out[i] = of
		}
	}
	return out
}

// Unquoted returns a JSON text for reading: strings without quotes, and nothing for null.
func Unquoted(cell string) string {
	switch {
	case cell == "null":
		return ""
	case strings.HasPrefix(cell, `"`):
		var s string
		if json.Unmarshal([]byte(cell), &s) == nil {
			return s
		}
	}
	return cell
}

// Printable returns a text without characters that would move a terminal's cursor or change its
// colours.
func Printable(s string) string {
	plain := true
	for _, r := range s {
		if unicode.IsControl(r) || r == utf8.RuneError || unicode.Is(unicode.Bidi_Control, r) {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString("⏎")
		case r == '\t':
			b.WriteByte(' ')
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			b.WriteString("�")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Cut shortens a text to a width.
func Cut(s string, width int) string {
	if uniseg.StringWidth(s) <= width {
		return s
	}
	var b strings.Builder
	at := 0
	g := uniseg.NewGraphemes(s)
	for g.Next() {
		if at += g.Width(); at > width-1 {
			break
		}
		b.WriteString(g.Str())
	}
	return b.String() + "…"
}
