package report

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/markup"
	"github.com/tenonml/tenon/learn/runs"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/show/view"
)

// A Report describes a run of training.
type Report struct {
	Facts      []Fact
	Figures    []Figures
	Record     train.Record
	Packages   []Package
	Neighbours []Neighbours
	Graph      *graph.Graph
}

// A Fact is a line of the table at the top.
type Fact struct{ Name, Value string }

// Figures say how well a method finds the held-out declarations.
type Figures struct {
	Name                string
	MRR, First, First10 float64
}

// Package says how well the held-out declarations of a package are found.
type Package struct {
	Path      string
	Questions int
	Recall    float64 // at 10
}

// Neighbours are the words whose vectors are nearest to that of a word.
type Neighbours struct {
	Word string
	Near []Near
}

// Near is a word and its cosine.
type Near struct {
	Word   string
	Cosine float64
}

// Write writes report.html into a folder.
func Write(dir string, r *Report) error {
	fragments := []string{r.facts(), r.figures(), r.course(), r.byPackage(), r.words()}
	if r.Graph != nil {
		fragments = append(fragments, heading("The model's graph"), view.Graph(r.Graph, view.GraphOptions{}))
	}
	return os.WriteFile(filepath.Join(dir, "report.html"), []byte(view.Page("gosearch: report of training", fragments...)), 0o644)
}

func heading(text string) string { return new(markup.Writer).Element("h2", text).Line().String() }

func share(x float64) string { return fmt.Sprintf("%.3f", x) }

// table draws a table whose columns behind the first are numbers.
func table(id string, head []string, rows [][]string) string {
	var w markup.Writer
	w.Open("div", "class", "scroll").Open("table", "id", id).Open("thead").Rows("th", head).End().Open("tbody")
	for _, r := range rows {
		w.Open("tr").Element("th", r[0])
		for _, c := range r[1:] {
			w.Element("td", c, "class", "n")
		}
		w.End().Line()
	}
	return w.End().End().End().Line().String()
}

func (r *Report) facts() string {
	var w markup.Writer
	w.Open("table").Open("tbody")
	for _, f := range r.Facts {
		w.Open("tr").Element("th", f.Name).Element("td", f.Value).End().Line()
	}
	return w.End().End().Line().String()
}

func (r *Report) figures() string {
	var rows [][]string
	for _, f := range r.Figures {
		rows = append(rows, []string{f.Name, share(f.MRR), share(f.First), share(f.First10)})
	}
	var w markup.Writer
	w.Element("p", "The question is the first sentence of a declaration's comment, without the declaration's own name. The search uses "+
		"for everything else. No held-out declaration was used for training, the vocabulary or tuning.")
	return heading("How well held-out declarations are found") + table("figures", []string{"", "MRR", "recall@1", "recall@10"}, rows) + w.Line().String()
}

// course draws the loss of each batch and the score of each validation.
func (r *Report) course() string {
	run := &runs.Run{Info: runs.Info{Name: "training"}, End: "finished"}
	scores := map[int]*float64{}
	for _, s := range r.Record.Scores {
		scores[s.Step] = &s.Score
	}
	for i, l := range r.Record.Losses {
		run.Events = append(run.Events, runs.Event{Step: i + 1, Steps: len(r.Record.Losses), Loss: l, Score: scores[i+1]})
	}
	const smooth = 0.95
	return heading("Course") + view.Curves([]*runs.Run{run}, view.RunOptions{Smooth: smooth})
}

func (r *Report) byPackage() string {
	var rows [][]string
	for _, p := range r.Packages {
		rows = append(rows, []string{p.Path, fmt.Sprint(p.Questions), share(p.Recall)})
	}
	return heading("Recall by package") + table("packages", []string{"package", "held out", "recall@10"}, rows)
}

func (r *Report) words() string {
	var w markup.Writer
	w.Open("table").Open("tbody")
	for _, n := range r.Neighbours {
		w.Open("tr").Element("th", n.Word).Open("td")
		for _, x := range n.Near {
			w.Text(x.Word+" ").Element("span", share(x.Cosine)+" ", "class", "spec")
		}
		w.End().End().Line()
	}
	return heading("Nearest neighbours of words") + w.End().End().Line().String()
}
