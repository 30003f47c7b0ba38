package main

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/urfave/cli/v3"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/cmd/tenon/internal/formats"
	"github.com/tenonml/tenon/structured"
)

// rowsCommand returns a command that shows records of a file.
func rowsCommand(p *program, name, usage, description string, flags []cli.Flag, do func(ctx context.Context, c *cli.Command, file string) error) *cli.Command {
	return &cli.Command{
		Name: name, Usage: usage, Description: description, ArgsUsage: "FILE",
		Flags:    append(flags, pathsFlag, whereFlag, formatFlag, jsonFlag, outputFlag, inputFlag, noPagerFlag),
		Metadata: map[string]any{"plain": "jsonl"},
		Action: func(ctx context.Context, c *cli.Command) error {
			file, err := p.argument(c)
			if err != nil {
				return err
			}
			return do(ctx, c, file)
		},
	}
}

// countFlag is -n.
func countFlag() *cli.IntFlag {
	return &cli.IntFlag{Name: "n", Value: 10, Usage: "`N` records"}
}

// count returns the value of -n.
func count(c *cli.Command) (int, error) {
	n := c.Int("n")
	if n < 0 {
		return 0, usage("-n is %d, want 0 or more", n)
	}
	return n, nil
}

// filtered returns the records that satisfy a condition, with the fields at some paths.
func filtered(t *structured.Tensor, where string, paths []string) (out *structured.Tensor, err error) {
	defer tenon.Catch(&err)
	if where != "" {
		t = t.Filter(where)
	}
	if len(paths) > 0 {
		t = t.Select(paths...)
	}
	return t, nil
}

func headCommand(p *program) *cli.Command {
	return rowsCommand(p, "head", "show the first records", "", []cli.Flag{countFlag()}, func(ctx context.Context, c *cli.Command, file string) error {
		n, err := count(c)
		if err != nil {
			return err
		}
		return p.head(ctx, c, file, n)
	})
}

// head writes the first n records, or all if n is negative.
func (p *program) head(ctx context.Context, c *cli.Command, file string, n int) error {
	r, err := p.records(ctx, c, file, formats.Options{First: max(n, 0), Uniform: n < 0 && p.uniform(c)})
	if err != nil {
		return err
	}
	defer r.close()
	left := n
	return p.write(ctx, c, file, func(w formats.RowWriter) error {
		return r.each(func(t *structured.Tensor) error {
			if rows := formats.RowCount(t); left >= 0 && rows > left {
				t = formats.Slice(t, 0, left)
			}
			left -= formats.RowCount(t)
			if err := w.Write(t); err != nil {
				return err
			}
			if n >= 0 && left <= 0 {
				return errEnough
			}
			return nil
		})
	})
}

// uniform reports whether the output requires the same type for all batches.
func (p *program) uniform(c *cli.Command) bool {
	f, err := p.outputFormat(c)
	if err != nil {
		return false
	}
	switch f.Name {
	case "json", "jsonl", "md", "html", "table":
		return false
	}
	return true
}

func catCommand(p *program) *cli.Command {
	return rowsCommand(p, "cat", "show all records", "", nil, func(ctx context.Context, c *cli.Command, file string) error {
		return p.head(ctx, c, file, -1)
	})
}

func tailCommand(p *program) *cli.Command {
	return rowsCommand(p, "tail", "show the last records", "", []cli.Flag{countFlag()}, func(ctx context.Context, c *cli.Command, file string) error {
		n, err := count(c)
		if err != nil {
			return err
		}
		r, err := p.records(ctx, c, file, formats.Options{Last: n})
		if err != nil {
			return err
		}
		defer r.close()
		var last []*structured.Tensor
		have := 0
		err = r.each(func(t *structured.Tensor) error {
			last = append(last, t)
			have += formats.RowCount(t)
			for len(last) > 1 && have-formats.RowCount(last[0]) >= n {
				have -= formats.RowCount(last[0])
				last = last[1:]
			}
			return nil
		})
		if err != nil {
			return err
		}
		return p.write(ctx, c, file, func(w formats.RowWriter) error {
			for i, t := range last {
				if i == 0 && have > n {
					t = formats.Slice(t, have-n, formats.RowCount(t))
				}
				if err := w.Write(t); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func sampleCommand(p *program) *cli.Command {
	flags := []cli.Flag{countFlag(), &cli.Uint64Flag{Name: "seed", Usage: "choose records by `SEED`; the same seed chooses the same records"}}
	return rowsCommand(p, "sample", "show records chosen at random", "Each record is equally likely. The command reads the whole file, but holds only a batch and the sample in memory.", flags,
		func(ctx context.Context, c *cli.Command, file string) error {
			n, err := count(c)
			if err != nil {
				return err
			}
			r, err := p.records(ctx, c, file, formats.Options{})
			if err != nil {
				return err
			}
			defer r.close()
			s := sampler{most: n, random: rand.New(rand.NewPCG(c.Uint64("seed"), 0))}
			if err := r.each(s.add); err != nil {
				return err
			}
			return p.write(ctx, c, file, func(w formats.RowWriter) error {
				if s.kept == nil {
					return nil
				}
				return w.Write(s.kept)
			})
		})
}

// A sampler keeps the records with the smallest random numbers, in order.
type sampler struct {
	most   int
	random *rand.Rand
	kept   *structured.Tensor
	keys   []float64
}

func (s *sampler) add(t *structured.Tensor) (err error) {
	bound := 2.0
	if len(s.keys) >= s.most && s.most > 0 {
		bound = slices.Max(s.keys)
	}
	var some []int64
	keys := slices.Clone(s.keys)
	for i := range formats.RowCount(t) {
		if k := s.random.Float64(); k < bound {
			some, keys = append(some, int64(i)), append(keys, k)
		}
	}
	if s.kept != nil && len(some) == 0 {
		return nil
	}
	defer tenon.Catch(&err)
	all := formats.Take(t, some)
	if s.kept != nil {
		if all, err = structured.Concat(s.kept, all); err != nil {
			return err
		}
	}
	order := make([]int64, len(keys))
	for i := range order {
		order[i] = int64(i)
	}
	slices.SortFunc(order, func(i, j int64) int { return cmp.Compare(keys[i], keys[j]) })
	order = order[:min(len(order), s.most)]
	slices.Sort(order)
	s.keys = s.keys[:0:0]
	for _, i := range order {
		s.keys = append(s.keys, keys[i])
	}
	s.kept = formats.Take(all, order).Compact()
	return nil
}

// whole reads all records of a file at once.
func (p *program) whole(ctx context.Context, c *cli.Command, file string, o formats.Options) (all *structured.Tensor, err error) {
	o.Uniform = true
	r, err := p.records(ctx, c, file, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	var parts []*structured.Tensor
	if err := r.each(func(t *structured.Tensor) error { parts = append(parts, t); return nil }); err != nil {
		return nil, err
	}
	switch len(parts) {
	case 0:
		return structured.FromFields(nil, shapeOf(0), structured.Options{})
	case 1:
		return parts[0], nil
	}
	return structured.Concat(parts...)
}
