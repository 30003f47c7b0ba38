// Package bm25 ranks documents by BM25, the bag-of-words score that a trained
// model has to beat.
//
// The score of a document d of |d| tokens for a query is the sum over the
// query's tokens t, repeated ones as often as they stand there, of
//
//	idf(t) · tf·(k₁+1) / (tf + k₁·(1 - b + b·|d|/mean|d|))
//	idf(t) = ln(1 + (N - df + ½)/(df + ½))
//
// with tf the count of t in d and df the number of the N documents that hold t
// (Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and
// Beyond, 2009; the idf that cannot be negative is Lucene's).
package bm25
