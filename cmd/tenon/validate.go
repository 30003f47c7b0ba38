package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/cmd/tenon/internal/formats"
	"github.com/tenonml/tenon/data/csvio"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/structured"
)

func validateCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "validate", Usage: "report faults in files", ArgsUsage: "FILE…",
		Description: "Reads everything strictly, and prints a line for each fault, with file, line or row and path: up to a thousand for\n" +
			"JSON lines and CSV, the first one for other formats. The exit status is 1 if there is a fault.",
		Flags: []cli.Flag{inputFlag, &cli.StringFlag{Name: "like", Usage: "require the types of the records in `FILE`"}, &cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print nothing; only set the exit status"}, &cli.BoolFlag{Name: "json", Usage: "write JSON, an object in a line for each fault"}},
		Action: func(ctx context.Context, c *cli.Command) error {
			files := c.Args().Slice()
			if len(files) == 0 {
				file, err := p.argument(c)
				if err != nil {
					return err
				}
				files = []string{file}
			}
			var like tenon.Spec
			if name := c.String("like"); name != "" {
				t, err := p.whole(ctx, &cli.Command{}, name, formats.Options{})
				if err != nil {
					return err
				}
				like, _ = single(t.Spec())
			}
			var result error
			for _, file := range files {
				faults := p.faults(ctx, c, file, like)
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				for _, f := range faults {
					result = errDiffers
					if err := f.write(p, c); err != nil {
						return err
					}
				}
			}
			return result
		},
	}
}

// A fault is an error at a place in a file.
type fault struct {
	File   string `json:"file"`
	Line   int64  `json:"line,omitempty"`
	Column int64  `json:"column,omitempty"`
	Row    *int64 `json:"row,omitempty"`
	Path   string `json:"path,omitempty"`
	What   string `json:"what"`
}

func (f fault) write(p *program, c *cli.Command) (err error) {
	switch {
	case c.Bool("quiet"):
	case c.Bool("json"):
		err = writeJSON(p.stdout, f)
	default:
		place := f.File
		if f.Line > 0 {
			place += fmt.Sprintf(":%d", f.Line)
		}
		if f.Column > 0 {
			place += fmt.Sprintf(":%d", f.Column)
		}
		if f.Path != "" {
			place += ": " + f.Path
		}
		_, err = fmt.Fprintf(p.stdout, "%s: %s\n", formats.Printable(place), formats.Printable(f.What))
	}
	return err
}

// faults reads a file and returns its faults.
func (p *program) faults(ctx context.Context, c *cli.Command, file string, like tenon.Spec) []fault {
	in, err := p.open(c, file)
	if err != nil {
		return []fault{{File: file, What: said(err)}}
	}
	defer in.Close()
	if in.Format.Model != nil && in.Format.Rows == nil {
		return tensorFaults(ctx, in)
	}
	meter := p.newMeter()
	defer meter.stop()
	report := &jsonl.Report{}
	table := &csvio.Report{}
	var out []fault
	r, err := formats.Records(in, formats.Options{Context: ctx, Progress: meter.bytes, Faults: report, TableFaults: table})
	if err == nil {
		defer r.Close()
		for t, e := range r.Batches(batchRows) {
			if err = e; err != nil {
				break
			}
			meter.add(formats.RowCount(t))
			if f, bad := unlike(file, t, like); bad {
				out = append(out, f)
				break
			}
		}
	}
	for _, e := range report.Bad {
		out = append(out, faultOf(file, e))
	}
	for _, e := range table.Skipped {
		out = append(out, faultOf(file, e))
	}
	if err != nil && len(out) == 0 {
		out = append(out, faultOf(file, err))
	}
	return out
}

// unlike returns a fault if records are not of a type.
func unlike(file string, t *structured.Tensor, like tenon.Spec) (fault, bool) {
	if like == nil {
		return fault{}, false
	}
	row, _ := single(t.Spec())
	if tenon.Subtype(row, like) {
		return fault{}, false
	}
	where, what := tenon.Difference(row, like)
	return fault{File: file, Path: where, What: what}, true
}

func faultOf(file string, err error) fault {
	f := fault{File: file, What: said(err)}
	var j *jsonl.Error
	var t *csvio.Error
	switch {
	case errors.As(err, &j):
		f.Line, f.Column, f.Row, f.Path, f.What = j.Line, j.Column, &j.Row, j.Path, j.Detail
	case errors.As(err, &t):
		f.Line, f.Path, f.What = t.Line, t.Column, t.Detail
	}
	return f
}

// tensorFaults reads all tensors.
func tensorFaults(ctx context.Context, in *formats.Input) (out []fault) {
	m, err := formats.OpenModel(in)
	if err != nil {
		return []fault{faultOf(in.Name, err)}
	}
	defer m.Close()
	for _, t := range m.Tensors {
		if ctx.Err() != nil {
			return out
		}
		if _, err := t.Read(); err != nil {
			out = append(out, fault{File: in.Name, Path: t.Name, What: said(err)})
		}
	}
	for _, f := range m.Functions {
		for i := range f.Variants() {
			g := f.Graph(i)
			if err := g.Verify(); err != nil {
				out = append(out, fault{File: in.Name, Path: f.Name(), What: said(err)})
			}
		}
	}
	return out
}
