// Package model is the two-tower model of gosearch: questions and declarations are
// bags of tokens, and both become vectors of one space.
//
// A text with tokens tᵢ in fields fᵢ has the vector
//
//	e = Σᵢ W[fᵢ,tᵢ] G[fᵢ] E[tᵢ],   v = e / √(|e|² + 1e-12)
//
// with an embedding E of the tokens that both towers share, a weight W for each
// token in each field, and a gain G for each field. Rows of tokens are ragged:
// nothing is padded. The loss is that of finding each question's declaration among all of
// the batch by cosine similarity. Layers, losses and the training loop are those of
// packages nn and train.
package model
