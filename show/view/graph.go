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
	"github.com/tenonml/tenon/profile"
)

// GraphOptions change how a graph is drawn. The zero value is the default.
type GraphOptions struct {
	// Profile holds measurements of runs of this graph: operations are coloured by their share of the
	// time, and show their costs. The graph that runs differs from the one that was traced: the method
	// Measure of a saved function measures the graph that its method Compiled returns.
	Profile *profile.Profile

	// Memory colours operations by the bytes of their results instead.
	Memory bool

	// Folded draws the graphs of branches and loops folded, which is also done if there are more
	// than 2000 operations. On a page they can be opened and folded.
	Folded bool
}

// Graph draws a graph as a fragment: operations from top to bottom, each below those it reads, with the
// Specs of their results. The graphs of branches and loops are inside of their operation, and can be
// folded. Pointing at a box shows attributes and the line of the program. Constants are left out.
func Graph(g *graph.Graph, o GraphOptions) string {
	m := measured(o)
	var w markup.Writer
	w.Open("div", "class", "graph")
	if m != nil {
		w.Element("p", m.String(), "class", "facts")
	}
	w.Element("output", "select an operation to see its attributes and source line", "class", "about").Open("div", "class", "scroll").Add(svg(g, o, m, "")).End()
	return w.End().Line().String()
}

// GraphFile returns the drawing of [Graph] as a self-contained SVG file.
func GraphFile(g *graph.Graph, o GraphOptions) string {
	var style markup.Writer
	style.Open("style").Text(markup.Style()).End()
	return svg(g, o, measured(o), style.String())
}

func svg(g *graph.Graph, o GraphOptions, m *costs, style string) string {
	const most = 2000
	p := &painter{costs: m, folded: o.Folded || operations(g) > most}
	d := p.draw(g)
	var w markup.Writer
	w.Open("svg", "xmlns", "http://www.w3.org/2000/svg", "viewBox", fmt.Sprintf("0 0 %.0f %.0f", d.w, d.h), "width", d.w, "height", d.h, "class", "tenon drawing", "role", "group", "aria-label", "graph "+g.Name)
	w.Add(style)
	d.write(&w)
	return w.End().Line().String()
}

// operations counts the operations of a graph and of the graphs in it.
func operations(g *graph.Graph) int {
	n := len(g.Nodes)
	for _, node := range g.Nodes {
		for _, r := range node.Regions() {
			n += operations(r)
		}
	}
	return n
}

// Sizes in the drawing of a graph.
const (
	charWidth  = 6.4
	lineHeight = 14.0
	boxHeight  = 36.0
	maxText    = 36 // characters of a Spec in a box; a title shows all
)

// A painter draws graphs.
type painter struct {
	costs  *costs // nil: nothing was measured
	folded bool
}

