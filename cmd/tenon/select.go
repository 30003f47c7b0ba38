package main

import (
	"context"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/cmd/tenon/internal/formats"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
)

func shapeOf(n int) shape.Shape { return shape.Of(n) }

func selectCommand(p *program) *cli.Command {
	text := func(name, usage string) *cli.StringFlag { return &cli.StringFlag{Name: name, Usage: usage} }
	return rowsCommand(p, "select", "filter, choose, flatten, join, group and sort records",
		"The steps run in this order, whatever the order of the flags: --join, --where, --flatten, --group, --sort,\n"+
			"--paths, -n. Filtering, choosing and flattening stream; joining, grouping and sorting need the records in\n"+
			"memory.\n\n"+
			"   tenon select events.jsonl -w '@.met > 40' --flatten jets -p id,jets.pt\n"+
			"   tenon select sales.csv --group shop --agg 'count, sum(price)' --sort -sum_price",
		[]cli.Flag{
			text("flatten", "make a record of each element of the lists at `PATHS`"),
			&cli.BoolFlag{Name: "keep-empty", Usage: "with --flatten, keep a record for an empty list"},
			text("group", "make a record of each combination of the values at `PATHS`"),
			text("agg", "for each group compute `WHAT`: count, sum(p), mean(p), min(p), max(p), first(p), list(p), distinct(p), median(p)"),
			text("sort", "sort by the values at `PATHS`; -PATH sorts in descending order"),
			text("join", "join with the records of `FILE`"),
			text("on", "join on equal values at `PATHS`"),
			&cli.StringFlag{Name: "kind", Value: "inner", Usage: "`KIND` of join: inner, left, semi, anti"},
			&cli.IntFlag{Name: "n", Value: -1, Usage: "at most `N` records", DefaultText: "all"},
		},
		func(ctx context.Context, c *cli.Command, file string) error {
			q, err := queryOf(c)
			if err != nil {
				return err
			}
			return p.query(ctx, c, file, q)
		})
}

// A query is what the flags of select ask for.
type query struct {
	flatten, group []string
	aggregate      []structured.Aggregation
	sort           []structured.By
	join           string
	joinOptions    structured.JoinOptions
	empty          structured.EmptyLists
	most           int
}

func queryOf(c *cli.Command) (q query, err error) {
	paths := func(name string) (list []string) {
		if text := c.String(name); text != "" && err == nil {
			list, err = splitPaths(text)
		}
		return list
	}
	if c.IsSet("n") && c.Int("n") < 0 {
		return q, usage("-n is %d, want 0 or more", c.Int("n"))
	}
	q = query{flatten: paths("flatten"), group: paths("group"), join: c.String("join"), empty: structured.DropEmpty, most: c.Int("n")}
	if c.Bool("keep-empty") {
		q.empty = structured.KeepEmpty
	}
	for _, text := range paths("agg") {
		a, e := aggregation(text)
		if e != nil {
			return q, e
		}
		q.aggregate = append(q.aggregate, a)
	}
	for _, text := range paths("sort") {
		name, down := strings.CutPrefix(text, "-")
		path, e := structured.ParsePath(name)
		if e != nil {
			return q, usage("--sort: %w", e)
		}
		q.sort = append(q.sort, structured.By{Path: path, Descending: down})
	}
	q.joinOptions.On = paths("on")
	if err != nil {
		return q, err
	}
	kinds := map[string]structured.JoinKind{"inner": structured.Inner, "left": structured.Left, "semi": structured.Semi, "anti": structured.Anti}
	kind, ok := kinds[c.String("kind")]
	switch {
	case !ok:
		return q, usage("--kind is %q, want inner, left, semi or anti", c.String("kind"))
	case q.join != "" && len(q.joinOptions.On) == 0:
		return q, usage("--join needs --on, the paths of the keys")
	case len(q.aggregate) > 0 && len(q.group) == 0:
		return q, usage("--agg needs --group")
	}
	q.joinOptions.Kind, q.joinOptions.Suffix = kind, "_right"
	if len(q.group) > 0 && len(q.aggregate) == 0 {
		q.aggregate = []structured.Aggregation{structured.Count()}
	}
	return q, nil
}

