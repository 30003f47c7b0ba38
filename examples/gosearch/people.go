package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/examples/gosearch/internal/decl"
	"github.com/tenonml/tenon/examples/gosearch/internal/eval"
	"github.com/tenonml/tenon/examples/gosearch/internal/rank"
)

// printPeople prints how well people's questions are answered: by words only, by the model only,
// and by [searcher.search]. It prints nothing if the index contains no answers.
func (s *searcher) printPeople(ctx context.Context, w io.Writer, decls []decl.Decl) (err error) {
	defer tenon.Catch(&err)
	rows := []struct {
		name   string
		scores func(question string, cosines []float32) []float32
	}{
		{"words", func(q string, _ []float32) []float32 {
			return s.among(s.model.Words.Scores(s.tokenizer.Ask(q, s.model.Words.Known), rank.Fitted), false)
		}},
		{"model", func(_ string, cosines []float32) []float32 { return s.among(slices.Clone(cosines), false) }},
		{"answers", func(q string, cosines []float32) []float32 { return s.scores(q, cosines, false) }},
	}
	questions, places := eval.People(), decl.Places(decls)
	texts := make([]string, len(questions))
	for i, q := range questions {
		texts[i] = q.Text
	}
	cosines := s.cosines(texts...)
	parts := []eval.Part{eval.Choosing, eval.Reporting, eval.Unseen}
	tallies := make([][3]eval.Tally, len(rows)) // by part
	for k, q := range questions {
		if err := ctx.Err(); err != nil {
			return err
		}
		right := q.Positions(places)
		if len(right) == 0 {
			continue
		}
		part := slices.Index(parts, q.Part)
		for i, row := range rows {
			tallies[i][part].AddAny(row.scores(q.Text, cosines[k]), right)
		}
	}
	counts, all := [3]int{}, 0
	for p := range parts {
		counts[p] = tallies[0][p].Len()
		all += counts[p]
	}
	if all == 0 {
		return nil
	}
	fmt.Fprintf(w, "\npeople's questions: %d used to tune the ranking, %d to report on it, %d never looked at\n\n", counts[0], counts[1], counts[2])
	fmt.Fprintf(w, "%-10s", "")
	for range parts {
		fmt.Fprintf(w, " %6s %6s %6s   ", "top-1", "top-3", "top-10")
	}
	fmt.Fprintln(w)
	for i, row := range rows {
		fmt.Fprintf(w, "%-10s", row.name)
		for h := range parts {
			t := &tallies[i][h]
			fmt.Fprintf(w, " %6.2f %6.2f %6.2f   ", t.Recall(1), t.Recall(3), t.Recall(10))
		}
		fmt.Fprintln(w)
	}
	return nil
}
