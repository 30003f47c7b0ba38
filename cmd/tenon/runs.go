package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/cmd/tenon/internal/formats"
	"github.com/tenonml/tenon/internal/colname"
	"github.com/tenonml/tenon/learn/runs"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func runsCommand(p *program) *cli.Command {
	c := &cli.Command{
		Name: "runs", Usage: "list and compare training runs", ArgsUsage: "[FOLDER…]",
		Description: "The record of a run is a folder with run.json and events.jsonl, written by training. Lists all records below the given\n" +
			"folders, or below the current one, in the order in which the runs started.\n\n" +
			"   tenon runs models                             the results of each run\n" +
			"   tenon runs --compare models                   the settings in which they differ\n" +
			"   tenon runs --events models/first -f csv       loss, rate, norm and score of each step\n" +
			"   tenon runs --tensorboard tb models            event files for TensorBoard: tensorboard --logdir tb",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "compare", Usage: "show the settings in which runs differ"}, &cli.BoolFlag{Name: "events", Usage: "show the measurements of each step"},
			&cli.StringFlag{Name: "tensorboard", Usage: "write event files for TensorBoard to `FOLDER`"},
			pathsFlag, whereFlag, formatFlag, jsonFlag, outputFlag, noPagerFlag,
		},
		Metadata: map[string]any{"plain": "table"},
	}
	c.Action = func(ctx context.Context, c *cli.Command) error {
		asked := 0
		for _, name := range []string{"compare", "events", "tensorboard"} {
			if c.IsSet(name) {
				asked++
			}
		}
		if asked > 1 {
			return usage("use only one of --compare, --events and --tensorboard")
		}
		list, err := listRuns(c.Args().Slice())
		if err != nil {
			return err
		}
		if out := c.String("tensorboard"); out != "" {
			return p.exportRuns(out, list)
		}
		records := runRecords
		switch {
		case c.Bool("compare"):
			records = differenceRecords
		case c.Bool("events"):
			records = eventRecords
		}
		return p.show(ctx, c, "runs", func() (*structured.Tensor, error) { return records(list) })
	}
	return c
}

// show writes generated records, as the flags say.
func (p *program) show(ctx context.Context, c *cli.Command, title string, records func() (*structured.Tensor, error)) (err error) {
	defer tenon.Catch(&err)
	t, err := records()
	if err != nil {
		return err
	}
	var paths []string
	if text := c.String("paths"); text != "" {
		if paths, err = splitPaths(text); err != nil {
			return err
		}
	}
	if t, err = filtered(t, c.String("where"), paths); err != nil {
		return err
	}
	return p.write(ctx, c, title, func(w formats.RowWriter) error { return w.Write(t) })
}

// listRuns reads the records in some folders.
func listRuns(folders []string) ([]*runs.Run, error) {
	if len(folders) == 0 {
		folders = []string{"."}
	}
	var all []*runs.Run
	for _, f := range folders {
		list, err := runs.List(f)
		if err != nil {
			return nil, err
		}
		if len(list) == 0 {
			return nil, fmt.Errorf("%s contains no record of a run, which is a folder with run.json; set train.FitOptions.Log to record runs", f)
		}
		all = append(all, list...)
	}
	return all, nil
}

// exportRuns writes a folder with event files for each run.
func (p *program) exportRuns(out string, list []*runs.Run) error {
	taken := map[string]int{}
	for _, r := range list {
		name := filepath.Base(filepath.Clean("/" + r.Name))
		if taken[name]++; taken[name] > 1 {
			name = fmt.Sprintf("%s-%d", name, taken[name])
		}
		file, err := r.WriteTensorBoard(filepath.Join(out, name))
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(p.stdout, file); err != nil {
			return err
		}
	}
	return nil
}

// optional returns a column of numbers in which NaN means missing. It throws errors.
func optional(name string, values []float64) structured.Field {
	there := make([]bool, len(values))
	for i, x := range values {
		there[i] = !math.IsNaN(x)
	}
	return structured.Field{Name: name, Value: tenon.Must(masked.New(tensor.Of(values), tensor.Of(there)))}
}

