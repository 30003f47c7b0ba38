package asked

import (
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon/examples/gosearch/internal/decl"
	"github.com/tenonml/tenon/examples/gosearch/internal/eval"
	"github.com/tenonml/tenon/examples/gosearch/internal/token"
)

// What is learned has less than half of its words in common with each question that measures what was learned, and no question is there twice.
func TestStdIsNotEvaluated(t *testing.T) {
	var tokenizer token.Tokenizer
	words := func(text string) map[string]bool {
		out := map[string]bool{}
		for _, t := range tokenizer.Content(text) {
			out[t.Text] = true
		}
		return out
	}
	questions := eval.People()
	asked := make([]map[string]bool, len(questions))
	for i, q := range questions {
		asked[i] = words(q.Text)
	}
	seen := map[string]bool{}
	for _, q := range Std() {
		if seen[q.Text] {
			t.Errorf("%q is there twice", q.Text)
		}
		seen[q.Text] = true
		own := words(q.Text)
		for i, other := range asked {
			both := 0
			for w := range own {
				if other[w] {
					both++
				}
			}
			if 2*both >= len(own)+len(other)-both {
				t.Errorf("%q is like %q", q.Text, questions[i].Text)
			}
		}
	}
	if n := len(seen); n < 5000 {
		t.Errorf("%d questions", n)
	}
}

func TestParse(t *testing.T) {
	got, err := parse("# a comment\n\nhow far is it \ta.Far b/c.T.Distance\r\n")
	if err != nil || len(got) != 1 || got[0].Text != "how far is it" || !slices.Equal(got[0].Answers, []string{"a.Far", "b/c.T.Distance"}) {
		t.Errorf("%q, %v", got, err)
	}
	for _, text := range []string{"how far", "how far\t", "\ta.Far", "\xff"} {
		if _, err := parse("ok\ta.Far\n" + text + "\n"); err == nil || !strings.HasPrefix(err.Error(), "2: want a question, a tab") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestAttach(t *testing.T) {
	decls := []decl.Decl{{Package: "a", Name: "F"}, {Package: "a", Receiver: "*T", Name: "F"}, {Package: "a", Receiver: "base", Name: "G", Through: []string{"T", "U"}}}
	n := Attach(decls, []Question{{"one", []string{"a.F", "a.T.F"}}, {"two", []string{"a.U.G"}}, {"three", []string{"a.None"}}, {"four", []string{"a.F"}}})
	for i, want := range []string{"one;four", "one", "two"} {
		if got := strings.Join(decls[i].Asked, ";"); got != want {
			t.Errorf("declaration %d is asked %q, want %q", i, got, want)
		}
	}
	if n != 3 {
		t.Errorf("%d questions are answered, want 3", n)
	}
}
