package view

import (
	"cmp"
	"slices"
)

// A box is what is laid out: a node with its size, which gets a place. Boxes within it have places
// relative to its own.
type box struct {
	class, name, spec, title string
	w, h                     float64 // set before
	x, y                     float64 // of the upper left corner; set by layout
	from                     []*box
	inside                   []*drawing
	hidden                   bool // a bend of an edge that spans several layers

	layer int
	at    int // in its layer
	to    []*box
}

// An edge leads through the bends between two boxes.
type edge struct{ through []*box }

// A drawing is boxes with places, and the edges between them.
type drawing struct {
	name  string
	boxes []*box
	edges []edge
	w, h  float64
}

// Distances between boxes.
const (
	gapX, gapY = 18.0, 30.0
	margin     = 10.0
	bendWidth  = 8.0
	sweeps     = 24
)

// layout gives boxes their places, in layers from top to bottom: each below all that it reads, as few
// crossings as sweeps over the layers find, and near what it is connected with (K. Sugiyama, S. Tagawa
// and M. Toda, "Methods for visual understanding of hierarchical system structures", 1981). Boxes come in
// an order in which each is behind those it reads.
func layout(name string, boxes []*box) *drawing {
	d := &drawing{name: name, boxes: boxes}
	layers := d.layers()
	for i := range sweeps {
		order(layers, i%2 == 0)
	}
	d.place(layers)
	return d
}

// layers ranks the boxes by the longest path, moves those that only feed others down to them, and puts
// bends into edges that span several layers.
func (d *drawing) layers() [][]*box {
	for _, b := range d.boxes {
		for _, f := range b.from {
			b.layer = max(b.layer, f.layer+1)
			f.to = append(f.to, b)
		}
	}
	for _, b := range slices.Backward(d.boxes) {
		if len(b.from) == 0 && len(b.to) > 0 { // a parameter stands just above what reads it first
			b.layer = slices.MinFunc(b.to, func(x, y *box) int { return cmp.Compare(x.layer, y.layer) }).layer - 1
		}
		b.to = nil
	}
	var layers [][]*box
	put := func(b *box) {
		for len(layers) <= b.layer {
			layers = append(layers, nil)
		}
		b.at = len(layers[b.layer])
		layers[b.layer] = append(layers[b.layer], b)
	}
	for _, b := range d.boxes {
		put(b)
	}
	for _, b := range d.boxes {
		for i, f := range b.from {
			e := edge{through: []*box{f}}
			for l := f.layer + 1; l < b.layer; l++ {
				bend := &box{hidden: true, w: bendWidth, layer: l, from: []*box{e.through[len(e.through)-1]}}
				put(bend)
				e.through = append(e.through, bend)
			}
			b.from[i] = e.through[len(e.through)-1]
			e.through = append(e.through, b)
			d.edges = append(d.edges, e)
			for k := 1; k < len(e.through); k++ {
				e.through[k-1].to = append(e.through[k-1].to, e.through[k])
			}
		}
	}
	return layers
}

// order sorts each layer by the median places of what its boxes are connected with above, or below (P.
// Eades and N. Wormald, "Edge crossings in drawings of bipartite graphs", 1994).
func order(layers [][]*box, down bool) {
	for i := range layers {
		l := layers[i]
		if !down {
			l = layers[len(layers)-1-i]
		}
		keys := make(map[*box]float64, len(l))
		for _, b := range l {
			near := b.from
			if !down {
				near = b.to
			}
			keys[b] = median(near, float64(b.at))
		}
		slices.SortStableFunc(l, func(a, b *box) int { return cmp.Compare(keys[a], keys[b]) })
		for k, b := range l {
			b.at = k
		}
	}
}

func median(near []*box, otherwise float64) float64 {
	if len(near) == 0 {
		return otherwise
	}
	at := make([]float64, len(near))
	for i, b := range near {
		at[i] = float64(b.at)
	}
	slices.Sort(at)
	if n := len(at); n%2 == 0 {
		return (at[n/2-1] + at[n/2]) / 2
	}
	return at[len(at)/2]
}

// place gives the boxes their places: layers below one another, and in each the boxes as near as the
// others let them to the middle of what they are connected with.
func (d *drawing) place(layers [][]*box) {
	y := margin
	for _, l := range layers {
		high, x := 0.0, 0.0
		for _, b := range l {
			b.x, b.y = x, y
			x += b.w + gapX
			high = max(high, b.h)
		}
		for _, b := range l {
			if b.hidden {
				b.h = high
			}
		}
		y += high + gapY
	}
	for i := range 8 {
		for k := range layers {
			l := layers[k]
			if i%2 == 1 {
				l = layers[len(layers)-1-k]
			}
			pull(l, i%2 == 0)
		}
	}
	left := 0.0
	for _, l := range layers {
		for _, b := range l {
			left = min(left, b.x)
		}
	}
	for _, l := range layers {
		for _, b := range l {
			b.x += margin - left
			d.w = max(d.w, b.x+b.w+margin)
		}
	}
	d.h = max(y-gapY, margin) + margin
}

// pull moves the boxes of a layer to where they want to be, in their order: blocks of boxes that would
// overlap stand side by side around their mean (isotonic regression, by pools of adjacent violators).
func pull(l []*box, down bool) {
	type block struct {
		sum    float64 // of the wanted places of the left side
		n      int     // of the boxes
		width  float64
		first  int
		placed float64
	}
	var blocks []block
	for i, b := range l {
		near := b.from
		if !down {
			near = b.to
		}
		want := b.x
		if len(near) > 0 {
			sum := 0.0
			for _, o := range near {
				sum += o.x + o.w/2
			}
			want = sum/float64(len(near)) - b.w/2
		}
		next := block{sum: want, n: 1, width: b.w + gapX, first: i}
		next.placed = want
		for len(blocks) > 0 {
			last := blocks[len(blocks)-1]
			if last.placed+last.width <= next.placed {
				break
			}
			// Boxes of next want to be left of where those of last end: one block of both.
			next = block{sum: last.sum + next.sum - last.width*float64(next.n), n: last.n + next.n, width: last.width + next.width, first: last.first}
			next.placed = next.sum / float64(next.n)
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, next)
	}
	for k, bl := range blocks {
		end := len(l)
		if k+1 < len(blocks) {
			end = blocks[k+1].first
		}
		x := bl.placed
		for _, b := range l[bl.first:end] {
			b.x = x
			x += b.w + gapX
		}
	}
}
