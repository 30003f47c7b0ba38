package plot

import (
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tenonml/tenon"
)

// WriteSVG writes the picture in the SVG format.
func (m *HeatMap) WriteSVG(w io.Writer) error { return m.write(w, "svg") }

// WritePNG writes the picture in the PNG format.
func (m *HeatMap) WritePNG(w io.Writer) error { return m.write(w, "png") }

const (
	defaultWidth  = 432
	defaultHeight = 360
	maxLength     = 14400 // 200 inches
	barWidth      = 64
	maxTicks      = 24
	colours       = 255
)

func (m *HeatMap) write(w io.Writer, format string) error {
	width, height := length(m.o.Width, defaultWidth), length(m.o.Height, defaultHeight)
	if !(width > 2*barWidth && width <= maxLength && height > barWidth && height <= maxLength) {
		return tenon.NewError(tenon.ErrInvalid, "plot.HeatMap", "the picture is too small or too large")
	}
	canvas, err := draw.NewFormattedCanvas(width, height, format)
	if err != nil {
		return err
	}
	c := draw.New(canvas)
	m.matrix().Draw(draw.Crop(c, 0, -barWidth, 0, 0))
	if m.max > m.min {
		m.bar().Draw(draw.Crop(c, width-barWidth, 0, 0, 0))
	}
	_, err = canvas.WriteTo(w)
	return err
}

func length(points, otherwise float64) vg.Length {
	if points == 0 {
		return vg.Length(otherwise)
	}
	return vg.Length(points)
}

// scale are colours of increasing brightness, from dark violet to yellow, which people with
// red-green colour blindness can tell apart, too (viridis, by S. van der Walt and N. Smith,
// 2015). None is the colour of the paper.
var scale = []color.Color{
	color.RGBA{0x44, 0x01, 0x54, 0xff}, color.RGBA{0x3b, 0x52, 0x8b, 0xff}, color.RGBA{0x21, 0x91, 0x8c, 0xff},
	color.RGBA{0x5e, 0xc9, 0x62, 0xff}, color.RGBA{0xfd, 0xe7, 0x25, 0xff},
}

// colourMap goes from dark to light in equal steps of brightness.
func (m *HeatMap) colourMap() palette.ColorMap {
	c := tenon.Must(moreland.NewLuminance(scale))
	lo, hi := m.min, m.max
	if hi <= lo {
		lo, hi = lo-1, lo+1
	}
	c.SetMin(lo)
	c.SetMax(hi)
	return c
}

func (m *HeatMap) matrix() *plot.Plot {
	p := plot.New()
	p.Title.Text = m.o.Title
	p.X.Label.Text, p.Y.Label.Text = m.cols.name, m.rows.name
	c := m.colourMap()
	h := plotter.NewHeatMap(grid{m}, c.Palette(colours))
	h.Min, h.Max = c.Min(), c.Max()
	h.NaN = color.Gray{Y: 0xb8}
	colors := h.Palette.Colors()
	h.Underflow, h.Overflow = colors[0], colors[len(colors)-1]
	h.Rasterized = m.rows.size*m.cols.size > 1<<14
	p.Add(h)
	p.X.Tick.Marker = plot.ConstantTicks(m.cols.ticks(false))
	p.Y.Tick.Marker = plot.ConstantTicks(m.rows.ticks(true))
	if m.cols.labels != nil {
		p.X.Tick.Label.Rotation = math.Pi / 4
		p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XRight, draw.YCenter
	}
	return p
}

// bar is the scale beside the matrix.
func (m *HeatMap) bar() *plot.Plot {
	p := plot.New()
	p.HideX()
	p.Add(&plotter.ColorBar{ColorMap: m.colourMap(), Vertical: true, Colors: colours})
	p.Y.Padding = 0
	return p
}

// ticks returns the labels of an axis, for as many positions as there is room for.
func (a axis) ticks(down bool) []plot.Tick {
	step := (a.size + maxTicks - 1) / maxTicks
	var out []plot.Tick
	for i := 0; i < a.size; i += step {
		at := i
		if down {
			at = a.size - 1 - i
		}
		out = append(out, plot.Tick{Value: float64(at), Label: a.label(i)})
	}
	return out
}

// grid is the matrix as the library expects it, with rows from the bottom up.
type grid struct{ m *HeatMap }

// Dims returns the numbers of columns and rows.
func (g grid) Dims() (c, r int) { return g.m.cols.size, g.m.rows.size }

// X returns the coordinate of a column.
func (g grid) X(c int) float64 { return float64(c) }

// Y returns the coordinate of a row.
func (g grid) Y(r int) float64 { return float64(r) }

// Z returns an element.
func (g grid) Z(c, r int) float64 {
	v := g.m.at(g.m.rows.size-1-r, c)
	if !finite(v) {
		return math.NaN()
	}
	return v
}
