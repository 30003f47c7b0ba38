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
	"time"

	"github.com/urfave/cli/v3"

	"github.com/tenonml/tenon/cmd/tenon/internal/formats"
	"github.com/tenonml/tenon/internal/input"
	"github.com/tenonml/tenon/internal/markup"
	"github.com/tenonml/tenon/learn/runs"
	"github.com/tenonml/tenon/show/view"
)

func viewCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "view", Usage: "show files, models and training runs in a browser", ArgsUsage: "FILE…",
		Description: "Serves pages on the local machine, at an address with a secret in it, until interrupted. Large files are read as\n" +
			"you look at them. A folder with records of training runs shows their curves as they grow.\n\n" +
			"   tenon view model.safetensors events.parquet\n" +
			"   tenon view runs\n" +
			"   tenon view events.jsonl -o events.html        the first page as a file",
		Flags: []cli.Flag{inputFlag, outputFlag, &cli.StringFlag{Name: "listen", Value: "127.0.0.1:0", Usage: "serve at `ADDRESS` of the local machine"}},
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

// viewFile writes the pages of items to one file.
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
	host, port, err := net.SplitHostPort(c.String("listen"))
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if ip := net.ParseIP(host); err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return usage("--listen is %q, want an address of the local machine, such as 127.0.0.1:8000", c.String("listen"))
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
		m, err := formats.OpenModel(in) // it stays open, because tensors are read when they are looked at
		if err != nil {
			return view.Item{}, errors.Join(err, in.Close())
		}
		return viewModel(ctx, name, m), nil
	}
	if err := in.Close(); err != nil && in.Path != "" {
		return view.Item{}, err
	}
	item := view.Item{Name: name, Note: in.Format.Name, Draw: func(q url.Values) (string, error) { return p.viewRecords(ctx, c, file, q) }}
	_, err = item.Draw(url.Values{}) // report now what cannot be read
	return item, err
}
