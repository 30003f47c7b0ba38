package view

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/anatomy"
	"github.com/tenonml/tenon/internal/markup"
	"github.com/tenonml/tenon/internal/summary"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// Options change how Values are drawn. The zero value is the default.
type Options struct {
	// Name is shown before the whole.
	Name string

	// Rows is the number of rows, or elements, of a Value that are shown; 0 stands for 100.
	Rows int

	// From is the index of the first row shown.
	From int

	// Closed folds everything but the top.
	Closed bool
}

func (o Options) rows() int {
	if o.Rows <= 0 {
		return 100
	}
	return o.Rows
}

// Page returns fragments as a self-contained page.
func Page(title string, fragments ...string) string {
	var w markup.Writer
	w.Add(markup.Head(title)).Element("h1", title).Line()
	for _, f := range fragments {
		w.Add(f)
	}
	return w.Add(markup.Foot()).String()
}

// HTML returns any nest of Values as a fragment: a tree of its contents. A leaf that is not a Value is
// shown as fmt prints it; if x is not a nest, the reason is shown.
func HTML(x any, o Options) string {
	w := &writer{o: o}
	w.Open("section", "class", "tenon")
	if v, ok := x.(tenon.Value); ok {
		w.part(o.Name, v, true)
		return w.End().Line().String()
	}
	paths, leaves, err := nest.FlattenWithPaths(x, nest.Options{})
	switch {
	case err != nil:
		w.Element("p", err.Error(), "class", "bad")
	case len(leaves) == 1 && len(paths[0]) == 0:
		w.any(o.Name, leaves[0], true)
	default:
		w.tree(o.Name, paths, leaves, 0)
	}
	return w.End().Line().String()
}

// writer draws Values.
type writer struct {
	markup.Writer
	o     Options
	depth int
}

// maxDepth bounds the nesting of Values that are drawn.
const maxDepth = 24

// tree draws the leaves below a path, whose first steps they share.
func (w *writer) tree(name string, paths []nest.Path, leaves []any, depth int) {
	w.fold(depth < 2 && !w.o.Closed, func() {
		w.Element("b", orEmpty(name, "all")).Text(" ").Element("span", fmt.Sprintf("%d parts", len(leaves)), "class", "spec")
	}, func() {
		for i := 0; i < len(paths); {
			k := i + 1
			for k < len(paths) && len(paths[k]) > depth && paths[k][depth] == paths[i][depth] {
				k++
			}
			step := nest.Path(paths[i][depth : depth+1]).String()
			if k == i+1 && len(paths[i]) == depth+1 {
				w.any(step, leaves[i], depth < 1 && !w.o.Closed)
			} else {
				w.tree(step, paths[i:k], leaves[i:k], depth+1)
			}
			i = k
		}
	})
}

