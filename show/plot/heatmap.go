package plot

import (
	"fmt"
	"math"
	"strconv"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/named/coords"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Options change how a heat map looks.
type Options struct {
	Title    string
	Width    float64 // of SVG and PNG, in points of 1/72 inch; 0 stands for 432
	Height   float64 // likewise; 0 stands for 360
	Min, Max float64 // the values at the ends of the scale; both 0: those of the elements
}

// A HeatMap is a picture of a matrix, with rows from top to bottom, columns from left to right,
// and a colour for each element.
type HeatMap struct {
	o          Options
	rows, cols axis
	data       []float64 // row by row
	min, max   float64
}

// An axis is a dimension and the labels of its positions.
type axis struct {
	name   string
	size   int
	labels *coords.Labels // nil: positions are numbered
}

// label returns the label of a position.
func (a axis) label(i int) string {
	if a.labels == nil {
		return strconv.Itoa(i)
	}
	return fmt.Sprint(a.labels.At(i))
}

// maxCells bounds the number of elements that are drawn.
const maxCells = 1 << 22

// NewHeatMap returns the heat map of a tensor with two dimensions: a *named.Tensor, a schema or
// a *coords.Array, with numbers or booleans of any type. Infinities and NaN are drawn grey. It
// is an error if the tensor has dimensions other than rows and columns, is ragged or symbolic,
// or has no elements or more than 4,194,304.
func NewHeatMap(x tenon.Value, rows, columns named.Name, o Options) (m *HeatMap, err error) {
	defer tenon.Catch(&err)
	const fn = "plot.NewHeatMap"
	a, labelled := x.(*coords.Array)
	if labelled {
		x = a.Tensor()
	}
	t := named.From(x)
	if n := len(t.Dims().Names()); n > 2 && t.Has(rows) && t.Has(columns) {
		e := tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("%v has %d dimensions, want {%v %v}", t.Spec(), n, rows, columns))
		e.Hint = "select along the others with named.Index"
		return nil, e
	}
	data, ok := op.Known(named.Unnamed(t, rows, columns))
	if !ok {
		return nil, tenon.NewError(tenon.ErrUnsupported, fn, fmt.Sprintf("%v has no elements yet, or is ragged", t.Spec()))
	}
	dense, ok := data.(*tensor.Dense)
	if !ok || !numeric(dense.DType()) {
		return nil, tenon.NewError(tenon.ErrDType, fn, fmt.Sprintf("the elements of %v are not numbers", t.Spec()))
	}
	m = &HeatMap{o: o, rows: axis{name: rows.String(), size: dense.Dim(0)}, cols: axis{name: columns.String(), size: dense.Dim(1)}}
	if n := dense.Shape().Size(); n == 0 || n > maxCells {
		return nil, tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("%v has %d elements, want 1 to %d", t.Spec(), n, maxCells))
	}
	if labelled {
		m.rows.labels, _ = a.Labels(rows)
		m.cols.labels, _ = a.Labels(columns)
	}
	m.data = append([]float64{}, tensor.Data[float64](ops.Cast(dense, dtype.Float64))...)
	m.scale()
	return m, nil
}

func numeric(d dtype.DType) bool { return d.IsFloat() || d.IsInteger() || d == dtype.Bool }

// scale finds the ends of the scale.
func (m *HeatMap) scale() {
	m.min, m.max = m.o.Min, m.o.Max
	if m.min != 0 || m.max != 0 {
		return
	}
	m.min, m.max = math.Inf(1), math.Inf(-1)
	for _, v := range m.data {
		if finite(v) {
			m.min, m.max = math.Min(m.min, v), math.Max(m.max, v)
		}
	}
	if m.min > m.max {
		m.min, m.max = 0, 0
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func (m *HeatMap) at(row, col int) float64 { return m.data[row*m.cols.size+col] }

// share returns the position of a value on the scale, from 0 to 1, or false if the value is
// drawn blank.
func (m *HeatMap) share(v float64) (float64, bool) {
	switch {
	case !finite(v):
		return 0, false
	case m.max <= m.min:
		return 0.5, true
	}
	return min(max((v-m.min)/(m.max-m.min), 0), 1), true
}
