package main

import (
	"context"
	"errors"
	"io"

	"github.com/urfave/cli/v3"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/cmd/tenon/internal/formats"
)

func convertCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "convert", Usage: "convert a file to another format", ArgsUsage: "FILE -o FILE",
		Description: "The name of the file to write sets the format: " + writtenSuffixes + ",\n" +
			"optionally followed by .gz or .zst. An existing file is replaced once everything is written.",
		Flags:    []cli.Flag{outputFlag, formatFlag, inputFlag, pathsFlag, whereFlag},
		Metadata: map[string]any{"plain": "jsonl"},
		Action: func(ctx context.Context, c *cli.Command) error {
			file, err := p.argument(c)
			if err != nil {
				return err
			}
			if c.String("output") == "" {
				return usage("convert needs -o, the name of the file to write; - is standard output")
			}
			if f, err := convertTo(c); err != nil {
				return err
			} else if f.Tensors != nil && f.Create == nil {
				return p.convertTensors(ctx, c, file, f)
			}
			return p.head(ctx, c, file, -1)
		},
	}
}

// convertTo returns the format to which convert writes.
func convertTo(c *cli.Command) (*formats.Format, error) {
	if name := c.String("format"); name != "" {
		f, err := formats.Named(name)
		if err != nil {
			return nil, usage("-f: %w", err)
		}
		return f, nil
	}
	f := formats.OfName(c.String("output"))
	if f == nil || f.Create == nil && f.Tensors == nil {
		return nil, usage("cannot tell the format from the name %q; set it with -f", c.String("output"))
	}
	return f, nil
}

// convertTensors writes named tensors: those of a model, or the columns of records.
func (p *program) convertTensors(ctx context.Context, c *cli.Command, file string, f *formats.Format) (err error) {
	in, err := p.open(c, file)
	if err != nil {
		return err
	}
	tensors := map[string]tenon.Value{}
	if in.Format.Model != nil && in.Format.Rows == nil {
		defer func() { err = errors.Join(err, in.Close()) }()
		m, err := formats.OpenModel(in)
		if err != nil {
			return err
		}
		defer m.Close()
		wanted, err := chosen(c)
		if err != nil {
			return err
		}
		for _, t := range m.Tensors {
			if len(wanted) > 0 && !wanted[t.Name] {
				continue
			}
			if tensors[t.Name], err = t.Read(); err != nil {
				return err
			}
		}
		if len(tensors) == 0 {
			return errors.New(file + " has no tensor of that name; tenon model lists its tensors")
		}
	} else {
		if err := in.Close(); err != nil {
			return err
		}
		all, err := p.whole(ctx, c, file, formats.Options{})
		if err != nil {
			return err
		}
		for _, field := range all.Unzip() {
			tensors[field.Name] = field.Value
		}
	}
	return p.put(c, func(w io.Writer) error { return f.Tensors(w, tensors) })
}

// chosen returns the names in -p.
func chosen(c *cli.Command) (map[string]bool, error) {
	text := c.String("paths")
	if text == "" {
		return nil, nil
	}
	list, err := splitPaths(text)
	out := map[string]bool{}
	for _, name := range list {
		out[name] = true
	}
	return out, err
}
