package named

import (
	"fmt"
	"html"
	"strings"

	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// The number of positions along a dimension up to which all are shown in HTML; of longer
// ones the first and the last few are.
const (
	htmlLong = 12
	htmlEnd  = 5
	htmlMost = 20 // tables
)

// HTML returns a table of the tensor for a notebook or a page: its names and sizes, and the
// elements, with the last dimension from left to right, the one before from top to bottom,
// and a table for each position along the others. Long dimensions are cut in the middle.
// Rows of different lengths, and texts, are shown as they are printed. It is a fragment
// without a style of its own: a section of class "tenon".
func (t *Tensor) HTML() string {
	var b strings.Builder
	b.WriteString(`<section class="tenon"><p><code>` + html.EscapeString(t.header()) + "</code></p>\n")
	if t != nil {
		data, _ := op.Known(t.data)
		if d, ok := data.(*tensor.Dense); ok {
			h := htmlTable{b: &b, l: t.spec.names, d: d, at: make([]int, d.Rank())}
			h.tables(0)
		} else if text := strings.TrimSpace(strings.TrimPrefix(t.String(), t.header())); text != "" {
			b.WriteString("<pre>" + html.EscapeString(text) + "</pre>\n") // rows of different lengths, texts
		}
	}
	return b.String() + "</section>\n"
}

// An htmlTable writes the tables of a tensor.
type htmlTable struct {
	b    *strings.Builder
	l    *layout
	d    *tensor.Dense
	at   []int // positions along dimensions
	made int
}

// shown returns the positions along a dimension that are shown; -1 stands for those
// between.
func shown(n int) []int {
	var out []int
	for i := range n {
		switch {
		case n <= htmlLong || i < htmlEnd || i >= n-htmlEnd:
			out = append(out, i)
		case i == htmlEnd:
			out = append(out, -1)
		}
	}
	return out
}

// tables writes a table for each position along the dimensions from axis on, but the
// last two.
func (h *htmlTable) tables(axis int) {
	rank := h.d.Rank()
	if axis >= rank-2 {
		h.table()
		return
	}
	for _, i := range shown(h.d.Dim(axis)) {
		if h.made >= htmlMost {
			h.b.WriteString("<p>…</p>\n")
			return
		}
		if i < 0 {
			h.b.WriteString("<p>⋮</p>\n")
			continue
		}
		h.at[axis] = i
		h.tables(axis + 1)
	}
}

func (h *htmlTable) table() {
	if h.made++; h.made > htmlMost {
		return
	}
	rank := h.d.Rank()
	h.b.WriteString("<table>")
	var caption []string
	for a := range max(rank-2, 0) {
		caption = append(caption, fmt.Sprintf("%s = %d", h.name(a), h.at[a]))
	}
	if len(caption) > 0 {
		h.b.WriteString("<caption>" + strings.Join(caption, ", ") + "</caption>")
	}
	if rank > 0 {
		h.b.WriteString("\n<tr>")
		if rank > 1 {
			h.b.WriteString("<th>" + h.name(rank-2) + " \\ " + h.name(rank-1) + "</th>")
		} else {
			h.b.WriteString("<th>" + h.name(0) + "</th>")
		}
		for _, j := range shown(h.d.Dim(rank - 1)) {
			h.b.WriteString(cell("th", number(j)))
		}
		h.b.WriteString("</tr>")
	}
	if rank < 2 {
		h.row("")
	} else {
		for _, i := range shown(h.d.Dim(rank - 2)) {
			h.at[rank-2] = i
			h.row(number(i))
		}
	}
	h.b.WriteString("\n</table>\n")
}

// row writes the row of the position that at says; a row that stands for several is empty.
func (h *htmlTable) row(label string) {
	rank := h.d.Rank()
	h.b.WriteString("\n<tr>" + cell("th", label))
	if rank == 0 {
		h.b.WriteString(cell("td", h.element()))
	} else {
		for _, j := range shown(h.d.Dim(rank - 1)) {
			h.at[rank-1] = j
			if j < 0 || rank > 1 && h.at[rank-2] < 0 {
				h.b.WriteString(cell("td", "…"))
				continue
			}
			h.b.WriteString(cell("td", h.element()))
		}
	}
	h.b.WriteString("</tr>")
}

func (h *htmlTable) name(axis int) string { return html.EscapeString(h.l.text(h.l.ids[axis])) }

func number(i int) string {
	if i < 0 {
		return "…"
	}
	return fmt.Sprint(i)
}

func cell(tag, text string) string { return "<" + tag + ">" + text + "</" + tag + ">" }

// element returns the element at the position, as it is printed.
func (h *htmlTable) element() string {
	offset := 0
	for a, s := range h.d.Strides() {
		offset += h.at[a] * s
	}
	one := h.d.View(offset, shape.Of(), []int{})
	return html.EscapeString(strings.TrimSuffix(fmt.Sprint(one), " "+fmt.Sprint(one.Spec())))
}
