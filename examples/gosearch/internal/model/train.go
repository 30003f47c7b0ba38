package model

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/tenonml/tenon/examples/gosearch/internal/token"
	"github.com/tenonml/tenon/learn/train"
)

// Options of training. The zero value is what was found to do well on validation
// rows.
type Options struct {
	Epochs  int     // 0: 12
	Batch   int     // 0: 1,024
	Dropout float64 // share of tokens that a step does not see; 0: 0.08
	Seed    uint64

	// More are further questions of each row, which take the place of its own in Others of the
	// steps (0: 0.25). Groups are rows that are alike: Alike of them (0: 4) stand in a batch
	// together, so that questions are told apart from what is near.
	More   [][]Row
	Others float64
	Groups []int
	Alike  int

	// Synonyms are tokens that say about the same as each token: one of them takes the place of a token of
	// a question in Replaced of the cases (0: 0.05).
	Synonyms [][]int32
	Replaced float64

	// Checkpoint names a file to keep the run in, from which it goes on; Every is after
	// how many epochs, 0 stands for 4. Run tells the data that the run is about.
	Checkpoint, Run string
	Every           int

	// Validate scores parameters after each epoch: the more the better. Training stops
	// when there was no better score for Patience epochs (0: 6), and the best ones are kept.
	Validate func(ctx context.Context, p Params) (float64, error)
	Patience int

	// Ranks, if it is not nil, train together.
	Ranks *train.Ranks

	// Progress is called after each step.
	Progress func(train.Event) error
}

func (o Options) withDefaults(rows int) Options {
	def := func(x *int, d int) {
		if *x == 0 {
			*x = d
		}
	}
	def(&o.Epochs, 12)
	def(&o.Batch, 1024)
	def(&o.Patience, 6)
	def(&o.Every, 4)
	def(&o.Alike, 4)
	if o.Others == 0 {
		o.Others = 0.25
	}
	if o.Replaced == 0 {
		o.Replaced = 0.05
	}
	if o.Dropout == 0 {
		o.Dropout = 0.08
	}
	o.Batch = min(o.Batch, rows)
	return o
}

// Examples is the size of a batch where there are so many questions.
func (o Options) Examples(questions int) int { return o.withDefaults(questions).Batch }

// average is the decay of the moving average of the parameters, which is what is kept.
const average = 0.97

// Train fits parameters to questions and their declarations.
func Train(ctx context.Context, v *token.Vocabulary, questions, declarations []Row, o Options) (*train.Fitted[Params], error) {
	o = o.withDefaults(len(questions))
	d := &pairs{questions: questions, declarations: declarations, o: o, epoch: -1}
	perEpoch := len(questions) / max(1, o.Batch)
	if o.Ranks != nil {
		return fitted(ctx, v, o, perEpoch, d.pairsAt, lossOnRanks(o.Ranks))
	}
	return fitted(ctx, v, o, perEpoch, d.at, Loss)
}

// fitted fits parameters to batches of one form or another.
func fitted[B any](ctx context.Context, v *token.Vocabulary, o Options, perEpoch int, at func(context.Context, int) (B, error), loss train.Loss[Params, B]) (*train.Fitted[Params], error) {
	steps := perEpoch * o.Epochs
	slow, fast := train.Linear(5e-3, 0, steps), train.Linear(1e-2, 0, steps)
	fit := train.FitOptions[Params, B]{
		Options: train.Options{
			Seed: o.Seed, Average: average, Ranks: o.Ranks,
			For: func(path string) train.Optimizer {
				if path == "Tokens.Table" {
					return train.Adam(slow)
				}
				return train.Adam(fast)
			},
		},
		Data: train.Source[B]{Batches: perEpoch, At: at}, Epochs: o.Epochs,
		Validate: o.Validate, Greater: true, Patience: o.Patience,
		Checkpoint: o.Checkpoint, CheckpointEvery: o.Every * perEpoch,
		Run: fmt.Sprintf("%s, %d epochs of batches of %d, seed %d, dropout %v, others %v, alike %d, replaced %v", o.Run, o.Epochs, o.Batch, o.Seed, o.Dropout, o.Others, o.Alike, o.Replaced),
	}
	if o.Progress != nil {
		fit.OnStep = append(fit.OnStep, o.Progress)
	}
	return train.Fit(ctx, New(v, o.Seed), loss, fit)
}

// pairs makes batches: what a batch holds depends on the seed and its position only.
type pairs struct {
	questions, declarations []Row
	o                       Options
	epoch                   int // that order is of
	order                   []int
}

// at is called by one goroutine.
func (d *pairs) at(_ context.Context, position int) (Texts, error) {
	perEpoch := len(d.questions) / d.o.Batch
	if e := position / perEpoch; e != d.epoch {
		d.epoch, d.order = e, d.shuffled(rand.New(rand.NewPCG(d.o.Seed, uint64(e))))
	}
	k := position % perEpoch
	r := rand.New(rand.NewPCG(d.o.Seed^0xd20b, uint64(position)))
	drop := func(i int) bool { return i > 0 && r.Float64() < d.o.Dropout } // a row keeps its first token
	splits := make([]int64, 1, 2*d.o.Batch+1)
	var ids, fields []int64
	for t, rows := range [][]Row{d.questions, d.declarations} {
		for _, i := range d.order[k*d.o.Batch : (k+1)*d.o.Batch] {
			row := rows[i]
			if t == 0 && d.o.More != nil && len(d.o.More[i]) > 0 && r.Float64() < d.o.Others {
				row = d.o.More[i][r.IntN(len(d.o.More[i]))]
			}
			from := len(ids)
			ids, fields, splits = appendRow(ids, fields, splits, row, drop)
			if t == 0 && d.o.Synonyms != nil {
				d.replace(ids[from:], r)
			}
		}
	}
	return textsOf(ids, fields, splits), nil
}

// replace puts synonyms in the place of some tokens.
func (d *pairs) replace(ids []int64, r *rand.Rand) {
	for i, id := range ids {
		if others := d.o.Synonyms[id]; len(others) > 0 && r.Float64() < d.o.Replaced {
			ids[i] = int64(others[r.IntN(len(others))])
		}
	}
}

// shuffled is the rows in an order of chance in which runs of one group stay together.
func (d *pairs) shuffled(r *rand.Rand) []int {
	order := r.Perm(len(d.questions))
	if d.o.Groups == nil {
		return order
	}
	var runs [][]int
	open := map[int]int{} // the run of each group that has room
	for _, i := range order {
		g := d.o.Groups[i]
		k, ok := open[g]
		if !ok || len(runs[k]) == d.o.Alike {
			k = len(runs)
			open[g], runs = k, append(runs, nil)
		}
		runs[k] = append(runs[k], i)
	}
	r.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	return slices.Concat(runs...)
}
