package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/tenonml/tenon/backend"
	"github.com/tenonml/tenon/cmd/tenon/internal/formats"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/show/view"
)

// drawings are the forms in which a graph is written.
var drawings = map[string]func(name string, g *graph.Graph) (string, error){
	"text": func(_ string, g *graph.Graph) (string, error) { return g.String() + "\n", nil },
	"dot":  func(_ string, g *graph.Graph) (string, error) { return g.DOT(), nil },
	"json": func(_ string, g *graph.Graph) (string, error) {
		b, err := g.JSON()
		return string(b) + "\n", err
	},
	"netron": netron,
	"svg":    func(_ string, g *graph.Graph) (string, error) { return view.GraphFile(g), nil },
}

func graphCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "graph", Usage: "show the graph of a model's function", ArgsUsage: "MODEL",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "function", Usage: "the function `NAME`", DefaultText: "the first"}, &cli.IntFlag{Name: "variant", Usage: "the function's variant `N`, from 0 on"},
			&cli.StringFlag{Name: "format", Aliases: []string{"f"}, Value: "text", Usage: "write as `FORM`: text, svg, dot (Graphviz), json, netron (the JSON that Netron opens)"},
			&cli.BoolFlag{Name: "compiled", Usage: "the graph as it runs: simplified, and with operations that run together"},
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
			name, g, err := p.graphOf(c, file)
			if err != nil {
				return err
			}
			if c.Bool("compiled") {
				program, err := backend.Default.Compile(g, backend.Options{})
				if err != nil {
					return err
				}
				g = program.Graph()
			}
			text := counts(g)
			if !c.Bool("counts") {
				if text, err = draw(name, g); err != nil {
					return err
				}
			}
			return p.put(c, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
		},
	}
}

// graphOf finds the graph that the flags name.
func (p *program) graphOf(c *cli.Command, file string) (name string, g *graph.Graph, err error) {
	in, err := p.open(c, file)
	if err != nil {
		return "", nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	m, err := formats.OpenModel(in)
	if err != nil {
		return "", nil, err
	}
	defer m.Close()
	if len(m.Functions) == 0 {
		return "", nil, fmt.Errorf("%s has no functions; tenon model lists its tensors", file)
	}
	want := c.String("function")
	var names []string
	for _, f := range m.Functions {
		names = append(names, f.Name)
		if want != "" && f.Name != want {
			continue
		}
		i := c.Int("variant")
		if i < 0 || i >= len(f.Graphs) {
			return "", nil, usage("--variant is %d, but %s has %d", i, f.Name, len(f.Graphs))
		}
		return f.Name, f.Graphs[i], nil
	}
	return "", nil, usage("--function: there is no %q; there are %s", want, strings.Join(names, ", "))
}

// counts tells how often each operation occurs, in branches and loops too.
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
