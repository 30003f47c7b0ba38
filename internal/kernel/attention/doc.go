// Package attention computes scaled dot-product attention and its gradient.
//
//	out[i,:] = sum_j softmax_j(scale q[i,:]·k[j,:]) v[j,:]
//
// for one head, or for a batch of heads and sequences given by strides. [Forward] and
// [Backward] work on blocks of queries and keys: a block of scores is computed, turned into
// exponentials and multiplied with the values while it is in the cache, so that memory for
// all scores is never needed (Dao et al., FlashAttention, 2022; Rabe and Staats,
// Self-attention Does Not Need O(n²) Memory, 2021). The softmax is the online one of
// Milakov and Gimelshein (2018): a later block with a greater score scales
// down what the earlier ones added.
//
// Up to 1024 keys of float32, a block has whole rows of scores. If the longest query and the longest key
// say that no score is large, which is the common case, exponentials are computed below that
// bound, in the registers in which the product leaves the scores; otherwise below the greatest
// of each row.
//
// [ForwardOf] also computes queries, keys and values, where they are products: head by head,
// in memory that stays in the cache.
//
// The products are those of internal/kernel/gemm. Blocks have a fixed size, so the bits of
// a result do not depend on the number of workers.
package attention
