package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/cmd/tenon/internal/formats"
	"github.com/tenonml/tenon/internal/summary"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// fileInfo is the report of tenon info on a file. Its JSON form is part of the command's
// interface.
type fileInfo struct {
	File       string            `json:"file"`
	Format     string            `json:"format"`
	Bytes      *int64            `json:"bytes"` // null if unknown, as for a pipe
	Compressed bool              `json:"compressed"`
	Records    *int64            `json:"records"` // null if only reading the file would tell
	Type       string            `json:"type,omitempty"`
	Groups     []int64           `json:"groups,omitempty"`
	Schema     string            `json:"schema,omitempty"`
	Tensors    int               `json:"tensors,omitempty"`
	Parameters int64             `json:"parameters,omitempty"`
	Functions  []string          `json:"functions,omitempty"`
	Metadata   map[string]string `json:"metadata,omitempty"`
}

func infoCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "info", Usage: "show format, size, number of records and types of files", ArgsUsage: "FILE…",
		Description: "Types are those of the first records. The number of records is shown if the file stores it; --count counts them.",
		Flags:       []cli.Flag{inputFlag, &cli.BoolFlag{Name: "count", Usage: "count records, and infer types from all of them"}, &cli.BoolFlag{Name: "json", Usage: "write JSON, an object in a line for each file"}},
		Action: func(ctx context.Context, c *cli.Command) error {
			files := c.Args().Slice()
			if len(files) == 0 {
				file, err := p.argument(c)
				if err != nil {
					return err
				}
				files = []string{file}
			}
			var failed error
			for i, file := range files {
				f, err := p.info(ctx, c, file)
				if err != nil {
					if ctx.Err() != nil || len(files) == 1 {
						return err
					}
					fmt.Fprintf(p.stderr, "tenon: %s\n", said(err)) // other files are still reported
					failed = errDiffers
					continue
				}
				if c.Bool("json") {
					err = writeJSON(p.stdout, f)
				} else {
					if i > 0 {
						fmt.Fprintln(p.stdout)
					}
					err = f.write(p.stdout)
				}
				if err != nil {
					return err
				}
			}
			return failed
		},
	}
}

func (p *program) info(ctx context.Context, c *cli.Command, file string) (f *fileInfo, err error) {
	in, err := p.open(c, file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	f = &fileInfo{File: in.Name, Format: in.Format.Name, Compressed: in.Compressed()}
	if in.Size >= 0 {
		f.Bytes = &in.Size
	}
	if in.Format.Model != nil && in.Format.Rows == nil {
		m, err := formats.OpenModel(in)
		if err != nil {
			return nil, err
		}
		defer m.Close()
		f.Metadata, f.Tensors = m.Metadata, len(m.Tensors)
		for _, t := range m.Tensors {
			f.Parameters += parameters(t.Spec)
		}
		for _, x := range m.Functions {
			f.Functions = append(f.Functions, x.String())
		}
		return f, nil
	}
	all := c.Bool("count")
	first := formats.Options{Context: ctx, First: 100}
	if all {
		first.First = 0
	}
	r, err := formats.Records(in, first)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	f.Groups, f.Schema = r.Groups, r.Schema
	n := r.Count
	if n >= 0 {
		f.Records = &n
	}
	meter := p.newMeter()
	defer meter.stop()
	var read int64
	for t, err := range r.Batches(batchRows) {
		if err != nil {
			return nil, err
		}
		f.Type = rowType(t)
		read += int64(formats.RowCount(t))
		meter.add(formats.RowCount(t))
		if !all {
			break
		}
	}
	if all {
		f.Records = &read
	}
	return f, nil
}

// rowType is the type of records, without their number.
func rowType(t *structured.Tensor) string {
	_, row, _ := strings.Cut(structured.Datashape(t.Spec()), " * ")
	return row
}

// parameters is the number of elements of Values of a Spec, as far as it is known.
func parameters(s tenon.Spec) (n int64) {
	if t, ok := s.(*tensor.Spec); ok {
		return max(0, int64(t.Shape().Size()))
	}
	for _, c := range s.Components() {
		n += parameters(c.Spec)
	}
	return n
}

// writeJSON writes a value as a line.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func (f *fileInfo) write(w io.Writer) error {
	var b strings.Builder
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-11s %s\n", name, strings.ReplaceAll(formats.Printable(text), "⏎", "\n            "))
		}
	}
	line("file", f.File)
	format := f.Format
	if f.Compressed {
		format += ", compressed"
	}
	line("format", format)
	if f.Bytes != nil {
		line("size", fmt.Sprintf("%s (%d bytes)", summary.Bytes(*f.Bytes), *f.Bytes))
	}
	switch {
	case f.Records != nil:
		line("records", fmt.Sprint(*f.Records))
	case f.Type != "":
		line("records", "not counted; --count does")
	}
	if len(f.Groups) > 1 {
		line("groups", fmt.Sprint(len(f.Groups)))
	}
	line("type", f.Type)
	if f.Tensors > 0 {
		line("tensors", fmt.Sprintf("%d, %d elements", f.Tensors, f.Parameters))
	}
	for _, text := range f.Functions {
		line("function", text)
	}
	var keys []string
	for k := range f.Metadata {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		line("metadata", k+": "+formats.Cut(f.Metadata[k], 200))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
