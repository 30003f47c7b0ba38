package bm25_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tenonml/tenon/examples/gosearch/internal/bm25"
)

func split(texts ...string) (out [][]string) {
	for _, t := range texts {
		out = append(out, strings.Fields(t))
	}
	return out
}

// reference is the formula of the package comment, word by word.
func reference(docs [][]string, query []string, k1, b float64) []float64 {
	count := func(list []string, word string) (n float64) {
		for _, w := range list {
			if w == word {
				n++
			}
		}
		return n
	}
	total := 0.0
	for _, d := range docs {
		total += float64(len(d))
	}
	mean := total / float64(len(docs))
	out := make([]float64, len(docs))
	for _, t := range query {
		df := 0.0
		for _, d := range docs {
			if count(d, t) > 0 {
				df++
			}
		}
		idf := math.Log(1 + (float64(len(docs))-df+0.5)/(df+0.5))
		for i, d := range docs {
			tf := count(d, t)
			out[i] += idf * tf * (k1 + 1) / (tf + k1*(1-b+b*float64(len(d))/mean))
		}
	}
	return out
}

func TestScores(t *testing.T) {
	docs := split("read file", "read read line from file", "", "close", "line line line line")
	for _, opts := range []bm25.Options{{}, {K1: 0.9, B: 0.4}} {
		k1, b := opts.K1, opts.B
		if k1 == 0 {
			k1, b = 1.2, 0.75
		}
		ix := bm25.New(docs, opts)
		var got []float32
		for _, query := range split("read", "read line", "line line", "unknown", "") {
			got = ix.Scores(got, query)
			want := reference(docs, query, k1, b)
			for i := range want {
				if math.Abs(float64(got[i])-want[i]) > 1e-6 {
					t.Errorf("%v, query %q, document %d: score %v, want %v", opts, query, i, got[i], want[i])
				}
			}
		}
	}
}

func TestEmpty(t *testing.T) {
	if got := bm25.New(nil, bm25.Options{}).Scores(nil, []string{"x"}); len(got) != 0 {
		t.Errorf("no documents have scores %v", got)
	}
	if got := bm25.New(split("", ""), bm25.Options{}).Scores(nil, []string{"x"}); len(got) != 2 || got[0] != 0 || got[1] != 0 {
		t.Errorf("empty documents have scores %v, want 0, 0", got)
	}
}

func Example() {
	ix := bm25.New([][]string{{"read", "file"}, {"read", "line", "file"}, {"close", "file"}}, bm25.Options{})
	for i, s := range ix.Scores(nil, []string{"read", "line"}) {
		fmt.Printf("%d: %.2f\n", i, s)
	}
	// Output:
	// 0: 0.50
	// 1: 1.30
	// 2: 0.00
}
