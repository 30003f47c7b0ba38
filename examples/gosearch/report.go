package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tenonml/tenon/examples/gosearch/internal/eval"
	"github.com/tenonml/tenon/examples/gosearch/internal/model"
	"github.com/tenonml/tenon/examples/gosearch/internal/report"
	"github.com/tenonml/tenon/tensor"
)

// shownWords are the words whose neighbours the report shows, if they are known.
var shownWords = []string{"read", "file", "sort", "http", "error", "parse", "string", "time", "lock", "hash", "test", "compil"}

const (
	shownPackages   = 25
	shownNeighbours = 6
)

// report returns the report of the run.
func (t *trainer) report(f figures) (*report.Report, error) {
	graph, err := t.encoder.Graph(t.documents[:min(2, len(t.documents))])
	if err != nil {
		return nil, err
	}
	r := &report.Report{
		Facts: []report.Fact{
			{Name: "declarations", Value: fmt.Sprint(len(t.decls))},
			{Name: "trained on", Value: fmt.Sprint(len(t.split.Train))},
			{Name: "validated on", Value: fmt.Sprint(len(t.split.Validation))},
			{Name: "held out", Value: fmt.Sprint(len(t.split.Test))},
			{Name: "looked for among", Value: fmt.Sprint(len(t.split.Rows))},
			{Name: "tokens", Value: fmt.Sprint(t.vocab.Size())},
			{Name: "vectors", Value: fmt.Sprintf("of %d", model.Width)},
			{Name: "epochs", Value: fmt.Sprintf("%d, best after step %d of %d", t.epochs, t.fitted.Best.Step, len(t.fitted.Record.Losses))},
			{Name: "seed", Value: fmt.Sprint(t.seed)},
			{Name: "time", Value: fmt.Sprintf("%.1f s", t.seconds)},
			{Name: "both", Value: fmt.Sprintf("cosine + %.2f · BM25, whose best score counts 1; found on the validation part", t.lexicalWeight)},
		},
		Record:   t.fitted.Record,
		Packages: t.byPackage(f.model), Neighbours: t.neighbours(), Graph: graph,
	}
	for _, row := range []struct {
		name string
		t    *eval.Tally
	}{{"BM25", f.bm25}, {"model", f.model}, {"both", f.both}} {
		r.Figures = append(r.Figures, report.Figures{Name: row.name, MRR: row.t.MRR(), First: row.t.Recall(1), First10: row.t.Recall(10)})
	}
	return r, nil
}

// byPackage returns the recall of the packages with the most held-out declarations.
func (t *trainer) byPackage(tally *eval.Tally) []report.Package {
	tallies := map[string]*eval.Tally{}
	for i, p := range t.split.Test {
		path := t.decls[t.split.Rows[p]].Package
		if tallies[path] == nil {
			tallies[path] = &eval.Tally{}
		}
		tallies[path].Merge(tally.Question(i))
	}
	var out []report.Package
	for _, path := range slices.Sorted(maps.Keys(tallies)) {
		out = append(out, report.Package{Path: path, Questions: tallies[path].Len(), Recall: tallies[path].Recall(10)})
	}
	slices.SortStableFunc(out, func(a, b report.Package) int { return cmp.Compare(b.Questions, a.Questions) })
	return out[:min(len(out), shownPackages)]
}

// neighbours returns the words that the model considers most similar.
func (t *trainer) neighbours() (out []report.Neighbours) {
	n := t.vocab.Size()
	table := slices.Clone(tensor.Data[float32](t.fitted.Params.Tokens.Table))
	for i := range n {
		unit(table[i*model.Width : (i+1)*model.Width])
	}
	for _, w := range shownWords {
		id, ok := t.vocab.ID(w)
		if !ok {
			continue
		}
		at := int(id) * model.Width
		cosines := similarities(table[at:at+model.Width], table)
		row := report.Neighbours{Word: w}
		for _, k := range top(cosines, min(n, 10*shownNeighbours)) {
			other := t.vocab.Text(int32(k))
			if k == int(id) || strings.Contains(other, ":") { // itself, or a place
				continue
			}
			if row.Near = append(row.Near, report.Near{Word: other, Cosine: float64(cosines[k])}); len(row.Near) == shownNeighbours {
				break
			}
		}
		out = append(out, row)
	}
	return out
}
