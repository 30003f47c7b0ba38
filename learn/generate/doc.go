// Package generate extends prompts of tokens with a language model. It samples, takes the
// most likely token, or does a beam search, for many prompts of different lengths at once.
//
//	next := func(tokens *ragged.Tensor, seen []nn.Cache) (tensor.Tensor, []nn.Cache) {
//		x := m.Words.Apply(tokens)
//		x, seen = m.Block.Extend(x, seen) // keeps the keys and values of earlier tokens
//		return m.Words.Attend(generate.Last(x)), seen
//	}
//	g, err := generate.Sample(ctx, prompts, next, generate.Options{
//		Tokens: 100, End: []int64{0}, Sampling: generate.Sampling{Key: ops.RandomKey(1), TopP: 0.9},
//	})
//
// A prompt is a row of a ragged tensor. Nothing is padded, and nothing is computed for rows that
// have ended.
//
// Stability: experimental.
package generate