func orEmpty(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// fold writes a part that opens and folds.
func (w *writer) fold(open bool, head, body func()) {
	if open {
		w.Open("details", "open", "")
	} else {
		w.Open("details")
	}
	w.Open("summary")
	head()
	w.End()
	body()
	w.End().Line()
}

// any draws a leaf of a nest.
func (w *writer) any(name string, x any, open bool) {
	if v, ok := x.(tenon.Value); ok {
		w.part(name, v, open)
		return
	}
	w.Open("p").Element("b", name).Text(" ").Element("code", fmt.Sprint(x)).End()
}

// part draws a Value with its name, Spec, statistics and elements.
func (w *writer) part(name string, v tenon.Value, open bool) {
	if v == nil {
		w.Open("p").Element("b", name).Text(" ").Element("code", "nil").End()
		return
	}
	w.depth++
	defer func() { w.depth-- }()
	w.fold(open, func() {
		if name != "" {
			w.Element("b", name).Text(" ")
		}
		w.Element("code", tenon.String(v.Spec()), "class", "spec")
	}, func() {
		if w.depth > maxDepth {
			w.Element("p", "…")
			return
		}
		if err := w.tried(v); err != nil {
			w.Element("p", err.Error(), "class", "bad")
		}
	})
}

// tried is value, but returns the error that it throws; elements that it has begun are ended.
func (w *writer) tried(v tenon.Value) (err error) {
	depth := w.Depth()
	defer func() { w.EndTo(depth) }()
	defer tenon.Catch(&err)
	w.value(v)
	return nil
}

// value draws the contents of a Value.
func (w *writer) value(v tenon.Value) {
	a := anatomy.Of(v)
	switch a.Kind {
	case anatomy.Leaf:
		w.leaf(v, nil, nil)
	case anatomy.Optional:
		w.optional(v, a)
	case anatomy.Named:
		names := make([]string, len(a.Names))
		for i, n := range a.Names {
			names[i] = n.String()
		}
		if inner := anatomy.Of(a.Inner); inner.Kind == anatomy.Leaf {
			w.leaf(a.Inner, names, nil)
			return
		}
		w.facts("dimensions " + strings.Join(names, ", "))
		w.part("", a.Inner, true)
	case anatomy.Lists:
		w.lengths(a)
		w.rows(v)
		w.part("elements", a.Inner, false)
	case anatomy.Parts:
		for _, f := range a.Fields {
			w.part(f.Name, f.Value, true)
		}
	default: // records, unions, maps, words, elements
		w.rows(v)
		w.columns(v)
	}
}

// facts writes known facts in a line.
func (w *writer) facts(text string) { w.Element("p", text, "class", "facts") }

// columns writes the statistics of the fields of records.
func (w *writer) columns(v tenon.Value) {
	var s summary.Summary
	if err := s.AddNamed("", v); err != nil || len(s.Columns()) == 0 {
		return
	}
	w.fold(false, func() { w.Element("b", "statistics") }, func() {
		w.Open("div", "class", "scroll").Open("table").Open("thead")
		w.Rows("th", []string{"path", "of", "type", "count", "missing", "about distinct", "min", "median", "max", "mean", "distribution"})
		w.End().Open("tbody")
		for _, c := range s.Columns() {
			w.Open("tr")
			for _, cell := range []string{strings.TrimPrefix(c.Path, "."), c.Of, c.Type, fmt.Sprint(c.Count), fmt.Sprint(c.Missing), fmt.Sprint(c.Distinct())} {
				w.Element("td", cell)
			}
			for _, x := range []float64{c.Min, c.Quantile(0.5), c.Max, c.Mean} {
				w.Element("td", number(x, c.Count > c.NaN), "class", "n")
			}
			w.Open("td").Add(histogram(c)).End().End()
		}
		w.End().End().End()
	})
}

// number formats a number for people, or returns "" if there is none.
func number(x float64, there bool) string {
	if !there {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

// leaf draws numbers, booleans or strings. names are those of the axes; a mask is false where an
// element is missing.
func (w *writer) leaf(v tenon.Value, names []string, mask []bool) {
	t, ok := op.Known(v)
	if !ok {
		w.facts("without elements yet")
		return
	}
	w.statistics(v)
	if d, ok := t.(*tensor.Dense); ok && d.Rank() >= 2 && d.Shape().Size() > 0 && drawable(d.DType()) {
		w.heat(tensor.Contiguous(d), names, mask)
	}
	if len(names) > 0 && t.Shape().Rank() < 2 {
		w.facts("dimensions " + strings.Join(names, ", "))
	}
	w.elements(t, mask)
}

// statistics writes count, range and distribution of numbers, or of the lengths of strings.
func (w *writer) statistics(v tenon.Value) {
	var s summary.Summary
	if err := s.AddNamed("x", v); err != nil {
		return
	}
	for _, c := range s.Columns() {
		text := fmt.Sprintf("%d values", c.Count)
		if c.Missing > 0 {
			text += fmt.Sprintf(", %d missing", c.Missing)
		}
		if c.NaN > 0 {
			text += fmt.Sprintf(", %d NaN", c.NaN)
		}
		if c.Count > c.NaN {
			of := ""
			if c.Of != "value" {
				of = " " + c.Of
			}
			text += fmt.Sprintf(",%s from %s to %s, mean %s", of, number(c.Min, true), number(c.Max, true), number(c.Mean, true))
			if sd := c.Std(); !math.IsNaN(sd) {
				text += ", standard deviation " + number(sd, true)
			}
		}
		w.Open("p", "class", "facts").Text(text + " ").Add(histogram(c)).End()
	}
}

// optional draws a Value with missing elements.
func (w *writer) optional(v tenon.Value, a anatomy.Value) {
	known, ok := op.Known(a.Mask)
	mask, dense := known.(*tensor.Dense)
	inner, leaf := a.Inner.(tensor.Tensor)
	if ok && dense && leaf && anatomy.Of(a.Inner).Kind == anatomy.Leaf && inner.Shape().Size() == mask.Shape().Size() {
		there := tensor.Data[bool](tensor.Contiguous(mask))
		missing := 0
		for _, t := range there {
			if !t {
				missing++
			}
		}
		w.facts(fmt.Sprintf("%d of %d missing (hatched)", missing, len(there)))
		w.leaf(a.Inner, nil, there)
		return
	}
	w.rows(v)
	w.columns(v)
}
