package model

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/tenonml/tenon/examples/gosearch/internal/token"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/scale/mesh"
	"github.com/tenonml/tenon/tensor"
)

// Options are the options of training. The zero value is what worked well on validation rows.
type Options struct {
	Epochs  int     // 0: 12
	Batch   int     // 0: 1,024
	Dropout float64 // share of tokens that a step drops; 0: 0.08
	Seed    uint64

	// More are kinds of further questions, each with some for each row: one of a kind replaces the row's own with probability Others
	// (0: 0.25). Groups are sets of similar rows: Alike of them (0: 4) are in the same
	// batch, so that the model learns to distinguish them.
	More   [][][]Row
	Others float64
	Groups []int
	Alike  int

	// Synonyms are, for each token, tokens with about the same meaning. One of them replaces a token of a
	// question with probability Replaced (0: 0.05).
	Synonyms [][]int32
	Replaced float64

	// Checkpoint names a file in which the run is stored and from which it resumes. It is
	// written after every Every epochs (0: 4). Run identifies the data of the run.
	Checkpoint, Run string
	Every           int

	// Validate scores parameters after each epoch; higher is better. Training stops after
	// Patience epochs (0: 6) without a better score, and the best parameters are kept.
	Validate func(ctx context.Context, p Params) (float64, error)
	Patience int

	// Ranks, if it is not nil, train together. See [OnRanks].
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

// Examples is the batch size for a number of questions.
func (o Options) Examples(questions int) int { return o.withDefaults(questions).Batch }

// average is the decay of the moving average of the parameters, which is the result.
const average = 0.97

// Train fits parameters to questions and their declarations.
func Train(ctx context.Context, v *token.Vocabulary, questions, declarations []Row, o Options) (*train.Fitted[Params], error) {
	o = o.withDefaults(len(questions))
	d := &pairs{questions: questions, declarations: declarations, o: o, epoch: -1}
	perEpoch := len(questions) / max(1, o.Batch)
	loss := train.Loss[Params, Texts](Loss)
	if o.Ranks != nil {
		loss = lossOnRanks
	}
	steps := perEpoch * o.Epochs
	slow, fast := train.Linear(5e-3, 0, steps), train.Linear(1e-2, 0, steps)
	fit := train.FitOptions[Params, Texts]{
		Options: train.Options{
			Seed: o.Seed, Average: average, Ranks: o.Ranks,
			For: func(path string) train.Optimizer {
				if path == "Tokens.Table" {
					return train.Adam(slow)
				}
				return train.Adam(fast)
			},
		},
		Data: train.Source[Texts]{Batches: perEpoch, At: d.at}, Epochs: o.Epochs,
		Validate: o.Validate, Greater: true, Patience: o.Patience,
		Checkpoint: o.Checkpoint, CheckpointEvery: o.Every * perEpoch,
		Run: fmt.Sprintf("%s, %d epochs of batches of %d, seed %d, dropout %v, others %v, alike %d, replaced %v", o.Run, o.Epochs, o.Batch, o.Seed, o.Dropout, o.Others, o.Alike, o.Replaced),
	}
	if o.Progress != nil {
		fit.OnStep = append(fit.OnStep, o.Progress)
	}
	return train.Fit(ctx, New(v, o.Seed), loss, fit)
}

// OnRanks returns how the ranks of a mesh with the axis "features" train together: each has some features of all tokens, in
// the table and in what is kept for it, and computes with them for whole batches. The table and its gradient are never sent.
func OnRanks(m *mesh.Mesh) (*train.Ranks, error) {
	p, err := m.Plan(mesh.Unnamed(1, "features"))
	return &train.Ranks{Mesh: m, Compute: p, Stored: p}, err
}

// lossOnRanks is [Loss] for such ranks, each of which needs the weights of all tokens.
func lossOnRanks(p Params, x Texts, key tensor.Tensor) tensor.Tensor {
	p.Weight = mesh.GatherAxis(p.Weight)
	return Loss(p, x, key)
}

// pairs makes batches, whose contents depend only on the seed and the position.
type pairs struct {
	questions, declarations []Row
	o                       Options
	epoch                   int // of which order is the order
	order                   []int
}

// at must be called by one goroutine at a time.
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
			for _, kind := range d.o.More {
				if t == 0 && len(kind[i]) > 0 && r.Float64() < d.o.Others {
					row = kind[i][r.IntN(len(kind[i]))]
				}
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

// replace replaces some tokens by synonyms.
func (d *pairs) replace(ids []int64, r *rand.Rand) {
	for i, id := range ids {
		if others := d.o.Synonyms[id]; len(others) > 0 && r.Float64() < d.o.Replaced {
			ids[i] = int64(others[r.IntN(len(others))])
		}
	}
}

// shuffled returns the rows in random order, in which runs of one group stay together.
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
