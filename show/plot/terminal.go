package plot

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// maxSide is the maximum number of rows and columns drawn in a terminal; in larger matrices,
// each cell shows the mean of several elements.
const maxSide = 64

// shades are the characters of a heat map without colours, from the smallest value to
// the largest.
var shades = []rune(" ░▒▓█")

// String draws the heat map with characters of different darkness, two for each element, with
// names and labels of rows and columns, and the scale below.
func (m *HeatMap) String() string {
	var b strings.Builder
	m.draw(&b, func(share float64, blank bool) string {
		if blank {
			return "··"
		}
		c := string(shades[min(int(share*float64(len(shades))), len(shades)-1)])
		return c + c
	})
	lines := strings.Split(b.String(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

// WriteANSI draws the heat map with colours, for a terminal that supports the 24-bit colours of
// ISO 8613-6.
func (m *HeatMap) WriteANSI(w io.Writer) error {
	c := m.colourMap()
	var b strings.Builder
	m.draw(&b, func(share float64, blank bool) string {
		col, err := c.At(c.Min() + share*(c.Max()-c.Min()))
		if blank || err != nil {
			return "··"
		}
		r, g, bl, _ := col.RGBA()
		return fmt.Sprintf("\x1b[48;2;%d;%d;%dm  \x1b[0m", r>>8, g>>8, bl>>8)
	})
	_, err := io.WriteString(w, b.String()+"\n")
	return err
}

func (m *HeatMap) draw(b *strings.Builder, cell func(share float64, blank bool) string) {
	rowStep, colStep := step(m.rows.size), step(m.cols.size)
	margin := utf8.RuneCountInString(m.rows.name)
	for i := 0; i < m.rows.size; i += rowStep {
		margin = max(margin, utf8.RuneCountInString(m.rows.label(i)))
	}
	if m.o.Title != "" {
		fmt.Fprintf(b, "%s\n", m.o.Title)
	}
	fmt.Fprintf(b, "%s  %s\n", pad(m.rows.name, margin), m.cols.name)
	fmt.Fprintf(b, "%s  %s\n", pad("", margin), m.header(colStep))
	for i := 0; i < m.rows.size; i += rowStep {
		fmt.Fprintf(b, "%s  ", pad(m.rows.label(i), margin))
		for j := 0; j < m.cols.size; j += colStep {
			share, ok := m.share(m.mean(i, j, rowStep, colStep))
			b.WriteString(cell(share, !ok))
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "%s  ", pad("", margin))
	for k := range len(shades) {
		b.WriteString(cell((float64(k)+0.5)/float64(len(shades)), false))
	}
	fmt.Fprintf(b, " %.4g … %.4g", m.min, m.max)
}

func step(n int) int { return (n + maxSide - 1) / maxSide }

func pad(s string, width int) string {
	return strings.Repeat(" ", max(width-utf8.RuneCountInString(s), 0)) + s
}

// header labels as many columns as there is room for.
func (m *HeatMap) header(step int) string {
	var b strings.Builder
	written := 0
	for j, at := 0, 0; j < m.cols.size; j, at = j+step, at+2 {
		l := m.cols.label(j)
		if at < written {
			continue
		}
		b.WriteString(strings.Repeat(" ", at-written) + l + " ")
		written = at + utf8.RuneCountInString(l) + 1
	}
	return strings.TrimRight(b.String(), " ")
}

// mean returns the mean of those elements of a cell that are finite.
func (m *HeatMap) mean(row, col, rows, cols int) float64 {
	sum, n := 0.0, 0
	for i := row; i < min(row+rows, m.rows.size); i++ {
		for j := col; j < min(col+cols, m.cols.size); j++ {
			if v := m.at(i, j); finite(v) {
				sum, n = sum+v, n+1
			}
		}
	}
	return sum / float64(n) // NaN if there are none
}
