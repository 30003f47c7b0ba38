package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/cmd/tenon/internal/formats"
	"github.com/tenonml/tenon/internal/markup"
	"github.com/tenonml/tenon/learn/runs"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/show/view"
	"github.com/tenonml/tenon/structured"
	"github.com/urfave/cli/v3"
)

// viewModel returns a page with the tensors and functions of a model.
func viewModel(ctx context.Context, name string, m *formats.Model) view.Item {
	item := view.Item{Name: name, Note: fmt.Sprintf("%d tensors, %d functions", len(m.Tensors), len(m.Functions))}
	for _, f := range m.Functions {
		for i := range f.Variants() {
			title := f.String()
			if f.Variants() > 1 {
				title += fmt.Sprintf(" (variant %d)", i)
			}
			item.Items = append(item.Items, view.Item{Name: title, Note: fmt.Sprintf("%d operations", len(f.Graph(i).Nodes)), Draw: func(q url.Values) (string, error) {
				return viewGraph(ctx, f, i, q)
			}})
		}
	}
	for _, t := range m.Tensors {
		item.Items = append(item.Items, view.Item{Name: t.Name, Note: tenon.String(t.Spec), Draw: func(q url.Values) (string, error) {
			v, err := t.Read()
			if err != nil {
				return "", err
			}
			return paged(q, -1, func(from int) string { return view.HTML(v, view.Options{From: from}) }), nil
		}})
	}
	return item
}

// pageRows is the number of records on a page.
const pageRows = 100

// viewRecords draws records, starting with the one that the query names.
func (p *program) viewRecords(ctx context.Context, c *cli.Command, file string, q url.Values) (string, error) {
	from := fromOf(q)
	r, err := p.records(ctx, c, file, formats.Options{First: from + pageRows})
	if err != nil {
		return "", err
	}
	defer r.close()
	var parts []*structured.Tensor
	skip, left := from, pageRows
	err = r.each(func(t *structured.Tensor) error {
		n := formats.RowCount(t)
		lo, hi := min(skip, n), min(skip+left, n)
		if hi > lo || len(parts) == 0 {
			parts = append(parts, formats.Slice(t, lo, hi))
		}
		skip -= lo
		if left -= hi - lo; left <= 0 {
			return errEnough
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if len(parts) == 0 {
		return "", fmt.Errorf("%s has no records", file)
	}
	all := parts[0]
	if len(parts) > 1 {
		if all, err = structured.Concat(parts...); err != nil {
			return "", err
		}
	}
	return paged(q, formats.RowCount(all), func(int) string { return view.HTML(all, view.Options{}) }), nil
}

func fromOf(q url.Values) int {
	n, err := strconv.Atoi(q.Get("from"))
	if err != nil {
		return 0
	}
	const most = 1 << 40
	return min(max(n, 0), most)
}

// paged draws rows with links to those before and after them. rows is the number of rows on this
// page, or -1 if unknown.
func paged(q url.Values, rows int, draw func(from int) string) string {
	from := fromOf(q)
	var w markup.Writer
	w.Open("nav", "aria-label", "rows").Text(fmt.Sprintf("from %d on", from))
	if from > 0 {
		w.Element("a", "before", "href", fmt.Sprintf("?from=%d", max(0, from-pageRows)), "rel", "prev")
	}
	if rows < 0 || rows == pageRows {
		w.Element("a", "behind", "href", fmt.Sprintf("?from=%d", from+pageRows), "rel", "next")
	}
	return w.End().String() + draw(from)
}

// viewRuns returns a page with the curves of the runs in a folder.
func viewRuns(folder string) view.Item {
	return view.Item{
		Name: filepath.Base(folder), Note: "training runs",
		Stamp: func() string { return stampOf(folder) },
		Draw: func(q url.Values) (string, error) {
			list, err := runs.List(folder)
			if err != nil {
				return "", err
			}
			smooth, err := strconv.ParseFloat(q.Get("smooth"), 64)
			if err != nil {
				smooth = 0
			}
			o := view.RunOptions{Smooth: smooth, Log: q.Has("log"), Time: q.Has("time")}
			return runsForm(o) + view.Runs(list, o), nil
		},
	}
}

// runsForm returns a form for how curves are drawn.
func runsForm(o view.RunOptions) string {
	var w markup.Writer
	w.Open("form", "method", "get")
	w.Open("label").Text("smooth ").Void("input", "type", "number", "name", "smooth", "min", 0, "max", 0.99, "step", 0.01, "value", o.Smooth).End()
	checkbox(&w, "log", "logarithmic", o.Log)
	checkbox(&w, "time", "by time", o.Time)
	return w.Element("button", "draw").End().String()
}

func checkbox(w *markup.Writer, name, text string, on bool) {
	w.Open("label")
	if on {
		w.Void("input", "type", "checkbox", "name", name, "checked", "")
	} else {
		w.Void("input", "type", "checkbox", "name", name)
	}
	w.Text(" " + text).End()
}

// viewGraph draws the graph of a function: as it was saved, as it runs, or coloured by its
// costs.
func viewGraph(ctx context.Context, f *saved.Func, variant int, q url.Values) (string, error) {
	kinds := []struct{ value, text string }{{"", "as written"}, {"runs", "as it runs"}, {"time", "by time"}, {"memory", "by memory"}}
	as := q.Get("as")
	var w markup.Writer
	w.Open("nav", "aria-label", "what is drawn")
	for _, k := range kinds {
		if k.value == as {
			w.Element("b", k.text)
		} else {
			w.Element("a", k.text, "href", "?as="+k.value)
		}
	}
	w.End().Line()
	colour := ""
	if as == "time" || as == "memory" {
		colour = as
	}
	g, o, err := graphOf(ctx, f, variant, as != "", colour)
	if err != nil {
		return w.Element("p", err.Error(), "class", "bad").String(), nil
	}
	return w.String() + view.Graph(g, o), nil
}

// stampOf returns a text that changes with the records in a folder.
func stampOf(folder string) string {
	var b strings.Builder
	_ = filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error { // the page shows what is missing
		if err != nil {
			return nil
		}
		if name := d.Name(); name == "events.jsonl" || name == "run.json" {
			if st, err := d.Info(); err == nil {
				fmt.Fprintf(&b, "%s %d %d\n", path, st.Size(), st.ModTime().UnixNano())
			}
		}
		return nil
	})
	return b.String()
}
