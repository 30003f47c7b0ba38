package model

import (
	"context"
	"math/rand/v2"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/examples/gosearch/internal/token"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
	"github.com/tenonml/tenon/train"
)

// Row is a text as the vocabulary encodes it.
type Row struct {
	Tokens []int32
	Fields []token.Field
}

// Options of training. The zero value is what was found to do well on validation
// rows.
type Options struct {
	Epochs  int     // 0: 10
	Batch   int     // 0: 1,024
	Dropout float64 // share of tokens that a step does not see; 0: 0.08
	Seed    uint64

	// Progress is called after each step with its number, how many there are, and
	// the loss.
	Progress func(step, steps int, loss float64)
}

// state is everything that a step changes.
type state struct {
	Params Params
	Slots  [][]tensor.Tensor // of the optimiser, for each parameter
	Step   tensor.Tensor     // float32
}

// Train fits parameters to questions and their declarations.
func Train(ctx context.Context, v *token.Vocabulary, questions, declarations []Row, o Options) (Params, error) {
	if o.Epochs == 0 {
		o.Epochs = 10
	}
	if o.Batch == 0 {
		o.Batch = 1024
	}
	if o.Dropout == 0 {
		o.Dropout = 0.08
	}
	o.Batch = min(o.Batch, len(questions))
	perEpoch := len(questions) / o.Batch
	steps := perEpoch * o.Epochs
	optimizers := []train.Optimizer{
		train.Adam{Schedule: train.Linear(5e-3, 0, steps)},
		train.Adam{Schedule: train.Linear(1e-2, 0, steps)},
		train.Adam{Schedule: train.Linear(1e-2, 0, steps)},
	}
	s := state{Params: New(v, o.Seed), Step: tensor.Scalar(float32(0))}
	for i, p := range s.Params.list() {
		s.Slots = append(s.Slots, optimizers[i].Slots(p))
	}
	step := function.New(func(s state, b Batch) (state, tensor.Tensor) {
		loss, g := grad.ValueAndGrad(Loss)(s.Params, b)
		params, grads := s.Params.list(), g.list()
		t := ops.Add(s.Step, 1.0)
		next := state{Step: t}
		for i := range params {
			var slots []tensor.Tensor
			params[i], slots = optimizers[i].Update(params[i], grads[i], s.Slots[i], t, optimizers[i].Rate()(s.Step))
			next.Slots = append(next.Slots, slots)
		}
		next.Params = Params{params[0], params[1], params[2]}
		return next, loss
	}, function.Options{Name: "step", RelaxAfter: 2})
	r := rand.New(rand.NewPCG(o.Seed, 0xd20b))
	for epoch := range o.Epochs {
		order := r.Perm(len(questions))
		for k := range perEpoch {
			if err := ctx.Err(); err != nil {
				return s.Params, err
			}
			rows := order[k*o.Batch : (k+1)*o.Batch]
			b := Batch{batch(questions, rows, o.Dropout, r), batch(declarations, rows, o.Dropout, r)}
			out, err := step.CallContext(ctx, s, b)
			if err != nil {
				return s.Params, err
			}
			s = out[0].(state)
			if o.Progress != nil {
				o.Progress(epoch*perEpoch+k+1, steps, float64(tensor.Item[float32](out[1].(tensor.Tensor))))
			}
		}
	}
	return s.Params, nil
}

func (p Params) list() []tensor.Tensor { return []tensor.Tensor{p.Embedding, p.Weight, p.Gain} }

// batch brings the rows with the given numbers together, without some of their
// tokens. A row keeps its first token.
func batch(all []Row, rows []int, dropout float64, r *rand.Rand) Texts {
	splits := make([]int64, 1, len(rows)+1)
	var ids, fields []int64
	for _, k := range rows {
		for i, t := range all[k].Tokens {
			if i > 0 && r.Float64() < dropout {
				continue
			}
			ids, fields = append(ids, int64(t)), append(fields, int64(all[k].Fields[i]))
		}
		splits = append(splits, int64(len(ids)))
	}
	return texts(ids, fields, splits)
}

func texts(ids, fields, splits []int64) Texts {
	t, err := ragged.FromRowSplits(ids, splits)
	if err != nil {
		tenon.Throw(err)
	}
	return Texts{t, tensor.Of(fields)}
}

// Vectors returns the vectors of rows, block by block: [len(rows)*Width].
func (p Params) Vectors(rows []Row) []float32 {
	out := make([]float32, 0, len(rows)*Width)
	encode := function.New(func(p Params, x Texts) tensor.Tensor { return p.Encode(x) }, function.Options{Name: "encode", RelaxAfter: 2})
	r := rand.New(rand.NewPCG(0, 0))
	const block = 2048
	for lo := 0; lo < len(rows); lo += block {
		numbers := make([]int, min(block, len(rows)-lo))
		for i := range numbers {
			numbers[i] = lo + i
		}
		out = append(out, tensor.Data[float32](encode.Call(p, batch(rows, numbers, 0, r)))...)
	}
	return out
}