func runRecords(list []*runs.Run) (*structured.Tensor, error) {
	n := len(list)
	texts := map[string][]string{"name": make([]string, n), "started": make([]string, n), "end": make([]string, n), "folder": make([]string, n)}
	steps, of := make([]int64, n), make([]int64, n)
	loss, score, seconds := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, r := range list {
		texts["name"][i], texts["folder"][i], texts["end"][i] = r.Name, r.Dir, r.End
		texts["started"][i] = r.Started.Format(time.DateTime)
		loss[i], score[i] = math.NaN(), math.NaN()
		if e, ok := r.Last(); ok {
			steps[i], of[i], loss[i], seconds[i] = int64(e.Step), int64(e.Steps), rounded(e.Loss), e.Elapsed.Seconds()
		}
		if e, ok := r.Best(); ok {
			score[i] = rounded(*e.Score)
		}
	}
	text := func(name string) structured.Field { return structured.Field{Name: name, Value: tensor.Of(texts[name])} }
	return structured.FromFields([]structured.Field{
		text("name"), text("started"), {Name: "steps", Value: tensor.Of(steps)}, {Name: "of", Value: tensor.Of(of)},
		optional("loss", loss), optional("best", score), {Name: "seconds", Value: tensor.Of(seconds)}, text("end"), text("folder"),
	}, shapeOf(n), structured.Options{})
}

// differenceRecords returns the settings by path, with a column for each run.
func differenceRecords(list []*runs.Run) (*structured.Tensor, error) {
	differences := runs.Differences(list...)
	paths := make([]string, len(differences))
	columns := make([][]string, len(list))
	for k := range columns {
		columns[k] = make([]string, len(differences))
	}
	for i, d := range differences {
		paths[i] = d.Path
		for k, v := range d.Values {
			columns[k][i] = v
		}
	}
	fields := []structured.Field{{Name: "setting", Value: tensor.Of(paths)}}
	for k, name := range distinct(list) {
		fields = append(fields, structured.Field{Name: name, Value: tensor.Of(columns[k])})
	}
	return structured.FromFields(fields, shapeOf(len(paths)), structured.Options{})
}

// distinct returns unique names for runs.
func distinct(list []*runs.Run) []string {
	seen := map[string]bool{"setting": true}
	out := make([]string, len(list))
	for i, r := range list {
		out[i] = r.Name
		for k := 2; seen[out[i]] || out[i] == ""; k++ {
			out[i] = fmt.Sprintf("%s-%d", r.Name, k)
		}
		seen[out[i]] = true
	}
	return out
}

func eventRecords(list []*runs.Run) (*structured.Tensor, error) {
	var names []string
	var steps, epochs []int64
	var seconds []float64
	values := map[string][]float64{}
	var order []string
	total := 0
	for k, name := range distinct(list) {
		at := map[int]int{} // by step
		for _, e := range list[k].Events {
			at[e.Step] = total
			names, steps, epochs, seconds = append(names, name), append(steps, int64(e.Step)), append(epochs, int64(e.Epoch)), append(seconds, e.Elapsed.Seconds())
			total++
		}
		for _, s := range list[k].Series() {
			if values[s.Name] == nil {
				order = append(order, s.Name)
			}
			column := slices.Grow(values[s.Name], total)
			for len(column) < total {
				column = append(column, math.NaN())
			}
			for i, step := range s.Steps {
				column[at[step]] = s.Values[i]
			}
			values[s.Name] = column
		}
	}
	fields := []structured.Field{{Name: "run", Value: tensor.Of(names)}, {Name: "step", Value: tensor.Of(steps)}, {Name: "epoch", Value: tensor.Of(epochs)}}
	for _, name := range order {
		column := values[name]
		for len(column) < total {
			column = append(column, math.NaN())
		}
		fields = append(fields, optional(name, column))
	}
	fields = append(fields, structured.Field{Name: "seconds", Value: tensor.Of(seconds)})
	all := make([]string, len(fields))
	for i, f := range fields {
		all[i] = f.Name
	}
	for i, name := range colname.Unique(all) {
		fields[i].Name = name
	}
	return structured.FromFields(fields, shapeOf(total), structured.Options{})
}
