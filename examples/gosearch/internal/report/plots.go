package report

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html/template"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

var (
	blue   = color.RGBA{R: 0x1f, G: 0x5f, B: 0xa8, A: 0xff}
	pale   = color.RGBA{R: 0xa9, G: 0xc4, B: 0xe2, A: 0xff}
	orange = color.RGBA{R: 0xc8, G: 0x5a, B: 0x11, A: 0xff}
)

// A drawing is a plot in both forms.
type drawing struct{ png, svg []byte }

// inline returns the picture as a part of a page.
func (d *drawing) inline(name string) template.HTML {
	return template.HTML(fmt.Sprintf(`<img alt="plot of %s" src="data:image/png;base64,%s">`, template.HTMLEscapeString(name), base64.StdEncoding.EncodeToString(d.png)))
}

func render(p *plot.Plot, w, h vg.Length) (*drawing, error) {
	// The last tick's label reaches beyond the axis.
	onto := func(c vg.CanvasSizer) { p.Draw(draw.Crop(draw.New(c), 4, -14, 4, -4)) }
	raster := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(144), vgimg.UseBackgroundColor(color.White))}
	onto(raster)
	vector := vgsvg.NewWith(vgsvg.UseWH(w, h), vgsvg.EmbedFonts(true)) // other fonts have other widths
	onto(vector)
	var png, svg bytes.Buffer
	if _, err := raster.WriteTo(&png); err != nil {
		return nil, err
	}
	if _, err := vector.WriteTo(&svg); err != nil {
		return nil, err
	}
	return &drawing{png.Bytes(), svg.Bytes()}, nil
}

const width, height = 16 * vg.Centimeter, 8 * vg.Centimeter

// lossPlot draws the loss of each batch, and its mean over an epoch.
func (r *Report) lossPlot() (*drawing, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = "Loss", "epoch", "cross entropy"
	each, mean := plotter.XYs{}, plotter.XYs{}
	epoch := max(1, r.Epoch)
	sum, n := 0.0, 0
	for i, l := range r.Record.Losses {
		x := float64(i+1) / float64(epoch)
		each = append(each, plotter.XY{X: x, Y: l})
		sum, n = sum+l, n+1
		if n == epoch {
			mean = append(mean, plotter.XY{X: x - 0.5, Y: sum / float64(n)})
			sum, n = 0, 0
		}
	}
	if err := addLine(p, each, pale, "batch"); err != nil {
		return nil, err
	}
	if err := addLine(p, mean, blue, "mean of an epoch"); err != nil {
		return nil, err
	}
	p.Legend.Top = true
	return render(p, width, height)
}

// validationPlot draws the score after each epoch.
func (r *Report) validationPlot() (*drawing, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = "Validation part", "epoch", "MRR"
	line := plotter.XYs{}
	for _, s := range r.Record.Scores {
		line = append(line, plotter.XY{X: float64(s.Step) / float64(max(1, r.Epoch)), Y: s.Score})
	}
	if err := addLine(p, line, orange, ""); err != nil {
		return nil, err
	}
	p.Y.Min = min(p.Y.Min, 0)
	return render(p, width, height)
}

func addLine(p *plot.Plot, xy plotter.XYs, c color.Color, legend string) error {
	if len(xy) == 0 {
		return nil
	}
	l, err := plotter.NewLine(xy)
	if err != nil {
		return err
	}
	l.Color, l.Width = c, vg.Points(1.5)
	p.Add(l)
	if legend != "" {
		p.Legend.Add(legend, l)
	}
	return nil
}

// packagePlot draws the recall of each package as bars.
func (r *Report) packagePlot() (*drawing, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text = "Recall at 10 by package", "recall"
	values, names := plotter.Values{}, []string{}
	for i := len(r.Packages) - 1; i >= 0; i-- {
		values, names = append(values, r.Packages[i].Recall), append(names, r.Packages[i].Path)
	}
	h := height
	if len(values) > 0 {
		bars, err := plotter.NewBarChart(values, vg.Points(8))
		if err != nil {
			return nil, err
		}
		bars.Horizontal, bars.Color, bars.LineStyle.Width = true, blue, 0
		p.Add(bars)
		p.NominalY(names...)
		h = max(height, vg.Length(len(values))*vg.Points(13)+3*vg.Centimeter)
	}
	p.X.Min, p.X.Max = 0, 1
	return render(p, width, h)
}
