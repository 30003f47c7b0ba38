package view

import (
	"cmp"
	"slices"
)

// A box is a node to be laid out, with its size and position. Boxes within it have positions
// relative to its own.
type box struct {
	class, name, spec, cost, title string
	closed                         [2]float64 // width and height without the contents
	w, h                           float64    // width with the contents, and the drawn height
	x                              float64    // of the left side; set by layout
	from                           []*box
	inside                         []*drawing
	folded                         bool
	bend                           bool // of an edge that spans several layers

	layer int
	at    int // in its layer
	to    []*box
	bends []*box // the bends of its outgoing edges in the layers below
}

// A layer is a row of boxes.
type layer struct {
	boxes []*box
	y, h  float64
}

// A drawing is layers of boxes, each below those that it reads.
type drawing struct {
	name   string
	layers []*layer
	w, h   float64
}

// Distances between boxes.
const (
	gapX, gapY = 18.0, 30.0
	margin     = 10.0
	bendWidth  = 8.0
	sweeps     = 24
)

// layout assigns boxes to layers and positions: each box is below all that it reads and near those that
// it is connected with, with as few crossings as sweeps over the layers can find (K. Sugiyama, S. Tagawa
// and M. Toda, "Methods for visual understanding of hierarchical system structures", 1981). Boxes must be
// in an order in which each follows those that it reads.
func layout(name string, boxes []*box) *drawing {
	d := &drawing{name: name}
	d.rank(boxes)
	for i := range sweeps {
		d.order(i%2 == 0)
	}
	d.place()
	return d
}

// rank assigns boxes to layers by the longest path, moves boxes without inputs down to those that read
// them, and puts bends into edges that span several layers. Edges from the same box share bends.
func (d *drawing) rank(boxes []*box) {
	for _, b := range boxes {
		for _, f := range b.from {
			b.layer = max(b.layer, f.layer+1)
			f.to = append(f.to, b)
		}
	}
	for _, b := range slices.Backward(boxes) {
		if len(b.from) == 0 && len(b.to) > 0 { // a parameter is just above its first reader
			b.layer = slices.MinFunc(b.to, func(x, y *box) int { return cmp.Compare(x.layer, y.layer) }).layer - 1
		}
		b.to = nil
	}
	for _, b := range boxes {
		d.put(b)
	}
	for _, b := range boxes {
		for i, f := range b.from {
			b.from[i] = d.above(f, b.layer)
			b.from[i].to = append(b.from[i].to, b)
		}
	}
}

func (d *drawing) put(b *box) {
	for len(d.layers) <= b.layer {
		d.layers = append(d.layers, &layer{})
	}
	l := d.layers[b.layer]
	b.at = len(l.boxes)
	l.boxes = append(l.boxes, b)
}

// above returns where an edge from f is just above a layer: at f, or at a bend.
func (d *drawing) above(f *box, layer int) *box {
	last := f
	for l := f.layer + 1; l < layer; l++ {
		if len(f.bends) < l-f.layer {
			b := &box{bend: true, w: bendWidth, layer: l, from: []*box{last}}
			last.to = append(last.to, b)
			d.put(b)
			f.bends = append(f.bends, b)
		}
		last = f.bends[l-f.layer-1]
	}
	return last
}

// order sorts each layer by the median positions of the boxes above, or below, with which its boxes
// are connected (P. Eades and N. Wormald, "Edge crossings in drawings of bipartite graphs", 1994).
func (d *drawing) order(down bool) {
	for i := range d.layers {
		l := d.layer(i, down).boxes
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

// layer returns a layer, counted from the top or from the bottom.
func (d *drawing) layer(i int, down bool) *layer {
	if !down {
		i = len(d.layers) - 1 - i
	}
	return d.layers[i]
}

// place positions the boxes: layers below one another, and the boxes in each as near to the middle
// of their connections as the other boxes allow.
func (d *drawing) place() {
	for _, l := range d.layers {
		x := 0.0
		for _, b := range l.boxes {
			b.x = x
			x += b.w + gapX
		}
	}
	const rounds = 8
	for i := range rounds {
		for k := range d.layers {
			pull(d.layer(k, i%2 == 0).boxes, i%2 == 0)
		}
	}
	left := 0.0
	for _, l := range d.layers {
		for _, b := range l.boxes {
			left = min(left, b.x)
		}
	}
	d.h = margin
	for i, l := range d.layers {
		if i > 0 {
			d.h += gapY
		}
		l.y = d.h
		for _, b := range l.boxes {
			b.x += margin - left
			d.w = max(d.w, b.x+b.w+margin)
			l.h = max(l.h, b.h)
		}
		d.h += l.h
	}
	d.h += margin
}

// pull moves the boxes of a layer to their wanted positions, keeping their order: boxes that would
// overlap form blocks, which are placed around their mean (isotonic regression, by pooling adjacent
// violators).
func pull(l []*box, down bool) {
	type block struct {
		sum    float64 // of the wanted positions of the left sides
		n      int     // number of boxes
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
			// The boxes of next should begin left of the end of last: both become one block.
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
