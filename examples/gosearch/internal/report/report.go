package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"os"
	"path/filepath"

	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/show/view"
)

// A Report is what a training run came to.
type Report struct {
	Facts      []Fact
	Figures    []Figures
	Record     train.Record
	Epoch      int // batches in one
	Packages   []Package
	Neighbours []Neighbours
	Graph      *graph.Graph
}

// A Fact is a line of the table at the top.
type Fact struct{ Name, Value string }

// Figures are how well one way of searching finds the held-out declarations.
type Figures struct {
	Name                string
	MRR, First, First10 float64
}

// Package is how well the held-out declarations of a package are found.
type Package struct {
	Path      string
	Questions int
	Recall    float64 // at 10
}

// Neighbours are the words whose vectors are nearest to that of a word.
type Neighbours struct {
	Word string
	Near []Near
}

// Near is a word and its cosine.
type Near struct {
	Word   string
	Cosine float64
}

//go:embed report.html
var page string

var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"share": func(x float64) string { return fmt.Sprintf("%.3f", x) },
}).Parse(page))

// Write writes report.html and the plots into a folder.
func Write(dir string, r *Report) error {
	plots := []struct {
		name string
		draw func() (*drawing, error)
	}{
		{"loss", r.lossPlot}, {"validation", r.validationPlot}, {"packages", r.packagePlot},
	}
	all := struct {
		*Report
		Plots     map[string]template.HTML
		GraphView template.HTML
	}{Report: r, Plots: map[string]template.HTML{}}
	for _, p := range plots {
		d, err := p.draw()
		if err != nil {
			return fmt.Errorf("plot of %s: %w", p.name, err)
		}
		for kind, data := range map[string][]byte{"png": d.png, "svg": d.svg} {
			if err := os.WriteFile(filepath.Join(dir, p.name+"."+kind), data, 0o644); err != nil {
				return err
			}
		}
		all.Plots[p.name] = d.inline(p.name)
	}
	if r.Graph != nil {
		all.GraphView = template.HTML(view.Graph(r.Graph, view.GraphOptions{}))
	}
	f, err := os.Create(filepath.Join(dir, "report.html"))
	if err != nil {
		return err
	}
	if err := pageTemplate.Execute(f, all); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
