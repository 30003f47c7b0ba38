package main

import (
	"context"
	"errors"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/cmd/tenon/internal/formats"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func modelCommand(p *program) *cli.Command {
	c := rowsCommand(p, "model", "list the tensors of a model, without reading them",
		"Lists the tensors in the order of the file, with types and bytes; --tree sums them up by the parts of their names.\n"+
			"tenon info shows the functions of a model, and tenon stats the contents of the tensors.",
		[]cli.Flag{&cli.BoolFlag{Name: "tree", Usage: "sum up by parts of names"}, &cli.IntFlag{Name: "depth", Usage: "number of parts of names to show; 0: all"}},
		func(ctx context.Context, c *cli.Command, file string) error { return p.model(ctx, c, file) })
	c.Metadata["plain"] = "table"
	return c
}

// A branch is everything below a part of the names of tensors.
type branch struct {
	name, typ       string
	tensors         int64
	elements, bytes int64
}

func (p *program) model(ctx context.Context, c *cli.Command, file string) (err error) {
	in, err := p.open(c, file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	m, err := formats.OpenModel(in)
	if err != nil {
		return err
	}
	defer m.Close()
	depth := c.Int("depth")
	if depth < 0 {
		return usage("--depth is %d, want 0 or more", depth)
	}
	list := branches(m.Tensors, c.Bool("tree") || depth > 0, depth)
	t, err := branchRecords(list)
	if err != nil {
		return err
	}
	if t, err = filtered(t, c.String("where"), nil); err != nil {
		return err
	}
	return p.write(ctx, c, file, func(w formats.RowWriter) error { return w.Write(t) })
}

// branches lists tensors, or the sums below each part of their names.
func branches(tensors []formats.Tensor, tree bool, depth int) (out []*branch) {
	byName := map[string]*branch{}
	for _, t := range tensors {
		parts := nameParts(t.Name)
		from := len(parts)
		if tree {
			from = 1
		}
		n, _ := formats.Bytes(t.Spec)
		for k := from; k <= len(parts); k++ {
			if depth > 0 && k > depth {
				break
			}
			name := strings.Join(parts[:k], "")
			b := byName[name]
			if b == nil {
				b = &branch{name: name}
				if tree {
					b.name = strings.Repeat("  ", k-1) + strings.TrimPrefix(parts[k-1], ".")
				}
				byName[name] = b
				out = append(out, b)
			}
			if k == len(parts) {
				b.typ = tenon.String(t.Spec)
			}
			b.tensors++
			b.elements += parameters(t.Spec)
			b.bytes += n
		}
	}
	return out
}

// nameParts splits a name at dots, slashes and brackets, which stay with what follows.
func nameParts(name string) (out []string) {
	from := 0
	for i, r := range name {
		if i > from && (r == '.' || r == '/' || r == '[') {
			out = append(out, name[from:i])
			from = i
		}
	}
	return append(out, name[from:])
}

func branchRecords(list []*branch) (*structured.Tensor, error) {
	var names, types []string
	var tensors, elements, bytes []int64
	for _, b := range list {
		names, types = append(names, b.name), append(types, b.typ)
		tensors, elements, bytes = append(tensors, b.tensors), append(elements, b.elements), append(bytes, b.bytes)
	}
	return structured.FromFields([]structured.Field{
		{Name: "name", Value: tensor.Of(names)}, {Name: "type", Value: tensor.Of(types)}, {Name: "tensors", Value: tensor.Of(tensors)},
		{Name: "elements", Value: tensor.Of(elements)}, {Name: "bytes", Value: tensor.Of(bytes)},
	}, shapeOf(len(list)), structured.Options{})
}
