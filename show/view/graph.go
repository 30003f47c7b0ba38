package view

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/markup"
	"github.com/tenonml/tenon/op"
)

// Sizes in the drawing of a graph.
const (
	charWidth  = 6.4
	lineHeight = 14.0
	boxHeight  = 36.0
	maxText    = 36 // characters of a Spec in a box; a title has all
)

// Graph draws a graph as an SVG: operations from top to bottom, each below what it reads, with the Specs
// of their results; the graphs of branches and loops stand within their operation. What a pointer over a
// box shows has attributes and the line of the program. Constants are left out.
func Graph(g *graph.Graph) string {
	d := draw(g)
	var w markup.Writer
	w.Open("svg", "xmlns", "http://www.w3.org/2000/svg", "viewBox", fmt.Sprintf("0 0 %.0f %.0f", d.w, d.h), "width", d.w, "height", d.h, "class", "tenon", "role", "img", "aria-label", "graph "+g.Name)
	d.write(&w)
	return w.End().Line().String()
}

// GraphFile is [Graph] with its style, as a file that needs no other.
func GraphFile(g *graph.Graph) string {
	svg := Graph(g)
	at := strings.IndexByte(svg, '>') + 1
	var w markup.Writer
	w.Open("style").Text(markup.Style()).End()
	return svg[:at] + w.String() + svg[at:]
}

// draw lays a graph out.
func draw(g *graph.Graph) *drawing {
	made := map[*graph.Value]*box{}
	var all []*box
	for i, p := range g.Params {
		name := "parameter " + strconv.Itoa(i)
		b := &box{class: "param", name: name, spec: tenon.String(p.Spec())}
		made[p] = b
		all = append(all, b)
	}
	for _, n := range g.Nodes {
		b := &box{class: "node", name: n.Op.Name, title: described(n)}
		var specs []string
		for _, o := range n.Outs {
			made[o] = b
			specs = append(specs, tenon.String(o.Spec()))
		}
		b.spec = strings.Join(specs, ", ")
		read := map[*box]bool{}
		n.EachInput(func(v *graph.Value) {
			if f := made[v]; f != nil && !read[f] {
				read[f] = true
				b.from = append(b.from, f)
			}
		})
		for _, r := range n.Regions() {
			b.inside = append(b.inside, draw(r))
		}
		all = append(all, b)
	}
	for i, v := range g.Outputs {
		b := &box{class: "param", name: "result " + strconv.Itoa(i), spec: tenon.String(v.Spec())}
		if f := made[v]; f != nil {
			b.from = []*box{f}
		}
		all = append(all, b)
	}
	for _, b := range all {
		b.measure()
	}
	return layout(g.Name, all)
}

// measure sets the size of a box: that of its texts, and of what is inside.
func (b *box) measure() {
	b.title = strings.TrimSpace(b.name + ": " + b.spec + "\n" + b.title)
	if r := []rune(b.spec); len(r) > maxText {
		b.spec = string(r[:maxText-1]) + "…"
	}
	b.w = max(60, charWidth*float64(max(utf8.RuneCountInString(b.name), utf8.RuneCountInString(b.spec)))+16)
	b.h = boxHeight
	side := margin
	for _, d := range b.inside {
		b.h = max(b.h, boxHeight+d.h+lineHeight+margin)
		side += max(d.w, charWidth*float64(utf8.RuneCountInString(d.name))) + margin
	}
	b.w = max(b.w, side)
}

// described is what is said of a node where there is room.
func described(n *graph.Node) string {
	var lines []string
	for i, a := range n.Args {
		if e, ok := op.EncodeAttr(a); ok && a != nil && n.Op.Params[i].Kind == op.Attr {
			lines = append(lines, n.Op.Params[i].Name+": "+tenon.EncodingText(e))
		}
	}
	if n.Line != "" {
		lines = append(lines, n.Line)
	}
	return strings.Join(lines, "\n")
}

// write draws edges below boxes.
func (d *drawing) write(w *markup.Writer) {
	for _, e := range d.edges {
		w.Void("path", "class", "edge", "d", e.path())
	}
	for _, b := range d.boxes {
		w.Open("g").Element("title", b.title)
		w.Void("rect", "class", b.class, "x", b.x, "y", b.y, "width", b.w, "height", b.h, "rx", 5)
		w.Element("text", b.name, "x", b.x+b.w/2, "y", b.y+15, "text-anchor", "middle")
		w.Element("text", b.spec, "class", "dim", "x", b.x+b.w/2, "y", b.y+29, "text-anchor", "middle")
		x := b.x + margin
		for _, in := range b.inside {
			w.Open("g", "transform", fmt.Sprintf("translate(%.1f %.1f)", x, b.y+boxHeight+lineHeight))
			w.Void("rect", "class", "region", "x", 0, "y", 0, "width", in.w, "height", in.h, "rx", 4)
			w.Element("text", in.name, "class", "dim", "x", 0, "y", -3)
			in.write(w)
			w.End()
			x += max(in.w, charWidth*float64(utf8.RuneCountInString(in.name))) + margin
		}
		w.End().Line()
	}
}

// path is the line of an edge: curves between layers, straight along bends.
func (e edge) path() string {
	var b strings.Builder
	for i := 1; i < len(e.through); i++ {
		f, t := e.through[i-1], e.through[i]
		x1, y1, x2, y2 := f.x+f.w/2, f.y+f.h, t.x+t.w/2, t.y
		if i == 1 {
			fmt.Fprintf(&b, "M%.1f %.1f", x1, y1)
		} else {
			fmt.Fprintf(&b, "L%.1f %.1f", x1, y1)
		}
		m := (y1 + y2) / 2
		fmt.Fprintf(&b, "C%.1f %.1f %.1f %.1f %.1f %.1f", x1, m, x2, m, x2, y2)
	}
	return b.String()
}
