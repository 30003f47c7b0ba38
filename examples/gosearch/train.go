package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/tenonml/tenon/examples/gosearch/internal/decl"
	"github.com/tenonml/tenon/examples/gosearch/internal/eval"
	"github.com/tenonml/tenon/examples/gosearch/internal/model"
	"github.com/tenonml/tenon/examples/gosearch/internal/progress"
	"github.com/tenonml/tenon/examples/gosearch/internal/rank"
	"github.com/tenonml/tenon/examples/gosearch/internal/report"
	"github.com/tenonml/tenon/examples/gosearch/internal/store"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/scale/dist/mpi"
	"github.com/tenonml/tenon/scale/mesh"
	"github.com/tenonml/tenon/tensor"
)

const (
	defaultEpochs  = 12
	modelFolder    = "model"
	checkpointFile = "checkpoint.safetensors"
)

func trainCommand(stdout io.Writer, stderr *os.File) *cli.Command {
	return &cli.Command{
		Name:  "train",
		Usage: "train on the index, report how well held-out declarations are found, store the model, and answer questions",
		Flags: []cli.Flag{
			&cli.Uint64Flag{Name: "seed", Usage: "seed of the parts and of the training"},
			&cli.IntFlag{Name: "epochs", Usage: "train for `N` epochs", Value: defaultEpochs},
			&cli.IntFlag{Name: "ranks", Usage: "train on `N` processes started by an MPI launcher: mpiexec -n N gosearch train -ranks N"},
			&cli.BoolFlag{Name: "fresh", Usage: "start over instead of resuming an interrupted run"},
			&cli.StringSliceFlag{Name: "ask", Usage: "answer `QUESTION` after training; may be repeated", Value: []string{
				"read a file line by line", "sort a slice", "parse a duration",
			}},
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := noArguments(c); err != nil {
				return err
			}
			if c.Int("epochs") < 1 {
				return usageError{errors.New("-epochs must be at least 1")}
			}
			dir, err := home(c, "")
			if err != nil {
				return err
			}
			if n := c.Int("ranks"); n != 0 || mpi.Launched() {
				return onRanks(ctx, n, c, dir, stdout, stderr)
			}
			return trainIn(ctx, c, nil, dir, stdout, stderr)
		},
	}
}

// trainIn trains in a folder, alone or as one of several ranks.
func trainIn(ctx context.Context, c *cli.Command, ranks *train.Ranks, dir string, stdout io.Writer, stderr *os.File) error {
	if err := writable(dir); err != nil {
		return err
	}
	if err := store.Replaceable(filepath.Join(dir, modelFolder)); err != nil {
		return err
	}
	path := filepath.Join(dir, declarationsFile)
	decls, err := decl.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = index(ctx, nil, nil, path, stdout, stderr); err == nil {
			decls, err = decl.ReadFile(path)
		}
	}
	if err != nil {
		return err
	}
	checkpoint := filepath.Join(dir, checkpointFile)
	if ranks.Leads() {
		if err := sweep(dir); err != nil {
			return err
		}
	}
	if c.Bool("fresh") && ranks.Leads() {
		if err := os.Remove(checkpoint); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	t := &trainer{decls: decls, seed: c.Uint64("seed"), epochs: c.Int("epochs"), stderr: stderr, ranks: ranks}
	if err := t.fit(ctx, checkpoint); err != nil {
		return err
	}
	f, err := t.evaluate(ctx, t.encoder, t.lexicalWeight)
	if err != nil || !ranks.Leads() {
		return err
	}
	if t.fitted.From > 0 {
		fmt.Fprintf(stdout, "resumed from step %d\n", t.fitted.From)
	}
	fmt.Fprintf(stdout, "trained on %d declarations in %.1f s: %d tokens, vectors of %d, %d epochs, best on the validation part after step %d\n",
		len(t.split.Train), t.seconds, t.vocab.Size(), model.Width, t.epochs, t.fitted.Best.Step)
	printFigures(stdout, t.collection, t.seed, f)
	folder := filepath.Join(dir, modelFolder)
	if err := t.save(ctx, folder, f); err != nil {
		return err
	}
	if err := os.Remove(checkpoint); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	fmt.Fprintf(stdout, "\nstored in %s, with report.html\n", folder)
	m, err := store.Open(folder)
	if err != nil {
		return err
	}
	s := newSearcher(m)
	if err := s.printPeople(ctx, stdout, decls); err != nil {
		return err
	}
	for _, q := range c.StringSlice("ask") {
		answers, unknown, err := s.search(q, 3, false)
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "\n%s\n", q)
		printAnswers(stdout, answers, unknown)
	}
	return nil
}

