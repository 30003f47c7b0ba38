// Package generate continues rows of tokens by what a model says comes next: it samples, takes the
// likeliest, or searches with a beam, many prompts of different lengths at once.
//
//	next := func(tokens *ragged.Tensor, seen []nn.Cache) (tensor.Tensor, []nn.Cache) {
//		x := m.Words.Apply(tokens)
//		x, seen = m.Block.Extend(x, seen) // keys and values of what was seen are kept
//		return m.Words.Attend(generate.Last(x)), seen
//	}
//	g, err := generate.Sample(ctx, prompts, next, generate.Options{
//		Tokens: 100, End: []int64{0}, Sampling: generate.Sampling{Key: ops.RandomKey(1), TopP: 0.9},
//	})
//
// A prompt is a row of a ragged tensor: nothing is padded, and a row that has come to its end has no tokens any
// more, so that nothing is computed for it.
//
// Stability: experimental.
package generate
