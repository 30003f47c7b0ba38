package generate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// BeamOptions are the options of [Beam]. The zero value takes one token, the most likely one.
type BeamOptions struct {
	Tokens int     // maximum number for a hypothesis; 0 stands for 1
	End    []int64 // tokens at which a hypothesis ends
	Width  int     // number of hypotheses that are kept for each prompt; 0 stands for 4
	// Penalty is the exponent α by which long hypotheses are preferred: the logarithm of a probability is divided
	// by ((5+tokens)/6)^α (Y. Wu et al., arXiv:1609.08144).
	Penalty float64
}

// Beams are the best hypotheses of each prompt, best first.
type Beams struct {
	Tokens *ragged.Tensor // int64[rows, (hypotheses), (tokens)], without the tokens of End
	Scores *ragged.Tensor // float64[rows, (hypotheses)]
}

// A hypothesis is a possible continuation of a prompt.
type hypothesis struct {
	tokens []int64
	log    float64 // of its probability
	score  float64 // once it has ended
	parent int64   // the row of the model that it continues
}

// Beam does a beam search: it follows the most likely continuations of each prompt in parallel, and returns
// those that are most likely as a whole, which need not begin with the most likely token.
//
//	prompts: int64[rows, (tokens)], none of which is empty
func Beam[S any](ctx context.Context, prompts *ragged.Tensor, next Next[S], o BeamOptions) (b Beams, err error) {
	const fn = "generate.Beam"
	defer tenon.Catch(&err)
	n := checked(fn, prompts, next == nil, o.Tokens)
	if o.Width < 0 || !(o.Penalty >= 0) {
		return b, tenon.NewError(tenon.ErrInvalid, fn, fmt.Sprintf("Width is %d and Penalty %v, want at least 0", o.Width, o.Penalty))
	}
	o.Width, o.Tokens = cmp.Or(o.Width, 4), max(1, o.Tokens)
	open, ended := make([][]hypothesis, n), make([][]hypothesis, n)
	for i := range open {
		open[i] = []hypothesis{{}}
	}
	feed := prompts
	var seen S
	for step := 1; step <= o.Tokens && feed != nil; step++ {
		if err := ctx.Err(); err != nil {
			return b, err
		}
		var logits tensor.Tensor
		logits, seen = next(feed, seen)
		width := 0
		for _, hs := range open {
			width += len(hs)
		}
		wantScores(fn, logits, width)
		k := min(o.Width+len(o.End), logits.Shape().Dim(1))
		best, at := ops.TopK(ops.LogSoftmax(ops.Cast(logits, dtype.Float64), -1), k)
		logs, ids := tensor.Data[float64](best), tensor.Data[int64](ops.Cast(at, idType))
		row := 0
		var parents []int64
		var last []int64
		for i := range open {
			from := row
			row += len(open[i])
			if len(open[i]) == 0 {
				continue
			}
			for _, log := range logs[from*k : row*k] {
				wantNumber(fn, i, step-1, log)
			}
			open[i], ended[i] = o.extended(open[i], ended[i], from, k, logs, ids)
			for _, h := range open[i] {
				parents, last = append(parents, h.parent), append(last, h.tokens[len(h.tokens)-1])
			}
		}
		if feed = nil; len(last) > 0 && step < o.Tokens {
			if seen, err = rowsOf(seen, parents); err != nil {
				return b, err
			}
			feed = tenon.Must(ragged.FromUniformRowLength(tensor.Of(last), 1, nil))
		}
	}
	tokens, scores := make([][][]int64, n), make([][]float64, n)
	for i := range ended {
		for _, h := range open[i] { // hypotheses cut off by the limit on tokens
			ended[i] = append(ended[i], o.scored(h))
		}
		slices.SortStableFunc(ended[i], func(a, b hypothesis) int { return cmp.Compare(b.score, a.score) })
		for _, h := range ended[i][:min(o.Width, len(ended[i]))] {
			tokens[i], scores[i] = append(tokens[i], h.tokens), append(scores[i], h.score)
		}
	}
	return Beams{ragged.FromSlices2(tokens), ragged.FromSlices(scores)}, nil
}

// extended extends each hypothesis of a prompt by one token, and returns those that are continued and those
// that have ended. Each of the model's rows, starting with from, has k tokens with their logarithms.
func (o BeamOptions) extended(open, ended []hypothesis, from, k int, logs []float64, ids []int64) (next, done []hypothesis) {
	var all []hypothesis
	for j, h := range open {
		for c := range k {
			at := (from+j)*k + c
			tokens := append(h.tokens[:len(h.tokens):len(h.tokens)], ids[at])
			all = append(all, hypothesis{tokens: tokens, log: h.log + logs[at], parent: int64(from + j)})
		}
	}
	slices.SortStableFunc(all, func(a, b hypothesis) int { return cmp.Compare(b.log, a.log) })
	for _, h := range all {
		if len(next) == o.Width {
			break
		}
		if math.IsInf(h.log, -1) || h.log != h.log {
			continue
		}
		if end := len(h.tokens) - 1; slices.Contains(o.End, h.tokens[end]) {
			h = o.scored(h)
			h.tokens = h.tokens[:end]
			ended = append(ended, h)
			continue
		}
		next = append(next, h)
	}
	slices.SortStableFunc(ended, func(a, b hypothesis) int { return cmp.Compare(b.score, a.score) })
	if ended = ended[:min(o.Width, len(ended))]; len(ended) == o.Width && len(next) > 0 {
		// No open hypothesis can still get a better score, however long it gets, because its
		// logarithm only falls.
		if longest := o.penalty(o.Tokens); next[0].log/longest <= ended[o.Width-1].score {
			next = nil
		}
	}
	return next, ended
}

func (o BeamOptions) penalty(tokens int) float64 { return math.Pow((5+float64(tokens))/6, o.Penalty) }

func (o BeamOptions) scored(h hypothesis) hypothesis {
	h.score = h.log / o.penalty(len(h.tokens))
	return h
}

// rowsOf returns the state of a model with other rows.
func rowsOf[S any](seen S, at []int64) (S, error) {
	return nest.Map(func(l []any) (any, error) {
		t, ok := l[0].(tensor.Tensor)
		if !ok || t.Shape().Rank() == 0 {
			return l[0], nil
		}
		return ops.Gather(t, tensor.Of(at), 0), nil
	}, nest.Options{}, seen)
}
