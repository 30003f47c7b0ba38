package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/cmd/tenon/internal/formats"
	"github.com/tenonml/tenon/internal/input"
	"github.com/tenonml/tenon/internal/markup"
	"github.com/tenonml/tenon/learn/runs"
	"github.com/tenonml/tenon/show/view"
	"github.com/tenonml/tenon/structured"
)

func viewCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "view", Usage: "show files, models and training runs in a browser", ArgsUsage: "FILE…",
		Description: "Serves pages on this machine alone, at an address with a secret in it, until it is interrupted; what is in large\n" +
			"files is read when it is looked at. A folder with records of training runs shows their curves as they grow.\n\n" +
			"   tenon view model.safetensors events.parquet\n" +
			"   tenon view runs\n" +
			"   tenon view events.jsonl -o events.html        the first page as a file",
		Flags: []cli.Flag{inputFlag, outputFlag, &cli.StringFlag{Name: "listen", Value: "127.0.0.1:0", Usage: "serve at `ADDRESS` of this machine"}},
		Action: func(ctx context.Context, c *cli.Command) error {
			files := c.Args().Slice()
			if len(files) == 0 {
				return usage("view needs a file, or a folder with training runs")
			}
			var items []view.Item
			for _, file := range files {
				item, err := p.viewItem(ctx, c, file)
				if err != nil {
					return err
				}
				items = append(items, item)
			}
			if out := c.String("output"); out != "" {
				return viewFile(out, items)
			}
			return p.serveView(ctx, c, items)
		},
	}
}

// viewFile writes the pages of items as one file.
func viewFile(out string, items []view.Item) error {
	var fragments []string
	var add func(items []view.Item) error
	add = func(items []view.Item) error {
		for _, item := range items {
			if item.Draw != nil {
				f, err := item.Draw(url.Values{})
				if err != nil {
					return err
				}
				var w markup.Writer
				fragments = append(fragments, w.Element("h2", item.Name).String()+f)
			}
			if err := add(item.Items); err != nil {
				return err
			}
		}
		return nil
	}
	if err := add(items); err != nil {
		return err
	}
	title := items[0].Name
	return input.WriteFile(out, func(w io.Writer) error {
		_, err := io.WriteString(w, view.Page(title, fragments...))
		return err
	})
}

func (p *program) serveView(ctx context.Context, c *cli.Command, items []view.Item) error {
	host, _, err := net.SplitHostPort(c.String("listen"))
	if ip := net.ParseIP(host); err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return usage("--listen is %q, want an address of this machine alone, such as 127.0.0.1:8000", c.String("listen"))
	}
	l, err := net.Listen("tcp", c.String("listen"))
	if err != nil {
		return err
	}
	s := view.NewServer("tenon view", items)
	const slow = 10 * time.Second
	server := &http.Server{Handler: s, ReadHeaderTimeout: slow, BaseContext: func(net.Listener) context.Context { return ctx }}
	if _, err := fmt.Fprintln(p.stdout, s.URL(l.Addr())); err != nil {
		return errors.Join(err, l.Close())
	}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return ctx.Err()
}

// viewItem returns the page of a file, and those below it.
func (p *program) viewItem(ctx context.Context, c *cli.Command, file string) (view.Item, error) {
	if st, err := os.Stat(file); err == nil && st.IsDir() {
		if list, err := runs.List(file); err == nil && len(list) > 0 {
			return viewRuns(file), nil
		}
	}
	in, err := p.open(c, file)
	if err != nil {
		return view.Item{}, err
	}
	name := filepath.Base(file)
	if in.Format.Model != nil && in.Format.Rows == nil {
		m, err := formats.OpenModel(in) // stays open: tensors are read when they are looked at
		if err != nil {
			return view.Item{}, errors.Join(err, in.Close())
		}
		return viewModel(name, m), nil
	}
	if err := in.Close(); err != nil && in.Path != "" {
		return view.Item{}, err
	}
	item := view.Item{Name: name, Note: in.Format.Name, Draw: func(q url.Values) (string, error) { return p.viewRecords(ctx, c, file, q) }}
	_, err = item.Draw(url.Values{}) // what cannot be read is told here
	return item, err
}

// viewModel is the tensors and the functions of a model.
func viewModel(name string, m *formats.Model) view.Item {
	item := view.Item{Name: name, Note: fmt.Sprintf("%d tensors, %d functions", len(m.Tensors), len(m.Functions))}
	for _, f := range m.Functions {
		for i, g := range f.Graphs {
			title := f.Signature
			if len(f.Graphs) > 1 {
				title += fmt.Sprintf(" (variant %d)", i)
			}
			item.Items = append(item.Items, view.Item{Name: title, Note: fmt.Sprintf("%d operations", len(g.Nodes)), Draw: func(url.Values) (string, error) {
				var w markup.Writer
				return w.Open("div", "class", "scroll").Add(view.Graph(g)).End().String(), nil
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

// pageRows is how many records a page shows.
const pageRows = 100

// viewRecords draws records from the one that the query names on.
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

// paged draws rows with the way to those before and behind them. rows is how many there are on this
// page, -1 where that is not known.
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

// viewRuns is the curves of the runs in a folder.
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

// runsForm asks how curves are drawn.
func runsForm(o view.RunOptions) string {
	var w markup.Writer
	w.Open("form", "method", "get")
	box := func(name, text string, on bool) {
		w.Open("label")
		if on {
			w.Void("input", "type", "checkbox", "name", name, "checked", "")
		} else {
			w.Void("input", "type", "checkbox", "name", name)
		}
		w.Text(" " + text).End()
	}
	w.Open("label").Text("smooth ").Void("input", "type", "number", "name", "smooth", "min", 0, "max", 0.99, "step", 0.01, "value", o.Smooth).End()
	box("log", "logarithmic", o.Log)
	box("time", "by time", o.Time)
	return w.Element("button", "draw").End().String()
}

// stampOf changes with the records in a folder.
func stampOf(folder string) string {
	var b strings.Builder
	_ = filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error { // what is not there shows in the page
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
