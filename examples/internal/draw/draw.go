package draw

import (
	"fmt"
	"os"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/learn/metric"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/named/coords"
	"github.com/tenonml/tenon/show/plot"
	"github.com/tenonml/tenon/tensor"
)

type (
	// Truth is the true class.
	Truth struct{ named.Dim[Truth] }
	// Answer is the predicted class.
	Answer struct{ named.Dim[Answer] }
)

// Confusion returns the share of right answers, and draws the confusion matrix into an SVG file, unless file
// is "".
func Confusion(file string, truth, answers tensor.Tensor, classes ...string) (accuracy float64, err error) {
	c, err := metric.NewConfusion(len(classes))
	if err != nil {
		return 0, err
	}
	if err := c.Update(truth, answers, nil); err != nil {
		return 0, err
	}
	counts := named.Of(tensor.Of(c.Counts, len(classes), len(classes)), Truth{}, Answer{})
	title := fmt.Sprintf("%.1f %% of %d are right", 100*c.Accuracy(), truth.Shape().Dim(0))
	return c.Accuracy(), HeatMap(file, title, coords.New(counts, along[Truth](classes), along[Answer](classes)), Truth{}, Answer{})
}

// Columns draws a matrix whose columns have labels into an SVG file, unless file is "".
func Columns[C named.Is[C]](file, title string, x *named.Tensor, rows, columns named.Name, labels ...string) error {
	return HeatMap(file, title, coords.New(x, along[C](labels)), rows, columns)
}

func along[N named.Is[N]](labels []string) coords.Coordinate {
	list := make([]any, len(labels))
	for i, l := range labels {
		list[i] = l
	}
	return coords.Along[N](list...)
}

// HeatMap draws a matrix into an SVG file, unless file is "".
func HeatMap(file, title string, x tenon.Value, rows, columns named.Name) error {
	if file == "" {
		return nil
	}
	m, err := plot.NewHeatMap(x, rows, columns, plot.Options{Title: title})
	if err != nil {
		return err
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
