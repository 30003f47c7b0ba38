package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/tenonml/tenon/examples/gosearch/internal/decl"
	"github.com/tenonml/tenon/examples/gosearch/internal/eval"
	"github.com/tenonml/tenon/examples/gosearch/internal/model"
	"github.com/tenonml/tenon/examples/gosearch/internal/progress"
	"github.com/tenonml/tenon/examples/gosearch/internal/token"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func trainCommand(stdout io.Writer, stderr *os.File) *cli.Command {
	return &cli.Command{
		Name:  "train",
		Usage: "learn from the index, say how well held-out declarations are found, and answer questions",
		Flags: []cli.Flag{
			&cli.Uint64Flag{Name: "seed", Usage: "hold out and start by `SEED`"},
			&cli.IntFlag{Name: "epochs", Usage: "go `N` times over the declarations", Value: 10},
			&cli.StringSliceFlag{Name: "ask", Usage: "answer `QUESTION` after training; may be repeated", Value: []string{
				"read a file line by line", "sort a slice", "parse a duration",
			}},
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := noArguments(c); err != nil {
				return err
			}
			if c.Int("epochs") < 1 {
				return usageError{errors.New("-epochs has to be at least 1")}
			}
			path, err := home(c, declarationsFile)
			if err != nil {
				return err
			}
			decls, err := decl.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				if err = index(ctx, nil, path, stdout, stderr); err == nil {
					decls, err = decl.ReadFile(path)
				}
			}
			if err != nil {
				return err
			}
			t := &trainer{decls: decls, seed: c.Uint64("seed"), epochs: c.Int("epochs"), stdout: stdout, stderr: stderr}
			if err := t.fit(ctx); err != nil {
				return err
			}
			if err := t.report(ctx); err != nil {
				return err
			}
			for _, q := range c.StringSlice("ask") {
				t.answer(q)
			}
			return nil
		},
	}
}

// trainer is one run of the train command.
type trainer struct {
	decls  []decl.Decl
	seed   uint64
	epochs int
	stdout io.Writer
	stderr *os.File

	split     *eval.Split
	tokenizer token.Tokenizer
	vocab     *token.Vocabulary
	documents []model.Row // of split.Rows
	params    model.Params
	vectors   []float32 // of documents
}

// fit builds the vocabulary from the training rows and trains on them.
func (t *trainer) fit(ctx context.Context) error {
	var err error
	if t.split, err = eval.NewSplit(t.decls, eval.SplitOptions{Seed: t.seed}); err != nil {
		return err
	}
	begin := time.Now()
	declarations := make([][]token.Token, len(t.split.Rows))
	for i, r := range t.split.Rows {
		declarations[i] = t.tokenizer.Declaration(&t.decls[r])
	}
	var seen [][]token.Token
	for _, p := range t.split.Train {
		seen = append(seen, declarations[p], t.tokenizer.Question(t.split.Questions[p]))
	}
	t.vocab = token.BuildVocabulary(seen, token.VocabularyOptions{MinRows: 2})
	t.documents = make([]model.Row, len(declarations))
	for i, d := range declarations {
		t.documents[i] = t.encode(d)
	}
	questions, documents := make([]model.Row, len(t.split.Train)), make([]model.Row, len(t.split.Train))
	for i, p := range t.split.Train {
		questions[i], documents[i] = t.encode(t.tokenizer.Question(t.split.Questions[p])), t.documents[p]
	}
	var bar *progress.Bar
	t.params, err = model.Train(ctx, t.vocab, questions, documents, model.Options{Epochs: t.epochs, Seed: t.seed, Progress: func(step, steps int, loss float64) {
		if bar == nil {
			bar = progress.New(t.stderr, "training", steps)
		}
		bar.Describe(fmt.Sprintf("training, loss %.3f", loss))
		bar.Set(step)
	}})
	bar.Close()
	if err != nil {
		return err
	}
	fmt.Fprintf(t.stdout, "trained on %d declarations in %.1f s: %d tokens, vectors of %d\n", len(questions), time.Since(begin).Seconds(), t.vocab.Size(), model.Width)
	t.vectors = t.params.Vectors(t.documents)
	return nil
}

func (t *trainer) encode(tokens []token.Token) model.Row {
	var r model.Row
	r.Tokens, r.Fields = t.vocab.Encode(nil, nil, tokens)
	return r
}

// report prints how well the held-out questions find their declarations.
func (t *trainer) report(ctx context.Context) error {
	questions := make([]model.Row, len(t.split.Test))
	for i, p := range t.split.Test {
		questions[i] = t.encode(t.tokenizer.Question(t.split.Questions[p]))
	}
	scores := t.scores(t.params.Vectors(questions))
	tally := &eval.Tally{}
	for i, p := range t.split.Test {
		tally.Add(scores[i*len(t.documents):(i+1)*len(t.documents)], p)
	}
	bm25, err := evaluateBM25(ctx, t.decls, t.split)
	if err != nil {
		return err
	}
	fmt.Fprintf(t.stdout, "%d held out by seed %d, looked for among %d\n\n", tally.Len(), t.seed, len(t.split.Rows))
	fmt.Fprintf(t.stdout, "%-10s %6s %10s %10s\n", "", "MRR", "recall@1", "recall@10")
	fmt.Fprintf(t.stdout, "%-10s %6.3f %10.3f %10.3f\n", "BM25", bm25.MRR(), bm25.Recall(1), bm25.Recall(10))
	fmt.Fprintf(t.stdout, "%-10s %6.3f %10.3f %10.3f\n", "model", tally.MRR(), tally.Recall(1), tally.Recall(10))
	return nil
}

// scores returns the cosine of each question with each declaration.
func (t *trainer) scores(questions []float32) []float32 {
	q := tensor.Of(questions, len(questions)/model.Width, model.Width)
	d := tensor.Of(t.vectors, len(t.documents), model.Width)
	return tensor.Data[float32](ops.MatMulT(q, d, false, true))
}

// answer prints the three best declarations for a question.
func (t *trainer) answer(question string) {
	row := t.encode(t.tokenizer.Question(question))
	fmt.Fprintf(t.stdout, "\n%s\n", question)
	if len(row.Tokens) == 0 {
		fmt.Fprintln(t.stdout, "  none of its words is known")
		return
	}
	scores := t.scores(t.params.Vectors([]model.Row{row}))
	best := make([]int, len(scores))
	for i := range best {
		best[i] = i
	}
	slices.SortFunc(best, func(a, b int) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return a - b
	})
	for _, i := range best[:min(3, len(best))] {
		d := &t.decls[t.split.Rows[i]]
		first, _ := d.Synopsis()
		fmt.Fprintf(t.stdout, "  %.2f  %s\n        %s\n        %s:%d\n", scores[i], d.Signature(), first, d.File, d.Line)
	}
}
