package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/urfave/cli/v3"

	"github.com/tenonml/tenon/examples/gosearch/internal/eval"
	"github.com/tenonml/tenon/examples/gosearch/internal/model"
	"github.com/tenonml/tenon/examples/gosearch/internal/store"
)

func evalCommand(stdout io.Writer, stderr *os.File) *cli.Command {
	return &cli.Command{
		Name:  "eval",
		Usage: "report how well held-out declarations are found by BM25, by the model and by both",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "bm25", Usage: "evaluate only BM25, which needs no model"},
			&cli.Uint64Flag{Name: "seed", Usage: "hold out by `SEED`, with -bm25 or -seeds; the first of several"},
			&cli.IntFlag{Name: "seeds", Usage: "train for each of `N` seeds, with different parts, and report all results"},
			&cli.IntFlag{Name: "epochs", Usage: "with -seeds, train for `N` epochs", Value: defaultEpochs},
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := noArguments(c); err != nil {
				return err
			}
			path, err := home(c, declarationsFile)
			if err != nil {
				return err
			}
			switch {
			case c.Bool("bm25"):
				return evaluateBM25(ctx, path, c.Uint64("seed"), stdout)
			case c.Int("seeds") < 0 || c.Int("epochs") < 1:
				return usageError{fmt.Errorf("-seeds and -epochs must be at least 1")}
			case c.Int("seeds") > 0:
				return evaluateSeeds(ctx, path, c.Uint64("seed"), c.Int("seeds"), c.Int("epochs"), stdout, stderr)
			}
			dir, err := home(c, modelFolder)
			if err != nil {
				return err
			}
			return evaluateModel(ctx, dir, stdout)
		},
	}
}

// figures are the results of an evaluation.
type figures struct{ bm25, model, both *eval.Tally }

// evaluateBM25 prints BM25's figures over the declarations in path.
func evaluateBM25(ctx context.Context, path string, seed uint64, stdout io.Writer) error {
	decls, err := readDeclarations(path)
	if err != nil {
		return err
	}
	c, err := newCollection(decls, eval.SplitOptions{Seed: seed}, nil)
	if err != nil {
		return err
	}
	t, err := c.tallies(ctx, ranking{questions: c.split.Test, among: c.everything(), lexical: c.lexical()})
	if err != nil {
		return err
	}
	printFigures(stdout, c, seed, figures{bm25: t[0]})
	return nil
}

// evaluateModel prints the figures of the model in a folder over its own declarations.
func evaluateModel(ctx context.Context, dir string, stdout io.Writer) error {
	m, err := store.Open(dir)
	if err != nil {
		return err
	}
	decls, err := m.Declarations()
	if err != nil {
		return err
	}
	c, err := newCollection(decls, eval.SplitOptions{Seed: m.Config.Seed}, m.Vocabulary)
	if err != nil {
		return err
	}
	f, err := c.evaluate(ctx, model.NewEncoder(m.Params), m.Config.Lexical)
	if err != nil {
		return err
	}
	printFigures(stdout, c, m.Config.Seed, f)
	if err := newSearcher(m).printPeople(ctx, stdout, decls); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "\ntrained in %.1f s, %d epochs; both: cosine + %.2f · BM25, whose best score counts 1\n", m.Config.Seconds, m.Config.Epochs, m.Config.Lexical)
	return nil
}

// evaluate asks the test questions.
func (c *collection) evaluate(ctx context.Context, e *model.Encoder, weight float64) (figures, error) {
	r := ranking{questions: c.split.Test, asked: c.questions(c.split.Test), among: c.everything(), documents: c.documents, lexical: c.lexical()}
	b, err := c.tallies(ctx, r)
	if err != nil {
		return figures{}, err
	}
	r.encoder, r.weights = e, []float64{0, weight}
	t, err := c.tallies(ctx, r)
	if err != nil {
		return figures{}, err
	}
	return figures{b[0], t[0], t[1]}, nil
}

func printFigures(w io.Writer, c *collection, seed uint64, f figures) {
	fmt.Fprintf(w, "%d held out by seed %d, looked for among %d\n\n", f.bm25.Len(), seed, len(c.split.Rows))
	fmt.Fprintf(w, "%-10s %6s %10s %10s\n", "", "MRR", "recall@1", "recall@10")
	for _, row := range []struct {
		name string
		t    *eval.Tally
	}{{"BM25", f.bm25}, {"model", f.model}, {"both", f.both}} {
		if row.t != nil {
			fmt.Fprintf(w, "%-10s %6.3f %10.3f %10.3f\n", row.name, row.t.MRR(), row.t.Recall(1), row.t.Recall(10))
		}
	}
}

// evaluateSeeds trains and evaluates for several seeds.
func evaluateSeeds(ctx context.Context, path string, first uint64, n, epochs int, stdout io.Writer, stderr *os.File) error {
	decls, err := readDeclarations(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%6s %8s   %-22s %-22s %-22s\n", "", "", "BM25", "model", "both")
	fmt.Fprintf(stdout, "%6s %8s   %-22s %-22s %-22s\n", "seed", "seconds", "MRR   @1    @10", "MRR   @1    @10", "MRR   @1    @10")
	var sums, squares [9]float64
	for i := range n {
		t := &trainer{decls: decls, seed: first + uint64(i), epochs: epochs, stderr: stderr}
		if err := t.fit(ctx, ""); err != nil {
			return err
		}
		f, err := t.evaluate(ctx, t.encoder, t.lexicalWeight)
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%6d %8.1f  ", t.seed, t.seconds)
		for k, tally := range []*eval.Tally{f.bm25, f.model, f.both} {
			x := [3]float64{tally.MRR(), tally.Recall(1), tally.Recall(10)}
			fmt.Fprintf(stdout, " %.3f %.3f %.3f     ", x[0], x[1], x[2])
			for j, v := range x {
				sums[3*k+j] += v
				squares[3*k+j] += v * v
			}
		}
		fmt.Fprintln(stdout)
	}
	for _, line := range []struct {
		name string
		of   func(sum, square float64) float64
	}{
		{"mean", func(sum, _ float64) float64 { return sum / float64(n) }},
		{"std", func(sum, square float64) float64 {
			return math.Sqrt(max(0, square/float64(n)-sum*sum/float64(n*n)))
		}},
	} {
		fmt.Fprintf(stdout, "%6s %8s  ", line.name, "")
		for k := range 3 {
			fmt.Fprintf(stdout, " %.3f %.3f %.3f     ", line.of(sums[3*k], squares[3*k]), line.of(sums[3*k+1], squares[3*k+1]), line.of(sums[3*k+2], squares[3*k+2]))
		}
		fmt.Fprintln(stdout)
	}
	return nil
}
