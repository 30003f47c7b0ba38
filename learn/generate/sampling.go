package generate

import (
	"fmt"
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/tensor"
)

// Sampling says how a token is chosen by its score. The zero value takes the one with the highest
// score.
type Sampling struct {
	Key         tensor.Tensor // a random key; nil: takes the most likely token
	Temperature float64       // by which scores are divided; 0 stands for 1
	TopK        int           // draws from this many of the most likely tokens; 0: from all
	TopP        float64       // draws from the smallest set of most likely tokens with this total probability (A. Holtzman et al., ICLR 2020); 0: from all
	MinP        float64       // draws from tokens whose probability is at least this share of the highest one; 0: from all
}

func (s Sampling) check(fn string) {
	wrong := func(name string, got any, want string) {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, fn, fmt.Sprintf("%s is %v, want %s", name, got, want)))
	}
	switch {
	case !(s.Temperature >= 0) || math.IsInf(s.Temperature, 0):
		wrong("Temperature", s.Temperature, "a number of at least 0")
	case s.TopK < 0:
		wrong("TopK", s.TopK, "at least 0")
	case !(s.TopP >= 0 && s.TopP <= 1):
		wrong("TopP", s.TopP, "a number from 0 to 1")
	case !(s.MinP >= 0 && s.MinP <= 1):
		wrong("MinP", s.MinP, "a number from 0 to 1")
	}
}

// Pick chooses a token of each row of scores. It throws errors.
//
//	logits: [..., tokens] → int64[...]
func Pick(logits tensor.Tensor, s Sampling) tensor.Tensor {
	const fn = "generate.Pick"
	s.check(fn)
	if r := logits.Shape().Rank(); !logits.DType().IsFloat() || r == 0 {
		tenon.Throw(tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("scores are %s, want a floating-point number for each token: [..., tokens]", tenon.String(logits.Spec()))))
	}
	if s.Key == nil {
		return ops.Cast(ops.ArgMax(logits, -1), idType)
	}
	return ops.Cast(ops.RandomCategorical(s.Key, s.Kept(logits)), idType)
}

// Kept returns the scores from which tokens are drawn: divided by the temperature, and -∞ for excluded
// tokens. Of tokens with equal scores, those that come first count as more likely.
func (s Sampling) Kept(logits tensor.Tensor) tensor.Tensor {
	if s.Temperature != 0 {
		logits = ops.Div(logits, s.Temperature)
	}
	keep := func(kept tensor.Tensor) {
		logits = ops.Where(kept, logits, ops.Fill(ops.Shape(logits), ops.Cast(math.Inf(-1), logits.DType())))
	}
	// first keeps the n most likely tokens, the last of which has the score least; of equal ones, those that come first.
	first := func(n any, least tensor.Tensor) {
		above, equal := ops.Greater(logits, least), ops.Equal(logits, least)
		left := ops.Sub(n, ops.SumKeep(ops.Cast(above, dtype.Int64), -1))
		before := ops.CumSum(ops.Cast(equal, dtype.Int64), -1, ops.CumOptions{Exclusive: true})
		keep(ops.LogicalOr(above, ops.LogicalAnd(equal, ops.Less(before, left))))
	}
	if n := logits.Shape().Dim(-1); s.TopK > 0 && (n < 0 || s.TopK < n) {
		best, _ := ops.TopK(logits, s.TopK)
		first(int64(s.TopK), ops.Index(best, key.Ellipsis, key.From(-1)))
	}
	if s.TopP > 0 && s.TopP < 1 {
		sorted := ops.Sort(logits, -1, ops.SortOptions{Descending: true})
		before := ops.CumSum(ops.Softmax(ops.Cast(sorted, dtype.Float64), -1), -1, ops.CumOptions{Exclusive: true})
		in := ops.Less(before, s.TopP) // the most likely token always is
		first(ops.SumKeep(ops.Cast(in, dtype.Int64), -1), ops.MinKeep(ops.Where(in, sorted, math.Inf(1)), -1))
	}
	if s.MinP > 0 {
		keep(ops.GreaterEqual(logits, ops.Add(ops.MaxKeep(logits, -1), math.Log(s.MinP))))
	}
	return logits
}
