package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/tenonml/tenon/cmd/tenon/internal/formats"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/show/view"
)

// drawings are the forms in which a graph can be written.
var drawings = map[string]func(name string, g *graph.Graph, o view.GraphOptions) (string, error){
	"text": func(_ string, g *graph.Graph, _ view.GraphOptions) (string, error) { return g.String() + "\n", nil },
	"dot":  func(_ string, g *graph.Graph, _ view.GraphOptions) (string, error) { return g.DOT(), nil },
	"json": func(_ string, g *graph.Graph, _ view.GraphOptions) (string, error) {
		b, err := g.JSON()
		return string(b) + "\n", err
	},
	"netron": func(name string, g *graph.Graph, _ view.GraphOptions) (string, error) { return netron(name, g) },
	"svg":    func(_ string, g *graph.Graph, o view.GraphOptions) (string, error) { return view.GraphFile(g, o), nil },
}

func graphCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "graph", Usage: "show the graph of a model's function", ArgsUsage: "MODEL",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "function", Usage: "the function `NAME`", DefaultText: "the first"}, &cli.IntFlag{Name: "variant", Usage: "variant `N` of the function, from 0"},
			&cli.StringFlag{Name: "format", Aliases: []string{"f"}, Value: "text", Usage: "write as `FORM`: text, svg, dot (Graphviz), json, netron (the JSON that Netron opens)"},
			&cli.BoolFlag{Name: "compiled", Usage: "the graph as it runs, with operations simplified and fused"},
			&cli.StringFlag{Name: "colour", Usage: "with -f svg, run the function on its warm-up inputs and colour operations by `WHAT` they use: time or memory"},
			&cli.BoolFlag{Name: "counts", Usage: "only how often each operation occurs"}, outputFlag, inputFlag,
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			file, err := p.argument(c)
			if err != nil {
				return err
			}
			draw, ok := drawings[c.String("format")]
			if !ok {
				return usage("-f is %q, want %s", c.String("format"), strings.Join(sortedKeys(drawings), ", "))
			}
			colour := c.String("colour")
			if colour != "" && (colour != "time" && colour != "memory" || c.String("format") != "svg") {
				return usage("--colour is %q, want time or memory, with -f svg", colour)
			}
			f, variant, err := p.functionOf(c, file)
			if err != nil {
				return err
			}
			g, o, err := graphOf(ctx, f, variant, c.Bool("compiled"), colour)
			if err != nil {
				return err
			}
			text := counts(g)
			if !c.Bool("counts") {
				if text, err = draw(f.Name(), g, o); err != nil {
					return err
				}
			}
			return p.put(c, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
		},
	}
}

// functionOf finds the function and variant that the flags name.
func (p *program) functionOf(c *cli.Command, file string) (f *saved.Func, variant int, err error) {
	in, err := p.open(c, file)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	m, err := formats.OpenModel(in)
	if err != nil {
		return nil, 0, err
	}
	defer m.Close()
	if len(m.Functions) == 0 {
		return nil, 0, fmt.Errorf("%s has no functions; tenon model lists its tensors", file)
	}
	want := c.String("function")
	var names []string
	for _, f := range m.Functions {
		names = append(names, f.Name())
		if want != "" && f.Name() != want {
			continue
		}
		i := c.Int("variant")
		if i < 0 || i >= f.Variants() {
			return nil, 0, usage("--variant is %d, but %s has %d", i, f.Name(), f.Variants())
		}
		return f, i, nil
	}
	return nil, 0, usage("--function: there is no %q; there are %s", want, strings.Join(names, ", "))
}

// graphOf returns the graph of a function, as it was saved or as it runs, and how to draw it: with a
// colour, by measurements of it.
func graphOf(ctx context.Context, f *saved.Func, variant int, compiled bool, colour string) (g *graph.Graph, o view.GraphOptions, err error) {
	if !compiled && colour == "" {
		return f.Graph(variant), o, nil
	}
	if g, err = f.Compiled(variant); err != nil || colour == "" {
		return g, o, err
	}
	given, err := f.WarmUps(variant)
	if err == nil && len(given) == 0 {
		err = fmt.Errorf("%s was saved without warm-up inputs and cannot be measured; add some with saved.Func.AddWarmUp", f.Name())
	}
	if err == nil {
		o.Profile, err = f.Measure(ctx, variant)
	}
	o.Memory = colour == "memory"
	return g, o, err
}

// counts returns a table of how often each operation occurs, including branches and loops.
func counts(g *graph.Graph) string {
	n := map[string]int{}
	var walk func(g *graph.Graph)
	walk = func(g *graph.Graph) {
		for _, node := range g.Nodes {
			n[node.Op.Name]++
			for _, r := range node.Regions() {
				walk(r)
			}
		}
	}
	walk(g)
	var b strings.Builder
	for _, name := range sortedKeys(n) {
		fmt.Fprintf(&b, "%6d %s\n", n[name], name)
	}
	return b.String()
}
