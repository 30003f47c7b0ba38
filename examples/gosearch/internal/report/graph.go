package report

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/graph"
)

// Sizes of the drawing of a graph, in pixels.
const (
	boxWidth, boxHeight, gapX, gapY = 190, 38, 16, 34
)

// A box is a node or a parameter of a graph in its drawing.
type box struct {
	name, spec string
	layer      int
	x, y       int
	from       []*box
	param      bool
}

// graphSVG draws a graph from top to bottom, each node below what it reads.
func graphSVG(g *graph.Graph) template.HTML {
	byValue := map[int]*box{}
	var all []*box
	for _, p := range g.Params {
		b := &box{name: "parameter", spec: tenon.String(p.Spec()), param: true}
		byValue[p.ID()] = b
		all = append(all, b)
	}
	for _, n := range g.Nodes {
		b := &box{name: n.Op.Name}
		for _, a := range n.Args {
			values := []tenon.Value{}
			switch a := a.(type) {
			case *graph.Value:
				values = append(values, a)
			case []tenon.Value:
				values = a
			}
			for _, v := range values {
				if x, ok := v.(*graph.Value); ok {
					if from := byValue[x.ID()]; from != nil {
						b.from = append(b.from, from)
						b.layer = max(b.layer, from.layer+1)
					}
				}
			}
		}
		for i, o := range n.Outs {
			if i == 0 {
				b.spec = tenon.String(o.Spec())
			}
			byValue[o.ID()] = b
		}
		all = append(all, b)
	}
	// A parameter stands just above what reads it first.
	first := map[*box]int{}
	for _, b := range all {
		for _, f := range b.from {
			if l, ok := first[f]; !ok || b.layer < l {
				first[f] = b.layer
			}
		}
	}
	var layers [][]*box
	for _, b := range all {
		if l, ok := first[b]; b.param && ok {
			b.layer = l - 1
		}
		for len(layers) <= b.layer {
			layers = append(layers, nil)
		}
		b.x = gapX + len(layers[b.layer])*(boxWidth+gapX)
		b.y = gapY + b.layer*(boxHeight+gapY)
		layers[b.layer] = append(layers[b.layer], b)
	}
	right := 0
	for _, l := range layers {
		right = max(right, len(l))
	}
	w, h := gapX+right*(boxWidth+gapX), gapY+len(layers)*(boxHeight+gapY)
	var s strings.Builder
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" font-family="sans-serif">`, w, h, w)
	for _, b := range all {
		for _, f := range b.from {
			x1, y1, x2, y2 := f.x+boxWidth/2, f.y+boxHeight, b.x+boxWidth/2, b.y
			fmt.Fprintf(&s, `<path d="M%d %d C%d %d %d %d %d %d" fill="none" stroke="#888"/>`, x1, y1, x1, y1+gapY/2, x2, y2-gapY/2, x2, y2)
		}
	}
	for _, b := range all {
		fill := "#eef3fa"
		if b.param {
			fill = "#fdf1e3"
		}
		fmt.Fprintf(&s, `<rect x="%d" y="%d" width="%d" height="%d" rx="5" fill="%s" stroke="#557"/>`, b.x, b.y, boxWidth, boxHeight, fill)
		fmt.Fprintf(&s, `<text x="%d" y="%d" font-size="12" text-anchor="middle">%s</text>`, b.x+boxWidth/2, b.y+16, template.HTMLEscapeString(b.name))
		fmt.Fprintf(&s, `<text x="%d" y="%d" font-size="10" fill="#555" text-anchor="middle">%s</text>`, b.x+boxWidth/2, b.y+30, template.HTMLEscapeString(b.spec))
	}
	s.WriteString("</svg>")
	return template.HTML(s.String())
}
