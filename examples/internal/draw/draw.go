// Package draw draws what the examples come to.
package draw

import (
	"fmt"
	"os"

	"github.com/tenonml/tenon/learn/metric"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/named/coords"
	"github.com/tenonml/tenon/show/plot"
	"github.com/tenonml/tenon/tensor"
)

type (
	// Truth is what something is.
	Truth struct{ named.Dim[Truth] }
	// Answer is what a model takes it for.
	Answer struct{ named.Dim[Answer] }
)

// Confusion returns the share of answers that are the truth, and draws how often each class is taken for which
// into an SVG file; none where file is "".
func Confusion(file string, truth, answers tensor.Tensor, classes ...string) (accuracy float64, err error) {
	c, err := metric.NewConfusion(len(classes))
	if err != nil {
		return 0, err
	}
	if err := c.Update(truth, answers, nil); err != nil {
		return 0, err
	}
	labels := make([]any, len(classes))
	for i, l := range classes {
		labels[i] = l
	}
	counts := named.Of(tensor.Of(c.Counts, len(classes), len(classes)), Truth{}, Answer{})
	title := fmt.Sprintf("%.1f %% of %d are right", 100*c.Accuracy(), truth.Shape().Dim(0))
	m, err := plot.NewHeatMap(coords.New(counts, coords.Along[Truth](labels...), coords.Along[Answer](labels...)), Truth{}, Answer{}, plot.Options{Title: title})
	if err != nil {
		return 0, err
	}
	return c.Accuracy(), SVG(file, m)
}

// SVG draws a heat map into a file; none where file is "".
func SVG(file string, m *plot.HeatMap) error {
	if file == "" {
		return nil
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := m.WriteSVG(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
