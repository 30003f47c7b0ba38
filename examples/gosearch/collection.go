package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"sync"

	"github.com/tenonml/tenon/examples/gosearch/internal/bm25"
	"github.com/tenonml/tenon/examples/gosearch/internal/decl"
	"github.com/tenonml/tenon/examples/gosearch/internal/eval"
	"github.com/tenonml/tenon/examples/gosearch/internal/model"
	"github.com/tenonml/tenon/examples/gosearch/internal/token"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/tensor"
)

// A collection is declarations, divided into parts, in the forms that the model and BM25 use.
type collection struct {
	decls     []decl.Decl
	split     *eval.Split
	tokenizer token.Tokenizer
	tokens    [][]token.Token // of split.Rows: everything but the first sentence of the comment
	vocab     *token.Vocabulary
	documents []model.Row // the same, encoded
	comm      *dist.Comm  // of the ranks that share rankings
}

// readDeclarations reads what gosearch index wrote.
func readDeclarations(path string) ([]decl.Decl, error) {
	decls, err := decl.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no index at %s; make one with gosearch index", path)
	}
	return decls, err
}

// newCollection divides declarations. Without a vocabulary, one is built from the
// training part.
func newCollection(decls []decl.Decl, o eval.SplitOptions, vocab *token.Vocabulary) (*collection, error) {
	c := &collection{decls: decls, vocab: vocab, comm: dist.Alone()}
	var err error
	if c.split, err = eval.NewSplit(decls, o); err != nil {
		return nil, err
	}
	c.tokens = make([][]token.Token, len(c.split.Rows))
	parallel(len(c.tokens), func(i int) { c.tokens[i] = c.tokenizer.Declaration(&decls[c.split.Rows[i]]) })
	if c.vocab == nil {
		seen := make([][]token.Token, 0, 2*len(c.split.Train))
		for _, p := range c.split.Train {
			d := &decls[c.split.Rows[p]]
			seen = append(seen, c.tokens[p], c.tokenizer.Question(c.split.Questions[p]))
			for _, text := range d.Callers {
				seen = append(seen, c.tokenizer.Question(text))
			}
			for _, text := range d.Asked {
				seen = append(seen, c.tokenizer.Content(text))
			}
		}
		c.vocab = token.BuildVocabulary(seen, token.VocabularyOptions{MinRows: 2})
	}
	if c.vocab.Size() == 0 {
		return nil, errors.New("no token occurs in two declarations, so there is nothing to learn")
	}
	c.documents = make([]model.Row, len(c.tokens))
	parallel(len(c.tokens), func(i int) { c.documents[i] = encode(c.vocab, c.tokens[i]) })
	return c, nil
}

// parallel calls f for 0 to n-1 on all processors.
func parallel(n int, f func(i int)) {
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			for i := w * n / workers; i < (w+1)*n/workers; i++ {
				f(i)
			}
		})
	}
	wg.Wait()
}

func encode(v *token.Vocabulary, tokens []token.Token) model.Row {
	var r model.Row
	r.Tokens, r.Fields = v.Encode(nil, nil, tokens)
	return r
}

// questions encodes the questions at some positions.
func (c *collection) questions(positions []int) []model.Row {
	out := make([]model.Row, len(positions))
	parallel(len(positions), func(i int) {
		out[i] = encode(c.vocab, c.tokenizer.Question(c.split.Questions[positions[i]]))
	})
	return out
}

// further encodes what callers say about the declarations at some positions, and what people ask for them.
func (c *collection) further(positions []int) [][][]model.Row {
	callers, asked := make([][]model.Row, len(positions)), make([][]model.Row, len(positions))
	parallel(len(positions), func(i int) {
		d := &c.decls[c.split.Rows[positions[i]]]
		callers[i] = encodeAll(c.vocab, d.Callers, c.tokenizer.Question)
		asked[i] = encodeAll(c.vocab, d.Asked, c.tokenizer.Content)
	})
	return [][][]model.Row{callers, asked}
}

// encodeAll encodes texts except those without known words.
func encodeAll(v *token.Vocabulary, texts []string, tokens func(string) []token.Token) (out []model.Row) {
	for _, text := range texts {
		if r := encode(v, tokens(text)); len(r.Tokens) > 0 {
			out = append(out, r)
		}
	}
	return out
}

// packages numbers the packages of the declarations at some positions.
func (c *collection) packages(positions []int) []int {
	number := map[string]int{}
	out := make([]int, len(positions))
	for i, p := range positions {
		name := c.decls[c.split.Rows[p]].Package
		if _, ok := number[name]; !ok {
			number[name] = len(number)
		}
		out[i] = number[name]
	}
	return out
}

