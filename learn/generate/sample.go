package generate

import (
	"context"
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

const idType = dtype.Int64

// Next is a language model. It takes, for each row, the tokens that follow those seen before, and returns the scores of
// the token after the last one, and its new state. The state is a nest of Values whose first axis is that of rows;
// scalars are shared by all rows. Before the first call it is the zero value. The scores of a row without tokens are
// ignored.
//
//	tokens: int64[rows, (tokens)] → [rows, vocabulary]
type Next[S any] func(tokens *ragged.Tensor, seen S) (logits tensor.Tensor, after S)

// Options are the options of [Sample]. The zero value takes one token, the most likely one.
type Options struct {
	Tokens int     // maximum number for a row; 0 stands for 1
	End    []int64 // tokens at which a row ends
	Sampling
}

// Generated holds the continuations of rows of tokens.
type Generated struct {
	Tokens *ragged.Tensor // int64[rows, (tokens)], without the tokens of End
	Logs   tensor.Tensor  // float64[rows]: sums of the log-probabilities of the tokens under the model, including those of End
	Ended  tensor.Tensor  // bool[rows]: whether a token of End ended the row
}

// Sample continues each prompt token by token. Each row draws random numbers of its own, so its
// continuation does not depend on the lengths of other rows.
//
//	prompts: int64[rows, (tokens)], none of which is empty
func Sample[S any](ctx context.Context, prompts *ragged.Tensor, next Next[S], o Options) (g Generated, err error) {
	const fn = "generate.Sample"
	defer tenon.Catch(&err)
	o.Sampling.check(fn)
	n := checked(fn, prompts, next == nil, o.Tokens)
	out, logs, ended := make([][]int64, n), make([]float64, n), make([]bool, n)
	feed, live := prompts, n
	var seen S
	for step := 0; step < max(1, o.Tokens) && live > 0; step++ {
		if err := ctx.Err(); err != nil {
			return Generated{}, err
		}
		var logits tensor.Tensor
		logits, seen = next(feed, seen)
		wantScores(fn, logits, n)
		s := o.Sampling
		if s.Key != nil {
			s.Key = ops.RandomFoldIn(s.Key, step)
		}
		picked := Pick(logits, s)
		taken := ops.TakeAlongAxis(ops.LogSoftmax(ops.Cast(logits, dtype.Float64), -1), ops.ExpandDims(picked, -1), -1)
		ids, each := tensor.Data[int64](picked), tensor.Data[float64](ops.Squeeze(taken, -1))
		var flat []int64
		lengths := make([]int64, n)
		for i, id := range ids {
			if ended[i] {
				continue
			}
			wantNumber(fn, i, step, each[i])
			logs[i] += each[i]
			if slices.Contains(o.End, id) {
				ended[i] = true
				live--
				continue
			}
			out[i] = append(out[i], id)
			flat, lengths[i] = append(flat, id), 1
		}
		feed = tenon.Must(ragged.FromRowLengths(tensor.Of(flat), lengths))
	}
	return Generated{ragged.FromSlices(out), tensor.Of(logs), tensor.Of(ended)}, nil
}

// checked returns the number of rows.
func checked(fn string, prompts *ragged.Tensor, none bool, tokens int) int {
	switch {
	case none:
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, fn, "next is nil; a model is needed"))
	case tokens < 0:
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, fn, fmt.Sprintf("Tokens is %d, want at least 0", tokens)))
	case prompts == nil || prompts.RaggedRank() != 1 || prompts.FlatValues().Shape().Rank() != 1 || prompts.DType() != idType:
		got := "nil"
		if prompts != nil {
			got = tenon.String(prompts.Spec())
		}
		tenon.Throw(tenon.NewError(tenon.ErrShape, fn, "want prompts of type int64[rows, (tokens)], got "+got))
	}
	lengths := tensor.Data[int64](ops.Cast(rows.Lengths(prompts.RowSplits()), dtype.Int64))
	if at := slices.Index(lengths, 0); at >= 0 {
		e := &tenon.Error{Kind: tenon.ErrInvalid, Op: fn, Where: fmt.Sprintf("prompts[%d]", at), Msg: "the prompt is empty: there is nothing to continue"}
		e.Hint = "begin each row with a start token"
		tenon.Throw(e)
	}
	return len(lengths)
}

// wantScores fails if a model returned something other than scores for n rows.
func wantScores(fn string, logits tensor.Tensor, n int) {
	got := "nil"
	if logits != nil {
		if s := logits.Shape(); s.Rank() == 2 && s.Dim(0) == n && s.Dim(1) > 0 && logits.DType().IsFloat() {
			return
		}
		got = tenon.String(logits.Spec())
	}
	e := tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("the model returned %s, want scores [%d, vocabulary] for the token after the last one of each row", got, n))
	e.Hint = "use generate.Last to take the last position of each row"
	tenon.Throw(e)
}

// wantNumber fails if the logarithm of a probability that a prompt's scores give is not a number.
func wantNumber(fn string, prompt, step int, log float64) {
	if log != log {
		e := &tenon.Error{Kind: tenon.ErrInvalid, Op: fn, Where: fmt.Sprintf("prompts[%d]", prompt), Msg: fmt.Sprintf("a score for token %d is NaN, or all are infinite", step)}
		tenon.Throw(e.WithHint("look for NaN in the model: function.RunOptions.CheckNumerics names the operation"))
	}
}

// Last returns the last item of each row, or 0 for an empty row.
//
//	x: [rows, (positions), ...] ragged or [rows, positions, ...] dense → [rows, ...]
func Last(x tensor.Tensor) tensor.Tensor {
	t, ok := ragged.As(x)
	if !ok {
		return ops.Index(x, key.All, -1)
	}
	splits := ops.Cast(t.RowSplits(), dtype.Int64)
	ends := ops.Index(splits, key.From(1))
	there := ops.Greater(ends, ops.Index(splits, key.To(-1)))
	return rows.TakePresent(t.FlatValues(), ops.Where(there, ops.Sub(ends, int64(1)), int64(0)), there)
}
