package eval

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon/examples/gosearch/internal/decl"
)

func TestQuestion(t *testing.T) {
	for _, c := range []struct {
		name, doc, want string
		ok              bool
	}{
		{"Open", "Open opens the named file for reading. More.", "opens the named file for reading.", true},
		{"open", "Open opens; open is small, reopen or open_file are other words.", "Open opens;  is small, reopen or open_file are other words.", true},
		{"Len", "Len implements sort.Interface.", "implements sort.Interface.", false},
		{"F", "F", "", false},
		{"ReadAll", "Like io.ReadAll, but it stops at the limit", "Like io., but it stops at the limit", true},
		{"größe", "größe gibt die Größe eines Werts an.", "gibt die Größe eines Werts an.", true},
	} {
		got, ok := Question(&decl.Decl{Name: c.name, Doc: c.doc})
		if got != c.want || ok != c.ok {
			t.Errorf("Question of %q = %q, %v; want %q, %v", c.doc, got, ok, c.want, c.ok)
		}
	}
}

// collection makes n declarations with questions and as many without.
func collection(n int) (out []decl.Decl) {
	for i := range n {
		out = append(out,
			decl.Decl{Package: "p", Name: fmt.Sprint("F", i), Doc: "It does one thing and stops."},
			decl.Decl{Package: "p", Name: fmt.Sprint("G", i), Doc: "Short."})
	}
	return out
}

func TestNewSplit(t *testing.T) {
	decls := collection(100)
	opts := SplitOptions{Seed: 3, Test: 20, Validation: 10}
	s, err := NewSplit(decls, opts)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Rows) != 100 || len(s.Questions) != 100 || len(s.Test) != 20 || len(s.Validation) != 10 || len(s.Train) != 70 {
		t.Fatalf("sizes %d, %d, %d, %d, %d", len(s.Rows), len(s.Questions), len(s.Test), len(s.Validation), len(s.Train))
	}
	all := slices.Concat(s.Train, s.Validation, s.Test)
	slices.Sort(all)
	for i, p := range all {
		if p != i {
			t.Fatalf("position %d is %d: the parts overlap or leave one out", i, p)
		}
	}
	for i, r := range s.Rows {
		if r != 2*i {
			t.Errorf("row %d is declaration %d, want %d", i, r, 2*i)
		}
	}

	// The same whatever the order of the declarations, different for another seed.
	names := func(decls []decl.Decl, opts SplitOptions) (out []string) {
		s, err := NewSplit(decls, opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range s.Test {
			out = append(out, decls[s.Rows[p]].Name)
		}
		return out
	}
	want := names(decls, opts)
	backwards := slices.Clone(decls)
	slices.Reverse(backwards)
	if diff := cmp.Diff(want, names(backwards, opts)); diff != "" {
		t.Errorf("in another order (-want +got):\n%s", diff)
	}
	opts.Seed = 4
	if slices.Equal(want, names(decls, opts)) {
		t.Error("two seeds hold out the same")
	}
}

func TestNewSplitTooFew(t *testing.T) {
	_, err := NewSplit(collection(30), SplitOptions{Test: 20, Validation: 10})
	want := "30 of 60 declarations have a question of 5 words: too few to hold out 20 and 10"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestTally(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		name         string
		scores       []float32
		target       int
		mrr, r1, r10 float64
	}{
		{"first", []float32{1, 3, 2}, 1, 1, 1, 1},
		{"third", []float32{3, 2, 1}, 2, 1. / 3, 0, 1},
		{"tied for the first two places", []float32{2, 2, 1}, 0, (1 + 1./2) / 2, 0.5, 1},
		{"tied below one", []float32{5, 1, 1, 1}, 3, (1./2 + 1./3 + 1./4) / 3, 0, 1},
		{"all tied", make([]float32, 20), 7, 3.5977396571436819 / 20, 1. / 20, 0.5},
		{"not a number", []float32{nan, 0, -1}, 0, 1. / 3, 0, 1},
		{"others are not numbers", []float32{nan, 0, nan}, 1, 1, 1, 1},
		{"no number at all", []float32{nan, nan}, 1, (1 + 1./2) / 2, 0.5, 1},
	} {
		var tally Tally
		tally.Add(c.scores, c.target)
		for _, m := range []struct {
			name      string
			got, want float64
		}{{"MRR", tally.MRR(), c.mrr}, {"recall@1", tally.Recall(1), c.r1}, {"recall@10", tally.Recall(10), c.r10}} {
			if math.Abs(m.got-m.want) > 1e-12 {
				t.Errorf("%s: %s %v, want %v", c.name, m.name, m.got, m.want)
			}
		}
	}

	var sum, more Tally
	if sum.MRR() != 0 || sum.Recall(10) != 0 {
		t.Error("an empty tally is not 0")
	}
	sum.Add([]float32{2, 1}, 0)
	more.Add([]float32{2, 1}, 1)
	sum.Merge(&more)
	if sum.Len() != 2 || sum.MRR() != 0.75 || sum.Recall(1) != 0.5 {
		t.Errorf("merged: %d questions, MRR %v, recall@1 %v; want 2, 0.75, 0.5", sum.Len(), sum.MRR(), sum.Recall(1))
	}
}