// onRanks trains as one of the processes that a launcher has started.
func onRanks(ctx context.Context, n int, c *cli.Command, dir string, stdout io.Writer, stderr *os.File) error {
	comm, err := mpi.World(dist.Options{})
	if err != nil {
		return err
	}
	return comm.Run(ctx, func(ctx context.Context, comm *dist.Comm) error {
		if n != 0 && n != comm.Size() {
			return usageError{fmt.Errorf("-ranks is %d, but %d processes were started; use mpiexec -n %d gosearch train -ranks %d", n, comm.Size(), n, n)}
		}
		m, err := mesh.New(ctx, comm, mesh.Axis{Name: "features", Size: comm.Size()})
		if err != nil {
			return err
		}
		ranks, err := model.OnRanks(m)
		if err != nil {
			return err
		}
		return trainIn(ctx, c, ranks, dir, stdout, stderr)
	})
}

// writable makes a folder and tries to write into it, so that an error occurs before training
// and not after.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("cannot use the folder for index and model: %w", err)
	}
	f, err := os.CreateTemp(dir, "."+modelFolder+".*.tmp")
	if err != nil {
		return fmt.Errorf("cannot use the folder for index and model: %w", err)
	}
	f.Close()
	return os.Remove(f.Name())
}

// sweep removes unfinished files that a killed run has left in the folder. A model that was
// about to be replaced gets its name back.
func sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		for _, name := range []string{declarationsFile, checkpointFile, modelFolder} {
			path := filepath.Join(dir, e.Name())
			if !strings.HasPrefix(e.Name(), "."+name+".") {
				continue
			}
			if strings.HasSuffix(e.Name(), ".tmp.old") {
				if os.Rename(path, filepath.Join(dir, name)) == nil { // fails if there is a new one
					continue
				}
			} else if !strings.HasSuffix(e.Name(), ".tmp") {
				continue
			}
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// trainer is a run of training.
type trainer struct {
	ranks  *train.Ranks // nil: alone
	decls  []decl.Decl
	seed   uint64
	epochs int
	stderr *os.File

	*collection
	fitted        *train.Fitted[model.Params]
	encoder       *model.Encoder // of the trained model
	lexicalWeight float64
	seconds       float64
}

// fit trains, resuming from a checkpoint if there is one, and determines the weight of BM25
// relative to the model. It uses only the training and validation parts.
func (t *trainer) fit(ctx context.Context, checkpoint string) error {
	begin := time.Now()
	var err error
	if t.collection, err = newCollection(t.decls, eval.SplitOptions{Seed: t.seed}, nil); err != nil {
		return err
	}
	if t.ranks != nil {
		t.comm = t.ranks.Mesh.Comm()
	}
	learned := t.learned()
	validation := ranking{
		questions: t.split.Validation, asked: t.questions(t.split.Validation),
		among: learned, documents: pick(t.documents, learned),
	}
	o := model.Options{
		Ranks: t.ranks, Epochs: t.epochs, Seed: t.seed, Checkpoint: checkpoint, Run: t.describe(),
		More: t.further(t.split.Train), Groups: t.packages(t.split.Train), Synonyms: t.synonyms(),
		Validate: func(ctx context.Context, p model.Params) (float64, error) {
			if validation.encoder == nil {
				validation.encoder = model.NewEncoder(p)
			}
			validation.encoder = validation.encoder.With(p)
			tallies, err := t.tallies(ctx, validation)
			if err != nil {
				return 0, err
			}
			return tallies[0].MRR(), nil
		},
	}
	var bar *progress.Bar
	begun, from := time.Now(), -1
	o.Progress = func(e train.Event) error {
		if !t.ranks.Leads() {
			return nil
		}
		if from < 0 {
			from = e.Step - 1
			bar = progress.New(t.stderr, "training", e.Steps)
		}
		perSecond := float64(e.Step-from) * float64(o.Examples(len(t.split.Train))) / time.Since(begun).Seconds()
		text := fmt.Sprintf("loss %.3f, %.0f examples/s", e.Loss, perSecond)
		switch {
		case bar != nil:
			bar.Describe("training, " + text)
			bar.Set(e.Step)
		case e.Scored: // an occasional line if no bar can be drawn
			fmt.Fprintf(t.stderr, "epoch %d: %s, validation MRR %.3f, %.0f s left\n", e.Epoch+1, text, e.Score, e.Remaining.Seconds())
		}
		return nil
	}
	t.fitted, err = model.Train(ctx, t.vocab, t.questions(t.split.Train), pick(t.documents, t.split.Train), o)
	bar.Close()
	if err != nil {
		return err
	}
	t.encoder = model.NewEncoder(t.fitted.Params)
	t.seconds = time.Since(begin).Seconds()
	validation.encoder, validation.lexical = t.encoder, t.lexical()
	validation.weights = []float64{0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.2, 0.3}
	tallies, err := t.tallies(ctx, validation)
	if err != nil {
		return err
	}
	best := 0
	for i, y := range tallies {
		if y.MRR() > tallies[best].MRR() {
			best = i
		}
	}
	t.lexicalWeight = validation.weights[best]
	return nil
}

// describe identifies the data and the program's choices, by which a checkpoint is recognised.
func (t *trainer) describe() string {
	h := sha256.New()
	e := json.NewEncoder(h)
	for i := range t.decls {
		e.Encode(&t.decls[i]) // writing to a hash cannot fail
	}
	return fmt.Sprintf("gosearch %x, vectors of %d", h.Sum(nil)[:8], model.Width)
}

// save stores the model and the report.
func (t *trainer) save(ctx context.Context, dir string, f figures) error {
	m := &store.Model{
		Config: store.Config{
			Seed: t.seed, Epochs: t.epochs, Steps: len(t.fitted.Record.Losses), Seconds: t.seconds, Lexical: t.lexicalWeight,
		},
		Vocabulary: t.vocab, Params: t.fitted.Params,
		Vectors: tensor.Of(t.answers(), len(t.decls), model.Width), Words: rank.New(t.decls, rank.Fitted),
	}
	r, err := t.report(f)
	if err != nil {
		return err
	}
	return store.Write(dir, m, t.decls, func(dir string) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return report.Write(dir, r)
	})
}

