package view

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tenonml/tenon/internal/markup"
	"github.com/tenonml/tenon/learn/runs"
)

// RunOptions change how the curves of runs are drawn. The zero value is the default.
type RunOptions struct {
	Smooth float64 // the weight of the moving average, from 0 to 1; 0: only the measured values
	Log    bool    // logarithmic axis, if all values are above 0
	Time   bool    // by seconds instead of by steps
}

// Runs draws training runs: the results of each run, the settings in which they differ, and for each
// measured name a chart with a curve for each run.
func Runs(list []*runs.Run, o RunOptions) string {
	w := &markup.Writer{}
	w.Open("section", "class", "tenon")
	w.Open("div", "class", "scroll").Open("table", "class", "tight").Open("thead").Rows("th", []string{"", "run", "started", "steps", "loss", "best score", "time", "end"}).End().Open("tbody")
	for i, r := range list {
		w.Open("tr").Element("td", "━", "class", colour(i))
		cells := []string{r.Name, r.Started.Format(time.DateTime), "", "", "", "", r.End}
		if e, ok := r.Last(); ok {
			cells[2], cells[3], cells[5] = fmt.Sprintf("%d of %d", e.Step, max(e.Steps, e.Step)), number(e.Loss, true), e.Elapsed.Round(time.Millisecond).String()
		}
		if e, ok := r.Best(); ok {
			cells[4] = fmt.Sprintf("%s at step %d", number(*e.Score, true), e.Step)
		}
		for _, c := range cells {
			w.Element("td", c)
		}
		w.End().Line()
	}
	w.End().End().End()
	differences(w, list)
	charts(w, list, o)
	notes(w, list)
	return w.End().Line().String()
}

// Curves draws only the charts of [Runs].
func Curves(list []*runs.Run, o RunOptions) string {
	w := &markup.Writer{}
	charts(w, list, o)
	return w.Line().String()
}

// charts draws a chart for each measured name.
func charts(w *markup.Writer, list []*runs.Run, o RunOptions) {
	w.Open("div", "class", "charts")
	var names []string
	for _, r := range list {
		for _, s := range r.Series() {
			if !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
		}
	}
	for _, name := range names {
		chart(w, name, list, o)
	}
	w.End()
}

// colour is the class for the colour of a run.
func colour(i int) string { return fmt.Sprintf("c%d", i%6) }

// differences draws the settings in which runs differ, or those of the only run.
func differences(w *markup.Writer, list []*runs.Run) {
	head := []string{"setting"}
	all := list
	if len(list) == 1 {
		all = append(slices.Clone(list), &runs.Run{}) // shows all of its settings
	}
	for _, r := range list {
		head = append(head, r.Name)
	}
	rows := runs.Differences(all...)
	if len(rows) == 0 {
		return
	}
	w.Open("details").Element("summary", map[bool]string{true: "settings", false: "settings that differ"}[len(list) == 1])
	w.Open("div", "class", "scroll").Open("table").Open("thead").Rows("th", head).End().Open("tbody")
	for _, d := range rows {
		w.Rows("td", append([]string{d.Path}, d.Values[:len(list)]...))
	}
	w.End().End().End().End()
}

func notes(w *markup.Writer, list []*runs.Run) {
	for _, r := range list {
		if r.Notes != "" {
			w.Element("p", r.Name+": "+r.Notes)
		}
	}
}

// Sizes of charts.
const (
	chartWidth, chartHeight = 520.0, 220.0
	chartLeft, chartBottom  = 58.0, 22.0
	chartRight              = 20.0
	maxPoints               = 1000 // of a curve; with more, the minimum and maximum of each interval
)

// A curve is a series as it is drawn.
type curve struct {
	x, y, smooth []float64
}