// draw lays a graph out.
func (p *painter) draw(g *graph.Graph) *drawing {
	made := map[*graph.Value]*box{}
	var all []*box
	for i, v := range g.Params {
		b := &box{class: "param", name: "parameter " + strconv.Itoa(i), spec: tenon.String(v.Spec())}
		made[v] = b
		all = append(all, b)
	}
	for _, n := range g.Nodes {
		b := &box{class: "node", name: n.Op.Name, title: described(n), folded: p.folded}
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
			b.inside = append(b.inside, p.draw(r))
		}
		p.costs.show(n, b)
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

// measure sets the size of a box from its texts and contents.
func (b *box) measure() {
	b.title = strings.TrimSpace(b.name + ": " + b.spec + "\n" + b.title)
	if len(b.inside) > 0 {
		b.name = map[bool]string{true: folded, false: unfolded}[b.folded] + b.name
	}
	if r := []rune(b.spec); len(r) > maxText {
		b.spec = string(r[:maxText-1]) + "…"
	}
	b.closed = [2]float64{60, boxHeight}
	for _, text := range []string{b.name, b.spec, b.cost} {
		b.closed[0] = max(b.closed[0], charWidth*float64(utf8.RuneCountInString(text))+16)
	}
	if b.cost != "" {
		b.closed[1] += lineHeight
	}
	b.w, b.h = b.closed[0], b.closed[1]
	side := margin
	for _, d := range b.inside {
		if !b.folded {
			b.h = max(b.h, b.closed[1]+d.h+lineHeight+margin)
		}
		side += d.width() + margin
	}
	b.w = max(b.w, side)
}

// The marks before the name of an operation that contains graphs.
const folded, unfolded = "▸ ", "▾ "

// width is the width of a drawing with its name, inside of a box.
func (d *drawing) width() float64 {
	return max(d.w, charWidth*float64(utf8.RuneCountInString(d.name)))
}

// described returns a long description of a node.
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

// write draws the layers, and the edges in the gaps between them. Boxes are at the top of their layer,
// and edges run straight down through layers, so a layer can move without changing what is between
// layers.
func (d *drawing) write(w *markup.Writer) {
	for i, l := range d.layers {
		if i > 0 {
			l.gap(w)
		}
		w.Open("g", "class", "layer", "transform", fmt.Sprintf("translate(0 %.1f)", l.y))
		for _, b := range l.boxes {
			x := b.x + b.w/2
			if b.bend {
				w.Void("line", "class", "edge", "x1", x, "x2", x, "y1", 0, "y2", l.h)
				continue
			}
			b.write(w, x, l.h)
		}
		w.End().Line()
	}
}

// gap draws the edges to a layer from the one above.
func (l *layer) gap(w *markup.Writer) {
	w.Open("g", "class", "gap", "transform", fmt.Sprintf("translate(0 %.1f)", l.y-gapY))
	for _, b := range l.boxes {
		for _, f := range b.from {
			x1, x2 := f.x+f.w/2, b.x+b.w/2
			w.Void("path", "class", "edge", "d", fmt.Sprintf("M%.1f 0C%.1f %.0f %.1f %.0f %.1f %.0f", x1, x1, gapY/2, x2, gapY/2, x2, gapY))
		}
	}
	w.End()
}

// write draws a box around a middle, and its outgoing edges down to the end of its layer.
func (b *box) write(w *markup.Writer, middle, bottom float64) {
	width := b.w
	if b.folded || len(b.inside) == 0 {
		width = b.closed[0]
	}
	w.Open("g", "class", "box", "data-x", middle, "data-h", b.h, "data-w", b.w, "data-closed", fmt.Sprintf("%.1f %.1f", b.closed[0], b.closed[1]))
	if len(b.to) > 0 {
		w.Void("line", "class", "edge", "x1", middle, "x2", middle, "y1", b.h, "y2", bottom)
	}
	if len(b.inside) > 0 {
		w.Open("g", "class", "head", "tabindex", 0, "role", "button", "aria-expanded", !b.folded)
	} else {
		w.Open("g", "class", "head", "tabindex", 0)
	}
	w.Element("title", b.title)
	w.Void("rect", "class", b.class, "x", middle-width/2, "y", 0, "width", width, "height", b.h, "rx", 5)
	w.Element("text", b.name, "x", middle, "y", 15, "text-anchor", "middle")
	w.Element("text", b.spec, "class", "dim", "x", middle, "y", 29, "text-anchor", "middle")
	if b.cost != "" {
		w.Element("text", b.cost, "x", middle, "y", 43, "text-anchor", "middle")
	}
	w.End()
	if len(b.inside) > 0 {
		b.within(w)
	}
	w.End().Line()
}

// within draws the graphs in a box.
func (b *box) within(w *markup.Writer) {
	if b.folded {
		w.Open("g", "class", "inside", "hidden", "")
	} else {
		w.Open("g", "class", "inside")
	}
	x := b.x + margin
	for _, in := range b.inside {
		w.Open("g", "class", "drawing", "data-h", in.h, "transform", fmt.Sprintf("translate(%.1f %.1f)", x, b.closed[1]+lineHeight))
		w.Void("rect", "class", "region", "x", 0, "y", 0, "width", in.w, "height", in.h, "rx", 4)
		w.Element("text", in.name, "class", "dim", "x", 0, "y", -3)
		in.write(w)
		w.End()
		x += in.width() + margin
	}
	w.End()
}