// aggregation parses an aggregation of a group.
func aggregation(text string) (structured.Aggregation, error) {
	name, path, of := strings.Cut(text, "(")
	path, closed := strings.CutSuffix(path, ")")
	functions := map[string]func(string) structured.Aggregation{
		"sum": structured.Sum, "mean": structured.Mean, "min": structured.Min, "max": structured.Max, "first": structured.First,
		"list": structured.List, "distinct": structured.CountDistinct, "count": structured.CountOf,
		"median": func(p string) structured.Aggregation { return structured.Quantile(p, 0.5) },
	}
	f, ok := functions[name]
	switch {
	case text == "count":
		return structured.Count(), nil
	case !ok || !of || !closed || path == "":
		return structured.Aggregation{}, usage("--agg has %q, want count, or sum, mean, min, max, first, list, distinct or median of a path, such as sum(price)", text)
	}
	return f(path), nil
}

// query runs a query.
func (p *program) query(ctx context.Context, c *cli.Command, file string, q query) error {
	paths := []string(nil)
	if text := c.String("paths"); text != "" {
		var err error
		if paths, err = splitPaths(text); err != nil {
			return err
		}
	}
	whole := q.join != "" || len(q.group) > 0 || len(q.sort) > 0
	r, err := p.records(ctx, c, file, formats.Options{Uniform: whole || p.uniform(c), Columns: []string{}})
	if err != nil {
		return err
	}
	defer r.close()
	where := r.where
	r.where, r.paths = "", nil // they come later
	if q.join == "" {
		r.where = where
	}
	stream := func(t *structured.Tensor) (out *structured.Tensor, err error) {
		defer tenon.Catch(&err)
		if len(q.flatten) > 0 {
			t = t.Flatten(q.empty, q.flatten...)
		}
		return t, nil
	}
	left := q.most
	emit := func(w formats.RowWriter, t *structured.Tensor) (err error) {
		if t, err = filtered(t, "", paths); err != nil {
			return err
		}
		if rows := formats.RowCount(t); q.most >= 0 && rows > left {
			t = formats.Slice(t, 0, left)
		}
		left -= formats.RowCount(t)
		if err := w.Write(t); err != nil {
			return err
		}
		if q.most >= 0 && left <= 0 {
			return errEnough
		}
		return nil
	}
	return p.write(ctx, c, file, func(w formats.RowWriter) error {
		if !whole {
			return r.each(func(t *structured.Tensor) error {
				t, err := stream(t)
				if err != nil {
					return err
				}
				return emit(w, t)
			})
		}
		all, err := p.gathered(ctx, c, r, q, where, stream)
		if err != nil {
			return err
		}
		if err := emit(w, all); err != errEnough {
			return err
		}
		return nil
	})
}

// gathered reads all records and runs the steps that need all of them.
func (p *program) gathered(ctx context.Context, c *cli.Command, r *records, q query, where string, stream func(*structured.Tensor) (*structured.Tensor, error)) (all *structured.Tensor, err error) {
	defer tenon.Catch(&err)
	var parts []*structured.Tensor
	err = r.each(func(t *structured.Tensor) error {
		if q.join == "" {
			if t, err = stream(t); err != nil {
				return err
			}
		}
		parts = append(parts, t.Compact())
		return nil
	})
	if err != nil {
		return nil, err
	}
	switch len(parts) {
	case 0:
		return structured.FromFields(nil, shapeOf(0), structured.Options{})
	case 1:
		all = parts[0]
	default:
		if all, err = structured.Concat(parts...); err != nil {
			return nil, err
		}
	}
	if q.join != "" {
		right, err := p.joined(ctx, q.join)
		if err != nil {
			return nil, err
		}
		all = all.Join(right, q.joinOptions)
		if all, err = filtered(all, where, nil); err != nil {
			return nil, err
		}
		if all, err = stream(all); err != nil {
			return nil, err
		}
	}
	if len(q.group) > 0 {
		all = all.GroupBy(q.group...).Sorted().Aggregate(q.aggregate...)
	}
	if len(q.sort) > 0 {
		return all.Sort(0, q.sort...)
	}
	return all, nil
}

// joined reads the other file of a join, without the flags for the first one.
func (p *program) joined(ctx context.Context, file string) (*structured.Tensor, error) {
	return p.whole(ctx, &cli.Command{}, file, formats.Options{})
}