// answers returns the vectors with which questions are compared from now on: of all
// declarations, and including the first sentence of the comment, which had to be left out while
// it was used as the question, and what people ask. What else its file and package are about counts, too: many words
// of a question say where to look rather than what for.
func (t *trainer) answers() []float32 {
	rows, first, asked := make([]model.Row, len(t.decls)), make([]model.Row, len(t.decls)), make([][]model.Row, len(t.decls))
	parallel(len(t.decls), func(i int) {
		d := &t.decls[i]
		rows[i] = encode(t.vocab, t.tokenizer.Declaration(d))
		sentence, _ := d.Synopsis()
		first[i] = encode(t.vocab, t.tokenizer.Question(sentence))
		asked[i] = encodeAll(t.vocab, d.Asked, t.tokenizer.Content)
	})
	out := t.encoder.Vectors(rows)
	other, people := t.encoder.Vectors(first), t.encoder.Vectors(slices.Concat(asked...))
	for i := range t.decls {
		at := i * model.Width
		add(out[at:at+model.Width], other[at:at+model.Width], 1)
		for range asked[i] {
			add(out[at:at+model.Width], people[:model.Width], 1/float64(len(asked[i])))
			people = people[model.Width:]
		}
		unit(out[at : at+model.Width])
	}
	files := t.means(out, func(d *decl.Decl) string { return d.File })
	packages := t.means(out, func(d *decl.Decl) string { return d.Package })
	for i := range t.decls {
		at := i * model.Width
		add(out[at:at+model.Width], files[t.decls[i].File], rank.Fitted.File)
		add(out[at:at+model.Width], packages[t.decls[i].Package], rank.Fitted.Package)
	}
	return out
}

// means gives the directions of the sums of the vectors of public declarations by some property.
func (t *trainer) means(vectors []float32, of func(*decl.Decl) string) map[string][]float32 {
	out := map[string][]float32{}
	for i := range t.decls {
		key := of(&t.decls[i])
		if out[key] == nil {
			out[key] = make([]float32, model.Width)
		}
		if t.decls[i].Public() {
			add(out[key], vectors[i*model.Width:], 1)
		}
	}
	for _, v := range out {
		unit(v)
	}
	return out
}
