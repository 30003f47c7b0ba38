package main

import (
	"context"
	"errors"
	"math"

	"github.com/urfave/cli/v3"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/cmd/tenon/internal/formats"
	"github.com/tenonml/tenon/internal/summary"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func statsCommand(p *program) *cli.Command {
	c := rowsCommand(p, "stats", "summarise each column",
		"Prints a line for each field at any depth: the numbers of present, missing and distinct values (the last estimated\n"+
			"with a standard error of 1 %), and for numbers minimum, maximum, mean, standard deviation and quartiles (exact for\n"+
			"up to 65,536 values, from a sample of that size for more). Strings are summarised by their lengths in bytes, and\n"+
			"lists have a line for their lengths. For tensors by name, as in a model, there is a line for each tensor.",
		nil, func(ctx context.Context, c *cli.Command, file string) error { return p.stats(ctx, c, file) })
	c.Metadata["plain"] = "table"
	return c
}

func (p *program) stats(ctx context.Context, c *cli.Command, file string) (err error) {
	in, err := p.open(c, file)
	if err != nil {
		return err
	}
	var s summary.Summary
	if in.Format.Model != nil && in.Format.Rows == nil {
		err = p.tensorStats(ctx, c, in, &s)
	} else if err = in.Close(); err == nil || in.Path == "" {
		err = p.recordStats(ctx, c, file, &s)
	}
	if err != nil {
		return err
	}
	t, err := summaryRecords(s.Columns())
	if err != nil {
		return err
	}
	return p.write(ctx, c, file, func(w formats.RowWriter) error { return w.Write(t) })
}

func (p *program) recordStats(ctx context.Context, c *cli.Command, file string, s *summary.Summary) error {
	r, err := p.records(ctx, c, file, formats.Options{})
	if err != nil {
		return err
	}
	defer r.close()
	return r.each(func(t *structured.Tensor) error { return s.Add(t, formats.RowCount(t)) })
}

func (p *program) tensorStats(ctx context.Context, c *cli.Command, in *formats.Input, s *summary.Summary) (err error) {
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
	meter := p.newMeter()
	defer meter.stop()
	for _, t := range m.Tensors {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if len(wanted) > 0 && !wanted[t.Name] {
			continue
		}
		v, err := t.Read()
		if err != nil {
			return err
		}
		if err := s.AddNamed(t.Name, v); err != nil {
			return err
		}
		meter.add(1)
	}
	return nil
}

// summaryRecords returns the columns of a summary as records.
func summaryRecords(columns []*summary.Column) (out *structured.Tensor, err error) {
	defer tenon.Catch(&err)
	n := len(columns)
	path, typ, of := make([]string, n), make([]string, n), make([]string, n)
	count, missing, distinct := make([]int64, n), make([]int64, n), make([]int64, n)
	names := []string{"min", "p25", "median", "p75", "max", "mean", "std"}
	numbers := make([][]float64, len(names))
	for i := range numbers {
		numbers[i] = make([]float64, n)
	}
	for i, c := range columns {
		path[i], typ[i], of[i], count[i], missing[i], distinct[i] = c.Path, c.Type, c.Of, c.Count, c.Missing, c.Distinct()
		for k, x := range []float64{c.Min, c.Quantile(0.25), c.Quantile(0.5), c.Quantile(0.75), c.Max, c.Mean, c.Std()} {
			if c.Count == c.NaN {
				x = math.NaN()
			}
			numbers[k][i] = x
		}
	}
	fields := []structured.Field{
		{Name: "path", Value: tensor.Of(path)}, {Name: "type", Value: tensor.Of(typ)}, {Name: "of", Value: tensor.Of(of)},
		{Name: "count", Value: tensor.Of(count)}, {Name: "missing", Value: tensor.Of(missing)}, {Name: "distinct", Value: tensor.Of(distinct)},
	}
	for k, name := range names {
		for i, x := range numbers[k] {
			numbers[k][i] = rounded(x)
		}
		fields = append(fields, optional(name, numbers[k]))
	}
	return structured.FromFields(fields, shapeOf(n), structured.Options{})
}

// rounded rounds a number that is not an integer to six digits.
func rounded(x float64) float64 {
	if x == math.Trunc(x) || math.IsInf(x, 0) || math.IsNaN(x) {
		return x
	}
	scale := math.Pow(10, 6-math.Ceil(math.Log10(math.Abs(x))))
	if math.IsInf(scale, 0) || scale == 0 {
		return x
	}
	return math.Round(x*scale) / scale
}
