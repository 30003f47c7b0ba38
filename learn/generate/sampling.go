package generate

import (
	"fmt"
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/tensor"
)

// Sampling says how a token is chosen by its score. The zero value takes the one with the greatest.
type Sampling struct {
	Key         tensor.Tensor // a random key; nil: the likeliest token is taken
	Temperature float64       // what scores are divided by; 0 stands for 1
	TopK        int           // only so many of the likeliest; 0: all
	TopP        float64       // only the likeliest that come to this probability together (A. Holtzman et al., ICLR 2020); 0: all
	MinP        float64       // only what is at least so likely beside the likeliest; 0: all
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
		tenon.Throw(tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("scores are %s, want a floating number for each token: [..., tokens]", tenon.String(logits.Spec()))))
	}
	if s.Key == nil {
		return ops.Cast(ops.ArgMax(logits, -1), idType)
	}
	return ops.Cast(ops.RandomCategorical(s.Key, s.Kept(logits)), idType)
}

// Kept returns scores as they are drawn by: divided by the temperature, and -∞ for tokens that are left out.
func (s Sampling) Kept(logits tensor.Tensor) tensor.Tensor {
	if s.Temperature != 0 {
		logits = ops.Div(logits, s.Temperature)
	}
	keep := func(least tensor.Tensor) {
		logits = ops.Where(ops.GreaterEqual(logits, least), logits, ops.Fill(ops.Shape(logits), ops.Cast(math.Inf(-1), logits.DType())))
	}
	if n := logits.Shape().Dim(-1); s.TopK > 0 && (n < 0 || s.TopK < n) {
		best, _ := ops.TopK(logits, s.TopK)
		keep(ops.Index(best, key.Ellipsis, key.From(-1)))
	}
	if s.TopP > 0 && s.TopP < 1 {
		sorted := ops.Sort(logits, -1, ops.SortOptions{Descending: true})
		before := ops.CumSum(ops.Softmax(sorted, -1), -1, ops.CumOptions{Exclusive: true})
		keep(ops.MinKeep(ops.Where(ops.Less(before, s.TopP), sorted, math.Inf(1)), -1)) // the likeliest is always there
	}
	if s.MinP > 0 {
		keep(ops.Add(ops.MaxKeep(logits, -1), math.Log(s.MinP)))
	}
	return logits
}