// chart draws the series of a name.
func chart(w *markup.Writer, name string, list []*runs.Run, o RunOptions) {
	curves := make([]*curve, len(list))
	x0, x1, y0, y1 := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	log := o.Log
	for i, r := range list {
		c := curveOf(r, name, o)
		if c == nil {
			continue
		}
		curves[i] = c
		for k, y := range c.y {
			if finite(y) {
				x0, x1, y0, y1 = min(x0, c.x[k]), max(x1, c.x[k]), min(y0, y), max(y1, y)
				log = log && y > 0
			}
		}
	}
	w.Open("figure").Element("figcaption", name)
	if x0 > x1 {
		w.Element("p", "no finite value").End()
		return
	}
	scale := func(y float64) float64 { return y }
	if log {
		scale = math.Log10
		y0, y1 = math.Log10(y0), math.Log10(y1)
	}
	if y1 <= y0 {
		y0, y1 = y0-0.5, y1+0.5
	}
	if x1 <= x0 {
		x0, x1 = x0-0.5, x1+0.5
	}
	px := func(x float64) float64 { return chartLeft + (x-x0)/(x1-x0)*(chartWidth-chartLeft-chartRight) }
	py := func(y float64) float64 {
		return chartHeight - chartBottom - (scale(y)-y0)/(y1-y0)*(chartHeight-chartBottom-8)
	}
	w.Open("svg", "viewBox", fmt.Sprintf("0 0 %.0f %.0f", chartWidth, chartHeight), "width", chartWidth, "height", chartHeight, "role", "img", "aria-label", "curves of "+name)
	for _, t := range ticks(y0, y1) {
		y := chartHeight - chartBottom - (t-y0)/(y1-y0)*(chartHeight-chartBottom-8)
		label := number(t, true)
		if log {
			label = number(math.Pow(10, t), true)
		}
		w.Void("path", "class", "axis", "d", fmt.Sprintf("M%.1f %.1fH%.1f", chartLeft, y, chartWidth-chartRight))
		w.Element("text", label, "x", chartLeft-5, "y", y+4, "text-anchor", "end", "class", "dim")
	}
	for _, t := range ticks(x0, x1) {
		w.Element("text", number(t, true), "x", px(t), "y", chartHeight-6, "text-anchor", "middle", "class", "dim")
	}
	for i, c := range curves {
		if c == nil {
			continue
		}
		class := "line " + colour(i)
		if c.smooth != nil {
			w.Void("path", "class", class+" raw", "d", line(c.x, c.y, px, py))
			w.Void("path", "class", class, "d", line(c.x, c.smooth, px, py))
		} else {
			w.Void("path", "class", class, "d", line(c.x, c.y, px, py))
		}
	}
	w.End().End().Line()
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// curveOf returns the series of a name, thinned, or nil if the run has none.
func curveOf(r *runs.Run, name string, o RunOptions) *curve {
	all := r.Series()
	i := slices.IndexFunc(all, func(s runs.Series) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	s := all[i]
	c := &curve{x: make([]float64, len(s.Steps)), y: s.Values}
	seconds := map[int]float64{}
	if o.Time {
		for _, e := range r.Events {
			seconds[e.Step] = e.Elapsed.Seconds()
		}
	}
	for k, step := range s.Steps {
		c.x[k] = float64(step)
		if o.Time {
			c.x[k] = seconds[step]
		}
	}
	if o.Smooth > 0 && o.Smooth < 1 {
		c.smooth = s.Smooth(o.Smooth)
	}
	return c.thinned()
}

// thinned keeps the minimum and maximum of each interval of a long curve.
func (c *curve) thinned() *curve {
	n := len(c.y)
	if n <= 2*maxPoints {
		return c
	}
	out := &curve{}
	keep := func(i int) {
		out.x, out.y = append(out.x, c.x[i]), append(out.y, c.y[i])
		if c.smooth != nil {
			out.smooth = append(out.smooth, c.smooth[i])
		}
	}
	for p := range maxPoints {
		from, to := p*n/maxPoints, (p+1)*n/maxPoints
		lo, hi := from, from
		for i := from; i < to; i++ {
			if c.y[i] < c.y[lo] || math.IsNaN(c.y[lo]) {
				lo = i
			}
			if c.y[i] > c.y[hi] || math.IsNaN(c.y[hi]) {
				hi = i
			}
		}
		keep(min(lo, hi))
		if lo != hi {
			keep(max(lo, hi))
		}
	}
	return out
}

// line is the path of a curve, with gaps where a value is not finite.
func line(xs, ys []float64, px, py func(float64) float64) string {
	var b strings.Builder
	pen := "M"
	for i, y := range ys {
		if !finite(y) || !finite(py(y)) {
			pen = "M"
			continue
		}
		fmt.Fprintf(&b, "%s%.1f %.1f", pen, px(xs[i]), py(y))
		if pen == "M" {
			b.WriteString("h0.1") // makes a single point visible
		}
		pen = "L"
	}
	return b.String()
}

// ticks returns round numbers between lo and hi.
func ticks(lo, hi float64) []float64 {
	const about = 5
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/about)))
	for _, k := range []float64{1, 2, 5, 10} {
		if (hi-lo)/(step*k) <= about {
			step *= k
			break
		}
	}
	var out []float64
	for t := math.Ceil(lo/step) * step; t <= hi+step/1e6 && len(out) < 2*about; t += step {
		out = append(out, math.Round(t/step)*step)
	}
	return out
}