// synonyms are, for each token of the vocabulary, the tokens with about the same meaning, each instead of the other.
func (c *collection) synonyms() [][]int32 {
	out := make([][]int32, c.vocab.Size())
	for id := range out {
		text := c.vocab.Text(int32(id))
		for _, stem := range token.Alike(text) {
			if other, ok := c.vocab.ID(stem); ok && slices.Contains(token.Alike(stem), text) {
				out[id] = append(out[id], other)
			}
		}
	}
	return out
}

// pick returns the rows at some positions.
func pick[T any](rows []T, positions []int) []T {
	out := make([]T, len(positions))
	for i, p := range positions {
		out[i] = rows[p]
	}
	return out
}

// lexical is BM25's index of all declarations that take part.
func (c *collection) lexical() *bm25.Index {
	documents := make([][]string, len(c.tokens))
	for i, t := range c.tokens {
		documents[i] = words(t)
	}
	return bm25.New(documents, bm25.Options{})
}

// words returns the texts of the tokens that are words, because BM25 does not use places.
func words(tokens []token.Token) []string {
	var out []string
	for _, t := range tokens {
		if !t.Field.IsPlace() {
			out = append(out, t.Text)
		}
	}
	return out
}

// similarities returns the cosine of each question with each document: [questions, documents].
func similarities(questions, documents []float32) []float32 {
	q := tensor.Of(questions, len(questions)/model.Width, model.Width)
	d := tensor.Of(documents, len(documents)/model.Width, model.Width)
	return tensor.Data[float32](ops.MatMulT(q, d, false, true))
}

// A ranking says how well the questions at some positions find their declarations among others.
type ranking struct {
	questions, among []int
	asked, documents []model.Row    // of both
	encoder          *model.Encoder // nil: only BM25
	lexical          *bm25.Index    // nil: only the model
	weights          []float64      // of BM25, whose best score counts 1, relative to cosines; each gives a tally
}

// vectors returns the vectors of rows. Each rank computes its share.
func (c *collection) vectors(ctx context.Context, e *model.Encoder, rows []model.Row) ([]float32, error) {
	lo, hi := dist.Share(len(rows), c.comm.Size(), c.comm.Rank())
	all, err := c.comm.AllGather(ctx, tensor.Of(e.Vectors(rows[lo:hi])))
	if err != nil {
		return nil, err
	}
	return tensor.Data[float32](all), nil
}

// tallies ranks the answers; each rank of a job evaluates its share of the questions. The first tally of a ranking without an
// encoder is that of BM25.
func (c *collection) tallies(ctx context.Context, r ranking) ([]*eval.Tally, error) {
	out := make([]*eval.Tally, max(1, len(r.weights)))
	for i := range out {
		out[i] = &eval.Tally{}
	}
	first, last := dist.Share(len(r.questions), c.comm.Size(), c.comm.Rank())
	var questions, documents []float32
	if r.encoder != nil {
		questions = r.encoder.Vectors(r.asked[first:last])
		var err error
		if documents, err = c.vectors(ctx, r.encoder, r.documents); err != nil {
			return nil, err
		}
	}
	place := make(map[int]int, len(r.among))
	for i, p := range r.among {
		place[p] = i
	}
	const block = 256
	var all []float32
	sum, lexical := make([]float32, len(r.among)), make([]float32, len(r.among))
	for lo := first; lo < last; lo += block {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		hi := min(lo+block, last)
		var cosines []float32
		if r.encoder != nil {
			cosines = similarities(questions[(lo-first)*model.Width:(hi-first)*model.Width], documents)
		}
		for k, p := range r.questions[lo:hi] {
			if r.lexical != nil {
				all = r.lexical.Scores(all, words(c.tokenizer.Question(c.split.Questions[p])))
				for i, a := range r.among {
					lexical[i] = all[a]
				}
			}
			if cosines == nil {
				out[0].Add(lexical, place[p])
				continue
			}
			row := cosines[k*len(r.among) : (k+1)*len(r.among)]
			if r.lexical == nil {
				out[0].Add(row, place[p])
				continue
			}
			top := max(slices.Max(lexical), 1e-6)
			for j, w := range r.weights {
				for i := range sum {
					sum[i] = row[i] + float32(w)*lexical[i]/top
				}
				out[j].Add(sum, place[p])
			}
		}
	}
	for i, t := range out {
		all, err := c.comm.AllGather(ctx, tensor.Of(t.Numbers()))
		if err != nil {
			return nil, err
		}
		out[i] = eval.TallyOf(tensor.Data[int64](all))
	}
	return out, nil
}

// everything is all positions.
func (c *collection) everything() []int {
	out := make([]int, len(c.split.Rows))
	for i := range out {
		out[i] = i
	}
	return out
}

// learned is the positions of the training and validation parts, which are used for tuning.
func (c *collection) learned() []int {
	out := slices.Concat(c.split.Train, c.split.Validation)
	slices.Sort(out)
	return out
}
