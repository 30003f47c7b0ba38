package bm25

import (
	"cmp"
	"math"
)

// Options are BM25's two parameters. The zero value is the default.
type Options struct {
	K1 float64 // how soon repetition stops counting; 0 means 1.2
	B  float64 // how much a document's length counts; 0 means 0.75
}

// Index holds documents. It is immutable and safe for concurrent use.
type Index struct {
	documents int
	postings  map[string][]posting
}

type posting struct {
	document int32
	score    float32 // what one occurrence in a query adds
}

// New indexes documents, each a list of tokens.
func New(documents [][]string, opts Options) *Index {
	k1, b := cmp.Or(opts.K1, 1.2), cmp.Or(opts.B, 0.75)
	ix := &Index{documents: len(documents), postings: map[string][]posting{}}
	total := 0
	for i, doc := range documents {
		total += len(doc)
		counts := make(map[string]int, len(doc))
		for _, t := range doc {
			counts[t]++
		}
		for t, n := range counts {
			ix.postings[t] = append(ix.postings[t], posting{int32(i), float32(n)})
		}
	}
	if total == 0 {
		return ix
	}
	mean := float64(total) / float64(len(documents))
	for _, list := range ix.postings {
		df := float64(len(list))
		idf := math.Log(1 + (float64(len(documents))-df+0.5)/(df+0.5))
		for i, p := range list {
			tf := float64(p.score)
			length := float64(len(documents[p.document])) / mean
			list[i].score = float32(idf * tf * (k1 + 1) / (tf + k1*(1-b+b*length)))
		}
	}
	return ix
}

// Len is the number of documents.
func (ix *Index) Len() int { return ix.documents }

// Scores gives the score of every document, in dst if it is long enough.
func (ix *Index) Scores(dst []float32, query []string) []float32 {
	if cap(dst) < ix.documents {
		dst = make([]float32, ix.documents)
	}
	dst = dst[:ix.documents]
	clear(dst)
	for _, t := range query {
		for _, p := range ix.postings[t] {
			dst[p.document] += p.score
		}
	}
	return dst
}
