// Package attention computes scaled dot-product attention and its gradient.
//
//	out[i,:] = sum_j softmax_j(scale q[i,:]·k[j,:]) v[j,:]
//
// for one head, or for a batch of heads and sequences given by strides. [Forward] and [Backward] work on
// blocks of queries and keys: a block of scores is computed, turned into exponentials and multiplied
// with the values while it is in the cache, so that memory for all scores is never needed (Dao et al.,
// FlashAttention, 2022; Rabe and Staats, Self-attention Does Not Need O(n²) Memory, 2021). The softmax
// is the online softmax of Milakov and Gimelshein (2018): a block with a new greatest score rescales
// what the earlier blocks added.
//
// For float32 and up to 1024 keys, a block has whole rows of scores. If the norms of the longest query
// and the longest key bound the scores tightly enough, which is the common case, exponentials are
// computed relative to that bound while the scores are still in registers; otherwise they are computed
// relative to the maximum of each row.
//
// [ForwardOf] also computes queries, keys and values that are matrix products themselves, head by head,
// in memory that stays in the cache.
//
// The products are those of internal/kernel/gemm. Blocks have a fixed size, so the bits of
// a result do not depend on the number of workers.
package attention
