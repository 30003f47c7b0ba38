package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/urfave/cli/v3"

	"github.com/tenonml/tenon/examples/gosearch/internal/bm25"
	"github.com/tenonml/tenon/examples/gosearch/internal/decl"
	"github.com/tenonml/tenon/examples/gosearch/internal/eval"
	"github.com/tenonml/tenon/examples/gosearch/internal/token"
)

func evalCommand(stdout io.Writer) *cli.Command {
	return &cli.Command{
		Name:  "eval",
		Usage: "say how well the held-out declarations are found",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "bm25", Usage: "evaluate BM25 alone, which needs no model"},
			&cli.Uint64Flag{Name: "seed", Usage: "hold out by `SEED`"},
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := noArguments(c); err != nil {
				return err
			}
			if !c.Bool("bm25") {
				return errors.New("no trained model: give -bm25 to evaluate BM25 alone")
			}
			path, err := home(c, declarationsFile)
			if err != nil {
				return err
			}
			return evaluate(ctx, path, eval.SplitOptions{Seed: c.Uint64("seed")}, stdout)
		},
	}
}

// evaluate prints BM25's figures over the declarations in path.
func evaluate(ctx context.Context, path string, opts eval.SplitOptions, stdout io.Writer) error {
	decls, err := decl.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no index at %s: gosearch index makes one", path)
	}
	if err != nil {
		return err
	}
	split, err := eval.NewSplit(decls, opts)
	if err != nil {
		return err
	}
	tally, err := evaluateBM25(ctx, decls, split)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%d declarations, %d held out by seed %d\n\n", len(split.Rows), tally.Len(), opts.Seed)
	fmt.Fprintf(stdout, "%-10s %6s %10s %10s\n", "", "MRR", "recall@1", "recall@10")
	fmt.Fprintf(stdout, "%-10s %6.3f %10.3f %10.3f\n", "BM25", tally.MRR(), tally.Recall(1), tally.Recall(10))
	return nil
}

// evaluateBM25 asks BM25 the test questions.
func evaluateBM25(ctx context.Context, decls []decl.Decl, split *eval.Split) (*eval.Tally, error) {
	var tokenizer token.Tokenizer
	documents := make([][]string, len(split.Rows))
	for i, row := range split.Rows {
		documents[i] = words(tokenizer.Declaration(&decls[row]))
	}
	ix := bm25.New(documents, bm25.Options{})
	tally := &eval.Tally{}
	var scores []float32
	for _, position := range split.Test {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		scores = ix.Scores(scores, words(tokenizer.Question(split.Questions[position])))
		tally.Add(scores, position)
	}
	return tally, nil
}

// words are the texts of tokens that are words: BM25 knows no places.
func words(tokens []token.Token) []string {
	var out []string
	for _, t := range tokens {
		if !t.Field.IsPlace() {
			out = append(out, t.Text)
		}
	}
	return out
}
