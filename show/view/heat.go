package view

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/anatomy"
	"github.com/tenonml/tenon/internal/markup"
	"github.com/tenonml/tenon/internal/summary"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

const (
	maxPixels = 512     // along a side of a heat map; in larger ones, a pixel is the mean of several elements
	maxDrawn  = 1 << 22 // total number of elements in the pictures of one tensor, unless the first picture has more
	maxSlices = 32      // pictures of one tensor
	shownSide = 320     // approximate width of a small heat map
)

func drawable(d dtype.DType) bool { return d.IsFloat() || d.IsInteger() || d == dtype.Bool }

// scale are colours of increasing brightness, from dark violet to yellow, which people with red-green
// colour blindness can tell apart, too (viridis, by S. van der Walt and N. Smith, 2015).
var scale = [][3]float64{{0x44, 0x01, 0x54}, {0x3b, 0x52, 0x8b}, {0x21, 0x91, 0x8c}, {0x5e, 0xc9, 0x62}, {0xfd, 0xe7, 0x25}}

// palette is transparent, for missing values and NaN, followed by the scale.
var palette = func() color.Palette {
	p := color.Palette{color.RGBA{}}
	for i := range 255 {
		at := float64(i) / 254 * float64(len(scale)-1)
		k := min(int(at), len(scale)-2)
		mix := func(c int) uint8 {
			return uint8(math.Round(scale[k][c] + (at-float64(k))*(scale[k+1][c]-scale[k][c])))
		}
		p = append(p, color.RGBA{mix(0), mix(1), mix(2), 0xff})
	}
	return p
}()

// heat draws the last two axes of a tensor as pictures, one for each position along the other axes,
// which have a slider each.
func (w *writer) heat(d *tensor.Dense, names []string, mask []bool) {
	rank := d.Rank()
	h, wide := d.Dim(rank-2), d.Dim(rank-1)
	name := func(axis int) string {
		if axis < len(names) {
			return names[axis]
		}
		return fmt.Sprintf("axis %d", axis)
	}
	limits, pictures := make([]int, rank-2), 1
	slices := max(1, min(maxSlices, maxDrawn/(h*wide)))
	for i := range limits {
		limits[i] = min(d.Dim(i), max(1, slices/pictures))
		pictures *= limits[i]
	}
	data := tensor.Data[float64](tensor.Contiguous(ops.Cast(sliced(d, limits), dtype.Float64).(*tensor.Dense)))
	if len(limits) > 0 && len(mask) > 0 {
		mask = nil // the pictures show some slices; missing elements are shown below
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for i, x := range data {
		if !math.IsNaN(x) && !math.IsInf(x, 0) && (mask == nil || mask[i]) {
			lo, hi = min(lo, x), max(hi, x)
		}
	}
	w.Open("div", "class", "heat").Element("label", fmt.Sprintf("%s ↓  %s →   %s … %s", name(rank-2), name(rank-1), number(lo, lo <= hi), number(hi, lo <= hi)))
	for i, n := range limits {
		if n > 1 {
			w.Open("label").Text(name(i)+" ").Void("input", "type", "range", "min", 0, "max", n-1, "value", 0, "aria-label", name(i)).Element("output", "0").Text(fmt.Sprintf(" of %d", d.Dim(i))).End()
		}
	}
	k := max(1, min(16, shownSide/max(h, wide)))
	for s := range pictures {
		var there []bool
		if mask != nil {
			there = mask[s*h*wide : (s+1)*h*wide]
		}
		img := pixels(data[s*h*wide:(s+1)*h*wide], there, h, wide, lo, hi)
		attributes := []any{"src", encoded(img), "width", img.Rect.Dx() * k, "height", img.Rect.Dy() * k, "class", "hatched", "alt", fmt.Sprintf("heat map of %d × %d elements", h, wide)}
		if s > 0 {
			attributes = append(attributes, "hidden", "")
		}
		w.Void("img", attributes...)
	}
	w.End().Line()
}

// sliced returns the first positions along leading axes.
func sliced(d *tensor.Dense, limits []int) *tensor.Dense {
	dims := d.Shape().Dims()
	copy(dims, limits)
	return d.View(0, shape.Of(dims...), d.Strides())
}

// pixels draws a matrix.
func pixels(data []float64, mask []bool, h, w int, lo, hi float64) *image.Paletted {
	ph, pw := min(h, maxPixels), min(w, maxPixels)
	img := image.NewPaletted(image.Rect(0, 0, pw, ph), palette)
	for y := range ph {
		y0, y1 := y*h/ph, (y+1)*h/ph
		for x := range pw {
			sum, n := 0.0, 0
			for i := y0; i < y1; i++ {
				for j := x * w / pw; j < (x+1)*w/pw; j++ {
					if v := data[i*w+j]; !math.IsNaN(v) && !math.IsInf(v, 0) && (mask == nil || mask[i*w+j]) {
						sum += v
						n++
					}
				}
			}
			if n == 0 {
				continue
			}
			share := 0.5
			if hi > lo {
				share = min(max((sum/float64(n)-lo)/(hi-lo), 0), 1)
			}
			img.SetColorIndex(x, y, 1+uint8(share*254))
		}
	}
	return img
}

func encoded(img image.Image) string {
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil { // writing to a buffer cannot fail
		return ""
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
}

// histogram draws the distribution of the numbers of a column.
func histogram(c *summary.Column) string {
	const bins, width, height = 32, 96, 18
	counts := c.Histogram(bins)
	most := 0
	for _, n := range counts {
		most = max(most, n)
	}
	if most == 0 {
		return ""
	}
	var w markup.Writer
	w.Open("svg", "width", width, "height", height, "role", "img", "aria-label", "histogram")
	for i, n := range counts {
		if n > 0 {
			h := max(1, float64(height)*float64(n)/float64(most))
			w.Void("rect", "class", "bar", "x", i*width/bins, "y", float64(height)-h, "width", width/bins-0.5, "height", h)
		}
	}
	return w.End().String()
}

// lengths draws the lengths of the lists of a Value as bars, for each level of lists.
func (w *writer) lengths(a anatomy.Value) {
	for level, p := range a.Partitions {
		splits, ok := p.Splits64()
		if !ok || len(splits) < 2 {
			continue
		}
		n := min(len(splits)-1, w.o.rows())
		most := int64(1)
		for i := range n {
			most = max(most, splits[i+1]-splits[i])
		}
		w.facts(fmt.Sprintf("level %d: %d lists, the longest of those shown has %d elements", level, len(splits)-1, most))
		const height, bar = 60.0, 7.0
		w.Open("div", "class", "scroll").Open("svg", "width", float64(n)*bar+2, "height", height+2, "role", "img", "aria-label", "lengths of lists")
		for i := range n {
			k := splits[i+1] - splits[i]
			h := height * float64(k) / float64(most)
			w.Open("rect", "class", "bar", "x", float64(i)*bar, "y", height-h, "width", bar-1, "height", max(h, 0.5)).Element("title", fmt.Sprintf("%d: %d", i, k)).End()
		}
		w.End().End().Line()
	}
}
